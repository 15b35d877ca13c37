//! Damping: its floor, and what is carried from batch to batch.

use marquardt::nn::Network;
use marquardt::optim::{Optimizer, PiecewiseConstantDecay, Schedule};
use marquardt::problem::Objective;
use marquardt::solver::Scaling;
use marquardt::solver::damping::{GainRatio, Multiplicative};
use marquardt::{LeastSquares, LevenbergMarquardt};

use super::attempts::POLICIES;
use super::problems::{Data, curved, damped, linear, linearized, slot};
use crate::common::close;

#[test]
fn the_minimum_is_a_floor() {
    let data = Data::new(64, 2, 20);
    for (name, policy) in POLICIES {
        for minimum in [1e-6, 0.5] {
            let (mut network, mut variables) = curved(2, 6);
            let optimizer = LevenbergMarquardt::new().with_damping(policy());
            let mut optimizer = optimizer.with_minimum_damping(minimum);
            let mut at_floor = 0;
            for step in 0..30 {
                let rows: Vec<_> = (0..16).map(|row| (16 * step + row) % 64).collect();
                let report = optimizer.step(data.bind_rows(&mut network, &rows), &mut variables).unwrap();
                let damping = damped(&report).damping;
                assert!(damping >= minimum, "{name}, step {step}: {damping}");
                at_floor += usize::from(damping == minimum);
            }
            assert!(at_floor > 0 || minimum < 0.1, "{name}: the floor of {minimum} was never reached");
        }
    }
}

/// The floor is the damping that is solved with, not only the one that is reported.
#[test]
fn more_minimum_damping_makes_shorter_steps() {
    let data = Data::new(40, 2, 21);
    let length = |minimum: f64| {
        let (mut network, mut variables) = curved(2, 6);
        let before = variables.values().to_vec();
        let mut optimizer = LevenbergMarquardt::new().with_minimum_damping(minimum);
        assert!(optimizer.step(data.bind(&mut network), &mut variables).unwrap().applied);
        super::problems::norm(&super::problems::difference(variables.values(), &before))
    };
    let lengths = [1.0, 10.0, 100.0].map(length);
    assert!(lengths.is_sorted_by(|a, b| *a > 1.5 * b), "{lengths:?}");
}

/// Mean of the squared lengths of the columns.
fn mean_squared_column(batch: &mut Network<f64>, x: &[f64]) -> f64 {
    let (m, n) = (batch.residual_count(), batch.parameter_count());
    let (mut r, mut jacobian) = (vec![0.0; m], vec![0.0; m * n]);
    batch.linearize(x, 0, &mut r, &mut jacobian).unwrap();
    jacobian.iter().map(|a| a * a).sum::<f64>() / n as f64
}

/// Each batch starts with the damping that the one before has ended with.
#[test]
fn damping_is_carried_from_batch_to_batch() {
    let data = Data::new(64, 2, 22);
    let (mut network, mut variables) = curved(2, 6);
    let mut optimizer =
        LevenbergMarquardt::new().with_damping(Multiplicative::new(1e-2, 3.0, 2.0)).with_loss_damping(0.0);
    // The first is 0.01 of the mean squared length of the columns, which are not formed.
    let mut next = f64::NAN;
    let mut rejected = 0;
    for step in 0..40 {
        let rows: Vec<_> = (0..8).map(|row| (8 * step + row) % 64).collect();
        let batch = data.bind_rows(&mut network, &rows);
        let mean_square = mean_squared_column(batch, variables.values());
        let report = optimizer.step(batch, &mut variables).unwrap();
        let failures = damped(&report).attempts - usize::from(report.applied);
        rejected += failures;
        if step == 0 {
            next = damped(&report).damping / 3.0_f64.powi(damped(&report).attempts as i32 - 1);
            assert!((next / (1e-2 * mean_square) - 1.0).abs() < 1e-12, "{next}");
        }
        let last = next * 3.0_f64.powi(damped(&report).attempts as i32 - 1);
        assert!((damped(&report).damping / last - 1.0).abs() < 1e-12, "step {step}: {report:?} instead of {last}");
        next = damped(&report).damping * if report.applied { 0.5 } else { 3.0 };
    }
    assert!(rejected > 0, "some attempts are rejected");
}

/// The scaling remembers the columns of earlier batches.
#[test]
fn scaling_is_carried_from_batch_to_batch() {
    let data = Data::new(64, 2, 25);
    type Rule = fn(f64, f64) -> f64;
    let rules: [(Scaling, Rule); 3] = [
        (Scaling::Marquardt, |_, norm| norm),
        (Scaling::RunningMaximum, f64::max),
        (Scaling::FadingMaximum, |before, norm| norm.max(0.7 * before)),
    ];
    for (scaling, rule) in rules {
        let (mut network, mut variables) = linear(2);
        let mut optimizer = LevenbergMarquardt::new().with_scaling(scaling).with_attempts(2);
        let mut expected = [0.0; 3];
        for step in 0..8 {
            let rows: Vec<_> = (0..[16, 2][step % 2]).map(|row| (8 * step + row) % 64).collect();
            let batch = data.bind_rows(&mut network, &rows);
            let (_, jacobian) = linearized(batch, variables.values());
            for (expected, column) in expected.iter_mut().zip(jacobian.column_iter()) {
                *expected = rule(*expected, column.norm());
            }
            optimizer.step(batch, &mut variables).unwrap();
            let scale = slot(&optimizer, &variables, "scaling");
            assert!(close(&scale, &expected, 1e-12), "{scaling:?}, step {step}: {scale:?} instead of {expected:?}");
        }
    }
}

/// A minimum that is a schedule is that of the step at hand.
#[test]
fn the_minimum_may_change_with_the_steps() {
    let data = Data::new(40, 2, 23);
    let (mut network, mut variables) = curved(2, 6);
    let schedule: Schedule = PiecewiseConstantDecay::new(vec![2], vec![10.0, 1.0]).into();
    let optimizer = LevenbergMarquardt::new().with_damping(GainRatio::nielsen(1e-3));
    let mut optimizer = optimizer.with_minimum_damping(schedule.clone());
    for step in 0..5 {
        let report = optimizer.step(data.bind(&mut network), &mut variables).unwrap();
        assert_eq!(damped(&report).damping, schedule.at(step), "step {step}");
    }
}

/// A batch with nothing left to learn says nothing of the damping: the next one is learnt at once.
#[test]
fn rounding_does_not_raise_the_damping() {
    let data = Data::new(40, 3, 24);
    let (first, second): (Vec<_>, Vec<_>) = ((0..20).collect(), (20..40).collect());
    for (name, policy) in POLICIES {
        let (mut network, mut variables) = linear(3);
        let mut optimizer = LevenbergMarquardt::new().with_damping(policy());
        for _ in 0..40 {
            optimizer.step(data.bind_rows(&mut network, &first), &mut variables).unwrap();
        }
        let idle = optimizer.step(data.bind_weighted(&mut network, &[0.0; 40]), &mut variables).unwrap();
        assert_eq!((idle.applied, idle.loss), (false, 0.0), "{name}");
        let report = optimizer.step(data.bind_rows(&mut network, &second), &mut variables).unwrap();
        let mut best = variables.clone();
        for _ in 0..20 {
            optimizer.step(data.bind_rows(&mut network, &second), &mut best).unwrap();
        }
        let least = data.bind_rows(&mut network, &second).loss(best.values()).unwrap();
        let left = (report.loss_after.unwrap() - least) / (report.loss - least);
        assert!(left < 0.1, "{name}: {left} is left, {report:?}");
    }
}
