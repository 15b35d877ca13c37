//! Single problems with known answers.

use marquardt::autodiff::Difference;
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::problem::{BoundSide, Bounded, FiniteDifference, FixedAutoDiff, check_derivatives};
use marquardt::{AutoDiff, Bounds, Covariance, LevenbergMarquardt};
use nalgebra::SVector;

use super::problems::{Fenced, Rosenbrock, kkt_residual, solvers};
use crate::common::Wavy;

const NONE: f64 = f64::INFINITY;

#[test]
fn the_valley_is_followed_to_its_fence() {
    // x₀ ≤ ½: the minimum is (½, ¼). x₁ ≤ ¼: on the line x₁ = ¼, 200 x₀³ − 49 x₀ − 1 = 0.
    let across = |x: f64| 200.0 * x.powi(3) - 49.0 * x - 1.0;
    for solver in solvers() {
        let first = Bounds::new([-2.0, -2.0], [0.5, 2.0]).unwrap();
        let report = solver.minimize(&mut Fenced::new(Rosenbrock, &first), &[-1.2, 1.0]).unwrap();
        assert!(report.x[0] == 0.5 && (report.x[1] - 0.25).abs() < 1e-13, "{solver:?}\n{report}");
        assert_eq!(report.active[0].side, BoundSide::Upper);
        assert!((report.active[0].gradient + 0.5).abs() < 1e-12, "{report}");

        let second = Bounds::unbounded(2).with(1, -NONE, 0.25).unwrap();
        let report = solver.minimize(&mut Fenced::new(Rosenbrock, &second), &[1.2, 0.25]).unwrap();
        assert!(report.x[1] == 0.25 && across(report.x[0]).abs() < 1e-11, "{solver:?}\n{report}");
    }
}

#[test]
fn fixed_sizes_keep_bounds() {
    let bounds = Bounds::new([-2.0, -2.0], [0.5, 2.0]).unwrap();
    for solver in solvers() {
        let mut problem = Bounded::new(FixedAutoDiff::<_, 2>(Rosenbrock), bounds.clone()).unwrap();
        let report = solver.minimize_fixed(&mut problem, SVector::from([-1.2, 1.0])).unwrap();
        assert!(report.x[0] == 0.5 && (report.x[1] - 0.25).abs() < 1e-13, "{report}");
        assert_eq!(report.active.len(), 1);
    }
}

#[test]
fn single_precision_keeps_bounds() {
    let bounds = Bounds::new([0.0_f32, 0.0, -1.0], [0.2, 0.2, 1.0]).unwrap();
    let problem = Wavy {
        parameters: 3,
        slopes: vec![3.0, 0.5, 0.1, 0.2, 3.0, 0.3, 0.1, 0.2, 3.0, 1.0, 1.0, 1.0],
        waves: vec![0.5; 12],
        y: vec![1.0, -1.0, 0.3, 0.5],
        bend: 0.1,
        row_group: 1,
    };
    for form in [LinearForm::Cholesky, LinearForm::Qr] {
        let solver = LevenbergMarquardt::<f32>::new().with_linear_solver(LinearSolver::Always(form));
        let mut problem = Bounded::new(AutoDiff(problem.single()), bounds.clone()).unwrap();
        let report = solver.minimize(&mut problem, &[0.1, 0.1, 0.0]).unwrap();
        assert!(report.is_converged() && report.x[0] == 0.2 && report.x[1] == 0.0, "{report}");
        assert_eq!(
            report.active.iter().map(|active| active.side).collect::<Vec<_>>(),
            [BoundSide::Upper, BoundSide::Lower]
        );
        assert!(report.gradient_cosine < 1e-5, "{report}");
    }
}

/// From the very corner that is the minimum, and from the one across.
#[test]
fn starts_on_bounds_are_starts() {
    let bounds = Bounds::new([0.0, 0.5], [0.5, 1.0]).unwrap();
    for (start, few) in [([0.5, 0.5], 1), ([0.0, 0.5], 50), ([0.0, 1.0], 50), ([0.5, 1.0], 50)] {
        for solver in solvers() {
            let mut problem = Fenced::new(Rosenbrock, &bounds);
            let report = solver.minimize(&mut problem, &start).unwrap();
            assert!(report.is_converged() && kkt_residual(&mut problem, &bounds, &report.x) < 1e-12, "{report}");
            assert!(report.x == [0.5, 0.5] && report.iterations < few, "{report}");
        }
    }
}

/// Everything is held: there is nothing to do, and no degree of freedom is lost.
#[test]
fn a_box_of_one_point_is_its_minimum() {
    let bounds = Bounds::new([0.3, 0.4], [0.3, 0.4]).unwrap();
    for solver in solvers() {
        let mut problem = Fenced::new(Rosenbrock, &bounds);
        let report = solver.minimize(&mut problem, &[0.3, 0.4]).unwrap();
        assert!(report.is_converged() && report.x == [0.3, 0.4] && report.active.len() == 2, "{report}");
        assert_eq!((report.gradient_norm, report.gradient_cosine), (0.0, 0.0));
        let covariance = Covariance::at(&mut problem, &report.x).unwrap();
        assert_eq!((covariance.degrees_of_freedom(), covariance.held()), (2, &["x[0]".into(), "x[1]".into()][..]));
        assert_eq!(covariance.standard_errors().to_vec(), [0.0, 0.0]);
    }
}

/// Two parameters that act as one, and one that does nothing.
#[test]
fn dependent_columns_do_not_break_the_step() {
    let rows = |x: &[f64], r: &mut [f64]| {
        for (i, r) in r.iter_mut().enumerate() {
            *r = (x[0] + x[1]) * i as f64 + x[3] - 2.0 * i as f64 - 3.0;
        }
        Ok(())
    };
    let bounds = Bounds::new([0.0, 0.0, -1.0, -9.0], [0.5, NONE, 1.0, 2.0]).unwrap();
    for solver in solvers() {
        let mut problem = FiniteDifference::new(4, 6, rows).with_bounds(bounds.clone());
        let report = solver.minimize(&mut problem, &[0.25, 0.0, 0.5, 0.0]).unwrap();
        assert!(report.x[3] == 2.0 && report.x[2] == 0.5, "{solver:?}\n{report}");
        // Σ i (s i + 2 − 2 i − 3) = 0.
        assert!((report.x[0] + report.x[1] - (2.0 + 15.0 / 55.0)).abs() < 1e-6, "{solver:?}\n{report}");
        let covariance = Covariance::at(&mut problem, &report.x).unwrap();
        assert!(covariance.held().contains(&"x[3]".into()) && covariance.undetermined().contains(&"x[2]".into()));
    }
}

/// `√x` and `ln x`, whose edges a difference must not step over.
#[test]
fn differences_stay_within() {
    let rows = |x: &[f64], r: &mut [f64]| {
        assert!((0.0..=4.0).contains(&x[0]) && (1.0..=2.0).contains(&x[1]), "{x:?}");
        r.copy_from_slice(&[x[0].sqrt() + x[0] + 0.5, (x[1] - 0.5).ln() - 1.0, 0.1 * x[1] * x[0]]);
        Ok(())
    };
    for difference in [Difference::Central, Difference::Forward] {
        let bounds = Bounds::new([0.0, 1.0], [4.0, 2.0]).unwrap();
        let mut problem = FiniteDifference::new(2, 3, rows).with_difference(difference).with_bounds(bounds);
        let report = LevenbergMarquardt::new().minimize(&mut problem, &[4.0, 1.0]).unwrap();
        assert!(report.is_converged() && report.x == [0.0, 2.0], "{report}");
        let check = check_derivatives(&mut problem, &[4.0, 1.0]).unwrap();
        assert!(difference == Difference::Forward || check.passed(), "{check}");
    }
}

#[test]
fn the_report_says_what_is_at_a_bound() {
    let bounds = Bounds::new([-2.0, -2.0], [0.5, 2.0]).unwrap();
    let report = LevenbergMarquardt::new().minimize(&mut Fenced::new(Rosenbrock, &bounds), &[0.0, 0.0]).unwrap();
    assert!(report.to_string().contains("x[0] = 5.0000000000e-1, its upper bound\n"), "{report}");
}
