//! Bands of a curve, and of new responses to it.

use std::fmt;
use std::sync::atomic::AtomicBool;

use super::{FitInference, ResponseKind};
use crate::autodiff::Complex;
use crate::curve::estimate::{Interval, quantile};
use crate::curve::undefined_derivatives::Differences;
use crate::curve::{Curve, Rows, StatisticsError};
use crate::kernels::vector::{all_finite, safe_norm};
use crate::problem::Evaluated;
use crate::real::Real;

/// A curve with the statistics of its fit.
#[derive(Clone, Copy)]
pub(in crate::curve) struct UncertainCurve<'f, T: Real> {
    pub(in crate::curve) curve: &'f dyn Curve<T>,
    /// Predictors in a row.
    pub(in crate::curve) width: usize,
    pub(in crate::curve) inference: &'f FitInference<T>,
}

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

/// Points row after row, and the responses of a row together.
pub(super) type Bands<T> = Result<Vec<BandPoint<T>>, StatisticsError>;

impl<T: Real> fmt::Debug for UncertainCurve<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UncertainCurve")
            .field("width", &self.width)
            .field("inference", self.inference)
            .finish_non_exhaustive()
    }
}

impl<T: Real> UncertainCurve<'_, T> {
    /// The responses to these predictors.
    pub(in crate::curve) fn predict(&self, x: Rows<'_, T>) -> Evaluated<Vec<T>> {
        let (width, found) = (self.width, x.width());
        if found != width {
            return Err(format!("the curve has {width} predictors, not {found}").into());
        }
        let mut y = vec![T::ZERO; x.count() * self.curve.response_count()];
        self.curve.responses(&x.into_flat(), width, &self.inference.values(), &mut y)?;
        Ok(y)
    }

    /// The complex responses to these predictors.
    pub(in crate::curve) fn predict_complex(&self, x: Rows<'_, T>) -> Evaluated<Vec<Complex<T>>> {
        match self.curve.response_count() {
            2 => Ok(self.predict(x)?.chunks_exact(2).map(|parts| Complex::new(parts[0], parts[1])).collect()),
            responses => Err(format!("a complex curve has two responses to a row, and this one {responses}").into()),
        }
    }

    /// See [`FittedCurve::confidence_band`](crate::FittedCurve::confidence_band).
    pub(in crate::curve) fn confidence_band(&self, x: Rows<'_, T>, level: f64) -> Bands<T> {
        self.band(x, level, |_, _| Ok(T::ZERO))
    }

    /// See [`FittedCurve::prediction_band`](crate::FittedCurve::prediction_band).
    pub(in crate::curve) fn prediction_band(&self, x: Rows<'_, T>, level: f64) -> Bands<T> {
        let (outputs, noise) = (self.curve.response_count(), &self.inference.noise);
        if noise.kind == ResponseKind::Counts {
            return self.band(x, level, |index, mean| {
                let (row, value) = (index / outputs, mean.to_f64());
                if mean < T::ZERO { Err(StatisticsError::NegativeMean { row, value }) } else { Ok(mean) }
            });
        }
        let sigma = noise.sigma.as_ref().ok_or(StatisticsError::UnknownSigma)?;
        self.band(x, level, |index, _| Ok(noise.unit_variance * sigma[index % outputs] * sigma[index % outputs]))
    }

    /// See [`FittedCurve::prediction_band_with_sigma`](crate::FittedCurve::prediction_band_with_sigma).
    pub(in crate::curve) fn prediction_band_with_sigma(&self, x: Rows<'_, T>, sigma: &[T], level: f64) -> Bands<T> {
        let noise = &self.inference.noise;
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
    fn band(&self, x: Rows<'_, T>, level: f64, noise: impl Fn(usize, T) -> Result<T, StatisticsError>) -> Bands<T> {
        let covariance = self.inference.covariance();
        let quantile = quantile(level, covariance.freedom())?;
        let (expected, found, outputs) = (self.width, x.width(), self.curve.response_count());
        if found != expected {
            return Err(StatisticsError::PredictorCount { expected, found });
        }
        let (parameters, count) = (self.inference.values(), x.count() * outputs);
        let n = parameters.len();
        let (mut y, mut jacobian) = (vec![T::ZERO; count], vec![T::ZERO; count * n]);
        let differences = Differences {
            start: || None,
            is_first: true,
            range: |_| (-T::INFINITY, T::INFINITY),
            are_expected: &AtomicBool::default(),
        };
        differences.linearize(self.curve, (&x.into_flat(), expected), &parameters, &mut y, &mut jacobian)?;
        let points = y.into_iter().zip(jacobian.chunks_exact(n)).enumerate();
        let points = points.map(|(index, (value, gradient))| {
            if !(value.is_finite() && all_finite(gradient)) {
                return Err(StatisticsError::NonFiniteCurve { row: index / outputs });
            }
            let errors = [covariance.error_along(gradient), noise(index, value)?.sqrt()];
            let standard_error = safe_norm(errors.into_iter());
            let Interval { low, high } = Interval::about(value, standard_error, quantile);
            Ok(BandPoint { value, standard_error, low, high })
        });
        points.collect()
    }
}
