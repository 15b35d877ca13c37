//! A full solve over variables: residuals written on the tape, repeated steps of the same engine.

use std::ops::ControlFlow;

use marquardt::nn::{HalfSumOfSquares, Network, Tape};
use marquardt::optim::Optimizer;
use marquardt::problem::{Capabilities, Objective, SumOfSquares};
use marquardt::solver::{IterationRecord, Scaling, Status};
use marquardt::{AutoDiff, EvaluationError, LeastSquares, LevenbergMarquardt, Residuals, Scalar, Variables};
use ndarray::{Array2, array};

use super::problems::{Affine, Spoilt, assert_same_bits};
use crate::common::close;

const POINTS: usize = 20;

/// Decay data: `a exp(−b t) + c`, with a little noise.
fn data() -> [Array2<f64>; 2] {
    let t = Array2::from_shape_fn((POINTS, 1), |(i, _)| 0.2 * i as f64);
    let mut y = t.mapv(|t| 2.5 * (-1.3 * t).exp() + 0.4);
    y.iter_mut().enumerate().for_each(|(i, y)| *y += 0.01 * (7.0 * i as f64).sin());
    [t, y]
}

/// Two residual functions: `a exp(−b t) + c − y`, and `¼ (b − 1)`, once for all points; three named variables.
fn decay() -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let [amplitude, rate, offset] = [("amplitude", 1.0), ("rate", 0.5), ("offset", 0.0)]
        .map(|(name, value)| variables.add(name, array![value].view()).unwrap());
    let mut tape = Tape::new();
    let (t, y) = (tape.input(1), tape.input(1));
    let [a, b, c] = [amplitude, rate, offset].map(|variable| tape.variable(variable));
    let minus = tape.constant(&[-1.0]);
    let exponent = tape.mul(b, t).unwrap();
    let exponent = tape.mul(minus, exponent).unwrap();
    let decayed = tape.exp(exponent);
    let curve = tape.mul(a, decayed).unwrap();
    let curve = tape.add(curve, c).unwrap();
    let fit = tape.sub(curve, y).unwrap();
    let one = tape.constant(&[1.0]);
    let quarter = tape.constant(&[0.25]);
    let prior = tape.sub(b, one).unwrap();
    let prior = tape.mul(quarter, prior).unwrap();
    let network = Network::new(tape, &variables).unwrap().with_loss(fit, HalfSumOfSquares).unwrap();
    (network.with_loss(prior, HalfSumOfSquares).unwrap(), variables)
}

fn bind(network: &mut Network<f64>) -> &mut Network<f64> {
    let [t, y] = data();
    network.batch(&[t.view(), y.view()], &[]).unwrap()
}

/// The same by hand, with a rate that is held if given.
struct ByHand {
    rate: Option<f64>,
}

impl Residuals<f64> for ByHand {
    fn parameter_count(&self) -> usize {
        if self.rate.is_some() { 2 } else { 3 }
    }

    fn residual_count(&self) -> usize {
        POINTS + 1
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let [t, y] = data();
        let rate = self.rate.map_or(x[1], S::constant);
        let offset = x[x.len() - 1];
        for (i, r) in (first..).zip(r) {
            *r = if i < POINTS { x[0] * (-rate * t[[i, 0]]).exp() + offset - y[[i, 0]] } else { (rate - 1.0) * 0.25 };
        }
        Ok(())
    }
}

#[test]
fn several_residual_functions_in_several_variables() {
    let (mut network, mut variables) = decay();
    let report = LevenbergMarquardt::new().minimize_variables(bind(&mut network), &mut variables).unwrap();
    assert!(report.is_converged() && report.accepted > 3, "{report}");
    assert_same_bits(&report.x, variables.values(), "the variables are the best point");
    let by_hand = LevenbergMarquardt::new().minimize(&mut AutoDiff(ByHand { rate: None }), &[1.0, 0.5, 0.0]).unwrap();
    assert!(close(variables.values(), &by_hand.x, 1e-10), "{:?} instead of {:?}", variables.values(), by_hand.x);
    assert!((report.cost - by_hand.cost).abs() < 1e-12);
}

/// It is `minimize` on the flat vector, with the scaling of weights.
#[test]
fn it_is_the_solve_of_the_flat_problem() {
    let (mut network, mut variables) = decay();
    let solver = LevenbergMarquardt::new().with_max_iterations(7).with_scaling(Scaling::RunningMaximum);
    let flat = solver.minimize(bind(&mut network), variables.values()).unwrap();
    let solver = LevenbergMarquardt::new().with_max_iterations(7);
    let report = solver.minimize_variables(bind(&mut network), &mut variables).unwrap();
    assert_eq!(report.status, flat.status);
    assert_same_bits(&report.x, &flat.x, "x");
    assert_eq!(report.log, flat.log);
    assert_same_bits(variables.values(), &flat.x, "variables");
}

/// A variable that nothing depends on stays, and costs the others no more than the last digits.
#[test]
fn an_unused_variable_does_no_harm() {
    let (mut network, mut variables) = decay();
    let expected = LevenbergMarquardt::new().minimize(bind(&mut network), variables.values()).unwrap();
    variables.add("unused", array![3.0].view()).unwrap();
    let outputs = network.outputs();
    let mut network = Network::new(network.tape().clone(), &variables).unwrap();
    for output in outputs {
        network = network.with_loss(output, HalfSumOfSquares).unwrap();
    }
    let report = LevenbergMarquardt::new().minimize_variables(bind(&mut network), &mut variables).unwrap();
    assert!(report.is_converged(), "{report}");
    assert_eq!(variables.values()[3], 3.0);
    assert!(close(&variables.values()[..3], &expected.x, 1e-7), "{report}");
}

#[test]
fn frozen_variables_are_held() {
    let (mut network, mut variables) = decay();
    let rate = variables.find("rate").unwrap();
    variables.set_trainable(rate, false);
    let mut points = Vec::new();
    let mut watch = |_: &IterationRecord<f64>, x: &[f64]| {
        points.push(x.to_vec());
        ControlFlow::Continue(())
    };
    let solver = LevenbergMarquardt::new();
    let report = solver.minimize_variables_observed(bind(&mut network), &mut variables, &mut watch).unwrap();
    assert!(report.is_converged(), "{report}");
    assert_eq!(report.x.len(), 2);
    assert!(points.iter().all(|x| x.len() == 2), "an observer sees what is adjusted");
    assert_eq!(variables.values()[1], 0.5);
    let by_hand = solver.minimize(&mut AutoDiff(ByHand { rate: Some(0.5) }), &[1.0, 0.0]).unwrap();
    assert!(close(&[variables.values()[0], variables.values()[2]], &by_hand.x, 1e-10));
    assert!(close(&report.x, &by_hand.x, 1e-10));
}

#[test]
fn an_observer_may_end_it() {
    let (mut network, mut variables) = decay();
    let mut seen = Vec::new();
    let mut watch = |record: &IterationRecord<f64>, x: &[f64]| {
        seen.push((record.iteration, x.to_vec()));
        if record.iteration == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let solver = LevenbergMarquardt::new();
    let report = solver.minimize_variables_observed(bind(&mut network), &mut variables, &mut watch).unwrap();
    assert_eq!((report.status, report.iterations), (Status::Cancelled, 3));
    assert_eq!(seen.iter().map(|(iteration, _)| *iteration).collect::<Vec<_>>(), [1, 2, 3]);
    assert_same_bits(variables.values(), &seen[2].1, "the best point so far");
    assert!(report.cost < report.initial_cost);
}

#[test]
fn iterations_are_limited() {
    let (mut network, mut variables) = decay();
    let solver = LevenbergMarquardt::new().with_max_iterations(2);
    let report = solver.minimize_variables(bind(&mut network), &mut variables).unwrap();
    assert_eq!((report.status, report.iterations), (Status::MaxIterations, 2));
    assert_same_bits(variables.values(), &report.x, "the best point so far");
    let loss = network.loss(variables.values()).unwrap();
    assert!((loss - report.cost).abs() < 1e-13 && loss < report.initial_cost);
}

/// Refuses from the third trial on.
struct Exhausted(Affine, usize);

impl LeastSquares<f64> for Exhausted {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.0.residual_count()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.1 += 1;
        if self.1 >= 3 { Err("no more".into()) } else { self.0.residuals(x, first, r) }
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.linearize(x, first, r, j)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for Exhausted {
    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        Some(false)
    }
}

/// Whatever ends it, the variables are at the best point; what prevents a start leaves them alone.
#[test]
fn the_best_point_is_written_back() {
    let (good, mut variables) = Affine::new(20, 5, 70);
    let start = good.clone().loss(variables.values()).unwrap();
    let solver = LevenbergMarquardt::new().with_damping(marquardt::solver::damping::GainRatio::nielsen(1.0));
    let report = solver.minimize_variables(&mut SumOfSquares::new(Exhausted(good.clone(), 0)), &mut variables).unwrap();
    assert_eq!(report.status, Status::EvaluationFailed);
    assert_eq!(report.error.as_ref().unwrap().to_string(), "no more");
    assert_same_bits(variables.values(), &report.x, "the best point so far");
    assert!(good.clone().loss(variables.values()).unwrap() < 0.9 * start);

    let before = variables.clone();
    for spoilt in [Spoilt::Refused, Spoilt::NotFinite] {
        let mut bad = good.spoil_jacobian(spoilt);
        assert!(solver.minimize_variables(&mut bad, &mut variables).is_err());
        assert!(variables == before);
    }
}

/// The settings of training are not those of a full solve, and it leaves the training alone.
#[test]
fn it_does_not_disturb_the_training() {
    let (good, mut variables) = Affine::new(20, 5, 71);
    let mut optimizer = LevenbergMarquardt::new().with_momentum(0.5).with_learning_rate(0.1);
    optimizer.step(&mut good.clone(), &mut variables).unwrap();
    let state = optimizer.state();
    let mut solved = variables.clone();
    let report = optimizer.minimize_variables(&mut good.clone(), &mut solved).unwrap();
    assert!(report.is_converged() && report.iterations < 10, "{report}");
    assert_eq!(optimizer.state(), state);
}

/// `½ (x - 3)² + ½ w x²` is least at `3 / (1 + w)`; a variable that is left out, at 3.
#[test]
fn weight_decay_counts_in_a_full_solve() {
    for (decay, patterns, expected) in [(1.0, &[][..], 1.5), (0.5, &[], 2.0), (1.0, &["x"], 3.0), (0.0, &[], 3.0)] {
        let mut variables = Variables::<f64>::new();
        let x = variables.add("x", ndarray::array![0.25].view()).unwrap();
        let mut tape = Tape::new();
        let x = tape.variable(x);
        let residual = tape.shift(x, -3.0);
        let mut network = Network::new(tape, &variables).unwrap().with_loss(residual, HalfSumOfSquares).unwrap();
        network.batch(&[], &[]).unwrap();
        let solver =
            LevenbergMarquardt::new().with_weight_decay(decay).exclude_from_weight_decay(patterns.iter().copied());
        let report = solver.minimize_variables(&mut network, &mut variables).unwrap();
        let cost = 0.5 * (expected - 3.0_f64).powi(2)
            + if patterns.is_empty() { 0.5 * decay * expected * expected } else { 0.0 };
        assert!((report.x[0] - expected).abs() < 1e-12 && (report.cost - cost).abs() < 1e-12, "{decay}: {report}");
        assert!(report.is_converged(), "{report}");
    }
}
