//! Nothing that a caller can get wrong panics or hangs: it is an error that names what is wrong, or a report that
//! holds the best point.

use marquardt::autodiff::Difference;
use marquardt::curve::Curve;
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::problem::{Analytic, FiniteDifference, FixedAutoDiff};
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{CovarianceError, Status};
use marquardt::{
    AutoDiff, Covariance, CurveError, CurveFit, EvaluationError, LeastSquares, LevenbergMarquardt, Real, Report,
    Residuals, Scalar, SolveError, Tie, curve_fit,
};
use nalgebra::SVector;
use ndarray::{Array2, array};

use crate::common::{self, cost};

macro_rules! closures {
    ($($name:ident over $float:ident;)*) => {
        $(
            /// `r = f(x)`, with derivatives by differences.
            fn $name<const M: usize>(
                parameters: usize,
                f: impl Fn(&[$float]) -> [$float; M],
            ) -> FiniteDifference<$float, impl FnMut(&[$float], &mut [$float]) -> Result<(), EvaluationError>> {
                FiniteDifference::new(parameters, M, move |x: &[$float], r: &mut [$float]| {
                    r.copy_from_slice(&f(x));
                    Ok(())
                })
            }
        )*
    };
}

closures! {
    closure over f64;
    single over f32;
}

fn minimize(problem: &mut impl LeastSquares<f64>, start: &[f64]) -> Result<Report<f64>, SolveError> {
    LevenbergMarquardt::new().minimize(problem, start)
}

/// The best point is in the report, and it is no worse than the start.
fn assert_best<T: Real>(report: &Report<T>) {
    assert!(report.cost.is_finite() && report.x.iter().all(|x| x.is_finite()), "{report}");
    assert!(report.cost <= report.initial_cost, "{report}");
}

mod start {
    use super::*;

    #[test]
    fn a_start_that_is_not_finite_is_named() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = minimize(&mut closure(3, |x| [x[0], x[1], x[2]]), &[1.0, bad, 2.0]).unwrap_err();
            assert!(matches!(&error, SolveError::NonFiniteStart { name, .. } if name == "x[1]"), "{error}");
            assert!(error.to_string().contains("x[1]") && error.to_string().contains(&bad.to_string()), "{error}");
        }
        let error = LevenbergMarquardt::new().minimize(&mut single(1, |x| [x[0]]), &[f32::NAN]).unwrap_err();
        assert!(matches!(error, SolveError::NonFiniteStart { .. }), "{error}");
    }

    #[test]
    fn a_residual_that_is_not_finite_is_named() {
        for bad in [f64::NAN, f64::INFINITY] {
            let error = minimize(&mut closure(2, |x| [x[0], x[1], bad, bad]), &[1.0, 1.0]).unwrap_err();
            assert!(matches!(error, SolveError::NonFiniteResidual { index: 2, .. }), "{error}");
            assert!(error.to_string().starts_with(&format!("residual 2 is {bad}")), "{error}");
        }
    }

    /// Also beyond the first tile.
    #[test]
    fn the_row_is_counted_through_all_tiles() {
        struct Late;

        impl Residuals<f64> for Late {
            fn parameter_count(&self) -> usize {
                1
            }

            fn residual_count(&self) -> usize {
                5000
            }

            fn evaluate<S: Scalar<Real = f64>>(
                &self,
                x: &[S],
                first: usize,
                r: &mut [S],
            ) -> Result<(), EvaluationError> {
                for (i, r) in (first..).zip(r) {
                    *r = if i == 4321 { (-x[0]).ln() } else { x[0] };
                }
                Ok(())
            }
        }

        let error = minimize(&mut AutoDiff(Late), &[1.0]).unwrap_err();
        assert!(matches!(error, SolveError::NonFiniteResidual { index: 4321, .. }), "{error}");
        let error = LevenbergMarquardt::new()
            .minimize_fixed(&mut FixedAutoDiff::<_, 1>(Late), SVector::from([1.0]))
            .unwrap_err();
        assert!(matches!(error, SolveError::NonFiniteResidual { index: 4321, .. }), "{error}");
    }

    #[test]
    fn a_derivative_that_is_not_finite_is_named() {
        // The slope of the square root at zero is infinite, though its value is not.
        let mut problem = Analytic::new(2, 2, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
            r.copy_from_slice(&[x[0], x[1].sqrt() - 1.0]);
            if let Some(jacobian) = jacobian {
                jacobian.copy_from_slice(&[1.0, 0.0, 0.0, 0.5 / x[1].sqrt()]);
            }
            Ok(())
        });
        let error = minimize(&mut problem, &[1.0, 0.0]).unwrap_err();
        assert!(
            matches!(&error, SolveError::NonFiniteDerivative { name, residual: 1, .. } if name == "x[1]"),
            "{error}"
        );
        assert!(error.to_string().contains("x[1]"), "{error}");
    }

    #[test]
    fn a_start_of_another_length_is_refused() {
        for start in [&[][..], &[1.0], &[1.0, 2.0, 3.0]] {
            let error = minimize(&mut closure(2, |x| [x[0], x[1]]), start).unwrap_err();
            let found = start.len();
            assert!(matches!(error, SolveError::WrongStartLength { expected: 2, found: f } if f == found), "{error}");
        }
        let mut two = closure(2, |x| [x[0], x[1]]);
        let error = LevenbergMarquardt::new().minimize_fixed(&mut two, SVector::from([1.0, 2.0, 3.0])).unwrap_err();
        assert!(matches!(error, SolveError::WrongStartLength { expected: 2, found: 3 }), "{error}");
    }

    #[test]
    fn an_error_at_the_start_is_passed_on() {
        let mut problem = FiniteDifference::new(1, 1, |_: &[f64], _: &mut [f64]| Err("no simulator".into()));
        let error = minimize(&mut problem, &[1.0]).unwrap_err();
        assert!(matches!(error, SolveError::Evaluation(_)) && error.to_string().contains("no simulator"), "{error}");
    }

    #[test]
    fn squares_that_overflow_are_refused() {
        let error = minimize(&mut closure(1, |x| [1e200 * (x[0] + 1.0), 0.0]), &[1.0]).unwrap_err();
        assert!(matches!(error, SolveError::Overflow), "{error}");
        let mut large = single(1, |x| [1e30 * (x[0] + 1.0), 0.0]);
        let error = LevenbergMarquardt::new().minimize(&mut large, &[1.0]).unwrap_err();
        assert!(matches!(error, SolveError::Overflow), "{error}");
    }
}

mod sizes_and_settings {
    use super::*;

    /// A problem of any shape, to be refused before it is evaluated.
    struct Shape {
        parameters: usize,
        residuals: usize,
        group: usize,
    }

    impl LeastSquares<f64> for Shape {
        fn parameter_count(&self) -> usize {
            self.parameters
        }

        fn residual_count(&self) -> usize {
            self.residuals
        }

        fn row_group(&self) -> usize {
            self.group
        }

        fn residuals(&mut self, _: &[f64], _: usize, _: &mut [f64]) -> Result<(), EvaluationError> {
            unreachable!("refused before")
        }

        fn linearize(&mut self, _: &[f64], _: usize, _: &mut [f64], _: &mut [f64]) -> Result<(), EvaluationError> {
            unreachable!("refused before")
        }
    }

    #[test]
    fn empty_problems_are_refused() {
        let error = minimize(&mut Shape { parameters: 0, residuals: 3, group: 1 }, &[]).unwrap_err();
        assert!(matches!(error, SolveError::NoParameters), "{error}");
        let error = minimize(&mut Shape { parameters: 2, residuals: 0, group: 1 }, &[1.0, 1.0]).unwrap_err();
        assert!(matches!(error, SolveError::NoResiduals), "{error}");
        let error = minimize(&mut closure(2, |_| []), &[1.0, 1.0]).unwrap_err();
        assert!(matches!(error, SolveError::NoResiduals), "{error}");
    }

    #[test]
    fn uneven_groups_are_refused() {
        for group in [0, 2, 4, 100] {
            let error = minimize(&mut Shape { parameters: 1, residuals: 7, group }, &[1.0]).unwrap_err();
            assert!(matches!(error, SolveError::UnevenGroups { residuals: 7, group: g } if g == group), "{error}");
        }
    }

    #[test]
    fn senseless_tolerances_are_refused() {
        type Change = fn(LevenbergMarquardt<f64>, f64) -> LevenbergMarquardt<f64>;
        let changes: [(&str, Change); 3] = [
            ("gtol", |solver, value| solver.with_gtol(value)),
            ("xtol", |solver, value| solver.with_xtol(value)),
            ("ftol", |solver, value| solver.with_ftol(value)),
        ];
        let refused = |solver: LevenbergMarquardt<f64>, name: &str, bad: f64| {
            let error = solver.minimize(&mut closure(1, |x| [x[0] - 1.0]), &[3.0]).unwrap_err();
            assert!(matches!(error, SolveError::Setting { setting, .. } if setting == name), "{error}");
            assert!(error.to_string().contains(name) && error.to_string().contains(&bad.to_string()), "{error}");
        };
        for (name, change) in changes {
            for bad in [-1.0, -1e-300, f64::NAN, f64::NEG_INFINITY] {
                refused(change(LevenbergMarquardt::new(), bad), name, bad);
            }
        }
        for bad in [f64::INFINITY, f64::NAN, f64::NEG_INFINITY] {
            refused(LevenbergMarquardt::new().with_target_cost(bad), "target_cost", bad);
        }
    }

    #[test]
    fn zero_tolerances_still_end() {
        let solver = LevenbergMarquardt::new().with_gtol(0.0).with_xtol(0.0).with_ftol(0.0);
        let report = solver.minimize(&mut closure(2, |x| [x[0].exp() - 2.0, x[1] - x[0], x[1]]), &[3.0, 1.0]).unwrap();
        let reference = minimize(&mut closure(2, |x| [x[0].exp() - 2.0, x[1] - x[0], x[1]]), &[3.0, 1.0]).unwrap();
        assert!((report.x[0] - reference.x[0]).abs() < 1e-7, "{report}\n{reference}");
    }

    #[test]
    fn the_memory_budget_is_kept_and_named() {
        let mut large = Shape { parameters: 100_000, residuals: 1_000_000, group: 1 };
        let error = minimize(&mut large, &vec![0.0; 100_000]).unwrap_err();
        let SolveError::MemoryBudget { needed, budget, rows_that_fit } = error else { panic!("{error}") };
        // So many parameters leave room for the rows of a dual alone.
        assert!((1_000..2_000).contains(&rows_that_fit), "{error}");
        assert!(needed > 8 * 100_000 * 100_000 && budget == 4 << 30);
        assert!(error.to_string().contains(&format!("{needed} bytes")), "{error}");
        assert!(error.to_string().contains(&budget.to_string()), "{error}");

        // What is named is enough, and a byte less is not.
        let solver = LevenbergMarquardt::new().with_memory_budget(1);
        let problem = || closure(2, |x| [x[0] - 1.0, x[1] - 2.0, x[0] * x[1] - 2.0]);
        let error = solver.minimize(&mut problem(), &[0.5, 0.5]).unwrap_err();
        let SolveError::MemoryBudget { needed, budget: 1, rows_that_fit: 0 } = error else { panic!("{error}") };
        let enough = solver.clone().with_memory_budget(needed).minimize(&mut problem(), &[0.5, 0.5]).unwrap();
        assert!(enough.is_converged(), "{enough}");
        assert!(solver.with_memory_budget(needed - 1).minimize(&mut problem(), &[0.5, 0.5]).is_err());
    }

    /// The dual form would hold all rows of a tall problem.
    #[test]
    fn each_form_has_a_budget_of_its_own() {
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(LinearForm::Dual));
        let mut tall = Shape { parameters: 2, residuals: 1 << 30, group: 1 };
        let error = solver.minimize(&mut tall, &[0.0; 2]).unwrap_err();
        assert!(matches!(error, SolveError::MemoryBudget { .. }), "{error}");
    }
}

mod trial_points {
    use super::*;

    fn policies() -> [Damping<f64>; 4] {
        let delayed = Multiplicative::delayed_gratification();
        [TrustRegion::default().into(), GainRatio::default().into(), Multiplicative::default().into(), delayed.into()]
    }

    /// From where the first full step would leave the domain.
    #[test]
    fn steps_out_of_the_domain_are_shortened() {
        for damping in policies() {
            let solver = LevenbergMarquardt::new().with_damping(damping);
            let report = solver.minimize(&mut closure(1, |x| [x[0].ln() + 2.0]), &[10.0]).unwrap();
            assert!(report.is_converged() && (report.x[0] - (-2.0_f64).exp()).abs() < 1e-9, "{report}");
            assert!(report.log.iter().any(|record| !record.accepted), "never left the domain\n{report}");
            let report = solver.minimize(&mut closure(1, |x| [x[0].sqrt() - 0.01]), &[1.0]).unwrap();
            assert!(report.is_converged() && (report.x[0] - 1e-4).abs() < 1e-10, "{report}");
        }
    }

    /// The unconstrained minimum lies where the residuals are not finite; the best point is at the edge.
    #[test]
    fn a_minimum_at_the_edge_of_the_domain_ends_at_the_best_point() {
        for damping in policies() {
            let solver = LevenbergMarquardt::new().with_damping(damping);
            let report = solver.minimize(&mut closure(1, |x| [x[0].sqrt() + x[0] + 1.0]), &[1.0]).unwrap();
            assert_best(&report);
            assert!(report.cost < 0.6, "{report}");
        }
    }

    #[test]
    fn infinite_residuals_are_steps_too_far() {
        for damping in policies() {
            let solver = LevenbergMarquardt::new().with_damping(damping);
            let report =
                solver.minimize(&mut closure(1, |x| [(x[0] * x[0]).exp() - 2.0, x[0] - 0.8]), &[-5.0]).unwrap();
            assert_best(&report);
            assert!(report.is_converged() && report.x[0].abs() < 1.0, "{report}");
        }
    }

    /// After every number of calls: the status, the error, and a report that belongs to its point.
    #[test]
    fn an_error_ends_the_solve_at_the_best_point() {
        let rosenbrock = |x: &[f64], r: &mut [f64]| r.copy_from_slice(&[10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]);
        // The second is singular on the way, so that the fit passes through a change of factorisation.
        let sum = |x: &[f64], r: &mut [f64]| r.copy_from_slice(&[x[0] + x[1] - 3.0, (x[0] + x[1]).exp() - 5.0]);
        for (which, function) in [&rosenbrock as &dyn Fn(&[f64], &mut [f64]), &sum].into_iter().enumerate() {
            for limit in 1.. {
                let mut calls = 0;
                let mut problem = FiniteDifference::new(2, 2, |x: &[f64], r: &mut [f64]| {
                    calls += 1;
                    if calls > limit {
                        return Err(format!("call {calls} is one too many").into());
                    }
                    function(x, r);
                    Ok(())
                });
                let report = match minimize(&mut problem, &[-1.2, 1.0]) {
                    Err(error) => {
                        assert!(limit < 5 && matches!(error, SolveError::Evaluation(_)), "{error}");
                        continue;
                    }
                    Ok(report) if report.is_converged() => break,
                    Ok(report) => report,
                };
                assert_eq!(report.status, Status::EvaluationFailed, "problem {which}, {limit} calls");
                let error = report.error.as_ref().expect("the error is in the report");
                assert_eq!(error.to_string(), format!("call {} is one too many", limit + 1));
                assert_best(&report);
                let mut whole = closure(2, |x| {
                    let mut r = [0.0; 2];
                    function(x, &mut r);
                    r
                });
                assert!((cost(&mut whole, &report.x) - report.cost).abs() <= 1e-12 * report.cost, "{report}");
                let (r, jacobian) = common::linearized(&mut whole, &report.x);
                let gradient = (jacobian.transpose() * r).amax();
                assert!(
                    (report.gradient_norm - gradient).abs() <= 1e-6 * gradient,
                    "problem {which}, {limit} calls: the gradient is {gradient:e}, not as in\n{report}"
                );
            }
        }
    }
}

mod degenerate {
    use super::*;

    fn forms() -> [LinearSolver; 4] {
        let always = [LinearForm::Cholesky, LinearForm::Qr, LinearForm::Dual].map(LinearSolver::Always);
        [LinearSolver::Auto, always[0], always[1], always[2]]
    }

    #[test]
    fn dependent_columns_still_fit() {
        for form in forms() {
            let solver = LevenbergMarquardt::new().with_linear_solver(form);
            let mut problem = closure(3, |x| [x[0] + x[1] - 3.0, 2.0 * (x[0] + x[1]) - 6.1, x[2] - 1.0, x[2] - 2.0]);
            let report = solver.minimize(&mut problem, &[0.0, 0.0, 0.0]).unwrap();
            assert!(report.is_converged(), "{form:?}: {report}");
            let sum = report.x[0] + report.x[1];
            assert!((sum - 3.04).abs() < 1e-6 && (report.x[2] - 1.5).abs() < 1e-6, "{form:?}: {report}");
        }
    }

    #[test]
    fn a_parameter_without_influence_stays_where_it_is() {
        for form in forms() {
            let solver = LevenbergMarquardt::new().with_linear_solver(form);
            let mut problem = closure(2, |x| [x[0].exp() - 2.0, x[0] - 0.5, x[0] * x[0]]);
            let report = solver.minimize(&mut problem, &[1.0, 7.0]).unwrap();
            assert!(report.is_converged(), "{form:?}: {report}");
            assert_eq!(report.x[1], 7.0, "{form:?}: {report}");
        }
    }

    #[test]
    fn more_parameters_than_residuals_fit_exactly() {
        for form in forms() {
            let solver = LevenbergMarquardt::new().with_linear_solver(form);
            let mut problem = closure(5, |x| [x[0] * x[1] - 2.0, x[2].exp() + x[3] - x[4] - 3.0]);
            let report = solver.minimize(&mut problem, &[1.0, 1.0, 0.5, 0.5, 0.5]).unwrap();
            assert!(report.is_converged() && report.cost < 1e-18, "{form:?}: {report}");
        }
        let mut problem = closure(3, |x| [x[0] * x[1] - 2.0, x[2].exp() - 3.0]);
        let fixed = LevenbergMarquardt::new().minimize_fixed(&mut problem, SVector::from([1.0, 1.0, 0.5])).unwrap();
        assert!(fixed.is_converged() && fixed.cost < 1e-18, "{fixed}");
    }

    #[test]
    fn constant_residuals_are_a_minimum_everywhere() {
        for form in forms() {
            let solver = LevenbergMarquardt::new().with_linear_solver(form);
            let report = solver.minimize(&mut closure(2, |_| [1.0, 2.0, 3.0]), &[1.0, -1.0]).unwrap();
            assert_eq!(report.status, Status::GradientTolerance, "{form:?}: {report}");
            assert_eq!((report.x, report.cost, report.iterations), (vec![1.0, -1.0], 7.0, 0));
        }
    }

    #[test]
    fn a_start_at_the_solution_stays() {
        for form in forms() {
            let solver = LevenbergMarquardt::new().with_linear_solver(form);
            let mut exact = closure(2, |x| [x[0] - 1.0, x[1] * x[0] - 2.0]);
            let report = solver.minimize(&mut exact, &[1.0, 2.0]).unwrap();
            assert!(report.is_converged() && report.cost == 0.0, "{form:?}: {report}");
            assert_eq!(report.x, [1.0, 2.0]);
        }
    }

    /// Of the whole range of floats, and an answer at the origin, where there is no relative accuracy.
    #[test]
    fn zeros_are_found_to_the_last_digit() {
        for form in forms() {
            let solver = LevenbergMarquardt::new().with_linear_solver(form);
            let report = solver.minimize(&mut closure(2, |x| [x[0].sinh(), x[1].sin() + x[0]]), &[1.0, 0.7]).unwrap();
            assert!(report.is_converged() && report.cost < 1e-25, "{form:?}: {report}");
        }
    }

    #[test]
    fn residuals_may_be_large_or_small() {
        for size in [1e-140, 1e-30, 1e30, 1e140] {
            let mut problem = closure(1, move |x| [size * (x[0].exp() - 2.0), size * (x[0] - 0.5)]);
            let report = minimize(&mut problem, &[2.0]).unwrap();
            let reference = minimize(&mut closure(1, |x| [x[0].exp() - 2.0, x[0] - 0.5]), &[2.0]).unwrap();
            assert!(report.is_converged(), "{size:e}: {report}");
            assert!((report.x[0] - reference.x[0]).abs() < 1e-8, "{size:e}: {report}");
        }
    }

    #[test]
    fn single_precision_survives_all_of_this() {
        let solver = LevenbergMarquardt::<f32>::new();
        let fits = [
            solver.minimize(&mut single(2, |x| [x[0] + x[1] - 3.0, 2.0 * (x[0] + x[1]) - 6.1]), &[0.0, 0.0]),
            solver.minimize(&mut single(2, |x| [x[0].exp() - 2.0, x[0] - 0.5]), &[1.0, 7.0]),
            solver.minimize(&mut single(3, |x| [x[0] * x[1] - 2.0, x[2].exp() - 3.0]), &[1.0, 1.0, 0.5]),
            solver.minimize(&mut single(1, |_| [1.0, 2.0]), &[1.0]),
            solver.minimize(&mut single(1, |x| [x[0].ln() + 2.0]), &[10.0]),
            solver.minimize(&mut single(1, |x| [1e15 * (x[0].exp() - 2.0)]), &[1.0]),
        ];
        for report in fits {
            let report = report.unwrap();
            assert!(report.is_converged(), "{report}");
            assert_best(&report);
        }
    }
}

mod covariance {
    use super::*;

    #[test]
    fn points_that_do_not_fit_are_refused() {
        let mut problem = closure(2, |x| [x[0].ln(), x[1], 1.0]);
        let error = Covariance::at(&mut problem, &[1.0]).unwrap_err();
        assert!(matches!(error, CovarianceError::WrongLength { expected: 2, found: 1 }), "{error}");
        for bad in [[-1.0, 1.0], [f64::NAN, 1.0]] {
            let error = Covariance::at(&mut problem, &bad).unwrap_err();
            assert!(matches!(error, CovarianceError::NonFinite), "{error}");
        }
        let mut broken = FiniteDifference::new(1, 1, |_: &[f64], _: &mut [f64]| Err("no simulator".into()));
        let error = Covariance::at(&mut broken, &[1.0]).unwrap_err();
        assert!(matches!(error, CovarianceError::Evaluation(_)), "{error}");
    }

    /// One derivative among many that are finite, as the residuals all are.
    #[test]
    fn a_derivative_that_is_no_number_is_not_left_out() {
        for (rows, columns) in [(5, 2), (5_000, 3), (2_000, 20), (100_000, 10)] {
            for bad in [f64::NAN, f64::INFINITY] {
                let evaluate = |_: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
                    r.fill(0.0);
                    for (i, entry) in jacobian.into_iter().flatten().enumerate() {
                        *entry = if i == rows * columns / 2 { bad } else { (0.1 * i as f64).sin() };
                    }
                    Ok(())
                };
                let error = Covariance::at(&mut Analytic::new(columns, rows, evaluate), &vec![1.0; columns]);
                assert!(matches!(error, Err(CovarianceError::NonFinite)), "{rows} × {columns}, {bad}: {error:?}");
            }
        }
    }

    /// An error or a covariance without information would both do; a panic would not.
    #[test]
    fn no_residuals_say_nothing() {
        if let Ok(covariance) = Covariance::at(&mut closure(2, |_| []), &[1.0, 2.0]) {
            assert_eq!(covariance.undetermined().len(), 2);
        }
    }
}

mod curves {
    use super::*;

    const X: [f64; 4] = [0.0, 1.0, 2.0, 3.0];
    const Y: [f64; 4] = [1.0, 2.0, 2.9, 4.1];

    fn line(x: &[f64], y: &[f64]) -> Result<(), CurveError> {
        curve_fit(|x, [a, b]| a + b * x, x, y, [0.0, 0.0]).map(|_| ())
    }

    #[test]
    fn data_that_do_not_match_are_refused() {
        let error = line(&X, &Y[..3]).unwrap_err();
        assert!(matches!(error, CurveError::UnequalLengths { x: 4, y: 3 }), "{error}");
        let error = line(&[], &[]).unwrap_err();
        assert!(matches!(error, CurveError::NoObservations), "{error}");
        let error = line(&X[..1], &Y[..1]).unwrap_err();
        assert!(matches!(error, CurveError::TooFewObservations { observations: 1, parameters: 2 }), "{error}");
    }

    #[test]
    fn a_datum_that_is_not_finite_is_named() {
        let error = line(&[0.0, 1.0, f64::NAN, 3.0], &Y).unwrap_err();
        assert_eq!(error.to_string(), "x is NaN in row 3");
        let error = line(&X, &[1.0, f64::NEG_INFINITY, 3.0, 4.0]).unwrap_err();
        assert_eq!(error.to_string(), "y is -inf in row 2");
        let x = array![[1.0, 2.0], [3.0, f64::INFINITY], [5.0, 6.0]];
        let y = [1.0, 2.0, 3.0];
        let error = CurveFit::with_predictors(|x, [a, b]| a * x[0] + b * x[1], &x, &y, [0.0; 2]).fit().err().unwrap();
        assert_eq!(error.to_string(), "x2 is inf in row 2");
    }

    #[test]
    fn names_must_match_the_parameters() {
        for names in [&["a"][..], &["a", "b", "c"], &[]] {
            let fit = CurveFit::new(|x, [a, b]| a + b * x, &X, &Y, [0.0, 0.0]).names(names.iter().copied());
            let error = fit.fit().err().unwrap();
            let count = names.len();
            assert!(matches!(error, CurveError::WrongNameCount { parameters: 2, names } if names == count), "{error}");
        }
    }

    #[test]
    fn a_bad_start_is_named_as_the_parameter_is() {
        let fit = CurveFit::new(|x, [a, b]| a + b * x, &X, &Y, [0.0, f64::NAN]).names(["offset", "slope"]);
        let error = fit.fit().err().unwrap();
        assert!(matches!(error, CurveError::Solve(SolveError::NonFiniteStart { .. })), "{error}");
        assert!(error.to_string().contains("slope"), "{error}");
        let fit = CurveFit::new(|x, [a, b]| a + (b * x).sqrt(), &X, &Y, [0.0, -1.0]).names(["offset", "slope"]);
        let error = fit.fit().err().unwrap();
        assert!(matches!(error, CurveError::NonFiniteResponse { value, .. } if value.is_nan()), "{error}");
    }

    #[test]
    fn a_start_of_another_length_is_refused() {
        struct Line;

        impl Curve<f64> for Line {
            fn parameter_count(&self) -> usize {
                2
            }

            fn responses(&self, x: &[f64], _: usize, b: &[f64], y: &mut [f64]) -> Result<(), EvaluationError> {
                y.iter_mut().zip(x).for_each(|(y, x)| *y = b[0] + b[1] * x);
                Ok(())
            }

            fn linearize(
                &self,
                x: &[f64],
                width: usize,
                b: &[f64],
                y: &mut [f64],
                jacobian: &mut [f64],
            ) -> Result<(), EvaluationError> {
                jacobian.chunks_exact_mut(2).zip(x).for_each(|(row, &x)| row.copy_from_slice(&[1.0, x]));
                self.responses(x, width, b, y)
            }
        }

        let error = CurveFit::curve(Line, &X, &Y, &[1.0]).fit().err().unwrap();
        assert!(matches!(error, CurveError::Solve(SolveError::WrongStartLength { expected: 2, found: 1 })), "{error}");
        assert!(CurveFit::curve(Line, &X, &Y, &[1.0, 1.0]).fit().is_ok());
    }

    #[test]
    fn no_parameters_are_refused() {
        let error = CurveFit::new(|_, []| marquardt::Dual::constant(1.0), &X, &Y, []).fit().err().unwrap();
        assert!(matches!(error, CurveError::NothingToFit), "{error}");
        let error = CurveFit::numeric(|x, _| x[0], Difference::Central, &X, &Y, &[]).fit().err().unwrap();
        assert!(matches!(error, CurveError::NothingToFit), "{error}");
    }

    /// The curve is finite all the same.
    #[test]
    fn a_tie_that_is_infinite_is_named() {
        let fit = || CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &X[1..], &Y[1..], [0.0, 0.5]);
        let tied = fit().tie("b2", Tie::new(["b1"], |[a]| a.recip()));
        let error = tied.fit().err().unwrap();
        let CurveError::NonFiniteParameter { name, value } = &error else { panic!("{error}") };
        assert!(name == "b2" && *value == f64::INFINITY, "{error}");
        assert!(fit().start("b1", 0.5).tie("b2", Tie::new(["b1"], |[a]| a.recip())).fit().is_ok());
    }

    /// A constant needs no predictors: fitted or refused, but no panic.
    #[test]
    fn no_predictors_at_all_do_not_panic() {
        let x = Array2::<f64>::zeros((4, 0));
        if let Ok(fit) = CurveFit::with_predictors(|_, [mean]| mean, &x, &Y, [0.0]).fit() {
            assert!((fit.parameters()[0].value - 2.5).abs() < 1e-12);
        }
        if let Ok(fit) = CurveFit::numeric(|_, b| b[0], Difference::Central, &x, &Y, &[0.0]).fit() {
            assert_eq!(fit.fitted().len(), 4);
        }
    }

    #[test]
    fn predictions_need_as_many_predictors_as_the_fit() {
        let fit = curve_fit(|x, [a, b]| a + b * x, &X, &Y, [0.0, 0.0]).unwrap();
        let error = fit.predict(&array![[1.0, 2.0], [3.0, 4.0]]).unwrap_err();
        assert_eq!(error.to_string(), "the curve has 1 predictors, not 2");
        assert!(fit.predict(&[] as &[f64]).unwrap().is_empty());
    }
}
