//! Judgement of the end of a fit, which decides on further attempts.

use super::FittedCurve;
use crate::curve::Warning;
use crate::curve::likelihood::Likelihood;
use crate::real::Real;
use crate::solver::Status;

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

    /// No [warning](Self::warnings) speaks against the fit but those of rounding, bounds and relations, and it is significantly better than the
    /// mean of the data.
    pub(in crate::curve) fn is_usable(&self) -> bool {
        use Warning::*;
        let is_harmless =
            |warning: &Warning| matches!(warning, EndedByRounding { .. } | AtBound { .. } | AtRelation { .. });
        self.warnings.iter().all(is_harmless) && self.is_better_than_mean()
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
}
