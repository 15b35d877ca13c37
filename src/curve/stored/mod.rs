//! Fits that are saved, and loaded as fits.

mod error;
mod record;

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

pub use error::StoredFitError;
use record::StoredRecord;
use serde::{Deserialize, Serialize};

use super::inference::{PlotPoint, UncertainCurve, inference_methods};
use super::model::FromModel;
use super::models::AnyModel;
use super::{BandPoint, Criteria, Curve, FitInference, FitSummary, Model, Rows, StatisticsError};
use crate::problem::Evaluated;
use crate::real::Real;

/// A saved fit: its report, and everything needed for predictions, plots and comparisons. Feature `serde`.
///
/// [`FittedCurve::to_stored`](crate::FittedCurve::to_stored) makes one. With the feature `json`, [`save`](Self::save) and
/// [`load`](Self::load) write and read a file; any other format of serde works as well. Numbers are stored with all digits. The loaded fit
/// of a model chosen by its [name](crate::models::Named), or of a [formula](crate::Formula), predicts the same bits as the saved fit, on a
/// processor with the same vector registers.
///
/// ```
/// # #[cfg(feature = "json")] {
/// use marquardt::{CurveFit, Formula};
/// use marquardt::curve::StoredFit;
///
/// let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [10.1, 6.1, 3.6, 2.2, 1.4]);
/// let fit = CurveFit::model(Formula::parse("a * exp(-k * x)")?, &x, &y, &[8.0, 1.0]).fit()?;
/// let text = fit.to_stored().to_json();
///
/// let loaded = StoredFit::<f64>::from_json(&text)?;
/// println!("{loaded}");
/// assert_eq!(loaded.predict(&[2.5])?, fit.predict(&[2.5])?);
/// assert_eq!(loaded.prediction_band(&[2.5], 0.95)?, fit.prediction_band(&[2.5], 0.95)?);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [Models of the library](crate::models), their [sums by name](crate::models::Named) and [formulas](crate::Formula) are stored with the
/// fit. A model of the library that was given by its type is loaded by its name, and evaluated by other code, whose values may differ in
/// the last digit; [`with_model`](Self::with_model) with the type restores the same code. Your own models and closures are not stored:
/// after loading, set them by [`with_model`](Self::with_model) or [`with_curve`](Self::with_curve).
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "StoredRecord<T>", try_from = "StoredRecord<T>", bound = "T: Real")]
pub struct StoredFit<T: Real> {
    pub(super) curve: Option<Arc<dyn Curve<T>>>,
    /// Predictors in a row.
    pub(super) width: usize,
    /// Responses to a row.
    pub(super) outputs: usize,
    pub(super) inference: FitInference<T>,
    pub(super) criteria: Criteria<T>,
    pub(super) summary: FitSummary,
    /// Points of the plot; none for a curve of several predictors, or if they were left out.
    pub(super) points: Option<Vec<PlotPoint>>,
}

/// The curve of a model.
pub(super) fn curve_of<T: Real>(model: AnyModel) -> Arc<dyn Curve<T>> {
    Arc::new(FromModel(model))
}

impl<T: Real> StoredFit<T> {
    inference_methods!();

    /// The model, if it is stored.
    pub fn model(&self) -> Option<AnyModel> {
        self.curve.as_ref()?.to_any_model()
    }

    /// Sets the model of a fit that was stored without it, or the type of a model that was stored by its name.
    ///
    /// # Errors
    ///
    /// [`StoredFitError::OtherCurve`] if it has another number of parameters.
    pub fn with_model<M: Model<T> + Send + 'static>(self, model: M) -> Result<Self, StoredFitError> {
        self.with_curve(FromModel(model))
    }

    /// Sets the curve of a fit that was stored without it. It must have the parameters of the fit, in the same order.
    ///
    /// ```
    /// use marquardt::{CurveFit, EvaluationError};
    /// use marquardt::curve::Curve;
    ///
    /// #[derive(Clone)]
    /// struct Line;
    ///
    /// impl Curve<f64> for Line {
    ///     fn parameter_count(&self) -> usize {
    ///         2
    ///     }
    ///     fn responses(
    ///         &self,
    ///         x: &[f64],
    ///         _: usize,
    ///         b: &[f64],
    ///         y: &mut [f64],
    ///     ) -> Result<(), EvaluationError> {
    ///         y.iter_mut().zip(x).for_each(|(y, x)| *y = b[0] + b[1] * x);
    ///         Ok(())
    ///     }
    ///     fn linearize(
    ///         &self, x: &[f64], width: usize, b: &[f64], y: &mut [f64], jacobian: &mut [f64],
    ///     ) -> Result<(), EvaluationError> {
    ///         jacobian
    ///             .chunks_exact_mut(2)
    ///             .zip(x)
    ///             .for_each(|(row, &x)| row.copy_from_slice(&[1.0, x]));
    ///         self.responses(x, width, b, y)
    ///     }
    /// }
    ///
    /// let fit = CurveFit::curve(Line, &[0.0, 1.0, 2.0], &[1.0, 3.1, 4.9], &[0.0, 0.0]).fit()?;
    /// let stored = fit.to_stored();
    /// assert!(stored.model().is_none() && stored.predict(&[3.0]).is_err());
    /// assert_eq!(stored.with_curve(Line)?.predict(&[3.0])?, fit.predict(&[3.0])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoredFitError::OtherCurve`] if the curve has another number of parameters or responses.
    pub fn with_curve(self, curve: impl Curve<T> + 'static) -> Result<Self, StoredFitError> {
        let parameters = ("parameters", self.parameters().len(), curve.parameter_count());
        for (what, expected, found) in [parameters, ("responses", self.outputs, curve.response_count())] {
            if found != expected {
                return Err(StoredFitError::OtherCurve { what, expected, found });
            }
        }
        Ok(StoredFit { curve: Some(Arc::new(curve)), ..self })
    }

    /// Leaves the data out, as [`FittedCurve::to_stored_without_data`](crate::FittedCurve::to_stored_without_data) does at once.
    pub fn without_data(self) -> Self {
        StoredFit { points: None, ..self }
    }

    /// The report, as it was.
    pub fn summary(&self) -> &FitSummary {
        &self.summary
    }

    /// The numbers by which fits are [compared](crate::curve::Comparison).
    pub fn criteria(&self) -> Criteria<T> {
        self.criteria
    }

    /// The series of the [plot](Self::plot), feature `plot`.
    ///
    /// # Errors
    ///
    /// As for [`plot`](Self::plot).
    #[cfg(feature = "plot")]
    pub fn plot_series(&self) -> Result<Vec<crate::curve::Series>, crate::curve::PlotError> {
        self.series_in(None)
    }

    /// Surfaces are drawn of data with both predictors, which are not stored.
    #[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
    fn surface(&self) -> Option<Result<crate::curve::Plot, crate::curve::PlotError>> {
        None
    }

    /// The series, or those in a view of complex responses.
    #[cfg(feature = "plot")]
    fn series_in(
        &self,
        view: Option<super::inference::ComplexView>,
    ) -> Result<Vec<crate::curve::Series>, crate::curve::PlotError> {
        use crate::curve::PlotError;

        if self.width != 1 {
            return Err(PlotError::NotOnePredictor { predictors: self.width });
        }
        let points = self.points.as_ref().ok_or(PlotError::NoData)?;
        self.uncertain_curve().map_err(PlotError::Evaluation)?.series(points, None, view)
    }

    /// Least and greatest predictor of the data, if they are stored.
    fn predictor_range(&self) -> Option<RangeInclusive<T>> {
        let x = || self.points.iter().flatten().map(|point| point.x);
        let (low, high) = (x().fold(f64::INFINITY, f64::min), x().fold(f64::NEG_INFINITY, f64::max));
        (low <= high).then(|| T::from_f64(low)..=T::from_f64(high))
    }

    fn uncertain_curve(&self) -> Evaluated<UncertainCurve<'_, T>> {
        let curve = self.curve.as_deref();
        let curve = curve.ok_or("the fit was stored without its curve, which `with_model` or `with_curve` gives")?;
        Ok(UncertainCurve { curve, width: self.width, inference: &self.inference })
    }
}

#[cfg(feature = "json")]
impl<T: Real> StoredFit<T> {
    /// Writes the fit as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and numbers are JSON")
    }

    /// The fit that [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    ///
    /// [`StoredFitError::Json`] for anything else.
    pub fn from_json(text: &str) -> Result<Self, StoredFitError> {
        Ok(serde_json::from_str(text)?)
    }

    /// Writes the fit as a JSON file. An existing file is replaced as a whole, or not at all.
    ///
    /// # Errors
    ///
    /// [`StoredFitError::Io`] if the file cannot be written.
    pub fn save(&self, path: impl AsRef<std::path::Path>) -> Result<(), StoredFitError> {
        let path = path.as_ref();
        let written = crate::atomic_file::write(path, &[self.to_json().as_bytes(), b"\n"]);
        written.map_err(|source| StoredFitError::Io { path: path.to_owned(), source })
    }

    /// Reads a file that [`save`](Self::save) has written.
    ///
    /// # Errors
    ///
    /// [`StoredFitError`] if the file cannot be read, or is no fit.
    pub fn load(path: impl AsRef<std::path::Path>) -> Result<Self, StoredFitError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path);
        Self::from_json(&text.map_err(|source| StoredFitError::Io { path: path.to_owned(), source })?)
    }
}

/// The report, as it was.
impl<T: Real> fmt::Display for StoredFit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary.fmt(f)
    }
}

impl<T: Real> fmt::Debug for StoredFit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (model, inference) = (self.model(), &self.inference);
        f.debug_struct("StoredFit").field("model", &model).field("inference", inference).finish_non_exhaustive()
    }
}
