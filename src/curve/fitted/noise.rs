//! Noise of new responses, estimated from the residuals of a fit.

use crate::curve::checked_fit::CheckedFit;
use crate::curve::data::Data;
use crate::curve::inference::{ResponseKind, ResponseNoise};
use crate::curve::likelihood::Likelihood;
use crate::curve::noise::Noise;
use crate::curve::robust_sums::RobustSums;
use crate::distributed::CommunicatorError;
use crate::kernels::vector::all_finite;
use crate::real::Real;
use crate::solver::Covariance;

impl<T: Real> ResponseNoise<T> {
    /// The noise where a solve has ended. Collective.
    pub(super) fn of(
        checked: &CheckedFit<'_, T>,
        covariance: &Covariance<T>,
        robust: Option<&RobustSums<T>>,
    ) -> Result<Self, CommunicatorError> {
        let data = &checked.data;
        let kind = match (&checked.likelihood, &data.noise) {
            (Likelihood::Poisson, _) => ResponseKind::Counts,
            (_, Noise::Uniform) => ResponseKind::Uniform,
            (_, Noise::Sigma(_)) => ResponseKind::Weighted,
            (_, Noise::Correlated(_)) => ResponseKind::Correlated,
        };
        let known = covariance.is_absolute().then_some(T::ONE);
        let judged = covariance.residual_variance().map(|variance| {
            // Outliers are not what a robust fit takes for noise.
            robust.map_or(variance, |sums| sums.deviation * sums.deviation)
        });
        let unit_variance = known.or(judged).unwrap_or(T::INFINITY);
        Ok(ResponseNoise { kind, unit_variance, sigma: common_sigma(data)? })
    }
}

/// The standard deviation of each response of a row, where it is the same in all rows. Collective.
fn common_sigma<T: Real>(data: &Data<'_, T>) -> Result<Option<Vec<T>>, CommunicatorError> {
    let outputs = data.outputs();
    if let Noise::Uniform = data.noise {
        return Ok(Some(vec![T::ONE; outputs]));
    }
    let responses = data.y().len();
    let mut own: Vec<T> = (0..outputs.min(responses)).map(|output| data.noise.sigma(output)).collect();
    if (0..responses).any(|index| data.noise.sigma(index) != own[index % outputs]) {
        own.fill(T::from_f64(f64::NAN));
    }
    let mut all = data.ranks().all_gather(&own)?.into_iter().filter(|sigma| !sigma.is_empty());
    Ok(all.next().filter(|first| all_finite(first) && all.all(|sigma| sigma == *first)))
}
