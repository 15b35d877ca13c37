//! Judgement of the end of a fit, which decides on further attempts.

use super::FittedCurve;
use crate::curve::ParameterState;
use crate::curve::likelihood::Likelihood;
use crate::real::Real;
use crate::solver::Status;

/// A parameter ran away if its standard error is this many times its value, and its value as many times its start.
const FAR: f64 = 100.0;

/// Ratio of the mean squares that the parameters explain and that they leave, below which the curve is no better than the mean of the
/// data.
const LEAST_F: f64 = 4.0;

impl<T: Real> FittedCurve<'_, T> {
    /// Another attempt may do better: the fit has neither ended well nor been stopped.
    pub(in crate::curve) fn may_be_improved(&self) -> bool {
        use Status::*;
        let status = self.report.status;
        let was_stopped = matches!(status, TargetCost | MaxEvaluations | TimeLimit | Cancelled | EvaluationFailed);
        !was_stopped && !self.is_usable()
    }

    /// The fit is converged and better than the mean of the data, and all parameters are determined and within reach of their starts.
    pub(in crate::curve) fn is_usable(&self) -> bool {
        self.report.is_converged()
            && self.covariance.undetermined().is_empty()
            && self.is_better_than_mean()
            && !self.ran_away()
    }

    /// The squares about the curve are significantly less than those about the mean. A robust loss may leave any.
    fn is_better_than_mean(&self) -> bool {
        let left = match self.checked.likelihood {
            Likelihood::Gaussian => self.squares.whitened,
            Likelihood::Poisson => self.squares.residuals,
            Likelihood::Robust(..) => return true,
        };
        let about_mean = self.squares.about_mean;
        let count = |count: usize| T::from_f64(count as f64);
        let explaining = count(self.checked.map.free().len().saturating_sub(1));
        let least = T::from_f64(LEAST_F) * explaining * left / count(self.degrees_of_freedom().max(1));
        about_mean == T::ZERO || about_mean - left >= least
    }

    /// A parameter is orders of magnitude away from its start, and not determined.
    fn ran_away(&self) -> bool {
        let far = T::from_f64(FAR);
        self.parameters.iter().zip(&self.checked.map.parameters).any(|(fitted, parameter)| {
            let (value, start, error) = (fitted.value.abs(), parameter.start.abs(), fitted.standard_error);
            let is_uncertain = error > far * value;
            let has_grown = value > far * start && start > T::ZERO;
            fitted.state == ParameterState::Free && is_uncertain && has_grown
        })
    }
}
