//! Confidence bands of a curve and prediction bands of new responses.

use super::FittedCurve;
use super::uncertain_curve::{ResponseKind, ResponseNoise, UncertainCurve};
use crate::curve::likelihood::Likelihood;
use crate::curve::noise::Noise;
use crate::curve::{Rows, StatisticsError};
use crate::distributed::CommunicatorError;
use crate::kernels::vector::all_finite;
use crate::real::Real;

/// One point of a band: the value of the curve, and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandPoint<T> {
    /// The response of the curve.
    pub value: T,
    /// Its standard error.
    pub standard_error: T,
    /// The lower end.
    pub low: T,
    /// The upper end.
    pub high: T,
}

impl<'a, T: Real> FittedCurve<'a, T> {
    /// The band that contains the curve at each of these predictors with probability `level`, taken for itself: by the
    /// derivatives of the curve and the covariance of all parameters. Row after row, and the responses of a row together.
    ///
    /// Quantiles are those of [`confidence_interval`](Self::confidence_interval). The standard error is infinite where the
    /// curve depends on a parameter that the data do not determine, or the noise is unknown.
    ///
    /// # Errors
    ///
    /// [`StatisticsError`] for a level that is not between 0 and 1, another number of predictors than in the fit, or where
    /// the curve or its derivative is not finite.
    ///
    /// ```
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
    /// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
    /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
    /// let curve = fit.confidence_band(&[1.5, 9.0], 0.95)?;
    /// let responses = fit.prediction_band(&[1.5, 9.0], 0.95)?;
    /// assert!(responses[0].low < curve[0].low && curve[0].low < curve[0].value);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn confidence_band<'x>(
        &self,
        x: impl Into<Rows<'x, T>>,
        level: f64,
    ) -> Result<Vec<BandPoint<T>>, StatisticsError>
    where
        T: 'x,
    {
        self.uncertain_curve().confidence_band(x.into(), level)
    }

    /// The band that contains a new response to each of these predictors with probability `level`: that of the curve, and
    /// the noise added. Its variance is
    ///
    /// - `s²`, judged by the residuals, or one with [`absolute_sigma`](crate::CurveFit::absolute_sigma); of a robust fit, the
    ///   square of [`mad_scale`](crate::problem::mad_scale) of the residuals, so that outliers are not expected to come again,
    /// - with sigma given, that times the square of sigma, where it is the same in all rows,
    /// - for counts, the response of the curve.
    ///
    /// New responses are taken for independent of those that were fitted.
    ///
    /// # Errors
    ///
    /// As for [`confidence_band`](Self::confidence_band); [`StatisticsError::UnknownSigma`] where sigma is not the same in all
    /// rows, for which there is [`prediction_band_with_sigma`](Self::prediction_band_with_sigma).
    pub fn prediction_band<'x>(
        &self,
        x: impl Into<Rows<'x, T>>,
        level: f64,
    ) -> Result<Vec<BandPoint<T>>, StatisticsError>
    where
        T: 'x,
    {
        self.uncertain_curve().prediction_band(x.into(), &self.response_noise(), level)
    }

    /// The [prediction band](Self::prediction_band) of new responses with these standard deviations, one to each response,
    /// relative or absolute as in the fit.
    ///
    /// # Errors
    ///
    /// As for [`confidence_band`](Self::confidence_band); for counts, and for standard deviations that do not match the
    /// responses or are not positive.
    pub fn prediction_band_with_sigma<'x>(
        &self,
        x: impl Into<Rows<'x, T>>,
        sigma: impl Into<Rows<'x, T>>,
        level: f64,
    ) -> Result<Vec<BandPoint<T>>, StatisticsError>
    where
        T: 'x,
    {
        let sigma: Rows<'x, T> = sigma.into();
        self.uncertain_curve().prediction_band_with_sigma(x.into(), &sigma.into_flat(), &self.response_noise(), level)
    }

    /// The curve with the parameters of the fit.
    pub(super) fn uncertain_curve(&self) -> UncertainCurve<'_, T> {
        UncertainCurve {
            curve: &self.checked.curve,
            parameters: &self.report.x,
            covariance: &self.covariance,
            width: self.checked.data.width(),
        }
    }

    /// The noise of new responses.
    pub(super) fn response_noise(&self) -> ResponseNoise<T> {
        let kind = match (self.is_of_counts(), &self.checked.data.noise) {
            (true, _) => ResponseKind::Counts,
            (_, Noise::Uniform) => ResponseKind::Uniform,
            (_, Noise::Sigma(_)) => ResponseKind::Weighted,
            (_, Noise::Correlated(_)) => ResponseKind::Correlated,
        };
        let common_sigma = self.totals().common_sigma.clone();
        ResponseNoise { kind, unit_variance: self.unit_variance(), common_sigma }
    }

    pub(super) fn is_of_counts(&self) -> bool {
        matches!(self.checked.likelihood, Likelihood::Poisson)
    }

    /// The variance of a response whose sigma is one; infinite where nothing is known of it.
    fn unit_variance(&self) -> T {
        let known = self.covariance.is_absolute().then_some(T::ONE);
        let judged = self.covariance.residual_variance().map(|variance| {
            // Outliers are not what a robust fit takes for noise.
            self.totals().robust_deviation.map_or(variance, |deviation| deviation * deviation)
        });
        known.or(judged).unwrap_or(T::INFINITY)
    }

    /// The standard deviation of each response of a row, where it is the same in all rows. Collective.
    pub(super) fn find_common_sigma(&self) -> Result<Option<Vec<T>>, CommunicatorError> {
        let (data, outputs) = (&self.checked.data, self.checked.data.outputs());
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
}
