//! Curve fits as the arguments ask for them.

use std::time::Duration;

use marquardt::curve::{CleanedFit, Curve, ErrorsInX, FromModel, MultiStartError, Outlier};
use marquardt::models::AnyModel;
use marquardt::{CurveFit, FittedCurve, LevenbergMarquardt, Tie};

use crate::arguments::{FitArguments, MethodArguments, ParameterArguments};
use crate::assignments::NamedValue;
use crate::bars;
use crate::failure::Failure;
use crate::interrupt;
use crate::live::LivePicture;
use crate::parameter_options::check_once;
use crate::selected_data::SelectedData;
use crate::table::{Cell, ResultTable};
use crate::terminal::note;

/// Heading of the lines that `--watch` prints.
const HEADING: &str = "  trial          cost    damping  gain ratio        step   gradient";

/// The fit of a curve to data, with all that is said of parameters and method, but for starts from several points.
pub fn build<'a>(
    curve: &AnyModel,
    data: &'a SelectedData,
    parameters: &ParameterArguments,
    method: &MethodArguments,
) -> Result<CurveFit<'a, f64, FromModel<AnyModel>>, Failure> {
    with_options(CurveFit::guessed(curve.clone(), &data.x, &data.y), data, parameters, method)
}

/// The fit with what is said of parameters and method.
pub fn with_options<'a, C: Curve<f64>>(
    fit: CurveFit<'a, f64, C>,
    data: &'a SelectedData,
    parameters: &ParameterArguments,
    method: &MethodArguments,
) -> Result<CurveFit<'a, f64, C>, Failure> {
    check_once(method.range.iter().map(|range| ("--range", range.name.as_str())))?;
    let mut fit = fit.options(parameters.options()?);
    if let Some(sigma) = &data.sigma {
        fit = fit.sigma(sigma).absolute_sigma(method.absolute_sigma);
    }
    if let Some(weights) = &data.weights {
        fit = fit.weights(weights);
    }
    if method.weight_by_modulus {
        fit = fit.weight_by_modulus();
    }
    if data.y_names.len() > 1 {
        fit = fit.response_names(&data.y_names);
    }
    if let Some(sigma_x) = &data.sigma_x {
        let effective = method.effective_variance;
        let errors = if effective { ErrorsInX::EffectiveVariance } else { ErrorsInX::OrthogonalDistance };
        fit = fit.sigma_x(sigma_x).errors_in_x(errors);
    }
    if let Some((counts, deviations)) = &data.replicates {
        fit = fit.replicates(counts, deviations);
    }
    if method.counts {
        fit = fit.counts();
    }
    Ok(fit.variable_projection(method.variable_projection).solver(solver(method)?).retry(!method.no_retry))
}

/// The same, with the quantities that `marquardt fit` derives.
pub fn build_with_quantities<'a>(
    curve: &AnyModel,
    data: &'a SelectedData,
    arguments: &FitArguments,
) -> Result<CurveFit<'a, f64, FromModel<AnyModel>>, Failure> {
    let of_model = match curve {
        AnyModel::Named(model) if arguments.derive_all => model.derived_quantities(),
        _ => Vec::new(),
    };
    with_quantities(build(curve, data, &arguments.curve.parameters, &arguments.method)?, of_model, arguments)
}

/// The fit with the quantities that are derived, and those of its model.
pub fn with_quantities<'a, C: Curve<f64>>(
    mut fit: CurveFit<'a, f64, C>,
    of_model: Vec<(String, String)>,
    arguments: &FitArguments,
) -> Result<CurveFit<'a, f64, C>, Failure> {
    check_once(arguments.derive.iter().map(|derived| ("--derive", derived.name.as_str())))?;
    let given = arguments.derive.iter().map(|NamedValue { name, value }| (name.clone(), value.clone()));
    for (name, text) in given.chain(of_model) {
        fit = fit.derive(&name, Tie::parse(&text).map_err(Failure::of_formula("--derive"))?);
    }
    Ok(fit)
}

/// A fit, and the minima that were found if there was more than one start.
pub struct Solved<'a> {
    pub fit: FittedCurve<'a, f64>,
    pub minima: Option<ResultTable>,
    /// Outliers that were left out.
    pub outliers: Vec<Outlier<f64>>,
}

/// Fits under the loss, and from as many starts, as the arguments ask for.
pub fn solve<'a, C: Curve<f64> + 'a>(
    fit: CurveFit<'a, f64, C>,
    method: &MethodArguments,
) -> Result<Solved<'a>, MultiStartError> {
    let Some(starts) = method.multi_start else { return solve_from_start(fit, method) };
    let search = prepared(fit, method).multi_start().starts(starts as usize).seed(method.seed);
    let mut search = bars::of_starts(search);
    for NamedValue { name, value } in &method.range {
        search = search.range(name, value.clone());
    }
    let found = search.run()?;
    let names = found.best.parameters().iter().map(|parameter| parameter.name.clone());
    let mut minima = ResultTable::new(["cost".to_owned(), "starts".to_owned()].into_iter().chain(names));
    for minimum in &found.minima {
        let numbers = minimum.parameters.iter().map(|value| Cell::Number(*value));
        minima.row([Cell::Number(minimum.cost), Cell::Count(minimum.starts)].into_iter().chain(numbers));
    }
    Ok(Solved { fit: found.best, minima: Some(minima), outliers: Vec::new() })
}

/// Fits as `marquardt fit` is asked to, without outliers if so.
pub fn solve_asked<'a, C: Curve<f64> + 'a>(
    mut fit: CurveFit<'a, f64, C>,
    arguments: &FitArguments,
    live: Option<&LivePicture>,
) -> Result<Solved<'a>, MultiStartError> {
    if let Some(picture) = live {
        fit = fit.observe_curve(picture.observer());
    }
    let Some(rate) = arguments.outliers else { return solve(fit, &arguments.method) };
    let CleanedFit { fit, outliers, .. } = prepared(fit, &arguments.method).remove_outliers(rate)?;
    Ok(Solved { fit, minima: None, outliers })
}

/// Fits under the loss that the arguments ask for, from one start.
pub fn solve_from_start<'a, C: Curve<f64> + 'a>(
    fit: CurveFit<'a, f64, C>,
    method: &MethodArguments,
) -> Result<Solved<'a>, MultiStartError> {
    Ok(Solved { fit: prepared(fit, method).fit()?, minima: None, outliers: Vec::new() })
}

/// Applies the loss to the fit, and an observer that prints iterations if asked.
fn prepared<'a, C: Curve<f64>>(mut fit: CurveFit<'a, f64, C>, method: &MethodArguments) -> CurveFit<'a, f64, C> {
    if let Some(loss) = method.robust {
        fit = fit.robust(loss);
    }
    if let Some(scale) = method.f_scale {
        fit = fit.f_scale(scale);
    }
    if method.watch {
        note(HEADING);
        fit = fit.observe(|record| note(record));
    }
    fit
}

/// Setter of a tolerance.
type SetTolerance = fn(LevenbergMarquardt<f64>, f64) -> LevenbergMarquardt<f64>;

fn solver(method: &MethodArguments) -> Result<LevenbergMarquardt<f64>, Failure> {
    let mut solver = LevenbergMarquardt::new().with_cancel_token(interrupt::token());
    if let Some(damping) = method.damping {
        solver = solver.with_damping(damping.into());
    }
    if let Some(acceleration) = method.acceleration {
        solver = solver.with_acceleration(acceleration.into());
    }
    if let Some(scaling) = method.scaling {
        solver = solver.with_scaling(scaling.into());
    }
    let tolerances: [(_, _, SetTolerance); 3] = [
        ("--ftol", method.ftol, LevenbergMarquardt::with_ftol),
        ("--xtol", method.xtol, LevenbergMarquardt::with_xtol),
        ("--gtol", method.gtol, LevenbergMarquardt::with_gtol),
    ];
    for (option, tolerance, set) in tolerances {
        let Some(tolerance) = tolerance else { continue };
        if !(0.0..1.0).contains(&tolerance) {
            return Err(Failure::new(format!("{option} is {tolerance}: it must be from 0 to less than 1")));
        }
        solver = set(solver, tolerance);
    }
    if let Some(evaluations) = method.max_evaluations {
        solver = solver.with_max_evaluations(evaluations);
    }
    if let Some(iterations) = method.max_iterations {
        solver = solver.with_max_iterations(iterations);
    }
    if let Some(seconds) = method.time_limit {
        // Longer than anybody waits.
        let limit = Duration::try_from_secs_f64(seconds.clamp(f64::NEG_INFINITY, 1e9));
        let refuse = |_| Failure::new(format!("--time-limit is {seconds}: seconds must not be negative"));
        solver = solver.with_time_limit(limit.map_err(refuse)?);
    }
    Ok(solver)
}

/// Names the place in the file where a fit cannot begin.
pub fn explain(error: MultiStartError, data: &SelectedData) -> Failure {
    match error {
        MultiStartError::Curve(error) => data.explain(error),
        error => Failure::new(format!("{}: {error}", data.source)),
    }
}
