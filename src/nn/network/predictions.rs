//! Outputs beside their targets, for metrics.

use ndarray::ArrayView2;

use super::Network;
use super::sample_sets::tiles;
use crate::nn::BatchError;
use crate::nn::batch::Selection;
use crate::nn::losses::Targets;
use crate::nn::sweep::{Tile, Workspace};
use crate::nn::term::Term;
use crate::real::Real;
use crate::variables::Variables;

/// Outputs of a network for some samples, beside their targets, for one of its losses.
#[derive(Debug, Clone, Copy)]
pub struct Predictions<'a, T> {
    /// Index of the output's loss among the network's, from 0.
    pub term: usize,
    /// Numbers in the output of a sample.
    pub width: usize,
    /// The outputs, a row of `width` numbers for each sample.
    pub outputs: &'a [T],
    /// Targets of the loss.
    pub kind: Targets,
    /// The targets, a row for each sample: of one number for [`Targets::Labels`], else of `width`.
    pub targets: &'a [T],
    /// The samples' weights.
    pub weights: &'a [T],
}

impl<T: Real> Network<T> {
    /// Targets of each loss, and the width of its output.
    pub(crate) fn term_targets(&self) -> impl ExactSizeIterator<Item = (Targets, usize)> + '_ {
        self.terms.iter().map(|term| (term.loss.targets(), term.output.width()))
    }

    /// The seed of dropout's masks.
    pub(crate) fn mask_seed(&self) -> u64 {
        self.masks.seed
    }

    /// Checks a whole data set, as it will be when batches of it are bound.
    pub(crate) fn check_data(
        &self,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
        weights: Option<&[T]>,
    ) -> Result<(), BatchError> {
        let rows = self.own_rows(inputs, targets);
        self.check(inputs, targets, weights, &Selection::Range(0..rows))
    }

    /// Evaluates data in evaluation mode, calls `see` for each tile and term, and returns the loss of all ranks' data.
    pub(crate) fn visit(
        &mut self,
        variables: &Variables<T>,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
        weights: Option<&[T]>,
        mut see: impl FnMut(Predictions<'_, T>),
    ) -> Result<T, BatchError> {
        let samples = self.own_rows(inputs, targets);
        let checked = self.check_point(variables.values());
        let checked = checked.and_then(|()| self.check(inputs, targets, weights, &Selection::Range(0..samples)));
        let share = self.share(checked, samples)?;
        self.check_sets()?;
        self.sets.sort(inputs, &Selection::Range(0..samples));
        let Network { tape, workspace, passing, terms, buffers, loss_nodes, sets, .. } = self;
        let mut loss = T::ZERO;
        let mut start = 0;
        for (set, &size) in sets.sizes.iter().enumerate() {
            for rows in workspace.tiles(start..start + size).filter(|rows| !rows.is_empty()) {
                let selection = match sets.input {
                    Some(_) => Selection::Rows(&sets.order[rows.clone()]),
                    None => Selection::Range(rows.clone()),
                };
                passing.fill(inputs, targets, weights, &selection);
                passing.mean_over = share.total;
                let tile = Tile { tape, x: variables.values(), batch: passing, rows: 0..rows.len(), masks: None };
                workspace.forward(&tile, &loss_nodes[set]);
                let own = || terms.iter().enumerate().filter(|(_, term)| term.set == set);
                own().for_each(|(index, term)| show(&tile, workspace, index, term, &mut see));
                loss += own().map(|(_, term)| term.loss(&tile, workspace, buffers)).sum();
            }
            start += size;
        }
        self.sum(Ok(loss), BatchError::from)
    }

    /// Calls `see` for the bound batch in training mode, with the dropout masks of the loss.
    pub(crate) fn visit_bound(
        &mut self,
        variables: &Variables<T>,
        mut see: impl FnMut(Predictions<'_, T>),
    ) -> Result<(), BatchError> {
        self.check_bound(variables.values())?;
        let Network { tape, workspace, batch, terms, loss_nodes, masks, .. } = self;
        for (set, rows) in tiles(workspace, batch, 0..batch.rows()) {
            let tile = Tile { tape, x: variables.values(), batch, rows, masks: Some(*masks) };
            workspace.forward_once(&tile, &loss_nodes[set], false);
            let own = terms.iter().enumerate().filter(|(_, term)| term.set == set);
            own.for_each(|(index, term)| show(&tile, workspace, index, term, &mut see));
        }
        Ok(())
    }
}

/// Shows a tile of one term after a forward sweep.
fn show<T: Real>(
    tile: &Tile<'_, T>,
    workspace: &Workspace<T>,
    index: usize,
    term: &Term<T>,
    see: &mut impl FnMut(Predictions<'_, T>),
) {
    see(Predictions {
        term: index,
        width: term.output.width(),
        outputs: workspace.value(tile, term.output),
        kind: term.loss.targets(),
        targets: term.targets(tile),
        weights: tile.batch.weights(&tile.rows),
    });
}
