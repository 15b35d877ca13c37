//! Problems whose Jacobian has a known pattern: the same derivatives and answers, from fewer evaluations.

use std::cell::Cell;

use marquardt::autodiff::Difference;
use marquardt::distributed::on_threads;
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::problem::{Analytic, Bounded, FiniteDifference, Sharded, Sparsity, SparsityError, check_derivatives};
use marquardt::{
    AutoDiff, Bounds, EvaluationError, LeastSquares, LevenbergMarquardt, Real, Residuals, Scalar, SolveError,
};
use proptest::prelude::*;

/// Broyden's tridiagonal function (Moré, Garbow & Hillstrom 1981, problem 30).
fn broyden<T: Real>(x: &[T], r: &mut [T]) {
    let number = T::from_f64;
    for i in 0..x.len() {
        let before = if i > 0 { x[i - 1] } else { T::ZERO };
        let after = x.get(i + 1).copied().unwrap_or(T::ZERO);
        r[i] = (number(3.0) - number(2.0) * x[i]) * x[i] - before - number(2.0) * after + T::ONE;
    }
}

/// The discrete boundary value problem (problem 28).
fn boundary_value(x: &[f64], r: &mut [f64]) {
    let h = 1.0 / (x.len() + 1) as f64;
    for i in 0..x.len() {
        let t = (i + 1) as f64 * h;
        let before = if i > 0 { x[i - 1] } else { 0.0 };
        let after = x.get(i + 1).copied().unwrap_or(0.0);
        r[i] = 2.0 * x[i] - before - after + 0.5 * h * h * (x[i] + t + 1.0).powi(3);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Columns that are differentiated together have the derivatives that they have one by one, bit for bit.
    #[test]
    fn colors_change_no_derivative(
        rows in prop::collection::vec(prop::collection::vec(0..9_usize, 0..4), 1..15),
        x in prop::collection::vec(prop_oneof![Just(0.0), -2.0..2.0_f64, Just(1e-12), Just(-3e-200)], 9),
        forward: bool,
    ) {
        let m = rows.len();
        let difference = if forward { Difference::Forward } else { Difference::Central };
        let problem = || {
            let rows = rows.clone();
            FiniteDifference::new(9, m, move |x: &[f64], r: &mut [f64]| {
                for (i, (r, columns)) in r.iter_mut().zip(&rows).enumerate() {
                    *r = columns.iter().map(|&j| (x[j] * (j as f64 + 1.0) + i as f64).sin() + x[j]).sum::<f64>() + 0.5;
                }
                Ok(())
            })
            .with_difference(difference)
        };
        let mut sparse = problem().with_sparsity(Sparsity::new(9, rows.clone()).unwrap()).unwrap();
        let mut dense = problem();
        let (mut r, mut jacobian) = (vec![0.0; m], vec![0.0; 9 * m]);
        dense.linearize(&x, 0, &mut r, &mut jacobian).unwrap();
        let (mut r_of_sparse, mut of_sparse) = (vec![0.0; m], vec![1.0; 9 * m]);
        sparse.linearize(&x, 0, &mut r_of_sparse, &mut of_sparse).unwrap();
        prop_assert_eq!(&r, &r_of_sparse);
        prop_assert_eq!(&jacobian, &of_sparse);
        let mut k = 0;
        sparse.capabilities().blocks().unwrap().linearize_blocks(&x, &mut |r, entries| {
            assert_eq!(r, &r_of_sparse[k..=k]);
            let mut entries = entries.iter();
            for (j, &derivative) in jacobian[9 * k..9 * (k + 1)].iter().enumerate() {
                if rows[k].contains(&j) {
                    assert_eq!(entries.next(), Some(&derivative));
                }
            }
            assert_eq!(entries.next(), None);
            k += 1;
        }).unwrap();
        prop_assert_eq!(k, m);
    }
}

#[test]
fn large_systems_take_an_evaluation_or_two_a_color() {
    let n = 2000;
    for function in [broyden::<f64> as fn(&[f64], &mut [f64]), boundary_value] {
        let calls = Cell::new(0);
        let mut problem = FiniteDifference::new(n, n, |x: &[f64], r: &mut [f64]| {
            calls.set(calls.get() + 1);
            function(x, r);
            Ok(())
        })
        .with_sparsity(Sparsity::banded(n, 1, 1))
        .unwrap();
        let report = LevenbergMarquardt::new().minimize(&mut problem, &vec![-0.5; n]).unwrap();
        assert!(report.is_converged() && report.linear_form == LinearForm::SparseCholesky, "{}", report.status);
        assert!(report.cost < 1e-20 && report.iterations < 40, "{}, {}", report.cost, report.iterations);
        // Three colours, two evaluations each, and the residuals themselves.
        assert!(
            calls.get() <= 10 * (report.evaluations.jacobians + 2) + report.evaluations.residuals,
            "{}",
            calls.get()
        );
    }
}

#[test]
fn forms_agree_in_both_precisions() {
    fn check<T: Real>(tolerance: f64) {
        let n = 30;
        let problem = || {
            FiniteDifference::new(n, n, |x: &[T], r: &mut [T]| {
                broyden(x, r);
                Ok(())
            })
            .with_sparsity(Sparsity::banded(n, 1, 1))
            .unwrap()
        };
        let start = vec![T::from_f64(-1.0); n];
        let sparse = LevenbergMarquardt::new().minimize(&mut problem(), &start).unwrap();
        assert!(sparse.is_converged(), "{sparse}");
        for form in [LinearForm::Cholesky, LinearForm::Qr] {
            let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
            let dense = solver.minimize(&mut problem(), &start).unwrap();
            assert!(dense.is_converged() && dense.linear_form == form);
            for (a, b) in sparse.x.iter().zip(&dense.x) {
                assert!((*a - *b).to_f64().abs() < tolerance, "{form}: {a}, {b}");
            }
        }
    }
    check::<f64>(1e-9);
    check::<f32>(1e-3);
}

#[test]
fn patterns_that_do_not_fit_are_named() {
    let problem = || {
        FiniteDifference::new(3, 4, |x: &[f64], r: &mut [f64]| {
            r.copy_from_slice(&[x[0] - 1.0, x[1] - 2.0, x[2] - 3.0, x[0] * x[2]]);
            Ok(())
        })
    };
    let error = problem().with_sparsity(Sparsity::banded(3, 0, 0)).err().unwrap();
    assert_eq!(error, SparsityError::Size { rows: 3, columns: 3, residuals: 4, parameters: 3 });
    // An entry that was forgotten is seen by the check.
    let forgotten = Sparsity::new(3, [vec![0], vec![1], vec![2], vec![0]]).unwrap();
    let mut wrong = problem().with_sparsity(forgotten).unwrap();
    let check = check_derivatives(&mut wrong, &[0.7, 0.4, 2.0]).unwrap();
    assert!(!check.passed() && check.worst.residual == 3 && check.worst.parameter == 2, "{check}");
    let whole = Sparsity::new(3, [vec![0], vec![1], vec![2], vec![0, 2]]).unwrap();
    let mut right = problem().with_sparsity(whole.clone()).unwrap();
    assert!(check_derivatives(&mut right, &[0.7, 0.4, 2.0]).unwrap().passed());
    // Within bounds, differences and steps keep them.
    let right = problem().with_sparsity(whole).unwrap().with_bounds(Bounds::new([-1.0; 3], [0.5, 9.0, 9.0]).unwrap());
    let mut right = right;
    let report = LevenbergMarquardt::new().minimize(&mut right, &[0.4, 0.5, 0.6]).unwrap();
    assert!(report.is_converged() && report.linear_form == LinearForm::SparseCholesky, "{report}");
    let mut analytic = Analytic::new(3, 4, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        r.copy_from_slice(&[x[0] - 1.0, x[1] - 2.0, x[2] - 3.0, x[0] * x[2]]);
        if let Some(jacobian) = jacobian {
            jacobian.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, x[2], 0.0, x[0]]);
        }
        Ok(())
    });
    let mut bounded = Bounded::new(&mut analytic, Bounds::new([-1.0; 3], [0.5, 9.0, 9.0]).unwrap()).unwrap();
    let exact = LevenbergMarquardt::new().minimize(&mut bounded, &[0.4, 0.5, 0.6]).unwrap();
    assert!(report.x.iter().zip(&exact.x).all(|(a, b)| (a - b).abs() < 1e-6), "{report}{exact}");
}

/// Residuals that depend on the parameters in their rows.
#[derive(Debug, Clone)]
struct Rows(Vec<Vec<usize>>);

const COLUMNS: usize = 23;

impl<T: Real> Residuals<T> for Rows {
    fn parameter_count(&self) -> usize {
        COLUMNS
    }

    fn residual_count(&self) -> usize {
        self.0.len()
    }

    fn evaluate<S: Scalar<Real = T>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (i, r) in (first..).zip(r) {
            *r = S::constant(T::from_f64(0.5));
            for &j in &self.0[i] {
                *r += (x[j] * T::from_f64(j as f64 + 1.0) + T::from_f64(i as f64)).sin() + x[j];
            }
        }
        Ok(())
    }
}

fn rows() -> impl Strategy<Value = Vec<Vec<usize>>> {
    // Few colours, and more than one pass of them.
    (1..20_usize).prop_flat_map(|widest| prop::collection::vec(prop::collection::vec(0..COLUMNS, 0..widest), 1..40))
}

proptest! {
    /// Dual numbers with a pattern have the derivatives of those without.
    #[test]
    fn passes_of_colors_change_no_derivative(rows in rows(), x in prop::collection::vec(-2.0..2.0_f64, COLUMNS)) {
        let m = rows.len();
        let sparsity = Sparsity::new(COLUMNS, rows.clone()).unwrap();
        let mut sparse = AutoDiff(Rows(rows.clone())).with_sparsity::<f64>(sparsity).unwrap();
        let mut dense = AutoDiff(Rows(rows));
        let fill = |problem: &mut dyn LeastSquares<f64>, first: usize| {
            let (mut r, mut jacobian) = (vec![f64::NAN; m - first], vec![f64::NAN; COLUMNS * (m - first)]);
            problem.linearize(&x, first, &mut r, &mut jacobian).unwrap();
            (r, jacobian)
        };
        for first in [0, m / 2] {
            let ((r, jacobian), (expected_r, expected)) = (fill(&mut sparse, first), fill(&mut dense, first));
            prop_assert_eq!(r, expected_r);
            prop_assert!(jacobian.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14 * (1.0 + b.abs())));
        }
        let (_, jacobian) = fill(&mut dense, 0);
        let mut row = 0;
        LeastSquares::<f64>::capabilities(&mut sparse).blocks().unwrap().linearize_blocks(&x, &mut |_, entries| {
            let nonzero: Vec<f64> = jacobian[COLUMNS * row..COLUMNS * (row + 1)].iter().copied().filter(|&entry| entry != 0.0).collect();
            assert!(entries.len() >= nonzero.len());
            row += 1;
        }).unwrap();
        prop_assert_eq!(row, m);
    }

    /// An entry that is missing from the pattern is named, and no other is.
    #[test]
    fn a_missing_entry_is_named(rows in rows(), which in any::<prop::sample::Index>()) {
        let entries: Vec<(usize, usize)> =
            rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&j| (i, j))).collect();
        prop_assume!(!entries.is_empty());
        let (row, column) = entries[which.index(entries.len())];
        let mut stated = rows.clone();
        stated[row].retain(|&j| j != column);
        let mut problem = AutoDiff(Rows(rows)).with_sparsity::<f64>(Sparsity::new(COLUMNS, stated).unwrap()).unwrap();
        let x: Vec<f64> = (0..COLUMNS).map(|j| 0.1 * j as f64 + 0.05).collect();
        let error = LevenbergMarquardt::new().minimize(&mut problem, &x).unwrap_err();
        let SolveError::Evaluation(error) = &error else { panic!("{error}") };
        prop_assert_eq!(error.downcast_ref::<SparsityError>(), Some(&SparsityError::Entry { row, column }));
    }
}

#[test]
fn dual_numbers_with_a_pattern_solve_large_systems() {
    fn check<T: Real>(tolerance: f64) {
        let n = 1500;
        let mut problem = AutoDiff(Broyden(n)).with_sparsity::<T>(Sparsity::banded(n, 1, 1)).unwrap();
        let start = vec![T::from_f64(-1.0); n];
        for form in [LinearForm::SparseCholesky, LinearForm::Schur, LinearForm::Cgnr, LinearForm::IterativeSchur] {
            let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
            let report = solver.minimize(&mut problem, &start).unwrap();
            assert!(report.is_converged() && report.linear_form == form, "{form}: {}", report.status);
            assert!(report.cost.to_f64() < tolerance, "{form}: {}", report.cost);
        }
    }
    check::<f64>(1e-20);
    check::<f32>(1e-7);
    let wrong = AutoDiff(Broyden(5)).with_sparsity::<f64>(Sparsity::banded(4, 1, 1));
    assert!(matches!(wrong, Err(SparsityError::Size { rows: 4, residuals: 5, .. })));
}

/// Broyden's tridiagonal function over any scalar.
struct Broyden(usize);

impl<T: Real> Residuals<T> for Broyden {
    fn parameter_count(&self) -> usize {
        self.0
    }

    fn residual_count(&self) -> usize {
        self.0
    }

    fn evaluate<S: Scalar<Real = T>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let number = T::from_f64;
        for (i, r) in (first..).zip(r) {
            *r = x[i] * (-x[i] * number(2.0) + number(3.0)) + number(1.0);
            if i > 0 {
                *r -= x[i - 1];
            }
            if i + 1 < self.0 {
                *r -= x[i + 1] * number(2.0);
            }
        }
        Ok(())
    }
}

/// The discrete boundary value problem over any scalar: its `J` has the condition number `0.4 n²`, and `JᵀJ` the square of that.
struct BoundaryValue(usize);

impl<T: Real> Residuals<T> for BoundaryValue {
    fn parameter_count(&self) -> usize {
        self.0
    }

    fn residual_count(&self) -> usize {
        self.0
    }

    fn evaluate<S: Scalar<Real = T>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let (number, h) = (T::from_f64, 1.0 / (self.0 + 1) as f64);
        for (i, r) in (first..).zip(r) {
            let t = (i + 1) as f64 * h;
            *r = x[i] * number(2.0) + (x[i] + number(t + 1.0)).powi(3) * number(0.5 * h * h);
            if i > 0 {
                *r -= x[i - 1];
            }
            if i + 1 < self.0 {
                *r -= x[i + 1];
            }
        }
        Ok(())
    }
}

/// Steps are those of Gauss and Newton although `JᵀJ` has no digit left, from near and from far.
#[test]
fn square_systems_of_bad_condition_converge_as_by_newton() {
    fn check<T: Real>(n: usize, depth: f64, iterations: usize) {
        let h = 1.0 / (n + 1) as f64;
        let bent: Vec<T> = (1..=n).map(|i| i as f64 * h).map(|t| T::from_f64(depth * t * (t - 1.0))).collect();
        let mut problem = AutoDiff(BoundaryValue(n)).with_sparsity::<T>(Sparsity::banded(n, 1, 1)).unwrap();
        let report = LevenbergMarquardt::new().minimize(&mut problem, &bent).unwrap();
        assert!(report.is_converged() && report.iterations <= iterations, "{n}: {report}");
        // Rounding of the solution, whose numbers are at most a tenth, in three terms of each residual.
        let rounding = T::EPSILON.to_f64() * 0.1 * 3.0;
        assert!(report.cost.to_f64() <= n as f64 * rounding * rounding, "{n}: {}", report.cost);
    }
    check::<f32>(300, 1.0, 8);
    check::<f32>(1000, 1.0, 8);
    check::<f64>(3000, 1.0, 8);
    check::<f64>(20_000, 1.0, 8);
}

#[test]
fn ranks_sum_a_sparse_problem_as_a_dense_one_or_refuse() {
    let n = 30;
    let problem = |first: usize, count: usize| {
        let residuals = move |x: &[f64], r: &mut [f64]| {
            let mut all = vec![0.0; n];
            broyden(x, &mut all);
            r.copy_from_slice(&all[first..first + count]);
            Ok(())
        };
        let rows = (first..first + count).map(|i| (i.saturating_sub(1)..n.min(i + 2)).collect());
        FiniteDifference::new(n, count, residuals).with_sparsity(Sparsity::new(n, rows).unwrap()).unwrap()
    };
    let start = vec![-1.0; n];
    let alone = LevenbergMarquardt::new().minimize(&mut problem(0, n), &start).unwrap();
    assert_eq!(alone.linear_form, LinearForm::SparseCholesky);
    let on_ranks = on_threads(2, |ranks| {
        let shard = ranks.shard(n);
        let mut sharded = Sharded::new(problem(shard.start, shard.len()), &ranks);
        let report = LevenbergMarquardt::new().minimize(&mut sharded, &start).unwrap();
        for form in [LinearForm::SparseCholesky, LinearForm::Cgnr, LinearForm::Schur, LinearForm::IterativeSchur] {
            let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
            let error = solver.minimize(&mut sharded, &start).unwrap_err();
            assert!(matches!(error, SolveError::SpreadOut { ranks: 2, .. }), "{error}");
        }
        report
    });
    for report in on_ranks {
        assert!(report.is_converged() && report.linear_form == LinearForm::Cholesky, "{report}");
        assert!(report.x.iter().zip(&alone.x).all(|(a, b)| (a - b).abs() < 1e-10));
    }
}
