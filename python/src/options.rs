//! Options of a fit, as the Python files pass them: a dictionary with those that were given.

use marquardt::curve::{Curve, FitOptions, NanPolicy, Relation};
use marquardt::solver::CancelToken;
use marquardt::{CurveFit, LevenbergMarquardt, Loss, Real, Tie};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::value_error;

/// A loss by its name in SciPy.
pub fn loss(name: &str) -> PyResult<Loss> {
    Loss::ALL.iter().copied().find(|loss| loss.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Loss::ALL.iter().map(|loss| loss.name()).collect();
        value_error(format!("there is no loss {name:?}; there are {}", names.join(", ")))
    })
}

/// An option by its name, if it was given.
pub fn given<'py, T>(options: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<T>>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    match options.get_item(name)? {
        Some(value) if !value.is_none() => {
            let extracted = value.extract::<T>().map_err(Into::into);
            extracted.map(Some).map_err(|error| value_error(format!("{name}: {error}")))
        }
        _ => Ok(None),
    }
}

/// Options of parameters, noise and loss.
pub fn fit_options<T: Real>(options: &Bound<'_, PyDict>) -> PyResult<FitOptions<T>> {
    let mut made = FitOptions::new();
    let number = T::from_f64;
    if let Some(absolute) = given(options, "absolute_sigma")? {
        made = made.absolute_sigma(absolute);
    }
    if let Some(true) = given(options, "counts")? {
        made = made.counts();
    }
    if let Some(true) = given(options, "omit_nan")? {
        made = made.nan_policy(NanPolicy::Omit);
    }
    for (name, low, high) in given::<Vec<(String, f64, f64)>>(options, "bounds")?.unwrap_or_default() {
        made = made.bounds(&name, number(low)..=number(high));
    }
    for (name, value) in given::<Vec<(String, Option<f64>)>>(options, "fixed")?.unwrap_or_default() {
        made = match value {
            Some(value) => made.fix_at(&name, number(value)),
            None => made.fix(&name),
        };
    }
    for (name, value) in given::<Vec<(String, f64)>>(options, "starts")?.unwrap_or_default() {
        made = made.start(&name, number(value));
    }
    let tie = |of: &str, name: &str, text: &str| {
        Tie::parse(text).map_err(|error| value_error(format!("{of}[{name:?}]: {error}")))
    };
    for (name, text) in given::<Vec<(String, String)>>(options, "ties")?.unwrap_or_default() {
        made = made.tie(&name, tie("ties", &name, &text)?);
    }
    for (name, text) in given::<Vec<(String, String)>>(options, "derive")?.unwrap_or_default() {
        made = made.derive(&name, tie("derive", &name, &text)?);
    }
    for (name, mean, deviation) in given::<Vec<(String, f64, f64)>>(options, "priors")?.unwrap_or_default() {
        made = made.prior(&name, number(mean), number(deviation));
    }
    for text in given::<Vec<String>>(options, "constraints")?.unwrap_or_default() {
        made = made.constrain(Relation::parse(&text).map_err(|error| value_error(format!("constraints: {error}")))?);
    }
    if let Some(name) = given::<String>(options, "loss")? {
        made = made.robust(loss(&name)?);
    }
    if let Some(scale) = given(options, "f_scale")? {
        made = made.f_scale(number(scale));
    }
    Ok(made)
}

/// Applies options to a fit.
pub fn apply<C: Curve<f64>>(
    mut fit: CurveFit<'static, f64, C>,
    options: &Bound<'_, PyDict>,
    names: Option<&[String]>,
    token: &CancelToken,
) -> PyResult<CurveFit<'static, f64, C>> {
    let mut solver = LevenbergMarquardt::new().with_cancel_token(token.clone()).with_log(false);
    if !options.is_empty() {
        fit = fit.options(fit_options(options)?);
    }
    if let Some(names) = names {
        fit = fit.names(names);
    }
    if options.is_empty() {
        return Ok(fit.solver(solver));
    }
    if let Some(sigma) = given::<PyReadonlyArray1<'_, f64>>(options, "sigma")? {
        fit = fit.sigma(sigma.as_array()).into_owned();
    }
    if let Some(covariance) = given::<PyReadonlyArray2<'_, f64>>(options, "covariance")? {
        fit = fit.data_covariance(covariance.as_array());
    }
    if let Some(sigma) = given::<PyReadonlyArray2<'_, f64>>(options, "sigma_x")? {
        fit = fit.sigma_x(sigma.as_array()).into_owned();
    }
    if let Some(weights) = given::<PyReadonlyArray1<'_, f64>>(options, "weights")? {
        fit = fit.weights(weights.as_array()).into_owned();
    }
    if let Some(mask) = given::<Vec<bool>>(options, "mask")? {
        fit = fit.mask(mask);
    }
    if let Some(retry) = given(options, "retry")? {
        fit = fit.retry(retry);
    }
    if let Some(eliminate) = given(options, "variable_projection")? {
        fit = fit.variable_projection(eliminate);
    }
    if let Some(evaluations) = given(options, "max_evaluations")? {
        solver = solver.with_max_evaluations(evaluations);
    }
    if let Some(tolerance) = given(options, "ftol")? {
        solver = solver.with_ftol(tolerance);
    }
    if let Some(iterations) = given(options, "max_iterations")? {
        solver = solver.with_max_iterations(iterations);
    }
    if let Some(false) = given(options, "acceleration")? {
        solver = solver.with_acceleration(marquardt::solver::Acceleration::Never);
    }
    Ok(fit.solver(solver))
}
