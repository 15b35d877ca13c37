//! Whole fits: bytes choose the model, the data, the start, bounds and the loss. A fit ends after a bounded number of
//! evaluations; and if it is said to have converged, its numbers are finite, its parameters are within their bounds, and no
//! column of the Jacobian that is free to move points along the residuals.

use std::sync::atomic::{AtomicUsize, Ordering};

use marquardt::curve::Curve;
use marquardt::models::{Guess, Named};
use marquardt::problem::RobustLoss;
use marquardt::{CurveFit, Dual, EvaluationError, FittedCurve, LevenbergMarquardt, Loss, Model, Report};

use crate::choices::Choices;

/// Largest cosine between the residuals and a free column at a point that is said to be a minimum. What rounding alone makes
/// of it is added.
const LARGEST_COSINE: f64 = 1e-4;

/// Roundings of responses and parameters, in units of the last digit, that are granted to models.
const ROUNDINGS: f64 = 1e3;

/// Units of the last digit by which parameters are moved, and how many times the change of the residuals a gradient may be: the
/// library's own, with some room.
const DISPLACEMENT: f64 = 16.0;
const UNRESOLVED: f64 = 16.0;

const MAX_ITERATIONS: usize = 200;

/// Solves that a robust loss without a scale takes at most.
const MAX_SOLVES: usize = 410;

/// Attempts of a fit, and points beside their ends that are looked at.
const MAX_ATTEMPTS: usize = 12;
const MAX_LOOKS: usize = 25 * 160;

/// The curve of a model, one derivative after the other, which counts its evaluations.
struct Counted<'c> {
    model: &'c Named,
    count: &'c AtomicUsize,
}

impl Counted<'_> {
    fn begin(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }
}

impl Curve<f64> for Counted<'_> {
    fn parameter_count(&self) -> usize {
        self.model.parameters().len()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.model.parameters()[index].clone()
    }

    fn responses(&self, x: &[f64], _width: usize, b: &[f64], y: &mut [f64]) -> Result<(), EvaluationError> {
        self.begin();
        y.iter_mut().zip(x).for_each(|(y, &x)| *y = self.model.response(&[x], b));
        Ok(())
    }

    fn linearize(
        &self,
        x: &[f64],
        _width: usize,
        b: &[f64],
        y: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        self.begin();
        for ((y, &x), row) in y.iter_mut().zip(x).zip(jacobian.chunks_exact_mut(b.len())) {
            *y = self.model.response(&[x], b);
            row.iter_mut().enumerate().for_each(|(index, slope)| *slope = derivative(self.model, x, b, index));
        }
        Ok(())
    }
}

/// The derivative of the response by one parameter.
fn derivative(model: &Named, x: f64, b: &[f64], index: usize) -> f64 {
    let mut seeded: Vec<Dual<f64, 1>> = b.iter().map(|&b| Dual::constant(b)).collect();
    seeded[index] = Dual::variable(b[index], 0);
    model.response(&[x], &seeded).gradient[0]
}

/// Model, data, start, bounds and loss of one fit.
struct Case {
    model: Named,
    x: Vec<f64>,
    y: Vec<f64>,
    start: Vec<f64>,
    bounds: Vec<Option<(f64, f64)>>,
    fixed: Option<usize>,
    loss: Option<Loss>,
    scale: Option<f64>,
    projects: bool,
}

impl Case {
    fn new(choices: &mut Choices) -> Self {
        let models: Vec<Named> = Named::all().collect();
        let model = models[choices.below(models.len())].clone();
        let n = model.parameters().len();
        let (rows, step, offset) = (choices.below(24), choices.scaled(3.0).abs().max(1e-3), choices.unit());
        let x: Vec<f64> = (0..rows).map(|i| step * (i as f64 + offset)).collect();
        let truth: Vec<f64> = (0..n).map(|_| 4.0 * choices.unit()).collect();
        let noise = [0.0, 1e-12, 1e-3, 0.1, 1.0][choices.below(5)];
        let response = |choices: &mut Choices, x: f64| model.response(&[x], &truth) + noise * choices.unit();
        let mut y: Vec<f64> = x.iter().map(|&x| response(choices, x)).collect();
        if choices.one_in(8) {
            y.iter_mut().for_each(|y| *y = (100.0 * *y).round() / 100.0);
        }
        if choices.one_in(8) {
            let (place, outlier) = (choices.below(rows.max(1)), choices.any());
            y.iter_mut().skip(place).take(1).for_each(|y| *y = outlier);
        }
        let mut start = match choices.below(3) {
            0 => model.guess(&x, &y),
            1 => truth.iter().map(|value| value * (1.0 + choices.unit())).collect(),
            _ => (0..n).map(|_| choices.scaled(2.0)).collect(),
        };
        if choices.one_in(16) {
            start[choices.below(n)] = choices.any();
        }
        let bounded = choices.one_in(3);
        let bounds = start.iter().map(|&start| {
            let [below, above] = [choices.scaled(2.0).abs(), choices.scaled(2.0).abs()];
            (bounded && choices.one_in(2)).then_some((start - below, start + above))
        });
        let bounds = bounds.collect();
        let fixed = choices.one_in(6).then(|| choices.below(n));
        let loss = choices.one_in(3).then(|| Loss::ALL[choices.below(Loss::ALL.len())]);
        let scale = choices.one_in(2).then(|| choices.scaled(2.0).abs());
        Case { model, x, y, start, bounds, fixed, loss, scale, projects: choices.one_in(6) }
    }

    /// Weight `ρ′` of a residual.
    fn weight(&self, residual: f64, scale: Option<f64>) -> f64 {
        match (self.loss, scale) {
            (Some(loss), Some(scale)) => RobustLoss::<f64>::rho(&loss, (residual / scale).powi(2))[1],
            _ => 1.0,
        }
    }

    /// The largest cosine between the residuals and a column that no bound holds, and what rounding may make of it. Under a
    /// robust loss, the residuals count as long as the cost `½‖r‖²` says.
    fn cosine(&self, report: &Report<f64>, scale: Option<f64>) -> (f64, f64) {
        let (b, length) = (&report.x, (2.0 * report.cost).sqrt());
        let responses: Vec<f64> = self.x.iter().map(|&x| self.model.response(&[x], b)).collect();
        let residuals: Vec<f64> = responses.iter().zip(&self.y).map(|(f, y)| f - y).collect();
        let weights: Vec<f64> = residuals.iter().map(|&r| self.weight(r, scale).sqrt()).collect();
        let size = norm(&responses).max(norm(&self.y));
        // What the responses are uncertain by, in units of rounding: of themselves, and of the parameters.
        let (mut largest, mut uncertainty) = (0.0_f64, size);
        for index in (0..b.len()).filter(|&index| Some(index) != self.fixed) {
            let slope = |x: f64| derivative(&self.model, x, b, index);
            let column: Vec<f64> = self.x.iter().zip(&weights).map(|(&x, w)| w * slope(x)).collect();
            let column_norm = norm(&column);
            uncertainty += column_norm * b[index].abs();
            // Unit vectors: products of the two may be past the range of floats where neither is.
            let directions = column.iter().zip(residuals.iter().zip(&weights));
            let cosine: f64 = directions.map(|(j, (r, w))| (j / column_norm) * (r * w / length)).sum();
            let is_held = self.bounds[index].is_some_and(|(lower, upper)| {
                (b[index] <= lower && cosine > 0.0) || (b[index] >= upper && cosine < 0.0)
            });
            // A parameter that no response depends on, as far as floats can tell, may be anything.
            let is_idle = column_norm * b[index].abs().max(1.0) <= 1e-13 * size;
            if !is_held && !is_idle && length > 0.0 {
                largest = largest.max(cosine.abs());
            }
        }
        // Data that are all zero say nothing of how small a residual is.
        if norm(&self.y) == 0.0 {
            uncertainty += (2.0 * report.initial_cost).sqrt();
        }
        // A parameter that its own digits do not resolve, as the centre of a peak narrower than they are, hides the gradient.
        let unresolved =
            [false, true].map(|alternate| self.change(b, &weights, alternate)).into_iter().fold(0.0, f64::max);
        let rounding = ROUNDINGS * f64::EPSILON * uncertainty + UNRESOLVED * unresolved;
        (largest, if largest > 0.0 { rounding / length } else { 0.0 })
    }

    /// The change of the weighted responses when all parameters move by some units of their last digit, upwards or in turns.
    fn change(&self, b: &[f64], weights: &[f64], alternate: bool) -> f64 {
        let unit = |index: usize| if alternate && index % 2 == 1 { -DISPLACEMENT } else { DISPLACEMENT };
        let moved: Vec<f64> = b.iter().enumerate().map(|(index, b)| b + unit(index) * f64::EPSILON * b).collect();
        let change = |&x: &f64| self.model.response(&[x], &moved) - self.model.response(&[x], b);
        norm(&self.x.iter().zip(weights).map(|(x, w)| w * change(x)).collect::<Vec<f64>>())
    }
}

fn norm(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 { 0.0 } else { largest * values.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt() }
}

pub fn run(bytes: &[u8]) -> bool {
    let case = Case::new(&mut Choices(bytes));
    let count = AtomicUsize::new(0);
    let counted = Counted { model: &case.model, count: &count };
    let solver = LevenbergMarquardt::new().with_max_iterations(MAX_ITERATIONS);
    let mut fit = CurveFit::curve(counted, &case.x, &case.y, &case.start).solver(solver);
    for (name, &bounds) in case.model.parameters().iter().zip(&case.bounds) {
        if let Some((lower, upper)) = bounds {
            fit = fit.bounds(name, lower..=upper);
        }
    }
    if let Some(index) = case.fixed {
        fit = fit.fix(&case.model.parameters()[index]);
    }
    if let Some(loss) = case.loss {
        fit = fit.robust(loss);
        if let Some(scale) = case.scale {
            fit = fit.f_scale(scale);
        }
    }
    let outcome = fit.variable_projection(case.projects).fit();
    let solves = if case.loss.is_some() && case.scale.is_none() { MAX_SOLVES } else { 1 };
    let most = 20 * solves * (MAX_ITERATIONS + 50) + MAX_ATTEMPTS * MAX_LOOKS;
    assert!(count.load(Ordering::Relaxed) <= most, "{} evaluations of {}", count.load(Ordering::Relaxed), case.model);
    match outcome {
        Ok(fit) => check(&case, &fit),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// Refuses a fit that is said to have converged, and has not.
fn check(case: &Case, fit: &FittedCurve<'_, f64>) -> bool {
    let report = fit.report();
    let described = || format!("{}\n{} from {:?}, loss {:?}", report, case.model, case.start, case.loss);
    assert!(!fit.summary().to_string().is_empty());
    for (parameter, bounds) in fit.parameters().iter().zip(&case.bounds) {
        assert!(bounds.is_none_or(|(lower, upper)| (lower..=upper).contains(&parameter.value)), "{}", described());
        assert!(!parameter.standard_error.is_nan(), "{}", described());
    }
    if !report.is_converged() {
        return true;
    }
    let numbers = [report.cost, report.initial_cost, report.gradient_norm, report.gradient_cosine];
    assert!(numbers.iter().chain(&report.x).all(|number| number.is_finite()), "{}", described());
    let (cosine, rounding) = case.cosine(report, fit.robust_scale());
    assert!(cosine <= LARGEST_COSINE + rounding, "cosine {cosine:.1e}, {rounding:.1e} by rounding: {}", described());
    true
}
