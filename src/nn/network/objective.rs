//! A network as the objective of optimizers and Levenberg–Marquardt.

use std::ops::Range;

use super::Network;
use crate::distributed::Communicator;
use crate::nn::BatchError;
use crate::nn::sweep::{FlatSums, GradientSums, JacobianRows, coming_from};
use crate::problem::{
    Capabilities, Evaluated, EvaluationError, JacobianProducts, KroneckerFactored, LeastSquares, NotKroneckerFactored,
    NotLeastSquares, Objective,
};
use crate::real::Real;
use crate::variables::Gradients;

impl<T: Real> Objective<T> for Network<T> {
    fn loss(&mut self, x: &[T]) -> Evaluated<T> {
        let own = self.own_loss(x);
        self.sum(own, EvaluationError::new)
    }

    fn loss_and_gradient(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Evaluated<T> {
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

    fn dispersion(&self) -> Option<T> {
        self.dispersion_of_losses()
    }
}

/// The parameters are all variables, and a sample has a residual for each number of its outputs, term after term. The
/// residuals of a sample are computed together.
impl<T: Real> LeastSquares<T> for Network<T> {
    fn parameter_count(&self) -> usize {
        self.variables.values().len()
    }

    fn residual_count(&self) -> usize {
        // Without a batch there is one sample, whose evaluation returns the error.
        let samples = if self.sweeps.batch.mean_over == 0 { 1 } else { self.sweeps.batch.rows() };
        samples * self.rows_per_sample()
    }

    fn row_group(&self) -> usize {
        self.rows_per_sample()
    }

    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Evaluated {
        self.evaluate_rows(x, first, r, None)
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Evaluated {
        self.want_columns(std::slice::from_ref(&(0..x.len())));
        self.evaluate_rows(x, first, r, Some(jacobian))
    }

    fn parameter_name(&self, index: usize) -> String {
        self.variables.parameter_name(index)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real> Capabilities<T> for Network<T> {
    fn linearize_columns(
        &mut self,
        x: &[T],
        first: usize,
        r: &mut [T],
        columns: &[Range<usize>],
        jacobian: &mut [T],
    ) -> Evaluated<bool> {
        self.want_columns(columns);
        self.evaluate_rows(x, first, r, Some(jacobian))?;
        Ok(true)
    }

    fn cost_of(&mut self, _first: usize, _r: &[T]) -> Option<T> {
        (!self.is_exact()).then_some(self.cost)
    }

    fn second_directional_derivative(&mut self, x: &[T], v: &[T], first: usize, second: &mut [T]) -> Evaluated<bool> {
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
    ) -> Evaluated<bool> {
        self.bend(x, v, first, second, Some(product))?;
        Ok(true)
    }

    fn transposed_product(&mut self, x: &[T], first: usize, u: &[T], product: &mut [T]) -> Evaluated<bool> {
        self.pull_back(x, first, u, product)?;
        Ok(true)
    }

    /// Returns false: the products that follow a linearisation cost more than the forward sweep that it would save.
    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        Some(false)
    }

    fn products(&mut self) -> Option<&mut dyn JacobianProducts<T>> {
        Some(self)
    }

    fn communicator(&mut self) -> Option<&Communicator> {
        self.several_ranks()
    }
}

impl<T: Real> Network<T> {
    /// The part of the loss that this rank's rows make.
    fn own_loss(&mut self, x: &[T]) -> Evaluated<T> {
        self.check_bound(x).map_err(EvaluationError::new)?;
        let mut loss = T::ZERO;
        self.sweeps.tiles(x, 0..self.rows(), |tile| {
            tile.forward();
            loss += tile.loss();
        });
        Ok(loss)
    }

    /// The part of the loss that this rank's rows make, and its gradient.
    fn own_loss_and_gradient(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Evaluated<T> {
        self.begin_gradient(x, gradients)?;
        coming_from(self.sweeps.tape.records(), |_| true, None, &mut self.marks);
        let mut loss = T::ZERO;
        self.sweeps.tiles(x, 0..self.rows(), |tile| {
            tile.forward();
            tile.seed_gradients(&mut loss);
            tile.reverse(&self.marks, &mut GradientSums { gradients, products: None });
        });
        Ok(loss)
    }

    /// Checks that the gradient can be computed, and clears the one before.
    pub(super) fn begin_gradient(&self, x: &[T], gradients: &mut Gradients<T>) -> Evaluated {
        self.check_bound(x).map_err(EvaluationError::new)?;
        if !gradients.variables().eq(self.variables.iter()) {
            return Err(EvaluationError::new(BatchError::Gradients));
        }
        gradients.clear();
        Ok(())
    }

    /// Residuals of samples, and the wanted columns of their Jacobian.
    fn evaluate_rows(&mut self, x: &[T], first: usize, r: &mut [T], mut jacobian: Option<&mut [T]>) -> Evaluated {
        self.check_residuals(x)?;
        // Reserved here, so that a later geodesic correction allocates nothing.
        self.sweeps.workspace.reserve_curvatures();
        let (exact, group) = (self.is_exact(), self.rows_per_sample());
        let (first, width) = (first / group, group * self.columns.count());
        self.cost = T::ZERO;
        self.sweeps.tiles(x, first..first + r.len() / group, |tile| {
            tile.forward_once(jacobian.is_some());
            for term in tile.terms() {
                tile.residuals(term, &mut r[tile.range(first, group)]);
                if !exact {
                    self.cost += tile.loss_of(term);
                }
                let Some(jacobian) = jacobian.as_mut().filter(|_| width > 0) else { continue };
                let matrix = &mut jacobian[tile.range(first, width)];
                for row in 0..term.output.width() {
                    tile.workspace.clear_derivatives();
                    tile.seed_row(term, row);
                    let first_row = term.first_row + row;
                    let rows = JacobianRows::new(&self.columns, matrix, first_row, group, &mut self.written);
                    tile.reverse_to_rows(&self.marks, rows);
                }
            }
        });
        Ok(())
    }

    /// Second derivatives of residuals along `v`, with the roots of the losses held; and `Jᵀ` times them, added to
    /// `product`.
    fn bend(&mut self, x: &[T], v: &[T], first: usize, second: &mut [T], mut product: Option<&mut [T]>) -> Evaluated {
        self.check_residuals(x)?;
        coming_from(self.sweeps.tape.records(), |_| true, None, &mut self.marks);
        let group = self.rows_per_sample();
        let first = first / group;
        self.sweeps.tiles(x, first..first + second.len() / group, |tile| {
            let second = &mut second[tile.range(first, group)];
            tile.forward_once(true);
            tile.workspace.curvature(&tile.tile, tile.nodes, v);
            tile.workspace.clear_derivatives();
            for term in tile.terms() {
                tile.find_roots(term);
                let change = tile.workspace.second_derivative(&tile.tile, term.output);
                tile.residual_derivatives(term, change, second);
                if product.is_some() {
                    tile.seed_residuals(term, second);
                }
            }
            if let Some(product) = &mut product {
                tile.reverse(&self.marks, &mut FlatSums(product));
            }
        });
        Ok(())
    }

    /// Adds the product of the transposed Jacobian with `u`: one reverse sweep.
    pub(super) fn pull_back(&mut self, x: &[T], first: usize, u: &[T], product: &mut [T]) -> Evaluated {
        self.check_residuals(x)?;
        coming_from(self.sweeps.tape.records(), |_| true, None, &mut self.marks);
        let group = self.rows_per_sample();
        let first = first / group;
        self.sweeps.tiles(x, first..first + u.len() / group, |tile| {
            tile.forward_once(true);
            tile.pull(&u[tile.range(first, group)], &self.marks, &mut FlatSums(product));
        });
        Ok(())
    }

    /// Refuses a point or a state that residuals cannot be evaluated at.
    pub(super) fn check_residuals(&self, x: &[T]) -> Evaluated {
        self.check_bound(x).map_err(EvaluationError::new)?;
        self.check_forms().map_err(EvaluationError::new)
    }

    /// Refuses a loss without a Gauss–Newton form.
    pub(super) fn check_forms(&self) -> Result<(), NotLeastSquares> {
        match self.sweeps.terms.iter().find(|term| term.loss.least_squares().is_none()) {
            Some(term) => Err(NotLeastSquares { loss: term.loss.name().to_owned() }),
            None => Ok(()),
        }
    }

    /// Returns true if `½‖r‖²` is the loss.
    pub(super) fn is_exact(&self) -> bool {
        self.sweeps.terms.iter().all(|term| term.loss.least_squares().is_some_and(|seen| seen.is_exact()))
    }
}
