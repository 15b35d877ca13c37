//! Many fits of one curve.

use marquardt::FitMany;
use marquardt::curve::{FitOptions, NanPolicy, PerFit, Predictors};
use ndarray::{ArrayView1, ArrayView2};
use serde_json::{Value, json};

use super::{curves, member};
use crate::arguments::{MethodArguments, ParameterArguments};
use crate::failure::Failure;
use crate::memory::Exchange;
use crate::options::Options;
use crate::{host, interrupt};

/// Fits between two reports of progress.
const REPORTED: usize = 256;

/// Fits a curve to each row of slot 2. Slot 1 has the predictors that all fits share, row by row; slots 3 and 4 have starts and sigma, of all
/// fits or of each. Arrays of the answer are parameters and standard errors, row by row, costs, 1 for converged fits, and iterations.
pub fn fit(request: &Value, settings: Value, exchange: &mut Exchange) -> Result<Value, Failure> {
    let mut options = Options::of(settings)?;
    let parameters = ParameterArguments::of(&mut options)?;
    let method = MethodArguments::of(&mut options)?;
    let omits_missing = options.switch("omit-missing")?;
    options.finish()?;
    let curve = curves::chosen(request)?;
    let (points, fits): (usize, usize) = (member(request, "points")?, member(request, "fits")?);
    let width = curve.predictor_count();
    let matrix = |slot: usize, rows: usize, columns: usize, name: &str| {
        let numbers = exchange.numbers(slot);
        ArrayView2::from_shape((rows, columns), numbers)
            .map_err(|_| Failure::new(format!("{name} has {} numbers for {rows} rows of {columns}", numbers.len())))
    };
    let per_fit = |slot: usize, columns: usize, name: &str| -> Result<Option<PerFit<'_, f64>>, Failure> {
        let numbers = exchange.numbers(slot);
        Ok(match numbers.len() {
            0 => None,
            length if length == columns => Some(PerFit::from(ArrayView1::from(numbers))),
            _ => Some(PerFit::from(matrix(slot, fits, columns, name)?)),
        })
    };
    let mut fit_options: FitOptions<f64> = parameters.options()?;
    if let Some(loss) = method.robust {
        fit_options = fit_options.robust(loss);
    }
    if method.counts {
        fit_options = fit_options.counts();
    }
    if method.absolute_sigma {
        fit_options = fit_options.absolute_sigma(true);
    }
    if omits_missing {
        fit_options = fit_options.nan_policy(NanPolicy::Omit);
    }
    let token = interrupt::token();
    let names = curve.parameters().to_vec();
    let x = Predictors::shared(matrix(1, points, width, "x")?);
    let report = |done: usize, all: usize| {
        if done.is_multiple_of(REPORTED) && host::progress(done, all as f64, f64::NAN) {
            interrupt::token().cancel();
        }
    };
    let mut many =
        FitMany::new(curve, x, matrix(2, fits, points, "y")?).options(fit_options).cancel_token(token).progress(report);
    many = match per_fit(3, names.len(), "start")? {
        Some(start) => many.start(start),
        None => many.guessed(),
    };
    if let Some(sigma) = per_fit(4, points, "sigma")? {
        many = many.sigma(sigma);
    }
    if let Some(iterations) = method.max_iterations {
        many = many.max_iterations(iterations);
    }
    let found = many.fit()?;
    let failed = found.status.iter().enumerate().filter(|(_, status)| !status.is_converged());
    let failed: Vec<Value> = failed.map(|(fit, status)| json!([fit, status.to_string()])).collect();
    exchange.results = vec![
        found.parameters.iter().copied().collect(),
        found.standard_errors.iter().copied().collect(),
        found.cost.to_vec(),
        found.status.iter().map(|status| f64::from(u8::from(status.is_converged()))).collect(),
        found.iterations.iter().map(|&count| count as f64).collect(),
        found.degrees_of_freedom.iter().map(|&count| count as f64).collect(),
    ];
    Ok(json!({ "names": names, "failed": failed }))
}
