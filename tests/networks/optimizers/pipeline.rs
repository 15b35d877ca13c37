//! What every first-order step does around the update rule.

use marquardt::Variables;
use marquardt::optim::{
    Adagrad, Adam, AdamW, ExponentialDecay, Hyperparameter, Optimizer, PiecewiseConstantDecay, RmsProp, Sgd,
};
use marquardt::variables::{Gradient, Gradients};
use ndarray::{Array1, Array2, array};
use proptest::collection::vec;
use proptest::prelude::*;

use super::problems::{dense_gradient, dense_steps, dense_variables, sparse_gradient, sparse_steps, table};
use crate::common::{close, config};

/// Two variables of zeros.
fn zeros(first: usize, second: usize) -> Variables<f64> {
    let mut variables = Variables::new();
    variables.add("first", Array1::zeros(first).view()).unwrap();
    variables.add("second", Array1::zeros(second).view()).unwrap();
    variables
}

/// What plain descent makes of a gradient, once it is clipped: its opposite.
fn clipped(mut optimizer: Sgd<f64>, gradient: &[f64], split: usize) -> Vec<f64> {
    let mut variables = zeros(split, gradient.len() - split);
    let mut gradients = Gradients::new(&variables);
    gradients.flat_mut().copy_from_slice(gradient);
    optimizer.apply_gradients(&gradients, &mut variables).unwrap();
    variables.values().iter().map(|w| -w).collect()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Shorter than the limit, and in the same direction; the same if it was shorter already.
fn is_clipped(clipped: &[f64], gradient: &[f64], limit: f64) -> bool {
    let factor = (limit / norm(gradient)).min(1.0);
    let scaled: Vec<f64> = gradient.iter().map(|g| g * factor).collect();
    norm(clipped) <= limit * (1.0 + 1e-15) && close(clipped, &scaled, 1e-14) && (factor < 1.0 || clipped == gradient)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn clipped_gradients_stay_within_the_limit(
        gradient in vec(-5.0..5.0_f64, 1..40),
        part in 0.0..1.0,
        limit in 0.01..20.0_f64,
    ) {
        let split = (part * gradient.len() as f64) as usize;
        let by_value = clipped(Sgd::new(1.0).with_clipvalue(limit), &gradient, split);
        for (clipped, g) in by_value.iter().zip(&gradient) {
            prop_assert_eq!(*clipped, g.clamp(-limit, limit));
        }
        let by_norm = clipped(Sgd::new(1.0).with_clipnorm(limit), &gradient, split);
        prop_assert!(is_clipped(&by_norm[..split], &gradient[..split], limit));
        prop_assert!(is_clipped(&by_norm[split..], &gradient[split..], limit));
        let by_global_norm = clipped(Sgd::new(1.0).with_global_clipnorm(limit), &gradient, split);
        prop_assert!(is_clipped(&by_global_norm, &gradient, limit));
    }

    /// Rows that come more than once count as their sum, also when norms are taken; other rows count as zero.
    #[test]
    fn sparse_gradients_are_dense_ones_with_zeros(
        steps in vec(vec((0..5_usize, -2.0..2.0, -2.0..2.0), 0..8), 1..6),
        which in 0..8_usize,
        limit in 0.1..3.0_f64,
    ) {
        let make = || -> Box<dyn Optimizer<f64>> {
            match which {
                0 => Box::new(Sgd::new(0.1).with_global_clipnorm(limit)),
                1 => Box::new(Sgd::new(0.1).with_momentum(0.9).with_nesterov(true).with_clipnorm(limit)),
                2 => Box::new(Adam::new(0.1).with_clipnorm(limit)),
                3 => Box::new(AdamW::new(0.1).with_amsgrad(true).with_weight_decay(0.5).with_clipvalue(limit)),
                4 => Box::new(RmsProp::new(0.1).with_momentum(0.5).with_centered(true)),
                5 => Box::new(Adagrad::new(0.1).with_weight_decay(0.5).with_ema(0.5).with_ema_overwrite_frequency(2)),
                6 => Box::new(Adagrad::new(0.1).with_l2(0.3).with_global_clipnorm(limit)),
                _ => Box::new(Adam::pytorch(0.1).with_gradient_accumulation_steps(2).with_clipnorm(limit)),
            }
        };
        let run = |is_dense: bool| {
            let mut variables = Variables::new();
            let values = Array2::from_shape_fn((5, 2), |(i, j)| (i as f64 - j as f64).cos());
            let table = variables.add("table", values.view()).unwrap();
            let mut gradients = Gradients::new(&variables);
            let mut optimizer = make();
            for step in &steps {
                gradients.clear();
                // An empty sparse gradient is zero, not absent.
                gradients.set(table, Gradient::Rows { rows: &[], values: &[] });
                for &(row, first, second) in step {
                    gradients.add_row(table, row, &[first, second]);
                }
                if is_dense {
                    gradients.dense_mut(table);
                }
                optimizer.apply_gradients(&gradients, &mut variables).unwrap();
            }
            variables.values().to_vec()
        };
        prop_assert!(close(&run(false), &run(true), 1e-12));
    }

    /// The mean of the same gradient four times over is that gradient, bit for bit.
    #[test]
    fn equal_batches_accumulate_to_one_step(gradient in vec(-2.0..2.0, 10), clipnorm in 0.1..3.0) {
        let adam = || Adam::new(0.1).with_clipnorm(clipnorm).with_weight_decay(0.1);
        let run = |mut optimizer: Adam<f64>, times: usize| {
            let mut variables = dense_variables();
            let mut gradients = Gradients::new(&variables);
            gradients.flat_mut().copy_from_slice(&gradient);
            for _ in 0..2 * times {
                optimizer.apply_gradients(&gradients, &mut variables).unwrap();
            }
            assert_eq!(optimizer.iterations(), 2);
            variables.values().to_vec()
        };
        prop_assert_eq!(run(adam().with_gradient_accumulation_steps(4), 4), run(adam(), 1));
    }
}

#[test]
fn accumulated_gradients_change_nothing_before_the_last() {
    let mut variables = dense_variables();
    let mut optimizer = Adam::new(0.1).with_gradient_accumulation_steps(3).with_ema(0.5);
    dense_steps(&mut optimizer, &mut variables, 1..=2).unwrap();
    assert_eq!((variables.values(), optimizer.iterations()), (dense_variables().values(), 0));
    dense_steps(&mut optimizer, &mut variables, 3..=3).unwrap();
    assert_eq!(optimizer.iterations(), 1);

    let mut mean = Gradients::new(&variables);
    let mut gradients = Gradients::new(&variables);
    for t in 1..=3 {
        dense_gradient(t, &dense_variables(), &mut gradients);
        mean.add(&gradients);
    }
    mean.scale(1.0 / 3.0);
    let mut expected = dense_variables();
    Adam::new(0.1).apply_gradients(&mean, &mut expected).unwrap();
    assert!(close(variables.values(), expected.values(), 1e-14));
}

/// Lazy rows stay lazy when they are accumulated.
#[test]
fn lazy_rows_leave_all_others_alone() {
    for steps in [1, 2] {
        let (mut variables, table) = table();
        let start = variables.values().to_vec();
        let optimizer = Adam::new(0.1).with_lazy_rows(true).with_gradient_accumulation_steps(steps);
        let mut optimizer: Box<dyn Optimizer<f64>> = Box::new(optimizer);
        let mut gradients = Gradients::new(&variables);
        for row in [4, 1, 4, 4] {
            gradients.clear();
            gradients.add_row(table, row, &[1.0, -1.0]);
            optimizer.apply_gradients(&gradients, &mut variables).unwrap();
        }
        let velocity = optimizer.slot(table, "velocity").unwrap();
        for row in 0..6 {
            let moved = variables.values()[2 * row..2 * row + 2] != start[2 * row..2 * row + 2];
            assert_eq!(moved, row == 1 || row == 4, "row {row}");
            assert_eq!(velocity[[row, 0]] != 0.0, row == 1 || row == 4, "row {row}");
        }
    }
}

#[test]
fn averages_follow_the_weights() {
    let mut plain = dense_variables();
    let mut sgd = Sgd::new(0.1);
    let mut averaged = dense_variables();
    let a = averaged.find("a").unwrap();
    let mut with_average = Sgd::new(0.1).with_ema(0.75);
    let mut average = Vec::new();
    for t in 1..=5 {
        dense_steps(&mut sgd, &mut plain, t..=t).unwrap();
        dense_steps(&mut with_average, &mut averaged, t..=t).unwrap();
        assert_eq!(plain.values(), averaged.values());
        average = match t {
            1 => plain.values().to_vec(),
            _ => average.iter().zip(plain.values()).map(|(a, w)| 0.75 * a + 0.25 * w).collect(),
        };
    }
    assert_eq!(with_average.slot(a, "average").unwrap().as_slice().unwrap(), &average[..6]);
    with_average.finalize(&mut averaged).unwrap();
    assert_eq!(averaged.values(), average);
    sgd.finalize(&mut plain).unwrap();
    assert_ne!(plain.values(), average);
}

#[test]
fn what_is_frozen_or_has_no_gradient_stays_as_it_is() {
    let adam = || Adam::new(0.1).with_weight_decay(0.5).with_l2(0.5).with_ema(0.5).with_ema_overwrite_frequency(1);
    let mut variables = dense_variables();
    let start = variables.values().to_vec();
    let [a, b] = ["a", "b"].map(|name| variables.find(name).unwrap());

    let mut optimizer = adam();
    variables.set_trainable(b, false);
    let mut gradients = Gradients::new(&variables);
    gradients.flat_mut().fill(1.0);
    // What is frozen may even have an impossible gradient.
    gradients.dense_mut(b)[1] = f64::NAN;
    optimizer.apply_gradients(&gradients, &mut variables).unwrap();
    assert_eq!(variables.values()[b.range()], start[b.range()]);
    assert_ne!(variables.values()[a.range()], start[a.range()]);
    assert!(optimizer.slot(b, "momentum").unwrap().iter().all(|&m| m == 0.0));
    assert!(optimizer.slot(a, "momentum").unwrap().iter().all(|&m| m != 0.0));

    let mut variables = dense_variables();
    let mut optimizer = adam();
    gradients.clear();
    gradients.dense_mut(b).fill(1.0);
    optimizer.apply_gradients(&gradients, &mut variables).unwrap();
    assert_eq!(variables.values()[a.range()], start[a.range()]);
    assert!(optimizer.slot(a, "velocity").unwrap().iter().all(|&v| v == 0.0));
    assert!(optimizer.slot(b, "velocity").unwrap().iter().all(|&v| v > 0.0));
}

#[test]
fn decay_passes_over_excluded_names() {
    let mut variables = Variables::new();
    for name in ["0.weight", "0.bias", "norm.scale"] {
        variables.add(name, array![1.0].view()).unwrap();
    }
    let mut gradients = Gradients::new(&variables);
    gradients.flat_mut().fill(0.0);
    let mut optimizer = Sgd::new(0.5).with_weight_decay(0.5).exclude_from_weight_decay(["*.bias", "norm.*"]);
    optimizer.apply_gradients(&gradients, &mut variables).unwrap();
    assert_eq!(variables.values(), [0.75, 1.0, 1.0]);
}

#[test]
fn every_hyperparameter_can_follow_a_schedule() {
    let mut variables = zeros(1, 0);
    let mut gradients = Gradients::new(&variables);
    let decay = ExponentialDecay::new(1.0, 1, 0.5);
    let mut optimizer = Sgd::new(decay).with_clipvalue(PiecewiseConstantDecay::new([1], [4.0, 8.0]));
    let mut path = Vec::new();
    for _ in 0..4 {
        gradients.flat_mut().fill(-100.0);
        optimizer.apply_gradients(&gradients, &mut variables).unwrap();
        path.push(variables.values()[0]);
    }
    assert_eq!(path, [4.0, 6.0, 8.0, 9.0]);

    let schedule = optimizer.hyperparameter("learning_rate").unwrap();
    assert_eq!(schedule, Hyperparameter::from(decay));
    optimizer.set_hyperparameter("learning_rate", 1.0.into()).unwrap();
    optimizer.apply_gradients(&gradients, &mut variables).unwrap();
    assert_eq!(variables.values()[0], 17.0);
}

/// A momentum that is switched on later starts from nothing, and needs no slot before.
#[test]
fn slots_come_with_the_hyperparameters_that_need_them() {
    let mut optimizer: Box<dyn Optimizer<f64>> = Box::new(RmsProp::new(0.1));
    let mut variables = dense_variables();
    dense_steps(&mut *optimizer, &mut variables, 1..=3).unwrap();
    assert_eq!(optimizer.slots(), ["velocity"]);
    let velocity = optimizer.state().slots;
    optimizer.set_hyperparameter("momentum", 0.5.into()).unwrap();
    assert_eq!(optimizer.slots(), ["velocity", "momentum"]);
    let state = optimizer.state();
    assert_eq!((&state.slots[0], &state.slots[1].1), (&velocity[0], &vec![0.0; 10]));
    dense_steps(&mut *optimizer, &mut variables, 4..=5).unwrap();
    optimizer.set_hyperparameter("momentum", 0.0.into()).unwrap();
    assert_eq!(optimizer.slots(), ["velocity"]);
    dense_steps(&mut *optimizer, &mut variables, 6..=6).unwrap();
}

#[test]
fn slots_are_seen_in_the_shape_of_their_variable() {
    let (mut variables, table) = table();
    let mut optimizer = Adagrad::new(0.1).with_initial_accumulator_value(0.25);
    sparse_steps(&mut optimizer, &mut variables, 1..=1).unwrap();
    let sum = optimizer.slot(table, "accumulator").unwrap();
    assert_eq!(sum.shape(), [6, 2]);
    let mut gradients = Gradients::new(&variables);
    sparse_gradient(1, table, &mut gradients);
    let squares = gradients.dense_mut(table).iter().map(|g| 0.25 + g * g).collect::<Vec<_>>();
    assert!(close(sum.as_slice().unwrap(), &squares, 1e-15));
}

#[test]
fn single_precision_follows_double() {
    let mut double = dense_variables();
    let mut single = Variables::<f32>::new();
    for variable in double.iter() {
        single.add(double.name(variable), double.get(variable).mapv(|w| w as f32).view()).unwrap();
    }
    let (mut of_double, mut of_single) = (Gradients::new(&double), Gradients::new(&single));
    let mut in_double: Box<dyn Optimizer<f64>> = Box::new(Adam::new(0.05).with_global_clipnorm(0.7));
    let mut in_single: Box<dyn Optimizer<f32>> = Box::new(Adam::new(0.05).with_global_clipnorm(0.7));
    for t in 1..=100 {
        dense_gradient(t, &double, &mut of_double);
        for (single, double) in of_single.flat_mut().iter_mut().zip(of_double.flat_mut()) {
            *single = *double as f32;
        }
        in_double.apply_gradients(&of_double, &mut double).unwrap();
        in_single.apply_gradients(&of_single, &mut single).unwrap();
    }
    for (single, double) in single.values().iter().zip(double.values()) {
        assert!((f64::from(*single) - double).abs() < 1e-5);
    }
}
