//! A least-squares problem made robust against outliers.

use std::ops::Range;

use thiserror::Error;

use super::forward::forward;
use super::probe::{Probe, advance};
use super::robust_row::{RobustRow, robust_rows};
use super::{Capabilities, EvaluationError, LeastSquares, RobustLoss};
use crate::real::Real;

/// A problem whose residuals are put under a [`RobustLoss`], with the scale `C`: it minimises `½ Σ C² ρ((r/C)²)`.
///
/// The scale `C` is the size above which a residual begins to count as an outlier. For residuals in units of their standard deviation, use
/// the loss's [`tuning`](RobustLoss::tuning) constant; otherwise that constant times the standard deviation of the noise, which
/// [`mad_scale`](crate::problem::mad_scale) estimates from the residuals.
///
/// The rows passed to the solver have the exact gradient, and the curvature of the loss where it is sufficiently positive (generalised
/// Gauss–Newton). Steps are accepted by the robust cost, which is the cost in the [`Report`](crate::Report).
///
/// ```
/// use marquardt::{LevenbergMarquardt, Loss};
/// use marquardt::problem::{FiniteDifference, Robust, RobustLoss};
///
/// // y = 2x + 1, but for two points.
/// let y = [1.01, 2.98, 5.0, 60.0, 9.02, 10.99, -40.0, 15.01];
/// let line = FiniteDifference::new(2, 8, |b: &[f64], r: &mut [f64]| {
///     r.iter_mut().zip(y).enumerate().for_each(|(x, (r, y))| *r = b[0] * x as f64 + b[1] - y);
///     Ok(())
/// });
/// let noise = 0.02;
/// let scale = noise * RobustLoss::<f64>::tuning(&Loss::Cauchy);
/// let report = LevenbergMarquardt::new()
///     .minimize(&mut Robust::new(line, Loss::Cauchy, scale)?, &[1.5, 1.5])?;
/// assert!((report.x[0] - 2.0).abs() < 0.01 && (report.x[1] - 1.0).abs() < 0.03);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Robust<T, P, L> {
    problem: P,
    loss: L,
    scale: T,
    /// The cost of the rows last evaluated.
    cost: T,
    /// Memory for the second derivative along a step.
    probe: Probe<T>,
}

/// Error of a scale of a robust loss that is not positive and finite.
///
/// For example, the scale estimated from residuals that are all zero is 0.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("the scale of a robust loss must be positive and finite, not {value}")]
pub struct RobustScaleError {
    /// Its value.
    pub value: f64,
}

impl<T: Real, P: LeastSquares<T>, L: RobustLoss<T>> Robust<T, P, L> {
    /// The problem under the loss with the scale `C`.
    ///
    /// # Errors
    ///
    /// [`RobustScaleError`] when the scale is not positive and finite.
    pub fn new(problem: P, loss: L, scale: T) -> Result<Self, RobustScaleError> {
        if !(scale > T::ZERO && scale.is_finite()) {
            return Err(RobustScaleError { value: scale.to_f64() });
        }
        Ok(Robust { problem, loss, scale, cost: T::ZERO, probe: Probe::default() })
    }

    /// The problem itself.
    pub fn problem(&self) -> &P {
        &self.problem
    }

    /// The problem itself, to change.
    pub fn problem_mut(&mut self) -> &mut P {
        &mut self.problem
    }

    /// Returns the inner problem.
    pub fn into_problem(self) -> P {
        self.problem
    }

    /// The loss.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// The scale `C`.
    pub fn scale(&self) -> T {
        self.scale
    }
}

impl<T: Real, P: LeastSquares<T>, L: RobustLoss<T>> LeastSquares<T> for Robust<T, P, L> {
    forward!(self => self.problem; parameter_count residual_count row_group domain parameter_name);

    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.problem.residuals(x, first, r)?;
        self.cost = robust_rows(&self.loss, self.scale, r, &mut []);
        Ok(())
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        self.problem.linearize(x, first, r, jacobian)?;
        self.cost = robust_rows(&self.loss, self.scale, r, jacobian);
        Ok(())
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real, P: LeastSquares<T>, L: RobustLoss<T>> Capabilities<T> for Robust<T, P, L> {
    forward!(self => self.problem.capabilities(); communicator derivatives_are_cheap derivatives_are_rough keep_evaluations);

    fn linearize_columns(
        &mut self,
        x: &[T],
        first: usize,
        r: &mut [T],
        columns: &[Range<usize>],
        jacobian: &mut [T],
    ) -> Result<bool, EvaluationError> {
        let done = self.problem.capabilities().linearize_columns(x, first, r, columns, jacobian)?;
        if done {
            self.cost = robust_rows(&self.loss, self.scale, r, jacobian);
        }
        Ok(done)
    }

    /// The true cost of the rows just evaluated.
    fn cost_of(&mut self, _first: usize, _r: &[T]) -> Option<T> {
        Some(self.cost)
    }

    /// `√h r_vv`, with the curvature `h` of the loss: with it geodesic acceleration solves
    /// `(JᵀhJ + λD²)a = −Jᵀh r_vv`, which follows the path of the residuals themselves. A difference of what the rows of
    /// [`residuals`](LeastSquares::residuals) hold would not do: their Jacobian is not the derivative of these.
    fn second_directional_derivative(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Result<bool, EvaluationError> {
        self.probe.here.resize(second.len(), T::ZERO);
        self.problem.residuals(x, first, &mut self.probe.here)?;
        if !self.problem.capabilities().second_directional_derivative(x, v, first, second)? {
            let (problem, probe) = (&mut self.problem, &mut self.probe);
            probe.difference(second, |share, point, r| {
                advance(problem.domain().manifold(), x, share, v, point);
                problem.residuals(point, first, r)
            })?;
        }
        for (second, &r) in second.iter_mut().zip(&self.probe.here) {
            RobustRow::new(&self.loss, self.scale, r).scale(std::slice::from_mut(second));
        }
        Ok(true)
    }
}
