//! Terms of the likelihood, summed over all responses of a fit.

use super::FittedCurve;
use crate::distributed::CommunicatorError;
use crate::real::Real;

/// Sums over the responses of all ranks that some statistics take, besides the [`Squares`](super::squares::Squares).
#[derive(Debug, Clone)]
pub(super) struct Totals<T> {
    /// The deviance; of counts, `2 Σ (y ln(y/μ) − y + μ)`.
    pub(super) deviance: T,
    /// The deviance of the responses from their mean.
    pub(super) deviance_about_mean: T,
    /// `ln |Σ|` of the noise.
    pub(super) log_determinant: f64,
    /// The logarithm of the likelihood of counts.
    pub(super) log_likelihood_of_counts: f64,
}

impl<T: Real> Totals<T> {
    /// The sums over the data of a fit. Collective.
    pub(super) fn of(fit: &FittedCurve<'_, T>) -> Result<Self, CommunicatorError> {
        let (data, is_of_counts) = (&fit.checked.data, fit.checked.is_of_counts());
        let ranks = data.ranks();
        let [deviance, log_likelihood] = if is_of_counts { fit.of_counts() } else { [0.0; 2] };
        let mut sums = [deviance, log_likelihood, data.noise.log_determinant().to_f64()];
        ranks.all_sum(&mut sums)?;
        let [deviance, log_likelihood_of_counts, log_determinant] = sums;
        let (deviance, deviance_about_mean) = if is_of_counts {
            (T::from_f64(deviance), fit.counts_about_mean()?)
        } else {
            (fit.squares.whitened, fit.squares.about_mean)
        };
        Ok(Totals { deviance, deviance_about_mean, log_determinant, log_likelihood_of_counts })
    }
}
