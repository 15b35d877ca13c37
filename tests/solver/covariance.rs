//! Uncertainties against closed forms, and what becomes of them where the data say nothing.

use marquardt::problem::{Analytic, FiniteDifference};
use marquardt::{AutoDiff, Covariance, EvaluationError, LeastSquares, LevenbergMarquardt, Real, Residuals, Scalar};
use nalgebra::DMatrix;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::{Wavy, close, config, linearized, wavy};

const X: [f64; 6] = [0.5, 1.0, 2.5, 3.0, 4.5, 7.0];
const Y: [f64; 6] = [1.1, 1.9, 5.2, 5.8, 9.3, 13.8];

/// `r = f(x)`, with derivatives by differences.
fn closure<const M: usize>(parameters: usize, f: impl Fn(&[f64]) -> [f64; M]) -> impl LeastSquares<f64> {
    FiniteDifference::new(parameters, M, move |x: &[f64], r: &mut [f64]| {
        r.copy_from_slice(&f(x));
        Ok(())
    })
}

/// The linear fit of `Y` by what `columns` makes of each of `X`, with exact derivatives.
fn linear<const N: usize>(columns: impl Fn(f64) -> [f64; N]) -> impl LeastSquares<f64> {
    Analytic::new(N, X.len(), move |b: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        for (r, (&x, y)) in r.iter_mut().zip(X.iter().zip(&Y)) {
            *r = columns(x).iter().zip(b).map(|(column, b)| column * b).sum::<f64>() - y;
        }
        if let Some(jacobian) = jacobian {
            jacobian.copy_from_slice(X.map(&columns).as_flattened());
        }
        Ok(())
    })
}

/// `y = b₀ + b₁x`.
fn line() -> impl LeastSquares<f64> {
    linear(|x| [1.0, x])
}

/// Fits, and takes the covariance there.
fn fitted(problem: &mut impl LeastSquares<f64>, start: &[f64]) -> (Vec<f64>, Covariance<f64>) {
    let report = LevenbergMarquardt::new().minimize(problem, start).unwrap();
    assert!(report.is_converged(), "{report}");
    let covariance = Covariance::at(problem, &report.x).unwrap();
    (report.x, covariance)
}

fn errors(covariance: &Covariance<f64>) -> Vec<f64> {
    covariance.standard_errors().to_vec()
}

/// The textbook formulas of simple regression.
#[test]
fn a_straight_line_is_as_in_the_textbook() {
    let (b, covariance) = fitted(&mut line(), &[0.0, 0.0]);
    let n = X.len() as f64;
    let mean = X.iter().sum::<f64>() / n;
    let spread: f64 = X.iter().map(|x| (x - mean).powi(2)).sum();
    let variance = X.iter().zip(&Y).map(|(x, y)| (b[0] + b[1] * x - y).powi(2)).sum::<f64>() / (n - 2.0);
    let expected = [(variance * (1.0 / n + mean * mean / spread)).sqrt(), (variance / spread).sqrt()];
    assert!(close(&errors(&covariance), &expected, 1e-13), "{covariance:?}");
    let correlation = -mean / (mean * mean + spread / n).sqrt();
    assert!((covariance.correlation()[[0, 1]] - correlation).abs() < 1e-13);
    assert_eq!(covariance.correlation()[[0, 0]], 1.0);
    assert!((covariance.residual_variance().unwrap() - variance).abs() < 1e-12);
    assert!((covariance.residual_standard_deviation().unwrap() - variance.sqrt()).abs() < 1e-12);
    assert_eq!((covariance.degrees_of_freedom(), covariance.undetermined()), (4, &[][..]));
    // With known noise the scatter of the residuals does not matter.
    assert!((covariance.unscaled()[[1, 1]] - 1.0 / spread).abs() < 1e-13);
    assert!((covariance.matrix()[[0, 1]] - variance * covariance.unscaled()[[0, 1]]).abs() < 1e-12);
}

/// Columns that have nine tenths in common, in single precision: what rounding can do over so many rows is far from a dependence.
#[test]
fn many_rows_in_single_precision_determine_what_they_do_in_double() {
    fn errors<T: Real>() -> Vec<f64> {
        const ROWS: usize = 100_000;
        let mut problem = Analytic::new(3, ROWS, |_: &[T], r: &mut [T], jacobian: Option<&mut [T]>| {
            r.fill(T::from_f64(0.3));
            for (i, row) in jacobian.into_iter().flat_map(|rows| rows.chunks_exact_mut(3)).enumerate() {
                let angle = std::f64::consts::PI * (i as f64 + 0.5) / ROWS as f64;
                let column = |k: usize| T::from_f64(0.99 + 0.01 * (k as f64 * angle).cos());
                row.iter_mut().enumerate().for_each(|(k, entry)| *entry = column(k + 1));
            }
            Ok(())
        });
        let covariance = Covariance::at(&mut problem, &[0.0; 3].map(T::from_f64)).unwrap();
        assert!(covariance.undetermined().is_empty(), "{:?}", covariance.undetermined());
        covariance.standard_errors().iter().map(|error| error.to_f64()).collect()
    }
    for (single, double) in errors::<f32>().into_iter().zip(errors::<f64>()) {
        assert!((single - double).abs() < 1e-2 * double, "{single} and not {double}");
    }
}

/// The slope in thousandths, the offset in millions: the errors scale, the correlation does not.
#[test]
fn units_change_the_errors_in_proportion() {
    let (_, plain) = fitted(&mut line(), &[0.0, 0.0]);
    let (_, scaled) = fitted(&mut linear(|x| [1e6, 1e-3 * x]), &[0.0, 0.0]);
    let [offset, slope] = errors(&scaled)[..] else { panic!("two parameters") };
    assert!(close(&[1e6 * offset, 1e-3 * slope], &errors(&plain), 1e-9));
    assert!((scaled.correlation()[[0, 1]] - plain.correlation()[[0, 1]]).abs() < 1e-9);
}

/// Units so far apart that an unscaled rank would drop a parameter.
#[test]
fn no_unit_makes_a_parameter_undetermined() {
    let (_, plain) = fitted(&mut line(), &[0.0, 0.0]);
    let (_, scaled) = fitted(&mut linear(|x| [1e12, 1e-12 * x]), &[0.0, 0.0]);
    assert!(scaled.undetermined().is_empty());
    assert!((1e12 * errors(&scaled)[0] / errors(&plain)[0] - 1.0).abs() < 1e-9);
}

/// A sum of parameters instead of one, and a parameter without influence: they are named, and the rest is as before.
#[test]
fn what_the_data_do_not_determine_is_named() {
    let (_, plain) = fitted(&mut line(), &[0.0, 0.0]);
    let (_, redundant) = fitted(&mut linear(|x| [1.0, x, 1.0, 0.0]), &[0.0; 4]);
    assert_eq!(redundant.undetermined(), ["x[0]", "x[2]", "x[3]"]);
    let found = errors(&redundant);
    assert!([0, 2, 3].iter().all(|&j| found[j] == f64::INFINITY), "{found:?}");
    assert!((found[1] / errors(&plain)[1] - 1.0).abs() < 1e-12, "{found:?}");
    assert_eq!(redundant.degrees_of_freedom(), plain.degrees_of_freedom());
    let correlation = redundant.correlation();
    assert!(correlation.iter().all(|c| c.is_finite()), "{correlation}");
    assert!((0..4).all(|i| (0..4).all(|j| correlation[[i, j]] == if i == j { 1.0 } else { 0.0 })), "{correlation}");
}

#[test]
fn as_many_parameters_as_residuals_leave_nothing_to_judge_by() {
    let (_, covariance) = fitted(&mut closure(2, |b| [b[0] + b[1] - 2.0, b[0] - b[1]]), &[0.0, 0.0]);
    assert_eq!((covariance.degrees_of_freedom(), covariance.residual_variance()), (0, None));
    assert_eq!(covariance.residual_standard_deviation(), None);
    assert!(errors(&covariance).iter().all(|error| *error == f64::INFINITY));
    // Known noise still gives errors.
    assert!((covariance.unscaled()[[0, 0]] - 0.5).abs() < 1e-9 && covariance.undetermined().is_empty());
}

#[test]
fn fewer_residuals_than_parameters_determine_what_they_reach() {
    let covariance = Covariance::at(&mut closure(3, |b| [b[0] + b[1], 2.0 * b[2]]), &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(covariance.undetermined(), ["x[0]", "x[1]"]);
    assert_eq!(covariance.degrees_of_freedom(), 0);
    assert!((covariance.unscaled()[[2, 2]] - 0.25).abs() < 1e-9);
}

#[test]
fn parameters_are_named_as_the_problem_names_them() {
    struct Named;

    impl Residuals<f64> for Named {
        fn parameter_count(&self) -> usize {
            2
        }

        fn residual_count(&self) -> usize {
            3
        }

        fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
            for (i, r) in (first..).zip(r) {
                *r = x[0] - i as f64;
            }
            Ok(())
        }

        fn parameter_name(&self, index: usize) -> String {
            ["mean", "idle"][index].into()
        }
    }

    let covariance = Covariance::at(&mut AutoDiff(Named), &[1.0, 0.0]).unwrap();
    assert_eq!(covariance.undetermined(), ["idle"]);
    assert!((covariance.standard_errors()[0] - (1.0_f64 / 3.0).sqrt()).abs() < 1e-15);
}

proptest! {
    #![proptest_config(config())]

    /// `s² (JᵀJ)⁻¹` itself, on problems so well conditioned that it may be computed as written.
    #[test]
    fn the_matrix_is_as_written(problem in wavy(12, 4, 0.5), x in vec(-1.0..1.0, 4)) {
        let (r, jacobian) = linearized(&mut AutoDiff(problem.clone()), &x);
        let inverse = (jacobian.transpose() * &jacobian).try_inverse().unwrap();
        let covariance = Covariance::at(&mut AutoDiff(problem), &x).unwrap();
        let scale = r.norm_squared() / 8.0;
        for ((i, j), &found) in covariance.matrix().indexed_iter() {
            let size = scale * (inverse[(i, i)] * inverse[(j, j)]).sqrt();
            prop_assert!((found - scale * inverse[(i, j)]).abs() <= 1e-10 * size, "{found} at ({i}, {j})");
        }
    }

    #[test]
    fn differences_agree_with_exact_derivatives(problem in wavy(12, 4, 0.5), x in vec(-1.0..1.0, 4)) {
        let exact = Covariance::at(&mut AutoDiff(problem.clone()), &x).unwrap();
        let evaluate = |x: &[f64], r: &mut [f64]| problem.evaluate(x, 0, r);
        let differences = Covariance::at(&mut FiniteDifference::new(4, 12, evaluate), &x).unwrap();
        prop_assert!(close(&errors(&differences), &errors(&exact), 1e-7));
    }

    /// One column is a combination of two others: those three are undetermined, the fourth is as without it.
    #[test]
    fn dependent_columns_leave_the_others_alone(problem in wavy(12, 3, 0.0), weights in [0.5..2.0, 0.5..2.0]) {
        let mut redundant = AutoDiff(Redundant { problem: &problem, weights });
        let redundant = Covariance::at(&mut redundant, &[0.5, 0.5, 0.5, 0.0]).unwrap();
        prop_assert_eq!(redundant.undetermined(), ["x[0]", "x[1]", "x[3]"]);
        let alone = Covariance::at(&mut AutoDiff(problem.clone()), &[0.5, 0.5, 0.5]).unwrap();
        let (found, expected) = (redundant.standard_errors()[2], alone.standard_errors()[2]);
        prop_assert!((found / expected - 1.0).abs() < 1e-11, "{found} is not {expected}");
    }
}

/// A problem of three parameters with a fourth that acts as a combination of two of them.
struct Redundant<'a> {
    problem: &'a Wavy<f64>,
    weights: [f64; 2],
}

impl Residuals<f64> for Redundant<'_> {
    fn parameter_count(&self) -> usize {
        4
    }

    fn residual_count(&self) -> usize {
        self.problem.y.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let [first_weight, second_weight] = self.weights;
        self.problem.evaluate(&[x[0] + x[3] * first_weight, x[1] + x[3] * second_weight, x[2]], first, r)
    }
}

/// Takes the covariance of a problem with this Jacobian, and asserts that no number of it is NaN.
fn assert_a_covariance<T: Real>(columns: usize, jacobian: &[f64]) {
    let narrow = |values: &mut dyn Iterator<Item = f64>| values.map(|value| T::from_f64(value)).collect::<Vec<T>>();
    let of_problem = narrow(&mut jacobian.iter().copied());
    let evaluate = |_: &[T], r: &mut [T], jacobian: Option<&mut [T]>| {
        r.iter_mut().enumerate().for_each(|(i, r)| *r = T::from_f64((i as f64).sin()));
        jacobian.into_iter().for_each(|jacobian| jacobian.copy_from_slice(&of_problem));
        Ok(())
    };
    let mut problem = Analytic::new(columns, jacobian.len() / columns, evaluate);
    let covariance = Covariance::at(&mut problem, &vec![T::ONE; columns]).unwrap();
    let errors = covariance.standard_errors();
    let (matrix, correlation) = (covariance.matrix(), covariance.correlation());
    let numbers = matrix.iter().chain(covariance.unscaled()).chain(&correlation).chain(&errors);
    assert!(numbers.into_iter().all(|number| !number.to_f64().is_nan()), "{matrix:?}, {errors:?}");
    assert!(errors.iter().all(|error| *error > T::ZERO), "{errors:?}");
}

proptest! {
    #![proptest_config(config())]
    /// Columns of any size, some of which are copies of others or zero, and all of them where there are few distinct rows.
    #[test]
    fn no_jacobian_is_too_singular(
        columns in prop_oneof![1..8_usize, 16..24_usize],
        entries in vec(-1.0..1.0_f64, 23 * 44),
        distinct in prop_oneof![Just(2_usize), 1..44_usize],
        copies in vec((0..23_usize, 0..23_usize), 0..5),
        zero in 0..60_usize,
        exponents in vec(prop_oneof![Just(0), -8..1_i32, -44..30_i32], 23),
    ) {
        let source = |j: usize| copies.iter().rev().fold(j, |j, &(from, to)| if j == to { from } else { j });
        let entry = |i: usize, j: usize| entries[i % distinct * 23 + source(j)] * 10_f64.powi(exponents[j]);
        let jacobian: Vec<f64> =
            (0..44 * columns).map(|k| (k / columns, k % columns)).map(|(i, j)| if j == zero { 0.0 } else { entry(i, j) }).collect();
        assert_a_covariance::<f64>(columns, &jacobian);
        assert_a_covariance::<f32>(columns, &jacobian);
    }
}

proptest! {
    #![proptest_config(config())]
    /// Around the number of parameters from which the inverse takes the place of singular values: in any units, with as many digits as the
    /// columns leave, and with a column that depends on others, which is named with them.
    #[test]
    fn many_parameters_are_as_by_singular_values(
        (n, entries) in (12..40_usize).prop_flat_map(|n| (Just(n), vec(-1.0..1.0_f64, n * (n + 20)))),
        unit in -60..60_i32,
        apart in -7..1_i32,
        is_dependent: bool,
    ) {
        let m = n + 20;
        let mut jacobian = DMatrix::from_row_slice(m, n, &entries);
        let share = if is_dependent { 0.0 } else { 10_f64.powi(apart) };
        let last = jacobian.column(0) + jacobian.column(1) + share * jacobian.column(n - 1);
        jacobian.set_column(n - 1, &last);
        let scale = |j: usize| if j.is_multiple_of(3) { 10_f64.powi(unit) } else { 1.0 };
        let scaled = DMatrix::from_fn(m, n, |i, j| jacobian[(i, j)] * scale(j));
        let mut problem = Analytic::new(n, m, |_: &[f64], r: &mut [f64], rows: Option<&mut [f64]>| {
            r.fill(1.0);
            rows.into_iter().for_each(|rows| rows.copy_from_slice(scaled.transpose().as_slice()));
            Ok(())
        });
        let covariance = Covariance::at(&mut problem, &vec![0.0; n]).unwrap();
        if is_dependent {
            prop_assert_eq!(covariance.undetermined(), ["x[0]".to_owned(), "x[1]".to_owned(), format!("x[{}]", n - 1)]);
            return Ok(());
        }
        prop_assert!(covariance.undetermined().is_empty());
        let svd = jacobian.clone().svd(false, true);
        let vectors = svd.v_t.unwrap();
        let tolerance = 1e-12 / share;
        for (i, j) in (0..n).flat_map(|i| [(i, i), (i, 0), (i, n - 1)]) {
            let entry = |i: usize, j: usize| -> f64 {
                (0..n).map(|k| vectors[(k, i)] * vectors[(k, j)] / svd.singular_values[k].powi(2)).sum()
            };
            let found = covariance.unscaled()[[i, j]] * scale(i) * scale(j);
            let size = (entry(i, i) * entry(j, j)).sqrt();
            prop_assert!((found - entry(i, j)).abs() <= tolerance * size, "({i}, {j}): {found}, {}", entry(i, j));
        }
    }
}
