//! Bounds put on any problem.

use std::ops::Range;

use super::{Bounds, BoundsError, EvaluationError, JacobianProducts, LeastSquares};
use crate::Real;

/// A problem with bounds on its parameters, in place of those it may have had.
///
/// ```
/// use marquardt::{BoundSide, Bounded, Bounds, FiniteDifference, LevenbergMarquardt};
///
/// // Nearest to (1, 2) on x₀ ≤ ½.
/// let nearest = FiniteDifference::new(2, 2, |x: &[f64], r: &mut [f64]| {
///     r.copy_from_slice(&[x[0] - 1.0, x[1] - 2.0]);
///     Ok(())
/// });
/// let bounds = Bounds::unbounded(2).with(0, f64::NEG_INFINITY, 0.5)?;
/// let report = LevenbergMarquardt::new().minimize(&mut Bounded::new(nearest, bounds)?, &[0.0, 0.0])?;
/// assert!(report.x[0] == 0.5 && (report.x[1] - 2.0).abs() < 1e-9);
/// assert_eq!((report.active[0].parameter, report.active[0].side), (0, BoundSide::Upper));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Points outside are never evaluated by the solver. A problem that takes differences of its own may still do so:
/// [`FiniteDifference::with_bounds`](crate::FiniteDifference::with_bounds) does not.
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
    fn bounds(&self) -> Option<&Bounds<T>> {
        Some(&self.bounds)
    }

    #[inline]
    fn parameter_count(&self) -> usize {
        self.problem.parameter_count()
    }

    #[inline]
    fn residual_count(&self) -> usize {
        self.problem.residual_count()
    }

    #[inline]
    fn row_group(&self) -> usize {
        self.problem.row_group()
    }

    #[inline]
    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.problem.residuals(x, first, r)
    }

    #[inline]
    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        self.problem.linearize(x, first, r, jacobian)
    }

    fn linearize_columns(
        &mut self,
        x: &[T],
        first: usize,
        r: &mut [T],
        columns: &[Range<usize>],
        jacobian: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.problem.linearize_columns(x, first, r, columns, jacobian)
    }

    #[inline]
    fn cost_of(&mut self, first: usize, r: &[T]) -> T {
        self.problem.cost_of(first, r)
    }

    fn second_directional_derivative(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.problem.second_directional_derivative(x, v, first, second)
    }

    fn second_derivative_product(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
        product: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.problem.second_derivative_product(x, v, first, second, product)
    }

    #[inline]
    fn derivatives_are_cheap(&self) -> bool {
        self.problem.derivatives_are_cheap()
    }

    fn products(&mut self) -> Option<&mut dyn JacobianProducts<T>> {
        self.problem.products()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.problem.parameter_name(index)
    }
}
