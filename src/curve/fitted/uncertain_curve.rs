//! A curve with the parameters of a fit, and how far it, and new responses to it, may be off.

use std::sync::atomic::AtomicBool;

use super::BandPoint;
use crate::curve::estimate::{Interval, quantile};
use crate::curve::undefined_derivatives::Differences;
use crate::curve::{Curve, Rows, StatisticsError};
use crate::kernels::vector::{all_finite, safe_norm};
use crate::problem::EvaluationError;
use crate::real::Real;
use crate::solver::Covariance;

/// A curve with the parameters of a fit, and their covariance.
pub(in crate::curve) struct UncertainCurve<'f, T: Real> {
    pub(in crate::curve) curve: &'f dyn Curve<T>,
    pub(in crate::curve) parameters: &'f [T],
    pub(in crate::curve) covariance: &'f Covariance<T>,
    /// Predictors in a row.
    pub(in crate::curve) width: usize,
}

/// The noise of a new response.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::curve) struct ResponseNoise<T> {
    pub(in crate::curve) kind: ResponseKind,
    /// The variance of a response whose sigma is one; infinite where nothing is known of it.
    pub(in crate::curve) unit_variance: T,
    /// Sigma of each response of a row, where it is the same in all rows.
    pub(in crate::curve) common_sigma: Option<Vec<T>>,
}

/// The variances of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(in crate::curve) enum ResponseKind {
    /// All have the same.
    Uniform,
    /// Each has a sigma.
    Weighted,
    /// The noise of the responses is correlated.
    Correlated,
    /// The variance of a count is its mean.
    Counts,
}

impl<T: Real> UncertainCurve<'_, T> {
    /// The responses to these predictors.
    pub(in crate::curve) fn predict(&self, x: Rows<'_, T>) -> Result<Vec<T>, EvaluationError> {
        let (width, found) = (self.width, x.width());
        if found != width {
            return Err(format!("the curve has {width} predictors, not {found}").into());
        }
        let mut y = vec![T::ZERO; x.count() * self.curve.response_count()];
        self.curve.responses(&x.into_flat(), width, self.parameters, &mut y)?;
        Ok(y)
    }

    /// See [`FittedCurve::confidence_band`](super::FittedCurve::confidence_band).
    pub(in crate::curve) fn confidence_band(
        &self,
        x: Rows<'_, T>,
        level: f64,
    ) -> Result<Vec<BandPoint<T>>, StatisticsError> {
        self.band(x, level, |_, _| Ok(T::ZERO))
    }

    /// See [`FittedCurve::prediction_band`](super::FittedCurve::prediction_band).
    pub(in crate::curve) fn prediction_band(
        &self,
        x: Rows<'_, T>,
        noise: &ResponseNoise<T>,
        level: f64,
    ) -> Result<Vec<BandPoint<T>>, StatisticsError> {
        let outputs = self.curve.response_count();
        if noise.kind == ResponseKind::Counts {
            return self.band(x, level, |index, mean| {
                let (row, value) = (index / outputs, mean.to_f64());
                if mean < T::ZERO { Err(StatisticsError::NegativeMean { row, value }) } else { Ok(mean) }
            });
        }
        let sigma = noise.common_sigma.as_ref().ok_or(StatisticsError::UnknownSigma)?;
        self.band(x, level, |index, _| Ok(noise.unit_variance * sigma[index % outputs] * sigma[index % outputs]))
    }

    /// See [`FittedCurve::prediction_band_with_sigma`](super::FittedCurve::prediction_band_with_sigma).
    pub(in crate::curve) fn prediction_band_with_sigma(
        &self,
        x: Rows<'_, T>,
        sigma: &[T],
        noise: &ResponseNoise<T>,
        level: f64,
    ) -> Result<Vec<BandPoint<T>>, StatisticsError> {
        if noise.kind == ResponseKind::Counts {
            return Err(StatisticsError::SigmaOfCounts);
        }
        let outputs = self.curve.response_count();
        let responses = x.count() * outputs;
        if sigma.len() != responses {
            return Err(StatisticsError::SigmaLength { sigma: sigma.len(), responses });
        }
        if let Some(index) = sigma.iter().position(|&sigma| !(sigma > T::ZERO && sigma.is_finite())) {
            return Err(StatisticsError::NonPositiveSigma { row: index / outputs, value: sigma[index].to_f64() });
        }
        self.band(x, level, |index, _| Ok(noise.unit_variance * sigma[index] * sigma[index]))
    }

    /// The band with a noise of that variance added to each response, by its index and the response.
    fn band(
        &self,
        x: Rows<'_, T>,
        level: f64,
        noise: impl Fn(usize, T) -> Result<T, StatisticsError>,
    ) -> Result<Vec<BandPoint<T>>, StatisticsError> {
        let quantile = quantile(level, self.covariance.freedom())?;
        let (expected, found, outputs) = (self.width, x.width(), self.curve.response_count());
        if found != expected {
            return Err(StatisticsError::PredictorCount { expected, found });
        }
        let (n, count) = (self.parameters.len(), x.count() * outputs);
        let (mut y, mut jacobian) = (vec![T::ZERO; count], vec![T::ZERO; count * n]);
        let differences = Differences {
            start: || None,
            is_first: true,
            range: |_| (-T::INFINITY, T::INFINITY),
            are_expected: &AtomicBool::default(),
        };
        let linearized =
            differences.linearize(self.curve, (&x.into_flat(), expected), self.parameters, &mut y, &mut jacobian);
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

#[cfg(any(all(feature = "plot", not(target_arch = "wasm32")), feature = "serde"))]
impl<T: Real> ResponseNoise<T> {
    /// The standard deviation of a response whose sigma is one, where it is known.
    pub(in crate::curve) fn unit(&self) -> Option<f64> {
        Some(self.unit_variance.sqrt().to_f64()).filter(|unit| *unit > 0.0 && unit.is_finite())
    }

    /// Each response has a variance of its own.
    pub(in crate::curve) fn is_weighted(&self) -> bool {
        matches!(self.kind, ResponseKind::Weighted | ResponseKind::Counts)
    }
}
