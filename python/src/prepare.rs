//! Preparation of a fit: the model, the data and the options become one of the library.

use marquardt::CurveFit;
use marquardt::curve::{Curve, FromModel};
use marquardt::models::Guess;
use marquardt::solver::CancelToken;
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::FirstException;
use crate::model::{Model, Source};
use crate::options::{apply, given};
use crate::run;

/// Data and start of a fit.
pub struct Data<'a, 'py> {
    pub x: &'a PyReadonlyArray2<'py, f64>,
    pub y: &'a PyReadonlyArray1<'py, f64>,
    /// A guess unless it is given.
    pub start: Option<Vec<f64>>,
}

/// Use of a fit that is ready.
pub trait Purpose {
    /// The result.
    type Output;

    fn run<C: Curve<f64> + 'static>(self, fit: CurveFit<'static, f64, C>) -> Self::Output;
}

/// Prepares the fit of a model, and hands it to what is to be done with it.
pub fn prepared<P: Purpose>(
    model: &Model,
    data: &Data<'_, '_>,
    options: &Bound<'_, PyDict>,
    token: &CancelToken,
    purpose: P,
) -> PyResult<P::Output> {
    let (x, y) = (data.x.as_array(), data.y.as_array());
    let start = data.start.as_deref();
    fn of_model<M: Guess<f64> + marquardt::Model<f64> + Clone + 'static>(
        model: &M,
        x: ArrayView2<'_, f64>,
        y: ArrayView1<'_, f64>,
        start: Option<&[f64]>,
    ) -> CurveFit<'static, f64, FromModel<M>> {
        match start {
            Some(start) => CurveFit::model(model.clone(), x, y, start).into_owned(),
            None => CurveFit::guessed(model.clone(), x, y).into_owned(),
        }
    }
    Ok(match &model.source {
        Source::Built(formula) => purpose.run(apply(of_model(formula, x, y, start), options, None, token)?),
        Source::Any(model) => purpose.run(apply(of_model(model, x, y, start), options, None, token)?),
        Source::Callable(callable) => {
            let ones = vec![1.0; callable.parameters.len()];
            let start = start.unwrap_or(&ones);
            if callable.has_jacobian() {
                let fit = CurveFit::curve(callable.clone(), x, y, start).into_owned();
                return Ok(purpose.run(apply(fit, options, None, token)?));
            }
            let own = callable.clone();
            let responses = move |x: &[f64], b: &[f64], y: &mut [f64]| own.responses(x, b, y);
            let fit = CurveFit::numeric_rows(responses, callable.difference, x, y, start).into_owned();
            let fit = match given::<f64>(options, "accuracy")? {
                Some(accuracy) => fit.accuracy(accuracy),
                None => fit,
            };
            purpose.run(apply(fit, options, Some(&callable.parameters), token)?)
        }
    })
}

/// Whether the work of a fit stays on the calling thread; the exceptions of a function of Python.
pub fn place(model: &Model, data: &Data<'_, '_>) -> (bool, Option<FirstException>) {
    match &model.source {
        Source::Callable(callable) => (true, Some(callable.exception.clone())),
        Source::Built(formula) => {
            let is_short = run::is_short(data.y.len(), marquardt::Model::<f64>::parameter_count(formula));
            (is_short && data.start.is_some(), None)
        }
        Source::Any(model) => (data.start.is_some() && run::is_short(data.y.len(), model.parameters().len()), None),
    }
}
