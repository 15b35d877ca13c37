//! Unknown predictors of observed responses, read off a fitted curve.

use std::ops::RangeInclusive;

use thiserror::Error;

use super::UncertainCurve;
use super::grid::grid;
use crate::curve::estimate::quantile;
use crate::curve::{BandPoint, Interval, Rows, StatisticsError};
use crate::problem::EvaluationError;
use crate::real::Real;
use crate::statistics::root;

/// Steps of the range in which solutions are sought, evenly spaced and, where it is positive, in equal ratios.
const STEPS: usize = 400;

/// Level of confidence unless said otherwise.
const LEVEL: f64 = 0.95;

/// Search for the unknown predictors of observed responses (calibration, inverse prediction, interpolation of unknowns), ready to run;
/// made by [`FittedCurve::x_for`](crate::FittedCurve::x_for) and `StoredFit::x_for`.
///
/// A solution is a predictor in the range of the data at which the curve has the mean of the responses. Its interval holds the predictors
/// whose [prediction band](crate::FittedCurve::prediction_band) for that number of responses contains their mean: for a straight line,
/// that is Fieller's interval (Draper and Smith, *Applied Regression Analysis*, 1998, §3.2).
#[derive(Debug, Clone)]
pub struct Calibration<'f, T: Real> {
    curve: UncertainCurve<'f, T>,
    responses: Vec<T>,
    range: Option<RangeInclusive<T>>,
    level: f64,
    sigma: Option<T>,
    is_known: bool,
}

/// An unknown predictor.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Unknown<T> {
    /// The predictor at which the curve has the mean of the responses.
    pub x: T,
    /// Standard error, from the slope of the curve; infinite where the slope is 0.
    pub standard_error: T,
    /// Confidence interval; an end is infinite if it lies outside of the searched range.
    pub interval: Interval<T>,
}

/// Reasons why the unknown predictor could not be computed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// No responses are given, or one is not finite.
    #[error("a finite response is needed")]
    NoResponse,
    /// The range is empty, or unknown: a fit that was stored without its data has no range.
    #[error("a range of the predictor with a lower and an upper end is needed")]
    NoRange,
    /// The curve has several predictors, or responses.
    #[error(
        "the curve has {predictors} predictors and {responses} responses: unknowns are read off curves of one each"
    )]
    NotOneEach {
        /// Predictors in a row.
        predictors: usize,
        /// Responses in a row.
        responses: usize,
    },
    /// The curve does not reach the mean of the responses.
    #[error("the curve lies between {low} and {high} for x from {from} to {to}, and does not reach {response}")]
    OutOfReach {
        /// Mean of the responses.
        response: f64,
        /// Least value of the curve.
        low: f64,
        /// Greatest value of the curve.
        high: f64,
        /// Lower end of the range.
        from: f64,
        /// Upper end of the range.
        to: f64,
    },
    /// The curve has no band.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// The curve cannot be evaluated.
    #[error("the curve could not be evaluated: {0}")]
    Evaluation(#[from] EvaluationError),
}

impl<'f, T: Real> Calibration<'f, T> {
    pub(in crate::curve) fn new(
        curve: UncertainCurve<'f, T>,
        responses: &[T],
        range: Option<RangeInclusive<T>>,
    ) -> Self {
        Calibration { curve, responses: responses.to_vec(), range, level: LEVEL, sigma: None, is_known: false }
    }

    /// Sets the range of the predictor that is searched; default: the range of the data.
    pub fn within(self, range: RangeInclusive<T>) -> Self {
        Calibration { range: Some(range), ..self }
    }

    /// Sets the confidence level of the interval, between 0 and 1; default 0.95.
    pub fn level(self, level: f64) -> Self {
        Calibration { level, ..self }
    }

    /// Standard deviation of each response, relative or absolute as in the fit. It is needed where sigma differs from row to row in the fit.
    pub fn sigma(self, sigma: T) -> Self {
        Calibration { sigma: Some(sigma), ..self }
    }

    /// Declares the response to be a value of the curve without noise, such as a threshold, and not an observation; default: an
    /// observation.
    pub fn known_response(self, is_known: bool) -> Self {
        Calibration { is_known, ..self }
    }

    /// Returns all solutions, in ascending order.
    ///
    /// # Errors
    ///
    /// [`CalibrationError`] if the curve does not reach the mean of the responses within the range (there is no extrapolation), or if the
    /// curve has no band.
    pub fn solve(&self) -> Result<Vec<Unknown<T>>, CalibrationError> {
        let (predictors, responses) = (self.curve.width, self.curve.curve.response_count());
        if (predictors, responses) != (1, 1) {
            return Err(CalibrationError::NotOneEach { predictors, responses });
        }
        let mean = self.responses.iter().copied().sum::<T>() / T::from_f64(self.responses.len() as f64);
        if !mean.is_finite() {
            return Err(CalibrationError::NoResponse);
        }
        let grid = self.grid()?;
        let quantile = quantile(self.level, self.curve.inference.covariance().freedom())?;
        let search = Search { calibration: self, mean: mean.to_f64(), quantile };
        let values: Vec<f64> = self.curve.predict(Rows::from(&grid))?.into_iter().map(T::to_f64).collect();
        let x: Vec<f64> = grid.iter().map(|x| x.to_f64()).collect();
        let roots = search.roots(&x, &values)?;
        if roots.is_empty() {
            let extreme = |start, of: fn(f64, f64) -> f64| values.iter().copied().fold(start, of);
            let (low, high) = (extreme(f64::INFINITY, f64::min), extreme(f64::NEG_INFINITY, f64::max));
            let (from, to) = (x[0], x[x.len() - 1]);
            return Err(CalibrationError::OutOfReach { response: search.mean, low, high, from, to });
        }
        roots.into_iter().map(|root| search.unknown(&x, root)).collect()
    }

    /// Predictors from one end of the range to the other.
    fn grid(&self) -> Result<Vec<T>, CalibrationError> {
        let range = self.range.as_ref().map(|range| (range.start().to_f64(), range.end().to_f64()));
        let (low, high) =
            range.filter(|(low, high)| low < high && (high - low).is_finite()).ok_or(CalibrationError::NoRange)?;
        let mut grid: Vec<T> = grid(low, high, STEPS).into_iter().map(T::from_f64).collect();
        grid.dedup();
        Ok(grid)
    }
}

/// The search with the mean of the responses.
struct Search<'c, 'f, T: Real> {
    calibration: &'c Calibration<'f, T>,
    mean: f64,
    /// Standard errors to either side of an interval.
    quantile: f64,
}

impl<T: Real> Search<'_, '_, T> {
    /// Places where the curve has the mean of the responses, given its values at some points.
    fn roots(&self, x: &[f64], values: &[f64]) -> Result<Vec<f64>, CalibrationError> {
        let mut roots = Vec::new();
        for (ends, values) in x.windows(2).zip(values.windows(2)) {
            let [low, high] = [values[0] - self.mean, values[1] - self.mean];
            if low == 0.0 {
                roots.push(ends[0]);
            } else if low * high < 0.0 {
                let distance = |x: f64| self.value(x).map(|value| value - self.mean);
                roots.push(root((ends[0], low), (ends[1], high), distance, has_arrived::<T>)?);
            }
        }
        if values.last() == Some(&self.mean) {
            roots.extend(x.last());
        }
        Ok(roots)
    }

    fn value(&self, x: f64) -> Result<f64, CalibrationError> {
        Ok(self.calibration.curve.predict(Rows::from(&[T::from_f64(x)]))?[0].to_f64())
    }

    /// The curve, and the standard deviation of the mean of the responses about it.
    fn deviation(&self, x: f64) -> Result<(f64, f64), CalibrationError> {
        let Calibration { curve, level, sigma, is_known, responses, .. } = self.calibration;
        let x = [T::from_f64(x)];
        let x = || Rows::from(&x);
        let of_curve = curve.confidence_band(x(), *level)?[0];
        let variance = |point: BandPoint<T>| point.standard_error.to_f64().powi(2);
        if *is_known {
            return Ok((of_curve.value.to_f64(), variance(of_curve).sqrt()));
        }
        let of_one = match sigma {
            Some(sigma) => curve.prediction_band_with_sigma(x(), &[*sigma], *level)?[0],
            None => curve.prediction_band(x(), *level)?[0],
        };
        let noise = (variance(of_one) - variance(of_curve)).max(0.0) / responses.len() as f64;
        Ok((of_curve.value.to_f64(), (variance(of_curve) + noise).sqrt()))
    }

    /// By how much the mean of the responses lies out of the band; negative within.
    fn excess(&self, x: f64) -> Result<f64, CalibrationError> {
        let (value, deviation) = self.deviation(x)?;
        Ok((value - self.mean).abs() - self.quantile * deviation)
    }

    /// The solution with its interval.
    fn unknown(&self, x: &[f64], root: f64) -> Result<Unknown<T>, CalibrationError> {
        let (_, deviation) = self.deviation(root)?;
        let width = x[x.len() - 1] - x[0];
        let step = (T::EPSILON.to_f64().cbrt() * root.abs().max(1e-3 * width)).min(0.5 * width);
        let (behind, ahead) = ((root - step).max(x[0]), (root + step).min(x[x.len() - 1]));
        let slope = (self.value(ahead)? - self.value(behind)?) / (ahead - behind);
        let low = self.end(root, x.iter().rev().copied().filter(|&x| x < root), f64::NEG_INFINITY)?;
        let high = self.end(root, x.iter().copied().filter(|&x| x > root), f64::INFINITY)?;
        let [x, standard_error, low, high] = [root, deviation / slope.abs(), low, high].map(T::from_f64);
        Ok(Unknown { x, standard_error, interval: Interval { low, high } })
    }

    /// The end of an interval about a solution, beyond which points lead away from it; `open` where they end before.
    fn end(&self, from: f64, points: impl Iterator<Item = f64>, open: f64) -> Result<f64, CalibrationError> {
        let mut inside = (from, self.excess(from)?);
        for x in points {
            let here = (x, self.excess(x)?);
            if here.1 > 0.0 {
                return if inside.1 < 0.0 {
                    root(inside, here, |x| self.excess(x), has_arrived::<T>)
                } else {
                    Ok(inside.0)
                };
            }
            inside = here;
        }
        Ok(open)
    }
}

/// The ends of a bracket, of which the first is the better one, differ by rounding alone.
fn has_arrived<T: Real>((best, _): (f64, f64), other: f64) -> bool {
    (best - other).abs() <= 4.0 * T::EPSILON.to_f64() * best.abs()
}
