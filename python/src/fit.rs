//! One fit, and its result.

use std::sync::Arc;

use marquardt::curve::{Comparison, Curve, CurveError, FitSummary, FittedParameter, ParameterState, Warning};
use marquardt::solver::CancelToken;
use marquardt::{CurveFit, FittedCurve, Tie};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{FirstException, runtime_error, value_error};
use crate::interval::{BandColumns, EndedInterval, columns, ended, matrix};
use crate::model::Model;
use crate::prepare::{Data, Purpose, place, prepared};
use crate::run;
use crate::status::status_word;

/// The result of a fit, which owns what it was made of.
#[pyclass(frozen, module = "marquardt._engine")]
pub struct Fit {
    fitted: Arc<FittedCurve<'static, f64>>,
    /// The exception that a user's function raises during what follows the fit.
    exception: Option<FirstException>,
}

/// Fits here, or elsewhere.
struct Solve<'py> {
    py: Python<'py>,
    is_here: bool,
    threads: usize,
    token: CancelToken,
}

impl Purpose for Solve<'_> {
    type Output = PyResult<Result<FittedCurve<'static, f64>, CurveError>>;

    fn run<C: Curve<f64> + 'static>(self, fit: CurveFit<'static, f64, C>) -> Self::Output {
        let Solve { py, is_here, threads, token } = self;
        run::placed(py, is_here, threads, || token.cancel(), || fit.fit())
    }
}

/// Fits a model to rows of predictors and responses.
#[pyfunction]
#[pyo3(signature = (model, x, y, start, options, threads=0))]
pub fn fit<'py>(
    py: Python<'py>,
    model: &Model,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray1<'py, f64>,
    start: Option<Vec<f64>>,
    options: &Bound<'py, PyDict>,
    threads: usize,
) -> PyResult<Fit> {
    let data = Data { x: &x, y: &y, start };
    let token = CancelToken::new();
    let (is_here, exception) = place(model, &data);
    let solve = Solve { py, is_here, threads, token: token.clone() };
    let solved = prepared(model, &data, options, &token, solve)?;
    if let Some(exception) = &exception {
        exception.raise()?;
    }
    let fitted = solved?.map_err(value_error)?;
    Ok(Fit::new(fitted, exception))
}

fn state_word(parameter: &FittedParameter<f64>) -> &'static str {
    match parameter.state {
        ParameterState::Fixed => "fixed",
        ParameterState::Tied => "tied",
        ParameterState::AtLowerBound => "at lower bound",
        ParameterState::AtUpperBound => "at upper bound",
        ParameterState::Undetermined => "undetermined",
        _ => "free",
    }
}

impl Fit {
    /// Does what follows the fit where its work is done, and raises what a user's function has raised.
    fn after<R: Send + 'static>(
        &self,
        py: Python<'_>,
        cancel: impl FnOnce(),
        work: impl FnOnce(&FittedCurve<'static, f64>) -> R + Send + 'static,
    ) -> PyResult<R> {
        let fitted = Arc::clone(&self.fitted);
        let result = run::placed(py, self.exception.is_some(), 0, cancel, move || work(&fitted))?;
        self.exception.as_ref().map_or(Ok(()), FirstException::raise)?;
        Ok(result)
    }

    pub fn new(fitted: FittedCurve<'static, f64>, exception: Option<FirstException>) -> Self {
        Fit { fitted: Arc::new(fitted), exception }
    }

    /// The result of the library, whose work then stays on the calling thread.
    pub fn curve(&self) -> &FittedCurve<'static, f64> {
        run::stay_on_this_thread();
        &self.fitted
    }

    fn summary(&self) -> FitSummary {
        self.curve().summary()
    }
}

#[pymethods]
impl Fit {
    /// Names of the parameters.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.curve().parameters().iter().map(|parameter| parameter.name.clone()).collect()
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.curve().report().x)
    }

    #[getter]
    fn standard_errors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.curve().parameters().iter().map(|parameter| parameter.standard_error))
    }

    /// State of each parameter.
    #[getter]
    fn states(&self) -> Vec<&'static str> {
        self.curve().parameters().iter().map(state_word).collect()
    }

    #[getter]
    fn covariance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.curve().covariance().matrix().to_pyarray(py)
    }

    #[getter]
    fn correlation<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        self.curve().covariance().correlation().to_pyarray(py)
    }

    #[getter]
    fn is_converged(&self) -> bool {
        self.curve().report().is_converged()
    }

    #[getter]
    fn status(&self) -> &'static str {
        status_word(self.curve().report().status)
    }

    #[getter]
    fn message(&self) -> String {
        self.curve().report().status.to_string()
    }

    #[getter]
    fn evaluations(&self) -> (usize, usize) {
        let evaluations = self.curve().report().evaluations;
        (evaluations.residuals + evaluations.jacobians, evaluations.jacobians)
    }

    #[getter]
    fn iterations(&self) -> usize {
        self.curve().report().iterations
    }

    #[getter]
    fn attempts(&self) -> usize {
        self.curve().attempts().count
    }

    #[getter]
    fn degrees_of_freedom(&self) -> usize {
        self.curve().degrees_of_freedom()
    }

    #[getter]
    fn chi_square(&self) -> f64 {
        self.curve().chi_square()
    }

    #[getter]
    fn reduced_chi_square(&self) -> Option<f64> {
        self.curve().reduced_chi_square()
    }

    #[getter]
    fn r_squared(&self) -> Option<f64> {
        self.curve().r_squared()
    }

    #[getter]
    fn residual_standard_deviation(&self) -> Option<f64> {
        self.curve().residual_standard_deviation()
    }

    /// `aic`, `aicc` and `bic`.
    #[getter]
    fn criteria(&self) -> (f64, f64, f64) {
        (self.curve().aic(), self.curve().aicc(), self.curve().bic())
    }

    #[getter]
    fn robust_scale(&self) -> Option<f64> {
        self.curve().robust_scale()
    }

    #[getter]
    fn omitted_rows(&self) -> Vec<usize> {
        self.curve().omitted_rows().to_vec()
    }

    #[getter]
    fn observed<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.curve().observed().to_pyarray(py)
    }

    fn fitted<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.after(py, || (), |fitted| fitted.fitted().to_vec())?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Residuals, response minus datum, as they are or divided by their sigma.
    #[pyo3(signature = (whitened=false))]
    fn residuals<'py>(&self, py: Python<'py>, whitened: bool) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let of = move |fitted: &FittedCurve<'static, f64>| match whitened {
            true => fitted.whitened_residuals(),
            false => fitted.residuals(),
        };
        Ok(PyArray1::from_vec(py, self.after(py, || (), of)?))
    }

    /// Sentences, and whether nothing can be concluded.
    #[getter]
    fn warnings(&self) -> Vec<(String, bool)> {
        self.curve().warnings().iter().map(|warning: &Warning| (warning.to_string(), warning.is_unusable())).collect()
    }

    /// Names of the parameters that the data do not determine.
    #[getter]
    fn undetermined(&self) -> Vec<String> {
        self.curve().covariance().undetermined().to_vec()
    }

    #[pyo3(signature = (digits=None))]
    fn report(&self, digits: Option<usize>) -> String {
        match digits {
            Some(digits) => format!("{:.digits$}", self.summary()),
            None => self.summary().to_string(),
        }
    }

    fn markdown(&self) -> String {
        self.summary().to_markdown()
    }

    /// The report as JSON.
    fn summary_json(&self) -> String {
        self.summary().to_json()
    }

    /// The fit as JSON, from which it is loaded by the library and its command.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.after(py, || (), |fitted| fitted.to_stored().to_json())
    }

    fn confidence_interval(&self, name: &str, level: f64) -> PyResult<(f64, f64)> {
        let interval = self.curve().confidence_interval(name, level).map_err(value_error)?;
        Ok((interval.low, interval.high))
    }

    fn profile_interval(&self, py: Python<'_>, name: String, level: f64) -> PyResult<EndedInterval> {
        let interval = self.after(py, || (), move |fitted| fitted.profile_interval(&name, level))?;
        Ok(ended(&interval.map_err(runtime_error)?))
    }

    /// The interval, values, signed roots, and all parameters at each point.
    #[allow(clippy::type_complexity)]
    fn profile<'py>(
        &self,
        py: Python<'py>,
        name: String,
        level: f64,
        points: usize,
    ) -> PyResult<(EndedInterval, Vec<f64>, Vec<f64>, Bound<'py, PyArray2<f64>>)> {
        let profile = self.after(py, || (), move |fitted| fitted.profile(&name, level, points))?;
        let profile = profile.map_err(runtime_error)?;
        let values = profile.points.iter().map(|point| point.value).collect();
        let taus = profile.points.iter().map(|point| point.tau).collect();
        let rows: Vec<Vec<f64>> = profile.points.into_iter().map(|point| point.parameters).collect();
        Ok((ended(&profile.interval), values, taus, matrix(py, &rows)?))
    }

    /// Parameters of the replicates that were fitted, and the number of those that were not.
    #[pyo3(signature = (replicates, scheme, seed))]
    fn bootstrap<'py>(
        &self,
        py: Python<'py>,
        replicates: usize,
        scheme: Option<String>,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, usize)> {
        let token = CancelToken::new();
        let of_worker = token.clone();
        let run = move |fitted: &FittedCurve<'static, f64>| {
            let resampling = fitted.bootstrap().replicates(replicates).seed(seed).cancel_token(of_worker);
            let resampling = match scheme.as_deref() {
                Some("residuals") => resampling.residuals(),
                Some("cases") => resampling.cases(),
                Some("parametric") => resampling.parametric(),
                _ => resampling,
            };
            resampling.run()
        };
        let bootstrap = self.after(py, || token.cancel(), run)?.map_err(value_error)?;
        Ok((bootstrap.estimates().to_pyarray(py), bootstrap.failed().len()))
    }

    fn predict<'py>(&self, py: Python<'py>, x: PyReadonlyArray2<'py, f64>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.curve().predict(x.as_array()).map_err(value_error)?))
    }

    /// Band of the curve, or of new responses, with their standard deviations where they are not those of the fit.
    #[pyo3(signature = (x, level, of_prediction, sigma=None))]
    fn band<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        level: f64,
        of_prediction: bool,
        sigma: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<BandColumns<'py>> {
        let band = match sigma {
            Some(sigma) => self.curve().prediction_band_with_sigma(x.as_array(), sigma.as_array(), level),
            None if of_prediction => self.curve().prediction_band(x.as_array(), level),
            None => self.curve().confidence_band(x.as_array(), level),
        };
        Ok(columns(py, &band.map_err(value_error)?))
    }

    /// Value, standard error, and the interval at a level of a quantity that is computed from the parameters.
    fn derive(&self, text: &str, level: f64) -> PyResult<(f64, f64, f64, f64)> {
        let quantity = Tie::parse(text).map_err(value_error)?;
        let estimate = self.curve().derived(&quantity).map_err(value_error)?;
        let interval = estimate.interval(level).map_err(value_error)?;
        Ok((estimate.value, estimate.standard_error, interval.low, interval.high))
    }

    /// Predictors of observed responses: value, standard error, and interval of each.
    #[pyo3(signature = (responses, level, within=None, sigma=None))]
    fn x_for(
        &self,
        responses: Vec<f64>,
        level: f64,
        within: Option<(f64, f64)>,
        sigma: Option<f64>,
    ) -> PyResult<Vec<(f64, f64, f64, f64)>> {
        let mut calibration = self.curve().x_for(&responses).map_err(value_error)?.level(level);
        if let Some((low, high)) = within {
            calibration = calibration.within(low..=high);
        }
        if let Some(sigma) = sigma {
            calibration = calibration.sigma(sigma);
        }
        let unknowns = calibration.solve().map_err(value_error)?;
        Ok(unknowns.iter().map(|at| (at.x, at.standard_error, at.interval.low, at.interval.high)).collect())
    }
}

/// Name, AICc, difference from the best, weight, and BIC.
type ComparedFit = (String, f64, f64, f64, f64);

/// Names, AICc, differences from the best, weights and BIC of fits to the same data, best first.
#[pyfunction]
pub fn compare(fits: Vec<(String, PyRef<'_, Fit>)>) -> PyResult<Vec<ComparedFit>> {
    let named = fits.iter().map(|(name, fit)| (name.clone(), fit.fitted.criteria()));
    let comparison = Comparison::of(named).map_err(value_error)?;
    let row = |fit: &marquardt::curve::Compared<f64>| {
        (fit.name.clone(), fit.criteria.aicc(), fit.difference, fit.weight, fit.criteria.bic())
    };
    Ok(comparison.fits().iter().map(row).collect())
}
