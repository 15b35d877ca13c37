//! Fits of arrays.

use std::collections::BTreeMap;

use marquardt::autodiff::Difference;
use marquardt::curve::Curve;
use marquardt::{CurveFit, FittedCurve};
use ndarray::Array2;
use serde_json::Value;

use super::{curves, fits, member};
use crate::arguments::{FitArguments, ParameterArguments};
use crate::curve_fit;
use crate::failure::{Failure, quoted};
use crate::host;
use crate::live::LivePicture;
use crate::memory::Exchange;
use crate::selected_data::SelectedData;

/// A function whose formula the package does not know.
#[derive(serde::Deserialize)]
struct Function {
    parameters: Vec<String>,
}

/// Fits a curve to predictors (slot 1, row by row), responses (slot 2), and their sigma (3), weights (4) and errors of the predictors (5), as far as
/// these are given. The fit is kept under a number.
pub fn fit(request: &Value, settings: Value, exchange: &mut Exchange) -> Result<Value, Failure> {
    let arguments = FitArguments::of(settings)?;
    let function: Option<Function> = member(request, "function")?;
    let data = data(request, exchange)?;
    let fit = match function {
        Some(function) => of_function(function, &data, &arguments)?,
        None => {
            let curve = curves::chosen(request)?;
            if curve.predictor_count() != data.x.ncols() {
                return Err(Failure::new(format!(
                    "{} has {} predictors, and x has {} columns",
                    curve.name(),
                    curve.predictor_count(),
                    data.x.ncols()
                )));
            }
            fitted(curve_fit::build_with_quantities(&curve, &data, &arguments)?, &arguments)?
        }
    };
    Ok(fits::keep(fit, exchange))
}

fn fitted<C: Curve<f64> + 'static>(
    fit: CurveFit<'_, f64, C>,
    arguments: &FitArguments,
) -> Result<FittedCurve<'static, f64>, Failure> {
    Ok(curve_fit::solve_asked(fit.into_owned(), arguments, Some(&LivePicture))?.fit)
}

/// Fits a function of JavaScript by differences.
fn of_function(
    function: Function,
    data: &SelectedData,
    arguments: &FitArguments,
) -> Result<FittedCurve<'static, f64>, Failure> {
    let parameters = &arguments.curve.parameters;
    let names = &function.parameters;
    let given = |name: &String| {
        let start = parameters.start.iter().find(|start| start.name == *name).map(|start| start.value);
        start.or_else(|| parameters.fix.iter().find(|fix| fix.name == *name)?.value)
    };
    let start: Vec<f64> = names.iter().map(|name| given(name).unwrap_or(1.0)).collect();
    if let Some(start) = parameters.start.iter().find(|start| !names.contains(&start.name)) {
        let (name, known) = (&start.name, quoted(names));
        return Err(Failure::new(format!("start: there is no parameter {name:?}; the parameters are {known}")));
    }
    let responses = |x: &[f64], b: &[f64], y: &mut [f64]| match host::evaluate(x, b, y) {
        true => Ok(()),
        false => Err("the function of the model threw an error".to_owned().into()),
    };
    let fit = CurveFit::numeric_rows(responses, Difference::Central, &data.x, &data.y, &start);
    let rest = ParameterArguments { start: Vec::new(), ..parameters.clone() };
    let fit = curve_fit::with_options(fit, data, &rest, &arguments.method)?.names(names);
    fitted(curve_fit::with_quantities(fit, Vec::new(), arguments)?, arguments)
}

/// The arrays as data of a fit.
fn data(request: &Value, exchange: &Exchange) -> Result<SelectedData, Failure> {
    let (rows, width): (usize, usize) = (member(request, "rows")?, member(request, "width")?);
    let matrix = |slot: usize, columns: usize, name: &str| {
        let numbers = exchange.numbers(slot).to_vec();
        let found = numbers.len();
        Array2::from_shape_vec((rows, columns), numbers)
            .map_err(|_| Failure::new(format!("{name} has {found} numbers for {rows} rows of {columns}")))
    };
    let optional = |slot: usize, columns: usize, name: &str| match exchange.numbers(slot).is_empty() {
        true => Ok(None),
        false => matrix(slot, columns, name).map(Some),
    };
    let x_names: Vec<String> = match request["predictors"].is_null() {
        true => (1..=width).map(|number| if width == 1 { "x".to_owned() } else { format!("x{number}") }).collect(),
        false => member(request, "predictors")?,
    };
    Ok(SelectedData {
        source: "data".to_owned(),
        columns: x_names.iter().cloned().chain(["y".to_owned()]).collect(),
        labels: [x_names.join(", "), "y".to_owned()],
        x_names,
        y_names: vec!["y".to_owned()],
        x: matrix(1, width, "x")?,
        y: matrix(2, 1, "y")?,
        sigma: optional(3, 1, "sigma")?,
        weights: optional(4, 1, "weights")?,
        sigma_x: optional(5, width, "sigmaX")?,
        replicates: None,
        origins: BTreeMap::new(),
        response_sigma: None,
        omitted: 0,
        lines: (1..=rows).collect(),
        sigma_name: String::new(),
    })
}
