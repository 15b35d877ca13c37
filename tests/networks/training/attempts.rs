//! Attempts that fail leave nothing behind but more damping.

use marquardt::LevenbergMarquardt;
use marquardt::optim::Optimizer;
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, Scaling};

use nalgebra::DVector;

use super::problems::{Affine, Spoilt, assert_same_bits, damped, difference, linearized, slot};
use crate::common::{close, damped_step};

/// A damping policy as it starts.
type Start = fn() -> Damping<f64>;

pub const POLICIES: [(&str, Start); 4] = [
    ("gain ratio", || GainRatio::default().into()),
    ("Nielsen", || GainRatio::nielsen(1e-2).into()),
    ("trust region", || TrustRegion::default().into()),
    ("multiplicative", || Multiplicative::default().into()),
];

fn plain(policy: fn() -> Damping<f64>) -> LevenbergMarquardt<f64> {
    let optimizer = LevenbergMarquardt::new().with_damping(policy());
    optimizer.with_acceleration(Acceleration::Never).with_scaling(Scaling::Marquardt)
}

/// tf- and torch-levenberg-marquardt keep the last step that they rejected.
#[test]
fn a_step_whose_attempts_run_out_is_not_kept() {
    for (name, policy) in POLICIES {
        for spoilt in [Spoilt::Large, Spoilt::NotFinite] {
            for attempts in [1, 3, 8] {
                let (batch, mut variables) = Affine::new(20, 5, 1);
                let mut optimizer = plain(policy).with_attempts(attempts);
                let before = variables.values().to_vec();
                let mut bad = batch.spoil(usize::MAX, spoilt);
                let failed = optimizer.step(&mut bad, &mut variables).unwrap();
                assert_same_bits(variables.values(), &before, name);
                assert!(!failed.applied, "{name}, {spoilt:?}");
                assert_eq!(failed.loss_after, Some(failed.loss), "{name}, {spoilt:?}");
                assert_eq!(damped(&failed).attempts, attempts, "{name}, {spoilt:?}");
                assert_eq!(usize::MAX - bad.trials.0, attempts, "as many trials as reported");
                assert!(!(damped(&failed).gain_ratio >= 0.0), "{name}, {spoilt:?}: {failed:?}");
                assert_eq!(slot(&optimizer, &variables, "momentum"), [0.0; 5], "{name}");

                let next = optimizer.step(&mut batch.clone(), &mut variables).unwrap();
                assert!(next.applied && damped(&next).attempts == 1, "{name}: {next:?}");
                assert_eq!(next.loss, failed.loss, "{name}: from the same point");
                assert!(damped(&next).damping > damped(&failed).damping, "{name}: {failed:?}, {next:?}");
                let (r, jacobian) = linearized(&mut batch.clone(), &before);
                let scale = slot(&optimizer, &variables, "scaling");
                let expected = damped_step(&r, &jacobian, damped(&next).damping, &scale);
                let step = difference(variables.values(), &before);
                assert!(close(&step, expected.as_slice(), 1e-9), "{name}: {step:?} instead of {expected}");
            }
        }
    }
}

/// In tf-levenberg-marquardt each attempt goes through the inner optimizer, and moves its momentum and its count.
#[test]
fn rejected_attempts_move_nothing_but_the_damping() {
    for (name, policy) in POLICIES {
        let optimizer = || plain(policy).with_momentum(0.3).with_learning_rate(0.5);
        let (batch, start) = Affine::new(20, 5, 2);
        let (mut at_once, mut later) = ((optimizer(), start.clone()), (optimizer(), start));
        for run in [&mut at_once, &mut later] {
            for _ in 0..2 {
                assert!(run.0.step(&mut batch.clone(), &mut run.1).unwrap().applied, "{name}");
            }
        }
        let before = later.1.values().to_vec();
        let momentum = slot(&later.0, &later.1, "momentum");
        assert!(momentum.iter().all(|&momentum| momentum != 0.0));

        at_once.0.step(&mut batch.clone(), &mut at_once.1).unwrap();
        let report = later.0.step(&mut batch.spoil(3, Spoilt::Large), &mut later.1).unwrap();
        assert!(report.applied && damped(&report).attempts == 4, "{name}: {report:?}");
        assert_eq!([at_once.0.iterations(), later.0.iterations()], [3, 3], "{name}: one for each minibatch");
        // The scaling is that of the linearisation, of which there was one.
        let [scale, expected] = [&later, &at_once].map(|run| slot(&run.0, &run.1, "scaling"));
        assert_same_bits(&scale, &expected, name);
        let step = difference(later.1.values(), &before);
        assert!(close(&slot(&later.0, &later.1, "momentum"), &step, 1e-14), "{name}: the step that was taken");

        let (before, momentum) = (later.1.values().to_vec(), slot(&later.0, &later.1, "momentum"));
        let state = later.0.state();
        let report = later.0.step(&mut batch.spoil(usize::MAX, Spoilt::Large), &mut later.1).unwrap();
        assert!(!report.applied, "{name}");
        let after = later.0.state();
        assert_same_bits(&slot(&later.0, &later.1, "momentum"), &momentum, name);
        assert_same_bits(later.1.values(), &before, name);
        assert_eq!(after.iterations, state.iterations + 1, "{name}");
        assert_eq!(after.slots, state.slots, "{name}");
        assert_eq!(after.hyperparameters, state.hyperparameters, "{name}");
        let changed = after.numbers.iter().zip(&state.numbers).filter(|(after, before)| after != before);
        assert_eq!(changed.map(|(after, _)| after.0.as_str()).collect::<Vec<_>>(), ["damping", "noise"], "{name}");
    }
}

/// After a minibatch whose step was not taken, momentum is still the last step that was.
#[test]
fn momentum_outlives_a_step_that_is_not_taken() {
    let (batch, mut variables) = Affine::new(20, 5, 3);
    let mut optimizer = plain(|| GainRatio::nielsen(1.0).into()).with_momentum(0.5).with_learning_rate(0.5);
    let start = variables.values().to_vec();
    optimizer.step(&mut batch.clone(), &mut variables).unwrap();
    let before = variables.values().to_vec();
    let last = difference(&before, &start);
    optimizer.step(&mut batch.spoil(usize::MAX, Spoilt::Large), &mut variables).unwrap();
    let report = optimizer.step(&mut batch.clone(), &mut variables).unwrap();
    assert_eq!(damped(&report).attempts, 1);
    let (r, jacobian) = linearized(&mut batch.clone(), &before);
    let scale = slot(&optimizer, &variables, "scaling");
    let solve = |r: &DVector<f64>| damped_step(r, &jacobian, damped(&report).damping, &scale);
    // The damping draws towards half of the last step.
    let ahead = DVector::from_vec(last) * 0.5;
    let drawn = &ahead + solve(&(&jacobian * &ahead));
    assert!(drawn.norm() > 0.01 * ahead.norm());
    let expected = solve(&r) * 0.5 + drawn;
    let step = difference(variables.values(), &before);
    assert!(close(&step, expected.as_slice(), 1e-9), "{step:?} instead of {expected:?}");
}

/// An attempt that repeats the one before is wasted.
#[test]
fn each_attempt_has_more_damping() {
    for minimum in [0.0, 1e-2, 10.0] {
        for (name, policy) in POLICIES {
            let mut last = f64::NEG_INFINITY;
            for attempts in 1..8 {
                let (batch, mut variables) = Affine::new(20, 5, 4);
                let optimizer = plain(policy).with_attempts(attempts).with_minimum_damping(minimum);
                let mut optimizer = optimizer.with_learning_rate(0.5);
                for _ in 0..4 {
                    optimizer.step(&mut batch.clone(), &mut variables).unwrap();
                }
                let bad = &mut batch.spoil(usize::MAX, Spoilt::Large);
                let damping = damped(&optimizer.step(bad, &mut variables).unwrap()).damping;
                assert!(damping > last, "{name}, minimum {minimum}, {attempts} attempts: {damping} after {last}");
                last = damping;
            }
        }
    }
}

/// However many batches go wrong in a row, the next good one is learnt from.
#[test]
fn a_streak_of_bad_batches_is_survived() {
    for (name, policy) in POLICIES {
        for spoilt in [Spoilt::Large, Spoilt::NotFinite] {
            let (batch, mut variables) = Affine::new(20, 5, 5);
            let mut optimizer = plain(policy);
            for _ in 0..30 {
                assert!(!optimizer.step(&mut batch.spoil(usize::MAX, spoilt), &mut variables).unwrap().applied);
            }
            let losses = (0..20).map(|_| optimizer.step(&mut batch.clone(), &mut variables).unwrap());
            let losses: Vec<_> = losses.map(|report| report.loss).collect();
            let (mut solved, mut fresh) = (variables.clone(), plain(policy));
            let least = (0..20).map(|_| fresh.step(&mut batch.clone(), &mut solved).unwrap().loss).last().unwrap();
            assert!(losses[19] - least < 0.1 * (losses[0] - least), "{name}, {spoilt:?}: {losses:?}, at best {least}");
        }
    }
}
