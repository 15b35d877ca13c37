//! Judgement of the end of a fit, which decides on further attempts.

use super::FittedCurve;
use crate::curve::ParameterState;
use crate::curve::likelihood::Likelihood;
use crate::real::Real;
use crate::solver::Status;

/// A parameter ran away if its standard error is this many times its value, and its value as many times its start.
const FAR: f64 = 100.0;

/// Share of the squares about the mean above which a parameter without influence was lost on the way.
const POOR: f64 = 0.5;

impl<T: Real> FittedCurve<'_, T> {
    /// Another attempt may do better: the fit has neither ended well nor been stopped.
    pub(in crate::curve) fn may_be_improved(&self) -> bool {
        use Status::*;
        let status = self.report.status;
        let was_stopped = matches!(status, TargetCost | MaxEvaluations | TimeLimit | Cancelled | EvaluationFailed);
        !was_stopped && !self.is_usable()
    }

    /// The fit is converged and better than the mean of the data, and no parameter ran away.
    pub(in crate::curve) fn is_usable(&self) -> bool {
        let is_lost = self.has_left(POOR) && !self.covariance.undetermined().is_empty();
        self.report.is_converged() && !self.has_left(1.0) && !is_lost && !self.ran_away()
    }

    /// More than this share of the squares about the mean is left. A robust loss may leave any.
    fn has_left(&self, share: f64) -> bool {
        let left = match self.checked.likelihood {
            Likelihood::Gaussian => self.squares.whitened,
            Likelihood::Poisson => self.squares.residuals,
            Likelihood::Robust(..) => return false,
        };
        let about_mean = self.squares.about_mean;
        about_mean > T::ZERO && !(left <= T::from_f64(share) * about_mean)
    }

    /// A parameter is orders of magnitude away from its start, and not determined.
    fn ran_away(&self) -> bool {
        let far = T::from_f64(FAR);
        self.parameters.iter().zip(&self.checked.map.parameters).any(|(fitted, parameter)| {
            let (value, start, error) = (fitted.value.abs(), parameter.start.abs(), fitted.standard_error);
            let is_uncertain = error > far * value;
            let has_grown = value > far * start && start > T::ZERO;
            let has_vanished = !error.is_finite() && far * value < start;
            let does_move = matches!(fitted.state, ParameterState::Free | ParameterState::Undetermined);
            does_move && is_uncertain && (has_grown || has_vanished)
        })
    }
}
