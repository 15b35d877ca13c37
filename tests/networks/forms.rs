//! The forms of the linear system against each other: whichever is taken, a step is the same.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{
    BinaryCrossentropy, CategoricalCrossentropy, Huber, LogCosh, MeanSquaredError, Network, Poisson, Sequential,
    SparseCategoricalCrossentropy,
};
use marquardt::optim::{Optimizer, OptimizerError, StepReport};
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, Curvature, Scaling};
use marquardt::{LevenbergMarquardt, SolveError, Variables};
use ndarray::Array2;
use proptest::prelude::*;

use crate::common::config;
use crate::random::{build, recipes};

/// How a step is made.
#[derive(Debug, Clone, Copy)]
struct Manner {
    policy: usize,
    damping: f64,
    accelerate: bool,
    momentum: f64,
    learning_rate: f64,
    weight_decay: f64,
    clip: f64,
}

fn manners() -> impl Strategy<Value = Manner> {
    let choice = |a: f64, b: f64| prop_oneof![Just(a), Just(b)];
    let of_the_rule = (choice(0.0, 0.6), choice(1.0, 0.5), choice(0.0, 0.05), choice(0.0, 0.1));
    (0..3_usize, 0.01..1.0, any::<bool>(), of_the_rule).prop_map(|(policy, damping, accelerate, rule)| {
        let (momentum, learning_rate, weight_decay, clip) = rule;
        // Without J, the secular equation and acceleration see the step before the penalty pulls at it.
        let weight_decay = if accelerate || policy == 2 { 0.0 } else { weight_decay };
        Manner { policy, damping, accelerate, momentum, learning_rate, weight_decay, clip }
    })
}

impl Manner {
    fn optimizer(self, form: LinearForm) -> LevenbergMarquardt<f64> {
        let policy: Damping<f64> = match self.policy {
            0 => GainRatio::nielsen(self.damping).into(),
            1 => Multiplicative::new(self.damping, 10.0, 3.0).into(),
            _ => TrustRegion::new(1.0).into(),
        };
        let acceleration = if self.accelerate { Acceleration::Always } else { Acceleration::Never };
        let optimizer = LevenbergMarquardt::new().with_damping(policy).with_acceleration(acceleration);
        let optimizer = optimizer.with_scaling(Scaling::Identity).with_linear_solver(LinearSolver::Always(form));
        let optimizer = optimizer.with_momentum(self.momentum).with_learning_rate(self.learning_rate);
        // Without a floor, the secular equation may call for hardly any damping, where digits go.
        let optimizer = optimizer.with_minimum_damping(1e-2).with_weight_decay(self.weight_decay);
        optimizer.with_global_clipnorm(self.clip)
    }
}

/// Three steps on one batch, and where each leads.
fn steps(
    optimizer: &mut LevenbergMarquardt<f64>,
    network: &mut Network<f64>,
    variables: &Variables<f64>,
) -> Vec<(StepReport<f64>, Vec<f64>)> {
    let mut variables = variables.clone();
    let step = |_| {
        let report = optimizer.step(network, &mut variables).unwrap();
        (report, variables.values().to_vec())
    };
    (0..3).map(step).collect()
}

/// Three steps in every form, against those by the normal equations: the first to `tolerance`, the others to what is left
/// of it after they have started from different places.
fn agree(
    network: &mut Network<f64>,
    variables: &Variables<f64>,
    manner: Manner,
    tolerance: f64,
) -> Result<(), TestCaseError> {
    let expected = steps(&mut manner.optimizer(LinearForm::Cholesky), network, variables);
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    for (form, tolerance) in [
        (LinearForm::FactoredDual, tolerance),
        (LinearForm::Dual, tolerance),
        (LinearForm::ConjugateGradients, 1e4 * tolerance),
    ] {
        if form == LinearForm::Dual && manner.weight_decay > 0.0 {
            continue;
        }
        let found = steps(&mut manner.optimizer(form), network, variables);
        for ((place, (report, at)), (expected, expected_at)) in found.iter().enumerate().zip(&expected) {
            let tolerance = if place == 0 { tolerance } else { 1e3 * tolerance };
            prop_assert_eq!(report.damped.unwrap().linear_form, form);
            // Where hardly anything is left to gain, rounding decides what is taken.
            if (expected.loss - expected.loss_after.unwrap_or(0.0)).abs() < 1e-6 * expected.loss.abs() {
                break;
            }
            prop_assert_eq!(report.applied, expected.applied, "{}: {:?}, {:?}", form, report, expected);
            let [gain, expected_gain] = [report, expected].map(|report| report.damped.unwrap().gain_ratio);
            prop_assert!(
                (gain - expected_gain).abs() < 1e-3 * expected_gain.abs().max(1.0),
                "{form}: {gain}, {expected_gain}"
            );
            let (off, way) = (distance(at, expected_at), distance(expected_at, variables.values()));
            prop_assert!(off <= tolerance * way, "{form}, step {place}: off by {off:e} after {way:e}");
        }
    }
    Ok(())
}

proptest! {
    // Every case is a dozen steps.
    #![proptest_config(ProptestConfig { cases: config().cases.min(32), ..config() })]

    /// Shared weights, shortcuts, tables, convolutions, dropout, sample weights.
    #[test]
    fn on_random_networks(recipe in recipes(1..7), manner in manners()) {
        let mut built = build(&recipe);
        built.bind();
        agree(&mut built.network, &built.variables, manner, 1e-9)?;
    }

    /// Losses that are no sums of squares, among them those that couple the outputs.
    #[test]
    fn on_all_losses(loss in 0..7_usize, widths in (1..5_usize, 1..9_usize, 2..5_usize), rows in 1..9_usize, manner in manners()) {
        let (inputs, hidden, outputs) = widths;
        let mut variables = Variables::new();
        let layers = Sequential::new(inputs).dense(hidden).tanh().dense(outputs);
        let wave = |i: usize, k: usize| (0.3 + 1.7 * i as f64 + 0.9 * k as f64).sin();
        let values = Array2::from_shape_fn((rows, outputs), |(i, k)| wave(i, k + 3));
        let shares = values.mapv(|value| 0.5 + 0.5 * value);
        let labels = Array2::from_shape_fn((rows, 1), |(i, _)| ((3 * i + 1) % outputs) as f64);
        let (network, targets) = match loss {
            0 => (layers.compile(&mut variables, 7, MeanSquaredError), values),
            1 => (layers.compile(&mut variables, 7, Huber::new(0.4).unwrap()), values),
            2 => (layers.compile(&mut variables, 7, LogCosh), values),
            3 => (layers.compile(&mut variables, 7, BinaryCrossentropy), shares),
            4 => (layers.compile(&mut variables, 7, CategoricalCrossentropy), shares),
            5 => (layers.compile(&mut variables, 7, SparseCategoricalCrossentropy), labels),
            _ => (layers.compile(&mut variables, 7, Poisson), shares),
        };
        let mut network = network.unwrap();
        let x = Array2::from_shape_fn((rows, inputs), |(i, k)| wave(i + 5, k));
        network.batch(&[x.view()], &[targets.view()]).unwrap();
        agree(&mut network, &variables, manner, 1e-9)?;
    }
}

/// A network and its batch of `rows`.
fn curve(rows: usize) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(2).dense(60).tanh().dense(60).tanh().dense(1);
    let mut network = layers.compile(&mut variables, 3, MeanSquaredError).unwrap();
    let x = Array2::from_shape_fn((rows, 2), |(i, k)| (0.7 * i as f64 + 1.9 * k as f64).sin());
    let y = Array2::from_shape_fn((rows, 1), |(i, _)| (2.0 * x[[i, 0]]).sin() * x[[i, 1]]);
    network.batch(&[x.view()], &[y.view()]).unwrap();
    (network, variables)
}

/// With room for no matrix, a step and a full solve go on by conjugate gradients, and lead to the same place.
#[test]
fn conjugate_gradients_take_over_where_nothing_else_fits() {
    let (mut network, variables) = curve(100);
    let optimizer = LevenbergMarquardt::new().with_acceleration(Acceleration::Never);
    let optimizer = optimizer.with_scaling(Scaling::Identity).with_loss_damping(0.1);
    let budget = 600_000;
    let run = |optimizer: &mut LevenbergMarquardt<f64>, network: &mut Network<f64>| {
        let mut variables = variables.clone();
        let reports = (0..5).map(|_| optimizer.step(network, &mut variables).unwrap()).collect::<Vec<_>>();
        let forms: Vec<LinearForm> = reports.iter().map(|report| report.damped.unwrap().linear_form).collect();
        (forms, reports[4].loss_after.unwrap(), reports[0].loss)
    };
    let (forms, exact, start) = run(&mut optimizer.clone(), &mut network);
    assert_eq!(forms, [LinearForm::FactoredDual; 5]);
    let (forms, lean, _) = run(&mut optimizer.clone().with_memory_budget(budget), &mut network);
    assert_eq!(forms, [LinearForm::ConjugateGradients; 5]);
    assert!(exact < 0.05 * start && (lean / exact - 1.0).abs() < 1e-3, "{lean} and {exact}, from {start}");

    let solver = optimizer.with_memory_budget(budget).with_max_iterations(10);
    let mut solved = variables.clone();
    let report = solver.minimize_variables(&mut network, &mut solved).unwrap();
    assert_eq!(report.linear_form, LinearForm::ConjugateGradients);
    assert!(report.cost < 0.02 * start && report.gradient_norm.is_finite(), "{report}");
}

/// Beyond the budget, the error says what is needed and what would fit; that much fits, and another row does not.
#[test]
fn over_the_budget_the_error_says_what_would_fit() {
    let budget = 1_000_000;
    let step = |rows: usize, budget: usize| {
        let (mut network, mut variables) = curve(rows);
        LevenbergMarquardt::new().with_memory_budget(budget).step(&mut network, &mut variables)
    };
    let OptimizerError::Solve(SolveError::MemoryBudget { needed, rows_that_fit, .. }) = step(1000, budget).unwrap_err()
    else {
        panic!("a megabyte is not enough")
    };
    assert!(step(rows_that_fit, budget).is_ok() && step(rows_that_fit + 1, budget).is_err(), "{rows_that_fit}");
    assert!(step(1000, needed).is_ok() && step(1000, needed - 1).is_err(), "{needed}");
}

/// A classifier or a regression with 800 residuals in a minibatch.
fn with_many_residuals(is_classifier: bool) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(60).dense(40).tanh().dense(10);
    let x = Array2::from_shape_fn((80, 60), |(i, k)| ((i * (2 * k + 3)) as f64 * 0.37 + k as f64).sin());
    let mut network = if is_classifier {
        let mut network = layers.compile(&mut variables, 3, SparseCategoricalCrossentropy).unwrap();
        network.batch(&[x.view()], &[Array2::from_shape_fn((80, 1), |(i, _)| ((i * i) % 10) as f64).view()]).unwrap();
        network
    } else {
        layers.compile(&mut variables, 3, MeanSquaredError).unwrap()
    };
    if !is_classifier {
        let y = Array2::from_shape_fn((80, 10), |(i, k)| ((i * i + k) as f64 * 0.61).sin());
        network.batch(&[x.view()], &[y.view()]).unwrap();
    }
    (network, variables)
}

#[test]
fn conjugate_gradients_stand_in_for_a_large_factorisation() {
    for is_classifier in [false, true] {
        let solvers = [LinearSolver::Auto, LinearSolver::Always(LinearForm::FactoredDual)];
        let [(found, form), (expected, _)] = solvers.map(|solver| {
            let (mut network, mut variables) = with_many_residuals(is_classifier);
            let start = variables.values().to_vec();
            let report = LevenbergMarquardt::new()
                .with_curvature(Curvature::Exact)
                .with_linear_solver(solver)
                .step(&mut network, &mut variables)
                .unwrap();
            let step: Vec<f64> = variables.values().iter().zip(start).map(|(after, before)| after - before).collect();
            (step, report.damped.unwrap().linear_form)
        });
        assert_eq!(form, LinearForm::ConjugateGradients);
        let norm = |step: &[f64]| step.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        let difference: Vec<f64> = found.iter().zip(&expected).map(|(a, b)| a - b).collect();
        assert!(norm(&difference) < 1e-3 * norm(&expected), "{:e} of {:e}", norm(&difference), norm(&expected));
        assert!(found != expected);
    }
}

/// With hardly any damping, the classifier's rows have too many directions for the rounds.
#[test]
fn a_system_that_takes_too_many_rounds_is_factorised() {
    let (mut network, mut variables) = with_many_residuals(true);
    let optimizer =
        LevenbergMarquardt::new().with_loss_damping(0.0).with_damping(GainRatio::new(1e-10)).with_attempts(1);
    let report = optimizer.clone().step(&mut network, &mut variables).unwrap();
    assert_eq!(report.damped.unwrap().linear_form, LinearForm::FactoredDual);
    let (mut network, mut again) = with_many_residuals(true);
    let mut exact = optimizer.with_linear_solver(LinearSolver::Always(LinearForm::FactoredDual));
    exact.step(&mut network, &mut again).unwrap();
    assert_eq!(variables.values(), again.values(), "it is the same factorisation");
}
