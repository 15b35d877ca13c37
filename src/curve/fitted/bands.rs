//! How far the curve, and new responses to it, may be off.

use super::FittedCurve;
use crate::Real;
use crate::curve::estimate::{Interval, quantile};
use crate::curve::likelihood::Likelihood;
use crate::curve::noise::Noise;
use crate::curve::{Curve, Rows, StatisticsError};
use crate::distributed::CommunicatorError;
use crate::kernels::vector::{all_finite, safe_norm};

/// One point of a band: what the curve predicts there, and how far that may be off.
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

impl<'a, T: Real, C: Curve<T>> FittedCurve<'a, T, C> {
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
        self.band(x.into(), level, |_, _| Ok(T::ZERO))
    }

    /// The band that contains a new response to each of these predictors with probability `level`: that of the curve, and
    /// the noise added. Its variance is
    ///
    /// - `s²`, judged by the residuals, or one with [`absolute_sigma`](crate::CurveFit::absolute_sigma); of a robust fit, the
    ///   square of [`mad_scale`](crate::mad_scale) of the residuals, so that outliers are not expected to come again,
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
        let outputs = self.setting.data.outputs();
        if self.is_of_counts() {
            return self.band(x.into(), level, |index, mean| {
                let (row, value) = (index / outputs, mean.to_f64());
                if mean < T::ZERO { Err(StatisticsError::NegativeMean { row, value }) } else { Ok(mean) }
            });
        }
        let sigma = self.totals().common_sigma.as_ref().ok_or(StatisticsError::UnknownSigma)?;
        let variance = self.unit_variance();
        self.band(x.into(), level, |index, _| Ok(variance * sigma[index % outputs] * sigma[index % outputs]))
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
        if self.is_of_counts() {
            return Err(StatisticsError::SigmaOfCounts);
        }
        let (x, sigma, outputs): (Rows<'x, T>, Rows<'x, T>, _) = (x.into(), sigma.into(), self.setting.data.outputs());
        let (sigma, responses) = (sigma.into_flat(), x.count() * outputs);
        if sigma.len() != responses {
            return Err(StatisticsError::SigmaLength { sigma: sigma.len(), responses });
        }
        if let Some(index) = sigma.iter().position(|&sigma| !(sigma > T::ZERO && sigma.is_finite())) {
            return Err(StatisticsError::NonPositiveSigma { row: index / outputs, value: sigma[index].to_f64() });
        }
        let variance = self.unit_variance();
        self.band(x, level, |index, _| Ok(variance * sigma[index] * sigma[index]))
    }

    /// The band with a noise of that variance added to each response, by its index and the response.
    fn band(
        &self,
        x: Rows<'_, T>,
        level: f64,
        noise: impl Fn(usize, T) -> Result<T, StatisticsError>,
    ) -> Result<Vec<BandPoint<T>>, StatisticsError> {
        let quantile = quantile(level, self.freedom())?;
        let (expected, found, outputs) = (self.setting.data.width(), x.width(), self.setting.data.outputs());
        if found != expected {
            return Err(StatisticsError::PredictorCount { expected, found });
        }
        let (n, count) = (self.parameters.len(), x.count() * outputs);
        let (mut y, mut jacobian) = (vec![T::ZERO; count], vec![T::ZERO; count * n]);
        let curve = &self.setting.curve;
        let linearized = curve.linearize(&x.into_flat(), expected, &self.report.x, &mut y, &mut jacobian);
        linearized.map_err(StatisticsError::Evaluation)?;
        let points = y.into_iter().zip(jacobian.chunks_exact(n)).enumerate();
        let points = points.map(|(index, (value, gradient))| {
            if !(value.is_finite() && all_finite(gradient)) {
                return Err(StatisticsError::NonFiniteCurve { row: index / outputs });
            }
            let errors = [self.covariance.error_along(gradient), noise(index, value)?.sqrt()];
            let standard_error = safe_norm(errors.into_iter());
            let Interval { low, high } = Interval::about(value, standard_error, quantile);
            Ok(BandPoint { value, standard_error, low, high })
        });
        points.collect()
    }
}

impl<T: Real, C: Curve<T>> FittedCurve<'_, T, C> {
    pub(super) fn is_of_counts(&self) -> bool {
        matches!(self.setting.likelihood, Likelihood::Poisson)
    }

    /// The variance of a response whose sigma is one; infinite where nothing is known of it.
    pub(super) fn unit_variance(&self) -> T {
        let known = self.covariance.is_absolute().then_some(T::ONE);
        let judged = self.covariance.residual_variance().map(|variance| {
            // Outliers are not what a robust fit takes for noise.
            self.totals().robust_deviation.map_or(variance, |deviation| deviation * deviation)
        });
        known.or(judged).unwrap_or(T::INFINITY)
    }

    /// The standard deviation of each response of a row, where it is the same in all rows. Collective.
    pub(super) fn find_common_sigma(&self) -> Result<Option<Vec<T>>, CommunicatorError> {
        let (data, outputs) = (&self.setting.data, self.setting.data.outputs());
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
