//! Fits that are kept, and what is asked of them.

use std::cell::RefCell;

use marquardt::curve::{BandPoint, ParameterState};
use marquardt::{FittedCurve, Tie};
use ndarray::Array2;
use serde_json::{Value, json};

use super::member;
use crate::bars;
use crate::failure::Failure;
use crate::memory::Exchange;
use crate::table::number;

thread_local! {
    static FITS: RefCell<Vec<Option<FittedCurve<'static, f64>>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a fit. Arrays of the answer are the parameters, their standard errors, and numbers of the fit.
pub fn keep(fit: FittedCurve<'static, f64>, exchange: &mut Exchange) -> Value {
    let parameters = fit.parameters();
    exchange.results.push(parameters.iter().map(|parameter| parameter.value).collect());
    exchange.results.push(parameters.iter().map(|parameter| parameter.standard_error).collect());
    let report = fit.report();
    let evaluations = report.evaluations;
    exchange.results.push(vec![
        f64::from(u8::from(report.is_converged())),
        f64::from(u8::from(fit.is_unusable())),
        report.iterations as f64,
        (evaluations.residuals + evaluations.jacobians) as f64,
        evaluations.jacobians as f64,
        fit.degrees_of_freedom() as f64,
        fit.chi_square(),
    ]);
    let answer = json!({
        "names": parameters.iter().map(|parameter| parameter.name.as_str()).collect::<Vec<_>>(),
        "states": parameters.iter().map(|parameter| state(parameter.state)).collect::<Vec<_>>(),
        "status": report.status.to_string(),
    });
    let handle = FITS.with_borrow_mut(|fits| {
        let place = fits.iter().position(Option::is_none).unwrap_or(fits.len());
        if place == fits.len() {
            fits.push(None);
        }
        fits[place] = Some(fit);
        place
    });
    exchange.results[2].push(handle as f64);
    answer
}

fn state(state: ParameterState) -> &'static str {
    match state {
        ParameterState::Fixed => "fixed",
        ParameterState::Tied => "tied",
        ParameterState::AtLowerBound => "at lower bound",
        ParameterState::AtUpperBound => "at upper bound",
        ParameterState::Undetermined => "undetermined",
        _ => "free",
    }
}

/// Forgets a fit.
pub fn release(request: &Value) -> Result<Value, Failure> {
    let handle: usize = member(request, "handle")?;
    FITS.with_borrow_mut(|fits| fits.get_mut(handle).map(|fit| *fit = None));
    Ok(Value::Null)
}

/// Answers a question about a fit.
pub fn of(request: &Value, exchange: &mut Exchange) -> Result<Value, Failure> {
    let handle: usize = member(request, "handle")?;
    FITS.with_borrow(|fits| match fits.get(handle) {
        Some(Some(fit)) => answer(fit, request, exchange),
        _ => Err(Failure::new("the fit was freed")),
    })
}

fn answer(fit: &FittedCurve<'static, f64>, request: &Value, exchange: &mut Exchange) -> Result<Value, Failure> {
    let level = request["level"].as_f64().unwrap_or(0.95);
    let name = || member::<String>(request, "name");
    match request["what"].as_str().unwrap_or_default() {
        "summary" => Ok(serde_json::from_str(&fit.summary().to_json())?),
        "text" => Ok(fit.summary().to_string().into()),
        "json" => Ok(serde_json::from_str(&fit.to_stored().to_json())?),
        "covariance" => {
            exchange.results.push(fit.covariance().matrix().iter().copied().collect());
            exchange.results.push(fit.covariance().correlation().iter().copied().collect());
            Ok(Value::Null)
        }
        "residuals" => {
            exchange.results.extend([
                fit.fitted().to_vec(),
                fit.residuals().to_vec(),
                fit.whitened_residuals().to_vec(),
            ]);
            Ok(Value::Null)
        }
        "predict" => {
            let values = fit.predict(&rows(request, exchange)?)?;
            exchange.results.push(values);
            Ok(Value::Null)
        }
        kind @ ("confidence" | "prediction") => {
            let x = rows(request, exchange)?;
            let band =
                if kind == "confidence" { fit.confidence_band(&x, level)? } else { fit.prediction_band(&x, level)? };
            let columns: [fn(&BandPoint<f64>) -> f64; 4] =
                [|point| point.value, |point| point.standard_error, |point| point.low, |point| point.high];
            exchange.results.extend(columns.map(|of| band.iter().map(of).collect()));
            Ok(Value::Null)
        }
        "interval" => {
            let interval = fit.confidence_interval(&name()?, level)?;
            Ok(json!([number(interval.low), number(interval.high)]))
        }
        "profile" => {
            let points = request["points"].as_u64().unwrap_or(0) as usize;
            let profile = fit.profile(&name()?, level, points)?;
            exchange.results.push(profile.points.iter().map(|point| point.value).collect());
            exchange.results.push(profile.points.iter().map(|point| point.tau).collect());
            let end = |end| format!("{end:?}").to_lowercase();
            let interval = &profile.interval;
            Ok(json!({
                "low": number(interval.low), "high": number(interval.high), "lowEnd": end(interval.low_end), "highEnd": end(interval.high_end),
            }))
        }
        "bootstrap" => {
            let replicates = request["replicates"].as_u64().unwrap_or(1000) as usize;
            let seed = request["seed"].as_u64().unwrap_or(0);
            let fits = fit.bootstrap().replicates(replicates).seed(seed).cancel_token(crate::interrupt::token());
            let found = bars::of_replicates(fits).run()?;
            let parameters = fit.parameters().iter().zip(found.standard_errors()).map(|(parameter, error)| {
                let interval = found.percentile_interval(&parameter.name, level)?;
                Ok(json!({ "name": parameter.name, "standardError": number(error), "low": number(interval.low), "high": number(interval.high) }))
            });
            let parameters = parameters.collect::<Result<Vec<_>, Failure>>()?;
            Ok(json!({ "parameters": parameters, "failed": found.failed().len() }))
        }
        "derive" => {
            let text: String = member(request, "formula")?;
            let estimate = fit.derived(&Tie::parse(&text).map_err(Failure::of_formula("derive"))?)?;
            let interval = estimate.interval(level)?;
            Ok(json!({
                "value": number(estimate.value), "standardError": number(estimate.standard_error),
                "low": number(interval.low), "high": number(interval.high),
            }))
        }
        "unknowns" => {
            let found = fit.x_for(exchange.numbers(1))?.level(level).solve()?;
            let unknown = found.iter().map(|at| {
                json!({ "x": number(at.x), "standardError": number(at.standard_error), "low": number(at.interval.low), "high": number(at.interval.high) })
            });
            Ok(unknown.collect())
        }
        "criteria" => {
            let criteria = fit.criteria();
            Ok(
                json!({ "aic": number(criteria.aic()), "aicc": number(criteria.aicc()), "bic": number(criteria.bic()), "parameters": criteria.parameters }),
            )
        }
        other => Err(Failure::new(format!("there is no question {other:?}"))),
    }
}

/// Predictors in slot 1, row by row.
fn rows(request: &Value, exchange: &Exchange) -> Result<Array2<f64>, Failure> {
    let (numbers, width) = (exchange.numbers(1).to_vec(), request["width"].as_u64().unwrap_or(1).max(1) as usize);
    let count = numbers.len();
    Array2::from_shape_vec((count / width, width), numbers)
        .map_err(|_| Failure::new(format!("x has {count} numbers, which make no rows of {width}")))
}
