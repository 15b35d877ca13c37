//! Batches of changing size: each is solved as if it were the only one.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::optim::Optimizer;
use marquardt::problem::Objective;
use marquardt::solver::Scaling;
use marquardt::solver::damping::GainRatio;
use marquardt::{LevenbergMarquardt, Variables};
use nalgebra::{DMatrix, DVector};

use super::problems::{Data, assert_same_bits, curved, damped, difference, linear, linearized, slot};
use crate::common::{close, damped_step};

/// torch-levenberg-marquardt keeps the size of the first batch: its normalisation, and its choice of the system.
#[test]
fn every_batch_is_solved_as_if_it_were_the_only_one() {
    let data = Data::new(200, 2, 1);
    // 33 variables.
    let (mut network, mut variables) = curved(2, 8);
    let mut optimizer = LevenbergMarquardt::new().with_momentum(0.3);
    let mut first = 0;
    for rows in [60, 7, 90, 1, 3, 150, 12] {
        let rows: Vec<_> = (first..first + rows).map(|row| row % 200).collect();
        first += rows.len();
        let state = optimizer.state();

        // A network and an optimizer that see this batch first.
        let (mut fresh_network, _) = curved(2, 8);
        let mut fresh_variables = variables.clone();
        let mut fresh = LevenbergMarquardt::new().with_momentum(0.3);
        fresh.restore(&state, &variables).unwrap();
        let batch = data.bind_rows(&mut fresh_network, &rows);
        let loss = batch.loss(variables.values()).unwrap();
        let expected = fresh.step(batch, &mut fresh_variables).unwrap();

        let report = optimizer.step(data.bind_rows(&mut network, &rows), &mut variables).unwrap();
        assert_eq!(report, expected, "{} rows", rows.len());
        assert_same_bits(variables.values(), fresh_variables.values(), "variables");
        assert_eq!(optimizer.state(), fresh.state());
        let form = if rows.len() < 20 { LinearForm::Dual } else { LinearForm::Cholesky };
        assert_eq!((damped(&report).rows, damped(&report).columns), (rows.len(), 33));
        assert_eq!(damped(&report).linear_form, form, "{} rows", rows.len());
        assert!((report.loss - loss).abs() <= 1e-14 * loss, "{} instead of {loss}", report.loss);
    }
}

/// The step of a batch is that of its own mean, whatever came before.
#[test]
fn normalisation_is_by_the_rows_at_hand() {
    let data = Data::new(100, 3, 2);
    let (mut network, mut variables) = linear(3);
    let optimizer = LevenbergMarquardt::new().with_damping(GainRatio::nielsen(0.5));
    let mut optimizer = optimizer.with_scaling(Scaling::Identity);
    for rows in [50, 6, 80, 3] {
        let part = data.select(&(0..rows).collect::<Vec<_>>());
        let before = variables.values().to_vec();
        let report = optimizer.step(part.bind(&mut network), &mut variables).unwrap();

        let root = (2.0 / rows as f64).sqrt();
        let jacobian = DMatrix::from_fn(rows, 4, |i, j| if j < 3 { root * part.x[[i, j]] } else { root });
        let y = DVector::from_fn(rows, |i, _| root * part.y[[i, 0]]);
        let r = &jacobian * DVector::from_row_slice(&before) - y;
        let expected = damped_step(&r, &jacobian, damped(&report).damping, &[1.0; 4]);
        let step = difference(variables.values(), &before);
        assert!(close(&step, expected.as_slice(), 1e-10), "{rows} rows: {step:?} instead of {expected}");
        let loss = 0.5 * r.norm_squared();
        assert!((report.loss - loss).abs() < 1e-13 * loss, "{rows} rows");
    }
}

/// tf- and torch-levenberg-marquardt take `diag(JJᵀ)` for the scaling in the dual, which is another step.
#[test]
fn the_dual_step_is_the_primal_one() {
    let data = Data::new(60, 2, 3);
    for scaling in [Scaling::Identity, Scaling::Marquardt, Scaling::RunningMaximum, Scaling::FadingMaximum] {
        let optimizer = |form| {
            let optimizer = LevenbergMarquardt::<f64>::new().with_damping(GainRatio::nielsen(1.0));
            optimizer.with_scaling(scaling).with_momentum(0.2).with_linear_solver(LinearSolver::Always(form))
        };
        let forms = [LinearForm::Dual, LinearForm::Cholesky, LinearForm::Qr];
        let mut runs = forms.map(|form| (optimizer(form), curved(2, 20)));
        for first in (0..50).step_by(5) {
            let rows: Vec<_> = (first..first + 5).collect();
            let before = runs[0].1.1.values().to_vec();
            let reports = runs.each_mut().map(|(optimizer, (network, variables))| {
                optimizer.step(data.bind_rows(network, &rows), variables).unwrap()
            });
            assert_eq!(reports.map(|report| damped(&report).linear_form), forms);
            let [dual, others @ ..] = runs.each_ref().map(|run| run.1.1.values());
            for other in others {
                assert!(close(dual, other, 1e-10), "{scaling:?}, row {first}");
            }
            if first == 0 && scaling == Scaling::Marquardt {
                let (optimizer, (network, variables)) = &mut runs[0];
                differs_from_the_scaling_of_rows(optimizer, network, variables, &before, damped(&reports[0]).damping);
            }
        }
    }
}

/// The step by `(JᵀJ + λD²)⁻¹Jᵀr`, `D² = diag(JᵀJ)`, not `Jᵀ(JJᵀ + λ diag(JJᵀ))⁻¹r`.
fn differs_from_the_scaling_of_rows(
    optimizer: &dyn Optimizer<f64>,
    network: &mut marquardt::nn::Network<f64>,
    variables: &Variables<f64>,
    before: &[f64],
    lambda: f64,
) {
    let step = DVector::from(difference(variables.values(), before));
    let (r, jacobian) = linearized(network, before);
    let scale: Vec<_> = jacobian.column_iter().map(|column| column.norm()).collect();
    assert!(close(&slot(optimizer, variables, "scaling"), &scale, 1e-12));
    let right = damped_step(&r, &jacobian, lambda, &scale);
    assert!((&step - &right).norm() < 1e-10 * right.norm());
    let gram = &jacobian * jacobian.transpose();
    let damped = &gram + DMatrix::from_diagonal(&gram.diagonal()) * lambda;
    let wrong = -jacobian.transpose() * damped.cholesky().unwrap().solve(&r);
    assert!((&step - &wrong).norm() > 0.1 * wrong.norm(), "the fault would show");
}
