//! Levenberg–Marquardt for some of the variables, and under a moving average.

use marquardt::optim::{Adam, Groups, MovingAverage, Optimizer, OptimizerError};
use marquardt::problem::{NotLeastSquares, Objective};
use marquardt::variables::Gradients;
use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt, Variables};

use super::problems::{Data, Snapshot, assert_same_bits, curved, damped, refused};

fn set_trainable(variables: &mut Variables<f64>, prefix: &str, trainable: bool) {
    for index in 0..variables.len() {
        let variable = variables.iter().nth(index).unwrap();
        if variables.name(variable).starts_with(prefix) {
            variables.set_trainable(variable, trainable);
        }
    }
}

fn head_by_lm() -> Groups<f64> {
    let head = LevenbergMarquardt::new().with_momentum(0.3);
    Groups::new().with_group(["2.*"], head).with_rest(Adam::new(0.01))
}

/// The head's step is that of Levenberg–Marquardt with the rest frozen; then the rest follows its gradient there.
#[test]
fn the_head_by_lm_and_the_rest_by_adam() {
    let data = Data::new(60, 2, 80);
    let ((mut network, mut variables), (_, mut others)) = (curved(2, 6), curved(2, 6));
    let mut groups = head_by_lm();
    let (mut head, mut rest) = (LevenbergMarquardt::new().with_momentum(0.3), Adam::new(0.01));
    let mut gradients = Gradients::new(&variables);
    for step in 0..8 {
        let rows: Vec<_> = (0..[30, 5][step % 2]).map(|row| (7 * step + row) % 60).collect();
        let report = groups.step(data.bind_rows(&mut network, &rows), &mut variables).unwrap();
        assert_eq!(damped(&report).columns, 7, "the head alone");

        set_trainable(&mut others, "0.", false);
        let expected = head.step(data.bind_rows(&mut network, &rows), &mut others).unwrap();
        set_trainable(&mut others, "0.", true);
        network.loss_and_gradient(others.values(), &mut gradients).unwrap();
        set_trainable(&mut others, "2.", false);
        rest.apply_gradients(&gradients, &mut others).unwrap();
        set_trainable(&mut others, "2.", true);
        assert_same_bits(variables.values(), others.values(), "variables");
        assert_eq!((report.loss, report.damped), (expected.loss, expected.damped));
    }
    assert!(variables.iter().all(|variable| variables.is_trainable(variable)));
    assert_eq!(groups.iterations(), 8);
}

/// A network whose gradient cannot be had.
struct WithoutGradient<'a>(&'a mut dyn Objective<f64>);

impl Objective<f64> for WithoutGradient<'_> {
    fn loss(&mut self, x: &[f64]) -> Result<f64, EvaluationError> {
        self.0.loss(x)
    }

    fn loss_and_gradient(&mut self, _: &[f64], _: &mut Gradients<f64>) -> Result<f64, EvaluationError> {
        Err("no gradient".into())
    }

    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<f64>, NotLeastSquares> {
        self.0.least_squares()
    }
}

/// When the rest fails, the head's step is taken back, with its damping, scaling and momentum.
#[test]
fn a_step_is_taken_back_when_another_group_fails() {
    let data = Data::new(60, 2, 81);
    for first_steps in [0, 3] {
        let (mut network, mut variables) = curved(2, 6);
        let (mut groups, mut unharmed) = (head_by_lm(), head_by_lm());
        let mut others = variables.clone();
        groups.build(&variables).unwrap();
        for _ in 0..first_steps {
            groups.step(data.bind(&mut network), &mut variables).unwrap();
            unharmed.step(data.bind(&mut network), &mut others).unwrap();
        }
        let error = refused(&mut groups, &mut WithoutGradient(data.bind(&mut network)), &mut variables);
        assert!(matches!(error, OptimizerError::Evaluation(_)), "{error:?}");
        for _ in 0..2 {
            let report = groups.step(data.bind(&mut network), &mut variables).unwrap();
            assert_eq!(report, unharmed.step(data.bind(&mut network), &mut others).unwrap());
        }
        assert_same_bits(variables.values(), others.values(), "no trace is left");
    }
}

#[test]
fn groups_are_saved_and_restored() {
    let data = Data::new(60, 2, 82);
    let (mut network, mut variables) = curved(2, 6);
    let mut groups = head_by_lm();
    for _ in 0..5 {
        groups.step(data.bind(&mut network), &mut variables).unwrap();
    }
    let (mut restored, mut later) = (head_by_lm(), variables.clone());
    restored.restore(&groups.state(), &variables).unwrap();
    for _ in 0..5 {
        let report = groups.step(data.bind(&mut network), &mut variables).unwrap();
        assert_eq!(report, restored.step(data.bind(&mut network), &mut later).unwrap());
    }
    assert_same_bits(variables.values(), later.values(), "variables");
    assert_eq!(groups.state(), restored.state());
}

#[test]
fn averages_of_what_lm_has_learnt() {
    let data = Data::new(60, 2, 83);
    let ((mut network, mut variables), (_, mut others)) = (curved(2, 6), curved(2, 6));
    let mut averaged = MovingAverage::new(LevenbergMarquardt::new()).with_average_decay(0.75);
    let mut plain = LevenbergMarquardt::new();
    let mut average = variables.values().to_vec();
    for _ in 0..6 {
        let report = averaged.step(data.bind(&mut network), &mut variables).unwrap();
        assert_eq!(report, plain.step(data.bind(&mut network), &mut others).unwrap());
        assert_same_bits(variables.values(), others.values(), "training goes on with the weights");
        for (average, w) in average.iter_mut().zip(others.values()) {
            *average = 0.75 * *average + 0.25 * w;
        }
    }
    let weights = variables.values().to_vec();
    averaged.swap_weights(&mut variables).unwrap();
    assert!(crate::common::close(variables.values(), &average, 1e-14));
    let before = Snapshot::of(&averaged, &variables);
    let error = averaged.step(data.bind(&mut network), &mut variables).unwrap_err();
    assert!(matches!(error, OptimizerError::AveragesSwappedIn), "{error}");
    assert_eq!(Snapshot::of(&averaged, &variables), before);
    averaged.swap_weights(&mut variables).unwrap();
    assert_same_bits(variables.values(), &weights, "and out again");
}
