//! Jacobians of small dense blocks: each residual block depends on a few blocks of columns.

use std::ops::Range;

use super::EvaluationError;
use crate::real::Real;

/// A problem whose residuals come in blocks, each of which depends on few blocks of the parameters.
///
/// The normal equations of such a problem are sparse. A [`LeastSquares`](crate::LeastSquares) problem returns itself from
/// [`blocks`](crate::problem::Capabilities::blocks), and is solved by a sparse Cholesky factorisation or, where that fills in too much, by conjugate gradients;
/// [`graph::Problem`](crate::graph::Problem) is one.
pub trait BlockJacobian<T: Real> {
    /// Number of columns in each block of columns, from the first column to the last.
    fn column_blocks(&self) -> Vec<usize>;

    /// Calls `visit` for each residual block with the blocks of columns in which it has derivatives, each once.
    fn visit_structure(&self, visit: &mut dyn FnMut(&[usize]));

    /// Evaluates all residual blocks at `x`, in the order of [`visit_structure`](Self::visit_structure), and returns the cost. Calls
    /// `visit` for each with its residuals `r` and its rows of the Jacobian, row after row: the columns of its blocks side by side. Under a
    /// robust loss, `Jᵀr` is the gradient of the cost, and `JᵀJ` its approximate second derivative.
    ///
    /// # Errors
    ///
    /// As [`linearize`](crate::LeastSquares::linearize).
    fn linearize_blocks(&mut self, x: &[T], visit: &mut dyn FnMut(&[T], &[T])) -> Result<T, EvaluationError>;

    /// Passes the gain ratio of a trial step, the actual over the predicted reduction of the cost. If rows represent another loss, the
    /// problem may adapt their second derivative for the next linearisations. The default implementation does nothing.
    fn learn(&mut self, gain_ratio: T) {
        let _ = gain_ratio;
    }

    /// The problem as one whose residual blocks can be evaluated at `x` on several threads at once, if it can be; `None` by default.
    fn concurrent(&mut self, x: &[T]) -> Option<&dyn ConcurrentBlocks<T>> {
        let _ = x;
        None
    }
}

/// A [`BlockJacobian`] whose residual blocks can be evaluated on several threads at once, at one point.
///
/// The feature `rayon` makes use of it. The sums over residual blocks do not depend on the number of threads, nor does the residual
/// block whose error ends a solve.
pub trait ConcurrentBlocks<T: Real>: Sync {
    /// Evaluates some of the residual blocks at the `x` that [`concurrent`](BlockJacobian::concurrent) was given, as
    /// [`linearize_blocks`](BlockJacobian::linearize_blocks) does all, and returns their cost.
    ///
    /// # Errors
    ///
    /// As [`linearize_blocks`](BlockJacobian::linearize_blocks).
    fn linearize_range(
        &self,
        x: &[T],
        blocks: Range<usize>,
        visit: &mut dyn FnMut(&[T], &[T]),
    ) -> Result<T, EvaluationError>;
}
