//! After the first steps Levenberg–Marquardt trains without taking anything from the heap.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::{
    Adam, Groups, KroneckerLevenbergMarquardt, KroneckerStep, MovingAverage, Optimizer, PiecewiseConstantDecay,
};
use marquardt::solver::Acceleration;
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;

use crate::allocator::account;

/// 51 variables, in four named arrays.
fn network() -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(3).dense(10).tanh().dropout(0.1).dense(1);
    (layers.compile(&mut variables, 0, MeanSquaredError).unwrap(), variables)
}

/// Steps on batches of these sizes: an epoch to warm up, and three that are counted. The first accelerated step makes room
/// for the second derivatives, so that either every step is accelerated or none.
#[track_caller]
fn check(optimizer: &mut dyn Optimizer<f64>, variables: &mut Variables<f64>, sizes: &[usize], what: &str) {
    check_on(network().0, 3, optimizer, variables, sizes, what);
}

#[track_caller]
fn check_on(
    mut network: Network<f64>,
    inputs: usize,
    optimizer: &mut dyn Optimizer<f64>,
    variables: &mut Variables<f64>,
    sizes: &[usize],
    what: &str,
) {
    let x = Array2::from_shape_fn((200, inputs), |(i, k)| ((i + 2 * k) as f64).sin());
    let y = Array2::from_shape_fn((200, 1), |(i, _)| (i as f64).cos());
    let rows: Vec<usize> = (0..200).collect();
    let mut forms = Vec::with_capacity(100);
    let mut epoch = || {
        for (k, &size) in sizes.iter().enumerate() {
            let batch = network.batch_rows(&[x.view()], &[y.view()], &rows[10 * k..10 * k + size]).unwrap();
            forms.extend(optimizer.step(batch, variables).unwrap().damped.map(|damped| damped.linear_form));
        }
    };
    epoch();
    let ((), taken) = account(|| (0..3).for_each(|_| epoch()));
    assert_eq!(taken.allocations, 0, "{what}");
    if sizes.len() > 1 {
        assert!(forms.contains(&LinearForm::Dual) && forms.contains(&LinearForm::Cholesky), "{what}: {forms:?}");
    }
}

#[test]
fn every_form_and_policy() {
    let policies: [Damping<f64>; 3] =
        [GainRatio::default().into(), TrustRegion::default().into(), Multiplicative::default().into()];
    for damping in policies {
        for form in [LinearForm::Cholesky, LinearForm::Qr, LinearForm::Dual] {
            let (_, mut variables) = network();
            let optimizer = LevenbergMarquardt::new().with_damping(damping).with_acceleration(Acceleration::Never);
            let optimizer = optimizer.with_linear_solver(LinearSolver::Always(form));
            check(&mut optimizer.clone(), &mut variables, &[30], &format!("{damping:?}, {form}"));
            let mut optimizer = optimizer.with_acceleration(Acceleration::Always);
            check(&mut optimizer, &mut variables, &[30], &format!("{damping:?}, {form}, accelerated"));
        }
    }
}

#[test]
fn images() {
    let layers = Sequential::image(1, 6, 6).conv2d(2, [3, 3]).tanh().max_pooling2d([2, 2]).conv2d(3, [2, 2]);
    let layers = layers.average_pooling2d([1, 1]).layer_normalization().flatten().dense(1);
    let make = || LevenbergMarquardt::new().with_acceleration(Acceleration::Always);
    for mut optimizer in [make().with_momentum(0.5), make().with_linear_solver(LinearSolver::Always(LinearForm::Dual))]
    {
        let mut variables = Variables::new();
        let network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
        check_on(network, 36, &mut optimizer, &mut variables, &[40], "images");
    }
}

#[test]
fn batches_of_changing_size() {
    let settings: [fn(LevenbergMarquardt<f64>) -> LevenbergMarquardt<f64>; 3] = [
        |optimizer| optimizer.with_acceleration(Acceleration::Never),
        |optimizer| optimizer.with_acceleration(Acceleration::Always).with_momentum(0.5),
        |optimizer| {
            let rate = PiecewiseConstantDecay::new([2, 4], [1.0, 0.9, 0.8]);
            let optimizer = optimizer.with_learning_rate(rate).with_global_clipnorm(0.1).with_minimum_damping(1e-6);
            optimizer.with_acceleration(Acceleration::Never)
        },
    ];
    for (k, set) in settings.into_iter().enumerate() {
        let (_, mut variables) = network();
        let mut optimizer = set(LevenbergMarquardt::new());
        check(&mut optimizer, &mut variables, &[120, 12, 7, 140, 15, 100], &format!("settings {k}"));
    }
}

#[test]
fn frozen_variables_momentum_and_weight_decay() {
    let (_, mut variables) = network();
    for name in ["0.bias", "3.bias"] {
        let variable = variables.find(name).unwrap();
        variables.set_trainable(variable, false);
    }
    let make = || LevenbergMarquardt::new().with_momentum(0.5).with_acceleration(Acceleration::Always);
    check(&mut make(), &mut variables, &[120, 12, 7, 140, 15], "frozen biases, momentum");
    let mut optimizer = make().with_weight_decay(1e-3);
    check(&mut optimizer, &mut variables, &[120], "frozen biases, momentum, weight decay");
    let mut optimizer = make().with_weight_decay(1e-3).with_linear_solver(LinearSolver::Always(LinearForm::Qr));
    check(&mut optimizer, &mut variables, &[100], "the same by QR");
}

/// A group that may have to take its step back saves its state first.
#[test]
fn groups_and_averages() {
    let (_, mut variables) = network();
    let schedule = PiecewiseConstantDecay::new([2, 4], [1.0, 0.9, 0.8]);
    let head = LevenbergMarquardt::new().with_momentum(0.1).with_learning_rate(schedule);
    let head = head.with_acceleration(Acceleration::Always);
    let mut optimizer = MovingAverage::new(Groups::new().with_group(["3.*"], head).with_rest(Adam::new(1e-3)));
    check(&mut optimizer, &mut variables, &[120, 5, 140, 4], "the head by Levenberg–Marquardt, the rest by Adam");
}

/// Factors, inverses and the quadratic model are each renewed at some of the steps, of batches of changing size.
#[test]
fn kronecker_factors() {
    for step in [KroneckerStep::Averaged, KroneckerStep::Quadratic] {
        let make = || KroneckerLevenbergMarquardt::new().with_step(step).with_factor_interval(5).with_model_interval(3);
        for optimizer in [make(), make().with_factor_rank(1).with_weight_decay(1e-3)] {
            let (network, mut variables) = network();
            let x = Array2::from_shape_fn((200, 3), |(i, k)| ((i + 2 * k) as f64).sin());
            let y = Array2::from_shape_fn((200, 1), |(i, _)| (i as f64).cos());
            let rows: Vec<usize> = (0..200).collect();
            let (mut network, mut optimizer) = (network, optimizer);
            let mut epoch = || {
                for (k, size) in [120, 12, 7, 140, 15, 100].into_iter().enumerate() {
                    let rows = &rows[10 * k..10 * k + size];
                    let batch = network.batch_rows(&[x.view()], &[y.view()], rows).unwrap();
                    optimizer.step(batch, &mut variables).unwrap();
                }
            };
            // Factors come from every fifth of six batches: after five epochs they have come from the largest, too.
            (0..5).for_each(|_| epoch());
            let ((), taken) = account(|| (0..5).for_each(|_| epoch()));
            assert_eq!(taken.allocations, 0, "{step:?}");
        }
    }
}

/// Wide layers and few rows, whose products with inverses are formed row by row in most steps.
#[test]
fn kronecker_products_of_rows() {
    let mut variables = Variables::new();
    let layers = Sequential::new(40).dense(48).tanh().dense(44).tanh().dense(1);
    let mut network = layers.compile(&mut variables, 0, MeanSquaredError).unwrap();
    let x = Array2::from_shape_fn((60, 40), |(i, k)| ((i + 2 * k) as f64).sin());
    let y = Array2::from_shape_fn((60, 1), |(i, _)| (i as f64).cos());
    let rows: Vec<usize> = (0..60).collect();
    let mut optimizer = KroneckerLevenbergMarquardt::new();
    let mut epoch = || {
        for k in 0..10 {
            let batch = network.batch_rows(&[x.view()], &[y.view()], &rows[5 * k..5 * k + 9 - k % 3]).unwrap();
            optimizer.step(batch, &mut variables).unwrap();
        }
    };
    (0..3).for_each(|_| epoch());
    let ((), taken) = account(|| (0..3).for_each(|_| epoch()));
    assert_eq!(taken.allocations, 0);
}
