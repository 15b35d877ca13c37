//! Curves that are fitted: programs, formulas, models of the library, and Python functions.

use marquardt::curve::{BuiltFormula, Curve, Formula, FromModel};
use marquardt::models::{AnyModel, Named};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::callable::Callable;
use crate::errors::value_error;
use crate::program;

#[derive(Clone)]
pub enum Source {
    Built(BuiltFormula),
    Any(AnyModel),
    Callable(Callable),
}

/// A model, as fits take it.
#[pyclass(frozen, module = "marquardt._engine")]
pub struct Model {
    pub source: Source,
    curve: Box<dyn Curve<f64>>,
}

impl From<Source> for Model {
    fn from(source: Source) -> Self {
        let curve: Box<dyn Curve<f64>> = match source.clone() {
            Source::Built(formula) => Box::new(FromModel::new(formula)),
            Source::Any(model) => Box::new(FromModel::new(model)),
            Source::Callable(callable) => Box::new(callable),
        };
        Model { source, curve }
    }
}

#[pymethods]
impl Model {
    /// The program of a function that was recorded.
    #[staticmethod]
    fn traced(parameters: Vec<String>, columns: usize, nodes: &Bound<'_, PyList>, result: usize) -> PyResult<Self> {
        Ok(Source::Built(program::compile(&parameters, columns, nodes, result)?).into())
    }

    /// A formula over predictors of these names.
    #[staticmethod]
    fn formula(text: &str, predictors: Vec<String>) -> PyResult<Self> {
        let formula = Formula::with_predictors(text, predictors).map_err(value_error)?;
        Ok(Source::Any(formula.into()).into())
    }

    /// A model of the library, or a sum of several.
    #[staticmethod]
    fn named(name: &str) -> PyResult<Self> {
        let model = match AnyModel::of_name(name) {
            Some(model) => model,
            None => name.parse::<Named>().map_err(value_error)?.into(),
        };
        Ok(Source::Any(model).into())
    }

    /// Names of the models of the library.
    #[staticmethod]
    fn names() -> Vec<String> {
        Named::all().map(|model| model.name().to_owned()).collect()
    }

    /// A function `f(x, *parameters)`, with its derivatives if they are given, and its value at one point if it is known.
    #[allow(clippy::too_many_arguments)]
    #[staticmethod]
    #[pyo3(signature = (function, x, rows, parameters, jacobian=None, difference="2-point", first=None))]
    fn callable(
        function: Py<PyAny>,
        x: Py<PyAny>,
        rows: usize,
        parameters: Vec<String>,
        jacobian: Option<Py<PyAny>>,
        difference: &str,
        first: Option<(Vec<f64>, Bound<'_, PyAny>)>,
    ) -> PyResult<Self> {
        let callable = Callable::new(function, (x, rows), parameters, jacobian, difference)?;
        Ok(Source::Callable(match first {
            Some((at, value)) => callable.knowing(at, &value)?,
            None => callable,
        })
        .into())
    }

    /// Names of the parameters.
    #[getter]
    fn parameters(&self) -> Vec<String> {
        match &self.source {
            Source::Built(formula) => formula.parameters().to_vec(),
            Source::Any(model) => model.parameters().to_vec(),
            Source::Callable(callable) => callable.parameters.clone(),
        }
    }

    /// Number of predictors to a row.
    #[getter]
    fn width(&self) -> usize {
        match &self.source {
            Source::Built(formula) => formula.predictors().len(),
            Source::Any(model) => model.predictor_count(),
            Source::Callable(_) => 1,
        }
    }

    /// The formula as text, if there is one.
    #[getter]
    fn text(&self) -> Option<String> {
        match &self.source {
            Source::Any(model) => Some(model.formula().to_owned()),
            _ => None,
        }
    }

    /// Responses to rows of predictors.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        parameters: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.responses(&x, &parameters)?))
    }

    /// Derivatives of the responses to rows of predictors by the parameters, of shape (rows, parameters).
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'py, f64>,
        parameters: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let ([rows, width], n) = ([x.shape()[0], x.shape()[1]], parameters.len());
        let mut responses = self.responses(&x, &parameters)?;
        let mut jacobian = vec![0.0; rows * n];
        let linearized =
            self.curve.linearize(x.as_slice()?, width, parameters.as_slice()?, &mut responses, &mut jacobian);
        linearized.map_err(value_error)?;
        PyArray1::from_vec(py, jacobian).reshape([rows, n])
    }

    /// Whether all values of a function at rows of predictors are finite; `None` if those of the model are others, to rounding.
    fn agrees(
        &self,
        x: PyReadonlyArray2<'_, f64>,
        parameters: PyReadonlyArray1<'_, f64>,
        values: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Option<bool>> {
        const RELATIVE: f64 = 1e-8;
        const ABSOLUTE: f64 = 1e-10;
        /// Rows that are compared at once: they stay in the cache, and need no memory of the system.
        const TILE: usize = 4096;
        let (width, parameters, values) = (x.shape()[1], parameters.as_slice()?, values.as_slice()?);
        self.check(width, parameters)?;
        if x.shape()[0] != values.len() {
            return Ok(None);
        }
        let finite = |value: f64| if value.is_finite() { value.abs() } else { 0.0 };
        let scale = values.iter().fold(0.0_f64, |scale, &value| scale.max(finite(value)));
        let is_close = |own: f64, value: f64| match own.is_finite() && value.is_finite() {
            true => (own - value).abs() <= RELATIVE * value.abs() + ABSOLUTE * scale,
            false => own.is_finite() == value.is_finite(),
        };
        let mut own = vec![0.0; TILE.min(values.len())];
        for (x, values) in x.as_slice()?.chunks((TILE * width).max(1)).zip(values.chunks(TILE)) {
            let own = &mut own[..values.len()];
            self.curve.responses(x, width, parameters, own).map_err(value_error)?;
            if !own.iter().zip(values).fold(true, |close, (&own, &value)| close & is_close(own, value)) {
                return Ok(None);
            }
        }
        Ok(Some(values.iter().fold(true, |all, value| all & value.is_finite())))
    }
}

impl Model {
    /// Checks the numbers of predictors and parameters before an evaluation, which stays on the calling thread.
    fn check(&self, width: usize, parameters: &[f64]) -> PyResult<()> {
        crate::run::stay_on_this_thread();
        let (needed, predictors, found) = (self.parameters().len(), self.width(), parameters.len());
        if found != needed || width < predictors {
            return Err(PyValueError::new_err(format!(
                "the model has {needed} parameters and {predictors} predictors, not {found} and {width}"
            )));
        }
        Ok(())
    }

    fn responses(&self, x: &PyReadonlyArray2<'_, f64>, parameters: &PyReadonlyArray1<'_, f64>) -> PyResult<Vec<f64>> {
        let (rows, width) = (x.shape()[0], x.shape()[1]);
        let (x, parameters) = (x.as_slice()?, parameters.as_slice()?);
        self.check(width, parameters)?;
        let mut responses = vec![0.0; rows];
        self.curve.responses(x, width, parameters, &mut responses).map_err(value_error)?;
        Ok(responses)
    }
}
