//! What is done to a step before it is tried: learning rate, momentum, clipping, weight decay.

use marquardt::LevenbergMarquardt;
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::optim::{Optimizer, OptimizerError};
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, Scaling};
use nalgebra::{DMatrix, DVector};

use super::attempts::POLICIES;
use super::problems::{Data, curved, damped, difference, linear, linearized, norm, refused, slot};
use crate::common::{close, damped_step};

/// The gain is that of the step that is made, so that a quadratic loss always has a gain ratio of one.
#[test]
fn the_gain_is_judged_on_the_step_as_applied() {
    const CLIP: f64 = 0.08;
    for form in [LinearForm::Cholesky, LinearForm::Qr, LinearForm::Dual] {
        let data = Data::new(if form == LinearForm::Dual { 3 } else { 50 }, 4, 11);
        for (name, policy) in POLICIES {
            let (mut network, mut variables) = linear(4);
            let optimizer = LevenbergMarquardt::new().with_damping(policy());
            let optimizer = optimizer.with_linear_solver(LinearSolver::Always(form)).with_scaling(Scaling::Marquardt);
            let optimizer = optimizer.with_learning_rate(0.1).with_momentum(0.5);
            let mut optimizer = optimizer.with_global_clipnorm(CLIP);
            let mut last = vec![0.0; 5];
            let mut clipped = 0;
            for _ in 0..12 {
                let before = variables.values().to_vec();
                let batch = data.bind(&mut network);
                let (r, jacobian) = linearized(batch, &before);
                let report = optimizer.step(batch, &mut variables).unwrap();
                let damped = damped(&report);
                assert!(report.applied, "{name}, {form}: {report:?}");
                assert!((damped.gain_ratio - 1.0).abs() < 1e-9, "{name}, {form}: {report:?}");

                let scale = slot(&optimizer, &variables, "scaling");
                let solve = |r: &DVector<f64>| {
                    if damped.damping > 0.0 {
                        damped_step(r, &jacobian, damped.damping, &scale)
                    } else {
                        shortest_step(r, &jacobian, &scale)
                    }
                };
                // Where momentum leads uphill it is left out.
                let momentum = if damped.attempts == 1 { 0.5 } else { 0.0 };
                // λ (JᵀJ + λD²)⁻¹D²a = a − (JᵀJ + λD²)⁻¹JᵀJa
                let ahead = DVector::from_vec(last.clone()) * momentum;
                let raw = solve(&r) * 0.1 + &ahead + solve(&(&jacobian * &ahead));
                let raw = raw.as_slice();
                let factor = (CLIP / norm(raw)).min(1.0);
                clipped += usize::from(factor < 1.0);
                let step = difference(variables.values(), &before);
                let expected: Vec<_> = raw.iter().map(|raw| factor * raw).collect();
                assert!(norm(&difference(&step, &expected)) < 1e-8 * norm(&expected), "{name}, {form}");
                assert!(norm(&step) < CLIP * (1.0 + 1e-12));
                last = slot(&optimizer, &variables, "momentum");
                assert!(norm(&difference(&step, &last)) < 1e-13, "{name}: momentum is the step as applied");
            }
            assert!((2..12).contains(&clipped), "{name}, {form}: {clipped} clipped");
        }
    }
}

/// The Gauss–Newton step that is shortest in `‖Dδ‖`.
fn shortest_step(r: &DVector<f64>, jacobian: &DMatrix<f64>, d: &[f64]) -> DVector<f64> {
    let scaled = DMatrix::from_fn(jacobian.nrows(), jacobian.ncols(), |i, j| jacobian[(i, j)] / d[j]);
    let step = -scaled.svd(true, true).solve(r, 1e-12).unwrap();
    DVector::from_fn(d.len(), |j, _| step[j] / d[j])
}

/// A small learning rate makes small steps, not ever smaller ones.
#[test]
fn the_learning_rate_does_not_add_up() {
    let data = Data::new(50, 4, 12);
    for (name, policy) in POLICIES {
        let (mut network, mut variables) = linear(4);
        let mut whole = variables.clone();
        let mut optimizer = LevenbergMarquardt::new();
        for _ in 0..20 {
            optimizer.step(data.bind(&mut network), &mut whole).unwrap();
        }
        let least = network.evaluate(&whole, &[data.x.view()], &[data.y.view()]).unwrap();
        let mut optimizer = LevenbergMarquardt::new().with_damping(policy()).with_learning_rate(0.1);
        let first = optimizer.step(data.bind(&mut network), &mut variables).unwrap().loss;
        for _ in 0..100 {
            optimizer.step(data.bind(&mut network), &mut variables).unwrap();
        }
        let loss = network.evaluate(&variables, &[data.x.view()], &[data.y.view()]).unwrap();
        assert!(loss - least < 1e-4 * (first - least), "{name}: from {first} to {loss}, where {least} is possible");
    }
}

/// A step of twice the length or more cannot lower a quadratic loss, however well its rise is predicted.
#[test]
fn a_rise_that_was_foreseen_is_no_gain() {
    let data = Data::new(50, 4, 13);
    for (name, policy) in POLICIES {
        let (mut network, mut variables) = linear(4);
        let optimizer = LevenbergMarquardt::new().with_damping(policy()).with_learning_rate(2.5);
        let mut optimizer = optimizer.with_attempts(1);
        let mut last = None;
        for step in 0..20 {
            let report = optimizer.step(data.bind(&mut network), &mut variables).unwrap();
            assert_eq!(report.applied, damped(&report).gain_ratio > 0.0, "{name}, step {step}: {report:?}");
            if report.applied {
                last = Some(report);
                break;
            }
        }
        assert!(last.is_some(), "{name}: damping never shortened the step");
    }
}

/// `argmin ‖X w − y‖² / m + ½ ‖w‖²`, each number of `w` with a decay of its own, by the normal equations.
fn ridge(data: &Data, decays: &[f64]) -> DVector<f64> {
    let (rows, columns) = data.x.dim();
    let design = DMatrix::from_fn(rows, columns + 1, |i, j| if j < columns { data.x[[i, j]] } else { 1.0 });
    let y = DVector::from_fn(rows, |i, _| data.y[[i, 0]]);
    let factor = 2.0 / rows as f64;
    let gram = design.tr_mul(&design) * factor + DMatrix::from_diagonal(&DVector::from_row_slice(decays));
    gram.cholesky().unwrap().solve(&(design.tr_mul(&y) * factor))
}

/// Weight decay is part of the damped system: a step from anywhere lands on the ridge solution.
#[test]
fn one_step_lands_on_the_ridge_solution() {
    let small: [Damping<f64>; 3] =
        [GainRatio::nielsen(1e-14).into(), TrustRegion::new(1e6).into(), Multiplicative::new(1e-14, 10.0, 10.0).into()];
    // More rows than columns, and fewer.
    for rows in [60, 3] {
        let data = Data::new(rows, 5, 14);
        for damping in small {
            for solver in
                [LinearSolver::Auto, LinearSolver::Always(LinearForm::Cholesky), LinearSolver::Always(LinearForm::Qr)]
            {
                for decay in [1e-2, 1.0] {
                    let (mut network, mut variables) = linear(5);
                    let optimizer = LevenbergMarquardt::new().with_damping(damping).with_linear_solver(solver);
                    let mut optimizer = optimizer.with_weight_decay(decay).with_loss_damping(0.0);
                    let loss_at_start = network.evaluate(&variables, &[data.x.view()], &[data.y.view()]).unwrap();
                    let report = optimizer.step(data.bind(&mut network), &mut variables).unwrap();
                    let what = format!("{rows} rows, {solver:?}, decay {decay}: {report:?}");
                    assert!(report.applied && damped(&report).attempts == 1, "{what}");
                    assert!(close(variables.values(), ridge(&data, &[decay; 6]).as_slice(), 1e-9), "{what}");
                    assert!((damped(&report).gain_ratio - 1.0).abs() < 1e-9, "{what}");
                    let loss = network.evaluate(&variables, &[data.x.view()], &[data.y.view()]).unwrap();
                    assert!((report.loss - loss_at_start).abs() < 1e-12 * loss_at_start, "without the penalty: {what}");
                    assert!((report.loss_after.unwrap() - loss).abs() < 1e-12 * loss_at_start, "{what}");
                }
            }
        }
    }
}

/// What is excluded does not decay, and what is frozen has no share in the penalty.
#[test]
fn exclusions_from_weight_decay() {
    let data = Data::new(60, 5, 18);
    for solver in [LinearSolver::Auto, LinearSolver::Always(LinearForm::Qr)] {
        let (mut network, mut variables) = linear(5);
        let optimizer = LevenbergMarquardt::new().with_damping(GainRatio::nielsen(1e-14)).with_linear_solver(solver);
        let optimizer = optimizer.with_weight_decay(0.5);
        let mut without_bias = optimizer.clone().exclude_from_weight_decay(["*.bias"]);
        without_bias.step(data.bind(&mut network), &mut variables).unwrap();
        let expected = ridge(&data, &[0.5, 0.5, 0.5, 0.5, 0.5, 0.0]);
        assert!(close(variables.values(), expected.as_slice(), 1e-9), "{solver:?}");

        let bias = variables.find("0.bias").unwrap();
        variables.set_trainable(bias, false);
        variables.get_mut(bias)[[0]] = 0.25;
        let mut shifted = data.select(&(0..60).collect::<Vec<_>>());
        shifted.y -= 0.25;
        let mut optimizer = optimizer;
        let report = optimizer.step(data.bind(&mut network), &mut variables).unwrap();
        // As if the bias were held at zero, of shifted targets.
        let expected = ridge(&shifted, &[0.5, 0.5, 0.5, 0.5, 0.5, 1e12]);
        assert!(close(&variables.values()[..5], &expected.as_slice()[..5], 1e-9), "{solver:?}");
        assert!((damped(&report).gain_ratio - 1.0).abs() < 1e-9, "{report:?}");
    }
}

/// The penalty is part of what is judged, also with a learning rate and momentum.
#[test]
fn the_penalty_counts_for_the_gain() {
    let data = Data::new(30, 5, 15);
    for form in [LinearForm::Cholesky, LinearForm::Qr] {
        let (mut network, mut variables) = linear(5);
        let optimizer = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
        let optimizer = optimizer.with_weight_decay(0.3).with_learning_rate(0.4).with_momentum(0.3);
        let mut optimizer = optimizer.with_damping(GainRatio::nielsen(0.1));
        for _ in 0..10 {
            let report = optimizer.step(data.bind(&mut network), &mut variables).unwrap();
            assert!(report.applied && (damped(&report).gain_ratio - 1.0).abs() < 1e-7, "{form}: {report:?}");
        }
    }
}

/// The form in which there is no place for weight decay does not leave it out in silence.
#[test]
fn weight_decay_in_the_dual_is_refused_or_counts() {
    let data = Data::new(3, 5, 16);
    let (mut network, mut variables) = linear(5);
    let optimizer = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(LinearForm::Dual));
    let mut optimizer = optimizer.with_weight_decay(1.0).with_damping(GainRatio::nielsen(1e-14));
    optimizer.build(&variables).unwrap();
    let error = refused(&mut optimizer, data.bind(&mut network), &mut variables);
    assert!(matches!(&error, OptimizerError::Solve(_)), "{error}");
    assert!(error.to_string().contains("weight_decay"), "{error}");
    assert!(error.to_string().ends_with("not 1"), "{error}");
    let mut others = optimizer.clone().exclude_from_weight_decay(["0.weight"]);
    others.build(&variables).unwrap();
    let error = refused(&mut others, data.bind(&mut network), &mut variables);
    assert!(error.to_string().ends_with("not 1"), "the bias decays: {error}");
    let mut nothing_decays = optimizer.clone().exclude_from_weight_decay(["*"]);
    assert!(nothing_decays.step(data.bind(&mut network), &mut variables.clone()).unwrap().applied);
    optimizer.set_hyperparameter("weight_decay", 0.0.into()).unwrap();
    assert!(optimizer.step(data.bind(&mut network), &mut variables).unwrap().applied);
}

/// A learning rate of one, no momentum and no clipping leave the step as it is.
#[test]
fn neutral_settings_change_nothing() {
    let data = Data::new(30, 2, 17);
    let optimizer = || LevenbergMarquardt::new().with_acceleration(Acceleration::Never);
    let (mut plain, mut set) = (optimizer(), optimizer().with_global_clipnorm(1e9));
    let ((mut network, mut variables), (_, mut others)) = (curved(2, 4), curved(2, 4));
    for _ in 0..10 {
        plain.step(data.bind(&mut network), &mut variables).unwrap();
        set.step(data.bind(&mut network), &mut others).unwrap();
    }
    assert!(close(variables.values(), others.values(), 1e-6));
}
