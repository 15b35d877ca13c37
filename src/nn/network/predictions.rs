//! Outputs beside their targets, for metrics.

use super::Network;
use super::loss_sweeps::LossSweeps;
use super::loss_tile::LossTile;
use crate::nn::BatchError;
use crate::nn::batch::{SampleArrays, Selection};
use crate::nn::losses::Targets;
use crate::nn::sweep::BatchTile;
use crate::nn::tape::{LayerSpan, Node, Operation};
use crate::real::Real;
use crate::variables::Variables;

/// Outputs of a network for some samples, beside their targets, for one of its losses.
#[derive(Debug, Clone, Copy)]
pub struct Predictions<'a, T> {
    /// Index of the output's loss among the network's, from 0.
    pub term: usize,
    /// Entries in the output of a sample.
    pub width: usize,
    /// The outputs, a row of `width` entries for each sample.
    pub outputs: &'a [T],
    /// Targets of the loss.
    pub kind: Targets,
    /// The targets, a row for each sample: of one entry for [`Targets::Labels`], else of `width`.
    pub targets: &'a [T],
    /// The samples' weights.
    pub weights: &'a [T],
}

impl<T: Real> Network<T> {
    /// Targets of each loss, and the width of its output.
    pub(crate) fn term_targets(&self) -> impl ExactSizeIterator<Item = (Targets, usize)> + '_ {
        self.sweeps.terms.iter().map(|term| (term.loss.targets(), term.output.width()))
    }

    /// For each input, whether its numbers enter without a normalization or a table; for each target, whether it is a number that no normalization comes to.
    /// Nothing of several sets of samples.
    pub(crate) fn unscaled(&self) -> [Vec<bool>; 2] {
        let tape = &self.sweeps.tape;
        if self.sets.count > 1 {
            return [Vec::new(), Vec::new()];
        }
        let terms = &self.sweeps.terms;
        let ends_at = |node: Node| move |layer: &&LayerSpan| layer.records.end == node.index() + 1;
        let normalizations = || tape.layers().iter().filter(|layer| layer.kind == "normalization");
        let is_of_output = |layer: &LayerSpan| terms.iter().any(|term| ends_at(term.output)(&layer));
        let is_normalized = |input: Node| {
            let mut first = normalizations().filter(|layer| !is_of_output(layer));
            first.any(|layer| tape.depends(tape.node(layer.records.end - 1), input))
        };
        let records = tape.records().iter().enumerate();
        let inputs = records.filter(|(_, record)| matches!(record.operation, Operation::Input(_)));
        let inputs = inputs.zip(&self.schema.inputs);
        let inputs = inputs.map(|((index, _), rule)| rule.table_rows.is_none() && !is_normalized(tape.node(index)));
        let targets = terms.iter().filter(|term| term.loss.targets() != Targets::None);
        let targets = targets.map(|term| {
            term.loss.targets() == Targets::Values && !normalizations().any(|layer| ends_at(term.output)(&layer))
        });
        [inputs.collect(), targets.collect()]
    }

    /// The seed of dropout's masks.
    pub(crate) fn mask_seed(&self) -> u64 {
        self.sweeps.masks.seed
    }

    /// Checks a whole data set, as it will be when batches of it are bound.
    pub(crate) fn check_data(&self, samples: SampleArrays<'_, T>) -> Result<(), BatchError> {
        self.check(samples, &self.all_rows(samples))
    }

    /// Evaluates data in evaluation mode, calls `see` for each tile and term, and returns the loss of all ranks' data.
    pub(crate) fn visit(
        &mut self,
        variables: &Variables<T>,
        samples: SampleArrays<'_, T>,
        mut see: impl FnMut(Predictions<'_, T>),
    ) -> Result<T, BatchError> {
        let all = self.all_rows(samples);
        let checked = self.check_point(variables.values()).and_then(|()| self.check(samples, &all));
        let share = self.share(checked, all.len())?;
        self.check_sets()?;
        self.sets.sort(samples.inputs, &all);
        let group = self.rows_per_sample();
        let Network { sweeps, passing, sets, .. } = self;
        let LossSweeps { tape, workspace, terms, buffers, loss_nodes, residuals, .. } = sweeps;
        let mut loss = T::ZERO;
        let mut start = 0;
        for (set, &size) in sets.sizes.iter().enumerate() {
            for rows in workspace.tiles(start..start + size).filter(|rows| !rows.is_empty()) {
                let selection = match sets.input {
                    Some(_) => Selection::Rows(&sets.order[rows.clone()]),
                    None => Selection::Range(rows.clone()),
                };
                passing.fill(samples, &selection);
                passing.mean_over = share.total;
                let tile = BatchTile { tape, x: variables.values(), batch: passing, rows: 0..rows.len(), masks: None };
                let (nodes, scratch) = (&loss_nodes[set], &mut residuals[..]);
                let mut tile = LossTile { tile, workspace, terms, set, nodes, group, buffers, scratch };
                tile.forward();
                tile.show(&mut see);
                loss += tile.loss();
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
        self.sweeps.tiles(variables.values(), 0..self.rows(), |tile| {
            tile.forward_once(false);
            tile.show(&mut see);
        });
        Ok(())
    }
}
