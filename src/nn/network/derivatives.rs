//! Access to the derivatives of a network: gradient, Jacobian and products.

use ndarray::Array2;

use super::Network;
use super::sample_sets::tiles;
use crate::nn::BatchError;
use crate::nn::sweep::{GradientSums, JacobianRows, Nowhere, Tile, coming_from};
use crate::nn::tape::Node;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;
use crate::variables::Variables;

impl<T: Real> Network<T> {
    /// The gradient of the batch's loss with respect to a node: an input, or anything computed from inputs or variables.
    ///
    /// # Errors
    ///
    /// [`BatchError`] for a node of another tape, other variables than the network's, or when no batch is bound.
    pub fn gradient_of(&mut self, variables: &Variables<T>, node: Node) -> Result<Array2<T>, BatchError> {
        self.check_node(node)?;
        self.check_bound(variables.values())?;
        coming_from(self.tape.records(), |_| false, Some(node), &mut self.marks);
        let mut gradient = Array2::from_elem((self.batch.rows(), node.width()), T::ZERO);
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, marks, masks, .. } = self;
        for (set, rows) in tiles(workspace, batch, 0..batch.rows()) {
            let tile = Tile { tape, x: variables.values(), batch, rows: rows.clone(), masks: Some(*masks) };
            workspace.forward(&tile, &loss_nodes[set]);
            workspace.clear_derivatives();
            terms.iter().filter(|term| term.set == set).for_each(|term| term.seed_gradient(&tile, workspace, buffers));
            workspace.reverse(&tile, marks, &mut Nowhere);
            if let Some(adjoint) = workspace.derivative(&tile, node) {
                let numbers = gradient.as_slice_mut().expect("a new array is contiguous");
                numbers[rows.start * node.width()..rows.end * node.width()].copy_from_slice(adjoint);
            }
        }
        Ok(gradient)
    }

    /// Contribution of each sample of the batch to the gradient: a row for each, in the order of the flat vector.
    ///
    /// # Errors
    ///
    /// [`BatchError`] for other variables than the network's, or when no batch is bound.
    pub fn per_example_gradients(&mut self, variables: &Variables<T>) -> Result<Array2<T>, BatchError> {
        self.check_bound(variables.values())?;
        let n = variables.values().len();
        let mut rows_of_gradients = Array2::from_elem((self.batch.rows(), n), T::ZERO);
        self.want_columns(std::slice::from_ref(&(0..n)));
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, marks, masks, columns, written, .. } = self;
        for (set, rows) in tiles(workspace, batch, 0..batch.rows()) {
            let tile = Tile { tape, x: variables.values(), batch, rows: rows.clone(), masks: Some(*masks) };
            workspace.forward(&tile, &loss_nodes[set]);
            workspace.clear_derivatives();
            terms.iter().filter(|term| term.set == set).for_each(|term| term.seed_gradient(&tile, workspace, buffers));
            let numbers = rows_of_gradients.as_slice_mut().expect("a new array is contiguous");
            let mut sink = JacobianRows::new(columns, &mut numbers[rows.start * n..rows.end * n], 0, 1, written);
            workspace.reverse(&tile, marks, &mut sink);
            sink.finish(workspace, &tile);
        }
        Ok(rows_of_gradients)
    }

    /// `Jv` for the residuals' Jacobian `J` at `x`: how the residuals change along a direction of all variables.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] from a [`BatchError`] or a [`NotLeastSquares`](crate::problem::NotLeastSquares).
    ///
    /// # Panics
    ///
    /// When `v` has not as many numbers as `x`, or `product` not as many as there are residuals.
    pub fn jacobian_vector(&mut self, x: &[T], v: &[T], product: &mut [T]) -> Result<(), EvaluationError> {
        self.check_residuals(x)?;
        assert_eq!(
            (v.len(), product.len()),
            (x.len(), self.residual_count()),
            "lengths of the direction and the result"
        );
        let group = self.rows_per_sample();
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, masks, residuals, .. } = self;
        for (set, rows) in tiles(workspace, batch, 0..batch.rows()) {
            let tile = Tile { tape, x, batch, rows: rows.clone(), masks: Some(*masks) };
            workspace.forward(&tile, &loss_nodes[set]);
            workspace.tangent(&tile, &loss_nodes[set], v);
            let product = &mut product[rows.start * group..rows.end * group];
            for term in terms.iter().filter(|term| term.set == set) {
                term.residuals(&tile, workspace, buffers, &mut residuals[..product.len()], group);
                term.residual_derivatives(workspace.derivative(&tile, term.output), buffers, product, group);
            }
        }
        Ok(())
    }

    /// `Jᵀu` for the residuals' Jacobian `J` at `x`: the gradient of `uᵀr`. Of several ranks, each has what its rows add.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] from a [`BatchError`] or a [`NotLeastSquares`](crate::problem::NotLeastSquares).
    ///
    /// # Panics
    ///
    /// When `u` has not as many numbers as there are residuals, or `product` not as many as `x`.
    pub fn jacobian_transposed_vector(&mut self, x: &[T], u: &[T], product: &mut [T]) -> Result<(), EvaluationError> {
        self.check_residuals(x)?;
        assert_eq!((u.len(), product.len()), (self.residual_count(), x.len()), "lengths of the factors and the result");
        coming_from(self.tape.records(), |_| true, None, &mut self.marks);
        let group = self.rows_per_sample();
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, marks, masks, residuals, gradients, .. } =
            self;
        gradients.clear();
        for (set, rows) in tiles(workspace, batch, 0..batch.rows()) {
            let tile = Tile { tape, x, batch, rows: rows.clone(), masks: Some(*masks) };
            workspace.forward(&tile, &loss_nodes[set]);
            workspace.clear_derivatives();
            let factors = &u[rows.start * group..rows.end * group];
            for term in terms.iter().filter(|term| term.set == set) {
                term.residuals(&tile, workspace, buffers, &mut residuals[..factors.len()], group);
                term.seed_residuals(&tile, workspace, buffers, factors, group);
            }
            workspace.reverse(&tile, marks, &mut GradientSums(gradients));
        }
        product.copy_from_slice(gradients.flat_mut());
        Ok(())
    }
}
