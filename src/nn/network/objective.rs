//! A network as the objective of optimizers and Levenberg–Marquardt.

use std::ops::Range;

use super::Network;
use super::sample_sets::tiles;
use crate::distributed::Communicator;
use crate::kernels::vector::dot;
use crate::nn::BatchError;
use crate::nn::sweep::{FlatSums, GradientSums, JacobianRows, Tile, coming_from};
use crate::problem::{
    EvaluationError, JacobianProducts, KroneckerFactored, LeastSquares, NotKroneckerFactored, NotLeastSquares,
    Objective,
};
use crate::real::Real;
use crate::variables::Gradients;

impl<T: Real> Objective<T> for Network<T> {
    fn loss(&mut self, x: &[T]) -> Result<T, EvaluationError> {
        let own = self.own_loss(x);
        self.sum(own, EvaluationError::new)
    }

    fn loss_and_gradient(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Result<T, EvaluationError> {
        let own = self.own_loss_and_gradient(x, gradients);
        match self.several_ranks() {
            None => own,
            Some(ranks) => gradients.all_sum_with_loss(ranks, own).map_err(EvaluationError::new),
        }
    }

    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<T>, NotLeastSquares> {
        self.check_forms()?;
        Ok(self)
    }

    fn kronecker_factored(&mut self) -> Result<&mut dyn KroneckerFactored<T>, NotKroneckerFactored> {
        self.plan_factors()?;
        Ok(self)
    }
}

/// The parameters are all variables, and a sample has a residual for each number of its outputs, term after term. The
/// residuals of a sample are computed together.
impl<T: Real> LeastSquares<T> for Network<T> {
    fn parameter_count(&self) -> usize {
        self.variables.values().len()
    }

    fn residual_count(&self) -> usize {
        // Of no batch one sample is asked for, and its evaluation says that none is bound.
        let samples = if self.batch.mean_over == 0 { 1 } else { self.batch.rows() };
        samples * self.rows_per_sample()
    }

    fn row_group(&self) -> usize {
        self.rows_per_sample()
    }

    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.evaluate_rows(x, first, r, None)
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        self.want_columns(std::slice::from_ref(&(0..x.len())));
        self.evaluate_rows(x, first, r, Some(jacobian))
    }

    fn linearize_columns(
        &mut self,
        x: &[T],
        first: usize,
        r: &mut [T],
        columns: &[Range<usize>],
        jacobian: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.want_columns(columns);
        self.evaluate_rows(x, first, r, Some(jacobian))?;
        Ok(true)
    }

    fn cost_of(&mut self, _first: usize, r: &[T]) -> T {
        if self.is_exact() { T::from_f64(0.5) * dot(r, r) } else { self.cost }
    }

    fn second_directional_derivative(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.bend(x, v, first, second, None)?;
        Ok(true)
    }

    fn second_derivative_product(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
        product: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.bend(x, v, first, second, Some(product))?;
        Ok(true)
    }

    fn transposed_product(
        &mut self,
        x: &[T],
        first: usize,
        u: &[T],
        product: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.pull_back(x, first, u, product)?;
        Ok(true)
    }

    /// Returns false: the products that follow a linearisation cost more than the forward sweep that it would save.
    fn derivatives_are_cheap(&self) -> bool {
        false
    }

    fn products(&mut self) -> Option<&mut dyn JacobianProducts<T>> {
        Some(self)
    }

    fn communicator(&self) -> Option<&Communicator> {
        self.several_ranks()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.variables.parameter_name(index)
    }
}

impl<T: Real> Network<T> {
    /// The part of the loss that this rank's rows make.
    fn own_loss(&mut self, x: &[T]) -> Result<T, EvaluationError> {
        self.check_bound(x).map_err(EvaluationError::new)?;
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, masks, .. } = self;
        let mut loss = T::ZERO;
        for (set, rows) in tiles(workspace, batch, 0..batch.rows()) {
            let tile = Tile { tape, x, batch, rows, masks: Some(*masks) };
            workspace.forward(&tile, &loss_nodes[set]);
            loss += terms.iter().filter(|term| term.set == set).map(|term| term.loss(&tile, workspace, buffers)).sum();
        }
        Ok(loss)
    }

    /// The part of the loss that this rank's rows make, and its gradient.
    fn own_loss_and_gradient(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Result<T, EvaluationError> {
        self.check_bound(x).map_err(EvaluationError::new)?;
        if !gradients.variables().eq(self.variables.iter()) {
            return Err(EvaluationError::new(BatchError::Gradients));
        }
        gradients.clear();
        coming_from(self.tape.records(), |_| true, None, &mut self.marks);
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, marks, masks, .. } = self;
        let mut loss = T::ZERO;
        for (set, rows) in tiles(workspace, batch, 0..batch.rows()) {
            let tile = Tile { tape, x, batch, rows, masks: Some(*masks) };
            workspace.forward(&tile, &loss_nodes[set]);
            workspace.clear_derivatives();
            for term in terms.iter().filter(|term| term.set == set) {
                loss += term.loss_and_seed(&tile, workspace, buffers);
            }
            workspace.reverse(&tile, marks, &mut GradientSums(gradients));
        }
        Ok(loss)
    }

    /// Residuals of samples, and the wanted columns of their Jacobian.
    fn evaluate_rows(
        &mut self,
        x: &[T],
        first: usize,
        r: &mut [T],
        mut jacobian: Option<&mut [T]>,
    ) -> Result<(), EvaluationError> {
        self.check_residuals(x)?;
        // Acceleration may come late, and should find its memory there.
        self.workspace.reserve_curvatures();
        let (exact, group) = (self.is_exact(), self.rows_per_sample());
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, marks, masks, columns, written, .. } = self;
        let width = group * columns.count();
        let first = first / group;
        self.cost = T::ZERO;
        for (set, rows) in tiles(workspace, batch, first..first + r.len() / group) {
            let tile = Tile { tape, x, batch, rows: rows.clone(), masks: Some(*masks) };
            workspace.forward_once(&tile, &loss_nodes[set], jacobian.is_some());
            let (start, end) = (rows.start - first, rows.end - first);
            for term in terms.iter().filter(|term| term.set == set) {
                term.residuals(&tile, workspace, buffers, &mut r[start * group..end * group], group);
                if !exact {
                    self.cost += term.loss(&tile, workspace, buffers);
                }
                let Some(jacobian) = jacobian.as_mut().filter(|_| width > 0) else { continue };
                for row in 0..term.output.width() {
                    let matrix = &mut jacobian[start * width..end * width];
                    workspace.clear_derivatives();
                    term.seed_row(&tile, workspace, buffers, row);
                    let mut sink = JacobianRows::new(columns, matrix, term.first_row + row, group, written);
                    workspace.reverse(&tile, marks, &mut sink);
                    sink.finish(workspace, &tile);
                }
            }
        }
        Ok(())
    }

    /// Second derivatives of residuals along `v`, with the roots of the losses held; and `Jᵀ` times them, added to
    /// `product`.
    fn bend(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
        mut product: Option<&mut [T]>,
    ) -> Result<(), EvaluationError> {
        self.check_residuals(x)?;
        coming_from(self.tape.records(), |_| true, None, &mut self.marks);
        let group = self.rows_per_sample();
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, marks, masks, residuals, .. } = self;
        let first = first / group;
        for (set, rows) in tiles(workspace, batch, first..first + second.len() / group) {
            let tile = Tile { tape, x, batch, rows: rows.clone(), masks: Some(*masks) };
            let second = &mut second[(rows.start - first) * group..(rows.end - first) * group];
            workspace.forward_once(&tile, &loss_nodes[set], true);
            workspace.curvature(&tile, &loss_nodes[set], v);
            workspace.clear_derivatives();
            for term in terms.iter().filter(|term| term.set == set) {
                term.residuals(&tile, workspace, buffers, &mut residuals[..second.len()], group);
                term.residual_derivatives(workspace.second_derivative(&tile, term.output), buffers, second, group);
                if product.is_some() {
                    term.seed_residuals(&tile, workspace, buffers, second, group);
                }
            }
            if let Some(product) = &mut product {
                workspace.reverse(&tile, marks, &mut FlatSums(product));
            }
        }
        Ok(())
    }

    /// Adds the product of the transposed Jacobian with `u`: one reverse sweep.
    fn pull_back(&mut self, x: &[T], first: usize, u: &[T], product: &mut [T]) -> Result<(), EvaluationError> {
        self.check_residuals(x)?;
        coming_from(self.tape.records(), |_| true, None, &mut self.marks);
        let group = self.rows_per_sample();
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, marks, masks, residuals, .. } = self;
        let first = first / group;
        for (set, rows) in tiles(workspace, batch, first..first + u.len() / group) {
            let tile = Tile { tape, x, batch, rows: rows.clone(), masks: Some(*masks) };
            let u = &u[(rows.start - first) * group..(rows.end - first) * group];
            workspace.forward_once(&tile, &loss_nodes[set], true);
            workspace.clear_derivatives();
            for term in terms.iter().filter(|term| term.set == set) {
                term.residuals(&tile, workspace, buffers, &mut residuals[..u.len()], group);
                term.seed_residuals(&tile, workspace, buffers, u, group);
            }
            workspace.reverse(&tile, marks, &mut FlatSums(product));
        }
        Ok(())
    }

    /// Refuses a point or a state that residuals cannot be evaluated at.
    pub(super) fn check_residuals(&self, x: &[T]) -> Result<(), EvaluationError> {
        self.check_bound(x).map_err(EvaluationError::new)?;
        self.check_forms().map_err(EvaluationError::new)
    }

    /// Refuses a loss that Levenberg–Marquardt does not see.
    pub(super) fn check_forms(&self) -> Result<(), NotLeastSquares> {
        match self.terms.iter().find(|term| term.loss.least_squares().is_none()) {
            Some(term) => Err(NotLeastSquares { loss: term.loss.name().to_owned() }),
            None => Ok(()),
        }
    }

    /// Returns true if `½‖r‖²` is the loss.
    pub(super) fn is_exact(&self) -> bool {
        self.terms.iter().all(|term| term.loss.least_squares().is_some_and(|seen| seen.is_exact()))
    }
}
