//! One fit of several data sets with shared parameters.

use marquardt::CurveFit;
use marquardt::curve::{Curve, GlobalFit};
use marquardt::solver::CancelToken;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::value_error;
use crate::fit::Fit;
use crate::model::{Model, Source};
use crate::options::{given, loss};
use crate::prepare::{Data, Purpose, prepared};
use crate::run;

/// Adds a data set.
struct Add<'n> {
    to: GlobalFit<'static, f64>,
    name: &'n str,
}

impl Purpose for Add<'_> {
    type Output = GlobalFit<'static, f64>;

    fn run<C: Curve<f64> + 'static>(self, fit: CurveFit<'static, f64, C>) -> Self::Output {
        self.to.data_set(self.name, fit)
    }
}

/// A data set: name, model, predictors, observations, start, and options.
type Set<'py> = (
    String,
    PyRef<'py, Model>,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray1<'py, f64>,
    Option<Vec<f64>>,
    Bound<'py, PyDict>,
);

/// Fits data sets together; `options` are those of all: the loss, and whether to try again.
#[pyfunction]
#[pyo3(signature = (sets, shared, options, threads=0))]
pub fn global_fit<'py>(
    py: Python<'py>,
    sets: Vec<Set<'py>>,
    shared: Vec<String>,
    options: &Bound<'py, PyDict>,
    threads: usize,
) -> PyResult<Fit> {
    let token = CancelToken::new();
    let retry = given(options, "retry")?.unwrap_or(true);
    let mut global = GlobalFit::new().shared(shared).retry(retry);
    let mut exception = None;
    for (name, model, x, y, start, own_options) in &sets {
        let data = Data { x, y, start: start.clone() };
        // Starts are guessed here, as data sets are added.
        run::stay_on_this_thread();
        global = prepared(model, &data, own_options, &token, Add { to: global, name })?;
        if let Source::Callable(callable) = &model.source {
            exception = Some(callable.exception.clone());
            callable.exception.raise()?;
        }
    }
    let mut fit = global.curve_fit().map_err(value_error)?;
    if let Some(name) = given::<String>(options, "loss")? {
        fit = fit.robust(loss(&name)?);
    }
    if let Some(scale) = given(options, "f_scale")? {
        fit = fit.f_scale(scale);
    }
    let solved = match exception {
        Some(_) => run::here(py, || fit.fit()),
        None => run::elsewhere(py, threads, || token.cancel(), || fit.fit())?,
    };
    for (_, model, ..) in &sets {
        if let Source::Callable(callable) = &model.source {
            callable.exception.raise()?;
        }
    }
    Ok(Fit::new(solved.map_err(value_error)?, exception))
}
