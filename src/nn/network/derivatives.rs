//! Access to the derivatives of a network: gradient, Jacobian and products.

use ndarray::Array2;

use super::Network;
use crate::nn::BatchError;
use crate::nn::sweep::{JacobianRows, Nowhere, coming_from};
use crate::nn::tape::Node;
use crate::problem::{Evaluated, LeastSquares};
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
        coming_from(self.sweeps.tape.records(), |_| false, Some(node), &mut self.marks);
        let mut gradient = Array2::from_elem((self.rows(), node.width()), T::ZERO);
        let entries = gradient.as_slice_mut().expect("a new array is contiguous");
        self.sweeps.tiles(variables.values(), 0..self.rows(), |tile| {
            tile.forward();
            tile.seed_gradients(&mut T::default());
            tile.reverse(&self.marks, &mut Nowhere);
            if let Some(adjoint) = tile.workspace.derivative(&tile.tile, node) {
                entries[tile.range(0, node.width())].copy_from_slice(adjoint);
            }
        });
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
        let mut rows_of_gradients = Array2::from_elem((self.rows(), n), T::ZERO);
        let entries = rows_of_gradients.as_slice_mut().expect("a new array is contiguous");
        self.want_columns(std::slice::from_ref(&(0..n)));
        self.sweeps.tiles(variables.values(), 0..self.rows(), |tile| {
            tile.forward();
            tile.seed_gradients(&mut T::default());
            let rows = &mut entries[tile.range(0, n)];
            tile.reverse_to_rows(&self.marks, JacobianRows::new(&self.columns, rows, 0, 1, &mut self.written));
        });
        Ok(rows_of_gradients)
    }

    /// `Jv` for the residuals' Jacobian `J` at `x`: how the residuals change along a direction of all variables.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`](crate::EvaluationError) from a [`BatchError`] or a [`NotLeastSquares`](crate::problem::NotLeastSquares).
    ///
    /// # Panics
    ///
    /// When `v` has not as many entries as `x`, or `product` not as many as there are residuals.
    pub fn jacobian_vector(&mut self, x: &[T], v: &[T], product: &mut [T]) -> Evaluated {
        self.check_residuals(x)?;
        assert_eq!(
            (v.len(), product.len()),
            (x.len(), self.residual_count()),
            "lengths of the direction and the result"
        );
        self.sweeps.tiles(x, 0..self.rows(), |tile| {
            tile.forward();
            tile.push(v, &mut product[tile.range(0, tile.group)]);
        });
        Ok(())
    }

    /// `Jᵀu` for the residuals' Jacobian `J` at `x`: the gradient of `uᵀr`. Of several ranks, each has what its rows add.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`](crate::EvaluationError) from a [`BatchError`] or a [`NotLeastSquares`](crate::problem::NotLeastSquares).
    ///
    /// # Panics
    ///
    /// When `u` has not as many entries as there are residuals, or `product` not as many as `x`.
    pub fn jacobian_transposed_vector(&mut self, x: &[T], u: &[T], product: &mut [T]) -> Evaluated {
        self.check_residuals(x)?;
        assert_eq!((u.len(), product.len()), (self.residual_count(), x.len()), "lengths of the factors and the result");
        product.fill(T::ZERO);
        self.pull_back(x, 0, u, product)
    }
}
