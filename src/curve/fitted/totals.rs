//! Sums over all responses of a fit.

use super::FittedCurve;
use super::constants::Constants;
use crate::Real;
use crate::curve::likelihood::Likelihood;
use crate::distributed::CommunicatorError;
use crate::kernels::vector::dot;
use crate::problem::shared_mad_scale;

/// Sums over the responses of all ranks, from which statistics follow on any of them.
#[derive(Debug, Clone)]
pub(super) struct Totals<T> {
    /// Of the squared whitened residuals; Pearson's `Σ (y − μ)²/μ` of counts.
    pub(super) whitened_squares: T,
    /// Of the squared residuals.
    pub(super) squares: T,
    /// The deviance; of counts, `2 Σ (y ln(y/μ) − y + μ)`.
    pub(super) deviance: T,
    /// The deviance of the responses from their mean.
    pub(super) deviance_about_mean: T,
    /// `ln |Σ|` of the noise.
    pub(super) log_determinant: f64,
    /// The logarithm of the likelihood of counts.
    pub(super) log_likelihood_of_counts: f64,
    /// Of the squared responses, each by its sigma.
    pub(super) squared_responses: f64,
    /// The standard deviation of each response of a row, where it is the same in all rows.
    pub(super) common_sigma: Option<Vec<T>>,
    /// The standard deviation of the whitened residuals but for outliers, of a robust fit.
    pub(super) robust_deviation: Option<T>,
}

impl<T: Real> Totals<T> {
    /// Of the data of this fit. Collective.
    pub(super) fn of<C>(fit: &FittedCurve<'_, T, C>) -> Result<Self, CommunicatorError> {
        let (data, is_of_counts) = (&fit.setting.data, fit.is_of_counts());
        let (ranks, residuals, whitened) = (data.ranks(), fit.residuals(), fit.whitened_residuals());
        let of_counts = if is_of_counts { fit.of_counts() } else { [0.0; 2] };
        let mut sums = [
            dot(&whitened, &whitened).to_f64(),
            dot(&residuals, &residuals).to_f64(),
            of_counts[0],
            of_counts[1],
            data.noise.log_determinant().to_f64(),
            data.squared_responses(),
        ];
        ranks.all_sum(&mut sums)?;
        let [squares, of_residuals, deviance, log_likelihood_of_counts, log_determinant, squared_responses] = sums;
        let is_robust = matches!(fit.setting.likelihood, Likelihood::Robust(..));
        let robust_deviation = if is_robust { Some(shared_mad_scale(ranks, &whitened)?) } else { None };
        let deviance_about_mean = if is_of_counts {
            fit.counts_about_mean()?
        } else {
            let typical = (0.5 * log_determinant / fit.number_of_responses() as f64).exp();
            Constants::new(data, T::from_f64(typical)).squares_about_mean()?
        };
        Ok(Totals {
            whitened_squares: T::from_f64(squares),
            squares: T::from_f64(of_residuals),
            deviance: T::from_f64(if is_of_counts { deviance } else { squares }),
            deviance_about_mean,
            log_determinant,
            log_likelihood_of_counts,
            squared_responses,
            common_sigma: fit.find_common_sigma()?,
            robust_deviation,
        })
    }
}
