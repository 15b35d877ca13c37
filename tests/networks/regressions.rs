//! Logistic, softmax and Poisson regression by Levenberg–Marquardt, against maximum-likelihood estimates that
//! `tests/reference/generate_regressions.py` wrote down.

use std::collections::BTreeMap;

use marquardt::nn::{
    BinaryCrossentropy, CategoricalCrossentropy, Dense, Initializer, Loss, Network, Poisson, Sequential,
    SparseCategoricalCrossentropy, Tape,
};
use marquardt::optim::Optimizer;
use marquardt::problem::Objective;
use marquardt::solver::Status;
use marquardt::variables::Gradients;
use marquardt::{Covariance, LevenbergMarquardt, Real, Report, Variables};
use ndarray::Array2;

/// The numbers of a case, by name.
struct Reference(BTreeMap<String, Vec<f64>>);

impl Reference {
    fn read(case: &str) -> Self {
        let mut numbers = BTreeMap::<_, Vec<f64>>::new();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/regressions.csv");
        for record in csv::Reader::from_path(path).unwrap().deserialize() {
            let (of, name, index, value): (String, String, usize, f64) = record.unwrap();
            if of == case {
                let list = numbers.entry(name).or_default();
                assert_eq!(index, list.len(), "the file is in order");
                list.push(value);
            }
        }
        Reference(numbers)
    }

    fn of(&self, name: &str) -> &[f64] {
        &self.0[name]
    }

    fn inputs(&self) -> Array2<f64> {
        let rows = self.of("targets").len();
        Array2::from_shape_vec((rows, self.of("inputs").len() / rows), self.of("inputs").to_vec()).unwrap()
    }

    fn targets(&self) -> Array2<f64> {
        Array2::from_shape_vec((self.of("targets").len(), 1), self.of("targets").to_vec()).unwrap()
    }
}

/// A layer that starts from zero.
fn zeros(inputs: usize, outputs: usize) -> Sequential<f64> {
    Sequential::new(inputs).push(Dense::new(outputs).with_initializer(Initializer::Zeros))
}

/// Solves to convergence, and returns the report and the largest derivative of the loss.
#[track_caller]
fn solve<T: Real>(network: &mut Network<T>, variables: &mut Variables<T>) -> (Report<T>, T) {
    let report = LevenbergMarquardt::new().minimize_variables(network, variables).unwrap();
    assert!(report.is_converged(), "{report}");
    let mut gradients = Gradients::new(variables);
    let loss = network.loss_and_gradient(variables.values(), &mut gradients).unwrap();
    let difference = (loss - report.cost).abs();
    assert!(difference <= T::from_f64(4.0) * T::EPSILON * loss.abs(), "the cost is the loss: {loss}, {}", report.cost);
    (report, gradients.flat_mut().iter().fold(T::ZERO, |largest, g| largest.max(g.abs())))
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * (1.0 + expected.abs()), "{found}, not {expected}");
    }
}

/// The estimates are found from zero and from far away, and so are their standard errors.
#[track_caller]
fn check_one_output(case: &str, loss: impl Loss<f64> + Copy + 'static) {
    let reference = Reference::read(case);
    let (inputs, targets) = (reference.inputs(), reference.targets());
    for start in [0.0, 1.0, -30.0] {
        let mut variables = Variables::new();
        let mut network = zeros(inputs.ncols(), 1).compile(&mut variables, 0, loss).unwrap();
        network.batch(&[inputs.view()], &[targets.view()]).unwrap();
        variables.values_mut().fill(start);
        let (report, gradient) = solve(&mut network, &mut variables);
        assert!(gradient < 1e-12, "{case}, from {start}: {gradient:e}");
        assert_close(variables.values(), reference.of("weights"), 1e-10);
        assert_close(&[report.cost], reference.of("loss"), 1e-14);

        // The loss is the mean over the rows of minus the logarithm of the likelihood.
        let covariance = Covariance::at(&mut network, variables.values()).unwrap();
        let rows = targets.len() as f64;
        let errors: Vec<f64> = covariance.unscaled().diag().iter().map(|variance| (variance / rows).sqrt()).collect();
        assert_close(&errors, reference.of("standard_errors"), 1e-9);
    }
}

#[test]
fn logistic_regression() {
    check_one_output("logistic", BinaryCrossentropy);
}

/// The loss is negative at the minimum.
#[test]
fn poisson_regression() {
    check_one_output("poisson", Poisson);
}

#[test]
fn a_target_below_zero_is_reached() {
    let reference = Reference::read("poisson");
    let mut network = zeros(4, 1).compile(&mut Variables::new(), 0, Poisson).unwrap();
    network.batch(&[reference.inputs().view()], &[reference.targets().view()]).unwrap();
    let report = LevenbergMarquardt::new().with_target_cost(-20.0).minimize(&mut network, &[0.0; 5]).unwrap();
    assert!(report.status == Status::TargetCost && report.cost <= -20.0, "{report}");
}

/// The last of the three classes has the logit zero.
#[test]
fn softmax_regression() {
    let reference = Reference::read("softmax");
    let (inputs, targets) = (reference.inputs(), reference.targets());
    let mut variables = Variables::new();
    let mut tape = Tape::new();
    let x = tape.input(2);
    let logits = zeros(2, 2).append(&mut tape, x, &mut variables, 0).unwrap();
    let zero = tape.constant(&[0.0]);
    let logits = tape.concat(&[logits, zero]).unwrap();
    let mut network = Network::new(tape, &variables).unwrap().with_loss(logits, SparseCategoricalCrossentropy).unwrap();
    network.batch(&[inputs.view()], &[targets.view()]).unwrap();
    let (report, gradient) = solve(&mut network, &mut variables);
    assert!(gradient < 1e-12, "{gradient:e}");
    // A dense layer has its biases after all other weights.
    let rows = || reference.of("weights").chunks_exact(3);
    let expected: Vec<f64> = rows().flat_map(|row| &row[..2]).chain(rows().map(|row| &row[2])).copied().collect();
    assert_close(variables.values(), &expected, 1e-10);
    assert_close(&[report.cost], reference.of("loss"), 1e-14);
}

/// With a logit for each class, a number may be added to all of them: the minimiser is one of many, the minimum is not.
#[test]
fn redundant_logits_reach_the_minimum() {
    let reference = Reference::read("softmax");
    let (inputs, labels) = (reference.inputs(), reference.targets());
    let classes = Array2::from_shape_fn((labels.len(), 3), |(i, k)| f64::from(u8::from(labels[[i, 0]] == k as f64)));
    fn check(loss: impl Loss<f64> + 'static, inputs: &Array2<f64>, targets: &Array2<f64>, minimum: f64) {
        let mut variables = Variables::new();
        let mut network = Sequential::new(2).dense(3).compile(&mut variables, 0, loss).unwrap();
        network.batch(&[inputs.view()], &[targets.view()]).unwrap();
        let (report, gradient) = solve(&mut network, &mut variables);
        assert!(gradient < 1e-8 && (report.cost - minimum).abs() < 1e-14, "{gradient:e}: {report}");
    }
    let minimum = reference.of("loss")[0];
    check(SparseCategoricalCrossentropy, &inputs, &labels, minimum);
    check(CategoricalCrossentropy, &inputs, &classes, minimum);
    // Targets that sum to a half count half.
    check(CategoricalCrossentropy, &inputs, &(0.5 * classes), 0.5 * minimum);
}

#[test]
fn single_precision_reaches_its_digits() {
    for (case, is_logistic) in [("logistic", true), ("poisson", false)] {
        let reference = Reference::read(case);
        let (inputs, targets) = (reference.inputs().mapv(|v| v as f32), reference.targets().mapv(|v| v as f32));
        let mut variables = Variables::<f32>::new();
        let layer = Sequential::new(inputs.ncols()).push(Dense::new(1).with_initializer(Initializer::Zeros));
        let network = match is_logistic {
            true => layer.compile(&mut variables, 0, BinaryCrossentropy),
            false => layer.compile(&mut variables, 0, Poisson),
        };
        let mut network = network.unwrap();
        network.batch(&[inputs.view()], &[targets.view()]).unwrap();
        solve(&mut network, &mut variables);
        let found: Vec<f64> = variables.values().iter().map(|&value| f64::from(value)).collect();
        assert_close(&found, reference.of("weights"), 1e-3);
    }
}

/// Classes that a line separates: the loss falls for ever, and there is no minimum.
#[test]
fn separable_classes_end_with_a_reason() {
    let inputs = Array2::from_shape_fn((10, 1), |(i, _)| i as f64 - 4.5);
    let binary = inputs.mapv(|x| f64::from(u8::from(x > 0.0)));
    let mut variables = Variables::new();
    let mut network = zeros(1, 1).compile(&mut variables, 0, BinaryCrossentropy).unwrap();
    network.batch(&[inputs.view()], &[binary.view()]).unwrap();

    let report = LevenbergMarquardt::new().with_max_iterations(50).minimize(&mut network, &[0.0; 2]).unwrap();
    assert_eq!(report.status, Status::MaxIterations);
    assert!(report.cost > 0.0 && report.cost < 1e-15, "{report}");
    let report = LevenbergMarquardt::new().with_target_cost(1e-3).minimize(&mut network, &[0.0; 2]).unwrap();
    assert_eq!(report.status, Status::TargetCost);
    // Left alone, it falls until it underflows.
    let (report, gradient) = solve(&mut network, &mut variables);
    assert!(report.cost < 1e-300 && gradient < 1e-300, "{report}");
    assert!(report.x.iter().all(|x| x.is_finite()) && report.x[0] > 1e3, "{report}");

    let mut variables = Variables::new();
    let mut network = zeros(1, 2).compile(&mut variables, 0, SparseCategoricalCrossentropy).unwrap();
    network.batch(&[inputs.view()], &[binary.view()]).unwrap();
    let report = LevenbergMarquardt::new().with_max_iterations(60).minimize(&mut network, &[0.0; 4]).unwrap();
    assert_eq!(report.status, Status::MaxIterations);
    assert!(report.cost < 1e-15 && report.x.iter().all(|x| x.is_finite()), "{report}");
}

/// One iteration for each minibatch, behind the trait that Adam implements.
#[test]
fn minibatches_are_classified() {
    // Which of three sectors a point of the disc is in.
    let rows = 240;
    let inputs = Array2::from_shape_fn((rows, 2), |(i, k)| {
        let (angle, radius) = (2.4 * i as f64, ((i + 1) as f64 / rows as f64).sqrt());
        if k == 0 { radius * angle.cos() } else { radius * angle.sin() }
    });
    let labels = Array2::from_shape_fn((rows, 1), |(i, _)| {
        let angle = inputs[[i, 1]].atan2(inputs[[i, 0]]) + std::f64::consts::PI;
        (angle * 3.0 / std::f64::consts::TAU).floor().min(2.0)
    });
    let mut variables = Variables::new();
    let layers = Sequential::new(2).dense(8).tanh().dense(3);
    let mut network = layers.compile(&mut variables, 1, SparseCategoricalCrossentropy).unwrap();
    let mut optimizer = LevenbergMarquardt::new();
    for step in 0..40 {
        let batch: Vec<usize> = (0..120).map(|i| (7 * i + 13 * step) % rows).collect();
        network.batch_rows(&[inputs.view()], &[labels.view()], &batch).unwrap();
        let before = network.loss(variables.values()).unwrap();
        let report = optimizer.step(&mut network, &mut variables).unwrap();
        let after = network.loss(variables.values()).unwrap();
        assert!((report.loss - before).abs() <= 1e-14 * before, "{report:?}, {before}");
        assert!((report.loss_after.unwrap() - after).abs() <= 1e-14 * after && after <= before, "{report:?}, {after}");
    }
    let loss = network.evaluate(&variables, &[inputs.view()], &[labels.view()]).unwrap();
    assert!(loss < 0.1, "{loss}");
}
