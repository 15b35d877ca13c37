//! Frozen variables do not move, and cost nothing.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{MeanSquaredError, Network, Tape};
use marquardt::optim::{Optimizer, OptimizerError};
use marquardt::solver::damping::GainRatio;
use marquardt::solver::{Acceleration, Scaling};
use marquardt::{LevenbergMarquardt, Variables};
use nalgebra::DMatrix;

use super::problems::{Data, assert_same_bits, curved, damped, difference, linearized, refused, slot};
use crate::common::{close, damped_step};

fn freeze(variables: &mut Variables<f64>, names: &[&str], frozen: bool) {
    for name in names {
        let variable = variables.find(name).unwrap();
        variables.set_trainable(variable, !frozen);
    }
}

fn values(variables: &Variables<f64>, name: &str) -> Vec<f64> {
    variables.get(variables.find(name).unwrap()).iter().copied().collect()
}

#[test]
fn frozen_variables_stay_and_cost_no_columns() {
    let data = Data::new(50, 2, 30);
    for (frozen, columns) in [
        (&["0.weight"][..], 8 + 8 + 1),
        (&["0.bias", "2.bias"], 16 + 8),
        (&["0.weight", "0.bias", "2.weight"], 1),
        (&["2.weight", "2.bias"], 16 + 8),
    ] {
        let (mut network, mut variables) = curved(2, 8);
        freeze(&mut variables, frozen, true);
        let start = variables.clone();
        let optimizer = LevenbergMarquardt::new().with_weight_decay(0.1).with_momentum(0.5);
        let mut optimizer = optimizer.with_global_clipnorm(1.0);
        for _ in 0..5 {
            let report = optimizer.step(data.bind(&mut network), &mut variables).unwrap();
            assert_eq!(damped(&report).columns, columns, "{frozen:?}");
        }
        for variable in variables.iter() {
            let (name, frozen) = (variables.name(variable), !variables.is_trainable(variable));
            let [now, then] = [&variables, &start].map(|variables| values(variables, name));
            assert_eq!(now == then, frozen, "{name}");
            let momentum = optimizer.slot(variable, "momentum").unwrap();
            assert_eq!(momentum.iter().all(|&momentum| momentum == 0.0), frozen, "{name}");
        }
    }
}

/// The step in some variables is that of the problem in these variables, in whichever form.
#[test]
fn the_step_is_that_of_the_trainable_columns() {
    for rows in [50, 4] {
        let data = Data::new(rows, 2, 31);
        let (mut network, mut variables) = curved(2, 8);
        freeze(&mut variables, &["0.bias", "2.bias"], true);
        let optimizer = LevenbergMarquardt::new().with_damping(GainRatio::nielsen(0.3));
        let mut optimizer = optimizer.with_scaling(Scaling::Marquardt);
        let before = variables.values().to_vec();
        let batch = data.bind(&mut network);
        let (r, jacobian) = linearized(batch, &before);
        let report = optimizer.step(batch, &mut variables).unwrap();
        let form = if rows == 4 { LinearForm::Dual } else { LinearForm::Cholesky };
        assert_eq!(damped(&report).linear_form, form);

        let columns: Vec<_> = variables.trainable_ranges().into_iter().flatten().collect();
        let some = DMatrix::from_fn(rows, columns.len(), |i, k| jacobian[(i, columns[k])]);
        let scale: Vec<_> = some.column_iter().map(|column| column.norm()).collect();
        let expected = damped_step(&r, &some, damped(&report).damping, &scale);
        let step = difference(variables.values(), &before);
        let step: Vec<_> = columns.iter().map(|&column| step[column]).collect();
        assert!(close(&step, expected.as_slice(), 1e-9), "{rows} rows: {step:?} instead of {expected}");
    }
}

/// Accelerated steps, with and without a Jacobian at hand: frozen biases are as good as constants.
#[test]
fn frozen_variables_are_constants_to_acceleration() {
    for (rows, form) in
        [(4, LinearForm::Dual), (4, LinearForm::FactoredDual), (50, LinearForm::Cholesky), (3000, LinearForm::Cholesky)]
    {
        let data = Data::new(rows, 2, 34);
        let (mut network, mut variables) = curved(2, 8);
        freeze(&mut variables, &["0.bias", "2.bias"], true);
        let mut others = Variables::new();
        let [hidden, head] = ["0.weight", "2.weight"]
            .map(|name| others.add(name, variables.get(variables.find(name).unwrap())).unwrap());
        let mut tape = Tape::new();
        let x = tape.input(2);
        let x = tape.dense(x, hidden, None).unwrap();
        let x = tape.tanh(x);
        let y = tape.dense(x, head, None).unwrap();
        let mut without = Network::new(tape, &others).unwrap().with_loss(y, MeanSquaredError).unwrap();

        let solver = LinearSolver::Always(form);
        let make = || LevenbergMarquardt::new().with_acceleration(Acceleration::Always).with_linear_solver(solver);
        let [mut optimizer, mut other] = [make(), make()];
        for _ in 0..4 {
            let report = optimizer.step(data.bind(&mut network), &mut variables).unwrap();
            let expected = other.step(data.bind(&mut without), &mut others).unwrap();
            assert_eq!(damped(&report).linear_form, form);
            assert_eq!(damped(&report).attempts, damped(&expected).attempts);
        }
        for name in ["0.weight", "2.weight"] {
            assert!(close(&values(&variables, name), &values(&others, name), 1e-9), "{rows} rows: {name}");
        }
    }
}

#[test]
fn with_everything_frozen_there_is_nothing_to_train() {
    let data = Data::new(50, 2, 32);
    let (mut network, mut variables) = curved(2, 4);
    let names = ["0.weight", "0.bias", "2.weight", "2.bias"];
    let mut optimizer = LevenbergMarquardt::new();
    freeze(&mut variables, &names, true);
    let error = refused(&mut optimizer, data.bind(&mut network), &mut variables);
    assert!(matches!(error, OptimizerError::NothingToTrain), "{error}");
    let error = optimizer.minimize_variables(data.bind(&mut network), &mut variables).unwrap_err();
    assert!(matches!(error, OptimizerError::NothingToTrain), "{error}");

    freeze(&mut variables, &names, false);
    optimizer.step(data.bind(&mut network), &mut variables).unwrap();
    freeze(&mut variables, &names, true);
    let error = refused(&mut optimizer, data.bind(&mut network), &mut variables);
    assert!(matches!(error, OptimizerError::NothingToTrain), "{error}");
    freeze(&mut variables, &names, false);
    assert!(optimizer.step(data.bind(&mut network), &mut variables).unwrap().applied);
}

/// Trains with the head frozen, then free, then frozen again; a fresh optimizer in the same state does the same.
#[test]
fn freezing_half_way() {
    let data = Data::new(50, 2, 33);
    let make = || LevenbergMarquardt::new().with_momentum(0.4);
    let step = |optimizer: &mut LevenbergMarquardt<f64>, network: &mut Network<f64>, variables: &mut Variables<f64>| {
        let report = optimizer.step(data.bind(network), variables).unwrap();
        assert!(report.loss_after.unwrap() <= report.loss, "{report:?}");
        report
    };
    let ((mut network, mut variables), mut optimizer) = (curved(2, 6), make());
    optimizer.build(&variables).unwrap();
    let head = ["2.weight", "2.bias"];
    for phase in 0..4 {
        freeze(&mut variables, &head, phase % 2 == 0);
        let mut restored = make();
        restored.restore(&optimizer.state(), &variables).unwrap();
        let mut others = variables.clone();
        let frozen = [values(&variables, head[0]), values(&variables, head[1])];
        let momentum = slot(&optimizer, &variables, "momentum");
        for _ in 0..4 {
            let report = step(&mut optimizer, &mut network, &mut variables);
            assert_eq!(damped(&report).columns, if phase % 2 == 0 { 18 } else { 25 });
            assert_eq!(step(&mut restored, &mut network, &mut others), report);
            assert_same_bits(variables.values(), others.values(), "variables");
        }
        if phase % 2 == 0 {
            assert_eq!([values(&variables, head[0]), values(&variables, head[1])], frozen);
            assert_eq!(slot(&optimizer, &variables, "momentum")[18..], momentum[18..], "kept for later");
        }
    }
}
