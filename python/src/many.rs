//! Many fits of one model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use marquardt::curve::{BuiltFormula, ManyFits, PerFit, Predictors};
use marquardt::models::{AnyModel, Guess};
use marquardt::solver::CancelToken;
use marquardt::{FitMany, Real};
use numpy::ndarray::{Array1, Array2, ArrayD, Ix1, Ix2, Ix3};
use numpy::{Element, PyArray1, PyArray2, PyArray3, PyReadonlyArrayDyn, ToPyArray};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::value_error;
use crate::model::{Model, Source};
use crate::options::{fit_options, given};
use crate::run;

/// Parameters, standard errors, covariances, costs, degrees of freedom, status (converged, and in words), iterations.
type Results<'py, T> = (
    Bound<'py, PyArray2<T>>,
    Bound<'py, PyArray2<T>>,
    Option<Bound<'py, PyArray3<T>>>,
    Bound<'py, PyArray1<T>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<bool>>,
    Vec<String>,
    Bound<'py, PyArray1<u64>>,
);

/// Arrays of the fits, copied.
struct Arrays<T> {
    /// Predictors of each row that all fits share, or those of each fit.
    x: ArrayD<T>,
    y: Array2<T>,
    start: Option<ArrayD<T>>,
    sigma: Option<ArrayD<T>>,
}

/// An array that is the same for all fits, or has a row for each.
fn per_fit<'a, T: Real>(array: &'a ArrayD<T>, name: &'static str) -> Result<PerFit<'a, T>, String> {
    match array.ndim() {
        1 => Ok(PerFit::from(array.view().into_dimensionality::<Ix1>().map_err(|error| error.to_string())?)),
        2 => Ok(PerFit::from(array.view().into_dimensionality::<Ix2>().map_err(|error| error.to_string())?)),
        dimensions => Err(format!("{name} has {dimensions} dimensions, not one or two")),
    }
}

fn solve<T: Real, M: Guess<T> + Sync>(
    model: M,
    arrays: &Arrays<T>,
    settings: Settings<T>,
    done: &AtomicUsize,
) -> Result<ManyFits<T>, String> {
    let Arrays { x, y, start, sigma } = arrays;
    let Settings { options, covariances, max_iterations, token } = settings;
    let x = match x.ndim() {
        2 => Predictors::shared(x.view().into_dimensionality::<Ix2>().map_err(|error| error.to_string())?),
        _ => Predictors::from(x.view().into_dimensionality::<Ix3>().map_err(|error| error.to_string())?),
    };
    let fits = FitMany::new(model, x, y).progress(|count, _| {
        done.fetch_max(count, Ordering::Relaxed);
    });
    let mut fits = fits.options(options).covariances(covariances).cancel_token(token);
    if let Some(iterations) = max_iterations {
        fits = fits.max_iterations(iterations);
    }
    fits = match start {
        Some(start) => fits.start(per_fit(start, "p0")?),
        None => fits.guessed(),
    };
    if let Some(sigma) = sigma {
        fits = fits.sigma(per_fit(sigma, "sigma")?);
    }
    fits.fit().map_err(|error| error.to_string())
}

struct Settings<T: Real> {
    options: marquardt::curve::FitOptions<T>,
    covariances: bool,
    max_iterations: Option<usize>,
    token: CancelToken,
}

/// Models that are made of no function of Python.
enum Native {
    Built(BuiltFormula),
    Any(AnyModel),
}

#[allow(clippy::too_many_arguments)]
fn fit_all<'py, T: Real + Element>(
    py: Python<'py>,
    model: &Model,
    x: PyReadonlyArrayDyn<'py, T>,
    y: numpy::PyReadonlyArray2<'py, T>,
    start: Option<PyReadonlyArrayDyn<'py, T>>,
    sigma: Option<PyReadonlyArrayDyn<'py, T>>,
    options: &Bound<'py, PyDict>,
    threads: usize,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Results<'py, T>> {
    let native = match &model.source {
        Source::Built(formula) => Native::Built(formula.clone()),
        Source::Any(model) => Native::Any(model.clone()),
        Source::Callable(_) => return Err(PyTypeError::new_err("fit_many takes models that need no call of Python")),
    };
    let token = CancelToken::new();
    let arrays = Arrays {
        x: x.as_array().to_owned(),
        y: y.as_array().to_owned(),
        start: start.map(|start| start.as_array().to_owned()),
        sigma: sigma.map(|sigma| sigma.as_array().to_owned()),
    };
    let settings = Settings {
        options: fit_options(options)?,
        covariances: given(options, "covariances")?.unwrap_or(false),
        max_iterations: given(options, "max_iterations")?,
        token: token.clone(),
    };
    let (done, all) = (Arc::new(AtomicUsize::new(0)), arrays.y.nrows());
    let of_worker = Arc::clone(&done);
    let work = move || match native {
        Native::Built(model) => solve(model, &arrays, settings, &of_worker),
        Native::Any(model) => solve(model, &arrays, settings, &of_worker),
    };
    let report = |count: usize| match &progress {
        Some(progress) => progress.call1((count, all)).map(drop),
        None => Ok(()),
    };
    let look = || report(done.load(Ordering::Relaxed));
    let fits = run::watched(py, threads, move || token.cancel(), look, work)?.map_err(value_error)?;
    report(all)?;
    let count = |counts: &Array1<usize>| PyArray1::from_iter(py, counts.iter().map(|&count| count as u64));
    Ok((
        fits.parameters.to_pyarray(py),
        fits.standard_errors.to_pyarray(py),
        fits.covariances.as_ref().map(|covariances| covariances.to_pyarray(py)),
        fits.cost.to_pyarray(py),
        count(&fits.degrees_of_freedom),
        PyArray1::from_iter(py, fits.status.iter().map(|status| status.is_converged())),
        fits.status
            .iter()
            .map(|status| if status.is_converged() { String::new() } else { status.to_string() })
            .collect(),
        count(&fits.iterations),
    ))
}

macro_rules! fit_many_of {
    ($name:ident, $float:ty, $what:literal) => {
        #[doc = concat!("Fits a model to each row of `y`, in ", $what, " precision.")]
        #[pyfunction]
        #[pyo3(signature = (model, x, y, start, sigma, options, threads=0, progress=None))]
        #[allow(clippy::too_many_arguments)]
        pub fn $name<'py>(
            py: Python<'py>,
            model: &Model,
            x: PyReadonlyArrayDyn<'py, $float>,
            y: numpy::PyReadonlyArray2<'py, $float>,
            start: Option<PyReadonlyArrayDyn<'py, $float>>,
            sigma: Option<PyReadonlyArrayDyn<'py, $float>>,
            options: &Bound<'py, PyDict>,
            threads: usize,
            progress: Option<Bound<'py, PyAny>>,
        ) -> PyResult<Results<'py, $float>> {
            fit_all(py, model, x, y, start, sigma, options, threads, progress)
        }
    };
}

fit_many_of!(fit_many, f64, "double");
fit_many_of!(fit_many_single, f32, "single");
