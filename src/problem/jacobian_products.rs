//! Products with a Jacobian that is not formed.

use std::ops::Range;

use super::{EvaluationError, LeastSquares, Work};
use crate::real::Real;

/// A problem that multiplies by its Jacobian without forming it.
///
/// Networks do: the Jacobian of a dense layer is made of the layer's inputs and the outputs' sensitivities, which are far
/// smaller. Any [`LeastSquares`](crate::LeastSquares) problem may, by returning itself from
/// [`products`](crate::problem::Capabilities::products); a sparse Jacobian is another example.
///
/// Only `Jᵀu` is required, for example from the backward pass of another library. [`row_gram`](Self::row_gram) and its blocks are optional;
/// a problem without them is solved by truncated conjugate gradients on `JᵀJ`
/// ([`LinearForm::TruncatedConjugateGradients`](crate::linear::LinearForm::TruncatedConjugateGradients)). [`multiply`](Self::multiply) is
/// optional where residuals may be differenced.
///
/// The solver calls [`linearize_products`](Self::linearize_products) for a point, and later requests products with the Jacobian at that
/// point. It may evaluate other points in between.
///
/// # Ranks
///
/// Where the problem is one rank's [shard](crate::problem::Capabilities::communicator), residuals, cost, work and products are those
/// of the rows of all ranks, in the order of the ranks. Linearising is collective, and gathers what products take; products
/// then need no exchange. Networks gather the layers' inputs and sensitivities, not the Jacobian.
pub trait JacobianProducts<T: Real>: LeastSquares<T> {
    /// Work of the products for the parameters of `columns`, ascending ranges; `None` if the products are not possible without forming the
    /// Jacobian.
    fn work(&mut self, columns: &[Range<usize>]) -> Option<ProductWork>;

    /// Fills `r` with all residuals at `x`, keeps the entries that products at `x` need, and returns the cost there: the sum of
    /// [`cost_of`](crate::problem::Capabilities::cost_of) over all rows. `x` holds all parameters.
    ///
    /// # Errors
    ///
    /// As [`linearize`](crate::LeastSquares::linearize).
    fn linearize_products(&mut self, x: &[T], columns: &[Range<usize>], r: &mut [T]) -> Result<T, EvaluationError>;

    /// Fills `product` with `Jv`, where `v` has one entry for each parameter of the columns, and returns `true`; returns `false`, the
    /// default, if `Jv` is not available.
    ///
    /// It is then replaced by a difference of [`residuals`](LeastSquares::residuals), which takes one evaluation and is accurate to `√ε`.
    /// This is not possible for residuals that represent another loss, or that are distributed over ranks: such a problem must provide
    /// `Jv`. Two backward passes give it exactly, `Jᵀu` being linear in `u`: `Jv` is the gradient of `vᵀ(Jᵀu)` with respect to `u`.
    ///
    /// # Errors
    ///
    /// An error ends the solve, as for the other methods; the step is not taken, and nothing has changed.
    fn multiply(&mut self, v: &[T], product: &mut [T]) -> Result<bool, EvaluationError> {
        let _ = (v, product);
        Ok(false)
    }

    /// Fills `product` with `Jᵀu`, a number for each of the parameters of the columns.
    ///
    /// # Errors
    ///
    /// As [`multiply`](Self::multiply).
    fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) -> Result<(), EvaluationError>;

    /// Fills `gram` with `JJᵀ`, row after row, of which only the lower triangle is read. Called only if [`work`](Self::work) returns its
    /// cost.
    ///
    /// # Errors
    ///
    /// As [`multiply`](Self::multiply).
    fn row_gram(&mut self, gram: &mut [T]) -> Result<(), EvaluationError> {
        let _ = gram;
        Err("JJᵀ is not known".into())
    }

    /// Fills `blocks` with the blocks on the diagonal of `JJᵀ`, each of as many rows as are computed together, row after row, and
    /// returns `true`: the preconditioner of conjugate gradients on `JJᵀ`. Returns `false` where they are not known.
    ///
    /// # Errors
    ///
    /// As [`multiply`](Self::multiply).
    fn row_gram_blocks(&mut self, blocks: &mut [T]) -> Result<bool, EvaluationError> {
        let _ = blocks;
        Ok(false)
    }

    /// Fills `blocks` with Gram matrices of rows of `J`, each of one residual of every sample, in the order of a sample's residuals, and
    /// returns `true`. Of each, the lower triangle is read. Returns `false`, the default, where the residuals of a sample mix its
    /// outputs, as those of a softmax do: then these blocks are no preconditioner.
    ///
    /// # Errors
    ///
    /// As [`multiply`](Self::multiply).
    fn row_gram_of_residuals(&mut self, blocks: &mut [T]) -> Result<bool, EvaluationError> {
        let _ = blocks;
        Ok(false)
    }

    /// Fills `product` with `JJᵀu`, and returns `true`; `false`, the default, where two products with `J` are all there is. Called
    /// only where [`work`](Self::work) says what it costs.
    ///
    /// # Errors
    ///
    /// As [`multiply`](Self::multiply).
    fn multiply_row_gram(&mut self, u: &[T], product: &mut [T]) -> Result<bool, EvaluationError> {
        let _ = (u, product);
        Ok(false)
    }
}

/// Estimated work and memory of products with a Jacobian that is not formed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProductWork {
    /// Work of evaluating residuals and the entries that products need.
    pub linearize: Work,
    /// `JJᵀ`; `None` where it is not known.
    pub row_gram: Option<Work>,
    /// `Jv` or `Jᵀu`, whichever takes longer; an evaluation of the residuals for a `Jv` that is not known.
    pub product: Work,
    /// `JJᵀu` in one; `None` where it takes two products.
    pub gram_product: Option<Work>,
    /// Evaluating residuals and forming the Jacobian after all, for the forms of the linear system that take its rows; `None`
    /// where these should not be taken.
    pub jacobian: Option<Work>,
    /// Entries that are kept.
    pub numbers: usize,
}
