//! The losses of one tile of samples.

use std::ops::Range;

use super::predictions::Predictions;
use crate::nn::arithmetic::put;
use crate::nn::sweep::{BatchTile, JacobianRows, Sink, Workspace};
use crate::nn::term::LossTerm;
use crate::nn::weighted_loss::LossBuffers;
use crate::real::Real;

/// A tile of samples of one set, and the losses of that set.
pub(super) struct LossTile<'a, T> {
    pub(super) tile: BatchTile<'a, T>,
    pub(super) workspace: &'a mut Workspace<T>,
    pub(super) terms: &'a [LossTerm<T>],
    /// Index of the set.
    pub(super) set: usize,
    /// Nodes that the losses of the set are computed from.
    pub(super) nodes: &'a [bool],
    /// Residuals of each sample.
    pub(super) group: usize,
    pub(super) buffers: &'a mut LossBuffers<T>,
    /// Scratch for the residuals of the tile.
    pub(super) scratch: &'a mut [T],
}

impl<'a, T: Real> LossTile<'a, T> {
    /// The terms of the set, with their indices among those of the network.
    fn numbered_terms(&self) -> impl Iterator<Item = (usize, &'a LossTerm<T>)> + use<'a, T> {
        let set = self.set;
        self.terms.iter().enumerate().filter(move |(_, term)| term.set == set)
    }

    /// The terms of the set.
    pub(super) fn terms(&self) -> impl Iterator<Item = &'a LossTerm<T>> + use<'a, T> {
        self.numbered_terms().map(|(_, term)| term)
    }

    /// Range of the tile's samples in an array that has `size` entries for each sample from `first` on.
    pub(super) fn range(&self, first: usize, size: usize) -> Range<usize> {
        (self.tile.rows.start - first) * size..(self.tile.rows.end - first) * size
    }

    /// Computes the values that the losses depend on.
    pub(super) fn forward(&mut self) {
        self.workspace.forward(&self.tile, self.nodes);
    }

    /// Computes the values that the losses depend on, or finds those that were kept; keeps them if told to.
    pub(super) fn forward_once(&mut self, keep: bool) {
        self.workspace.forward_once(&self.tile, self.nodes, keep);
    }

    /// Loss of a term, after a forward sweep.
    pub(super) fn loss_of(&mut self, term: &LossTerm<T>) -> T {
        term.weighted().value(&term.outputs(&self.tile, self.workspace), self.buffers)
    }

    /// Loss of all terms, after a forward sweep.
    pub(super) fn loss(&mut self) -> T {
        self.terms().map(|term| self.loss_of(term)).sum()
    }

    /// Shows outputs beside targets, after a forward sweep.
    pub(super) fn show(&self, mut see: impl FnMut(Predictions<'_, T>)) {
        for (index, term) in self.numbered_terms() {
            see(Predictions {
                term: index,
                width: term.output.width(),
                outputs: self.workspace.value(&self.tile, term.output),
                kind: term.loss.targets(),
                targets: term.targets(&self.tile),
                weights: self.tile.batch.weights(&self.tile.rows),
            });
        }
    }

    /// Adds the losses to `loss`, and starts a reverse sweep with their gradients.
    pub(super) fn seed_gradients(&mut self, loss: &mut T) {
        self.workspace.clear_derivatives();
        for term in self.terms() {
            *loss += term.weighted().value_and_gradients(&term.outputs(&self.tile, self.workspace), self.buffers);
            let (adjoint, add) = self.workspace.seed(&self.tile, term.output);
            let gradients = self.buffers.gradients(adjoint.len());
            put(adjoint, add, gradients.iter().copied());
        }
    }

    /// Fills the residuals of a term in `r`, which has a row of residuals for each sample. Leaves the roots of the loss in the buffers,
    /// where [`seed_row`](Self::seed_row), [`seed_residuals`](Self::seed_residuals) and
    /// [`residual_derivatives`](Self::residual_derivatives) find them.
    pub(super) fn residuals(&mut self, term: &LossTerm<T>, r: &mut [T]) {
        let loss = term.weighted();
        let (_, root_width) = loss.root(term.output.width());
        self.buffers.reserve_roots(self.workspace.tile_rows() * root_width);
        loss.residuals(&term.outputs(&self.tile, self.workspace), self.buffers, (term.first_row, self.group), r);
    }

    /// Finds the roots as [`residuals`](Self::residuals) does.
    pub(super) fn find_roots(&mut self, term: &LossTerm<T>) {
        let scratch = std::mem::take(&mut self.scratch);
        self.residuals(term, &mut scratch[..self.tile.rows.len() * self.group]);
        self.scratch = scratch;
    }

    /// Starts a reverse sweep for one row of each sample's Jacobian.
    pub(super) fn seed_row(&mut self, term: &LossTerm<T>, row: usize) {
        let (adjoint, _) = self.workspace.seed(&self.tile, term.output);
        term.weighted().seed_row(self.buffers, term.output.width(), row, adjoint);
    }

    /// Starts a reverse sweep with a factor for each residual.
    pub(super) fn seed_residuals(&mut self, term: &LossTerm<T>, factors: &[T]) {
        let seed = self.workspace.seed(&self.tile, term.output);
        let place = (term.first_row, self.group);
        term.weighted().seed_residuals(self.buffers, term.output.width(), factors, place, seed);
    }

    /// Writes the derivative of the residuals of a term for the derivative `change` of its output.
    pub(super) fn residual_derivatives(&self, term: &LossTerm<T>, change: Option<&[T]>, derivatives: &mut [T]) {
        let place = (term.first_row, self.group);
        term.weighted().residual_derivatives(self.buffers, term.output.width(), change, place, derivatives);
    }

    /// Writes the derivatives of all residuals along a direction, after a forward sweep.
    pub(super) fn push(&mut self, direction: &[T], derivatives: &mut [T]) {
        self.workspace.tangent(&self.tile, self.nodes, direction);
        for term in self.terms() {
            self.find_roots(term);
            self.residual_derivatives(term, self.workspace.derivative(&self.tile, term.output), derivatives);
        }
    }

    /// Takes a factor for each residual back to the variables, after a forward sweep.
    pub(super) fn pull(&mut self, factors: &[T], needed: &[bool], sink: &mut impl Sink<T>) {
        self.workspace.clear_derivatives();
        for term in self.terms() {
            self.find_roots(term);
            self.seed_residuals(term, factors);
        }
        self.workspace.reverse(&self.tile, needed, sink);
    }

    /// Takes adjoints back to the variables.
    pub(super) fn reverse(&mut self, needed: &[bool], sink: &mut impl Sink<T>) {
        self.workspace.reverse(&self.tile, needed, sink);
    }

    /// Takes adjoints back to rows of a Jacobian.
    pub(super) fn reverse_to_rows(&mut self, needed: &[bool], mut rows: JacobianRows<'_, T>) {
        self.workspace.reverse(&self.tile, needed, &mut rows);
        rows.finish(self.workspace, &self.tile);
    }
}
