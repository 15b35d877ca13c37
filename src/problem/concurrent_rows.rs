//! Rows that several threads evaluate at once.

use std::ops::Range;

use super::EvaluationError;
use crate::real::Real;

/// A [`LeastSquares`](crate::LeastSquares) problem whose rows can be evaluated on several threads at once, at one point.
///
/// The problem returns itself from [`concurrent`](crate::problem::Capabilities::concurrent), and the feature `rayon` makes use of it where
/// there are many rows and the normal equations are formed. How the rows are divided follows from the size of the problem, so that
/// the sums over them do not depend on the number of threads; nor does the error that ends a solve.
pub trait ConcurrentRows<T: Real>: Sync {
    /// Fills `r` as [`residuals`](crate::LeastSquares::residuals) does at the `x` that
    /// [`concurrent`](crate::problem::Capabilities::concurrent) was given; returns the [cost](crate::problem::Capabilities::cost_of) of these rows.
    ///
    /// # Errors
    ///
    /// As [`residuals`](crate::LeastSquares::residuals).
    fn evaluate_rows(&self, first: usize, r: &mut [T]) -> Result<T, EvaluationError>;

    /// Fills `r` and `jacobian` as [`linearize`](crate::LeastSquares::linearize) does; returns the cost of these rows. `room` is scratch
    /// memory of the problem.
    ///
    /// # Errors
    ///
    /// As [`linearize`](crate::LeastSquares::linearize).
    fn linearize_rows(
        &self,
        first: usize,
        r: &mut [T],
        jacobian: &mut [T],
        room: &mut Vec<T>,
    ) -> Result<T, EvaluationError>;

    /// Adds `JᵀJ`, its lower triangle, and `Jᵀr` of these rows, whose cost is `½‖r‖²`, and returns `‖r‖²`; returns `None`, the default,
    /// with nothing added, if this is not possible without forming the rows.
    #[doc(hidden)]
    fn add_products(&self, rows: Range<usize>, gram: &mut [T], gradient: &mut [T]) -> Option<T> {
        let _ = (rows, gram, gradient);
        None
    }

    /// Adds `Jᵀw` of these rows to `sums`, of the second derivatives `w` along `v` by differences to the point `ahead`, a share `probe` of the
    /// way; `false`, the default, with nothing added, where that takes the rows themselves. `room` is for as many entries as there are rows.
    #[doc(hidden)]
    fn add_forcing(
        &self,
        rows: Range<usize>,
        (v, ahead, probe): (&[T], &[T], T),
        room: &mut [T],
        sums: &mut [T],
    ) -> Result<bool, EvaluationError> {
        let _ = (rows, v, ahead, probe, room, sums);
        Ok(false)
    }
}
