//! Bounds put on any problem.

use super::forward::forward;
use super::{Bounds, BoundsError, LeastSquares, ParameterDomain};
use crate::real::Real;

/// A problem with bounds on its parameters, which replace its own bounds.
///
/// ```
/// use marquardt::{Bounds, LevenbergMarquardt};
/// use marquardt::problem::{BoundSide, Bounded, FiniteDifference};
///
/// // Nearest to (1, 2) on x₀ ≤ ½.
/// let nearest = FiniteDifference::new(2, 2, |x: &[f64], r: &mut [f64]| {
///     r.copy_from_slice(&[x[0] - 1.0, x[1] - 2.0]);
///     Ok(())
/// });
/// let bounds = Bounds::unbounded(2).with(0, f64::NEG_INFINITY, 0.5)?;
/// let report =
///     LevenbergMarquardt::new().minimize(&mut Bounded::new(nearest, bounds)?, &[0.0, 0.0])?;
/// assert!(report.x[0] == 0.5 && (report.x[1] - 2.0).abs() < 1e-9);
/// assert_eq!((report.active[0].parameter, report.active[0].side), (0, BoundSide::Upper));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The solver never evaluates points outside of the bounds. A problem that computes differences itself may do so; use
/// [`FiniteDifference::with_bounds`](crate::problem::FiniteDifference::with_bounds) to prevent it.
#[derive(Debug, Clone)]
pub struct Bounded<T, P> {
    problem: P,
    bounds: Bounds<T>,
}

impl<T: Real, P: LeastSquares<T>> Bounded<T, P> {
    /// The problem within these bounds.
    ///
    /// # Errors
    ///
    /// [`BoundsError::WrongLength`] when they are not for as many parameters as the problem has.
    pub fn new(problem: P, bounds: Bounds<T>) -> Result<Self, BoundsError> {
        let (parameters, found) = (problem.parameter_count(), bounds.len());
        if parameters != found {
            return Err(BoundsError::WrongLength { parameters, bounds: found });
        }
        Ok(Bounded { problem, bounds })
    }

    /// The problem.
    pub fn problem(&self) -> &P {
        &self.problem
    }

    /// The problem, to change.
    pub fn problem_mut(&mut self) -> &mut P {
        &mut self.problem
    }
}

impl<T: Real, P: LeastSquares<T>> LeastSquares<T> for Bounded<T, P> {
    forward!(self => self.problem; parameter_count residual_count row_group residuals linearize capabilities parameter_name);

    fn domain(&self) -> ParameterDomain<'_, T> {
        self.problem.domain().with_bounds(&self.bounds)
    }
}
