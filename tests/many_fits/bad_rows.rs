//! What cannot be fitted gets its status, and its neighbours do not notice.

use marquardt::curve::NanPolicy;
use marquardt::solver::FitStatus;
use marquardt::{FitMany, model};
use ndarray::{Array2, array, s};

use crate::curves::{Curves, PEAK, assert_identical, line, peak};
use crate::workloads::{BadRow, GaussianPeaks, ManyCurves};

const FITS: usize = 300;

/// Rows that are not among these.
fn others(fits: usize, bad: &[usize]) -> impl Iterator<Item = usize> {
    (0..fits).filter(|row| !bad.contains(row))
}

/// There was no fit.
fn assert_not_fitted(curves: &Curves<f64>, bad: &[usize], expected: FitStatus) {
    let good = PEAK.draw::<f64>(peak(), 40, 30, 3).fit(peak());
    let fits = curves.fit(peak());
    for &row in bad {
        assert_eq!(fits.status[row], expected);
        assert!(fits.cost[row].is_nan() && fits.standard_errors.row(row).iter().all(|error| error.is_nan()));
        assert_eq!(fits.iterations[row], 0);
    }
    assert_eq!(fits.converged(), 40 - bad.len());
    assert_identical(&fits, &good, others(40, bad));
}

#[test]
fn a_hundredth_of_the_rows_is_bad() {
    let rows = |values: &[f64]| Array2::from_shape_vec((FITS, values.len() / FITS), values.to_vec()).unwrap();
    let good = ManyCurves::<GaussianPeaks>::new(FITS, 64, 9);
    let (spoilt, bad) = good.clone().with_bad_rows();
    let (x, start) = (&good.x, rows(&good.start));
    let fit = |y: &[f64]| FitMany::new(peak(), x, &rows(y)).start(&start).fit().unwrap();
    let (with_bad, without) = (fit(&spoilt.y), fit(&good.y));
    assert_eq!(
        bad.iter().map(|&(_, kind)| kind).collect::<Vec<_>>(),
        [BadRow::NotANumber, BadRow::Zeros, BadRow::Constant]
    );
    for &(row, kind) in &bad {
        match kind {
            BadRow::NotANumber => assert_eq!(with_bad.status[row], FitStatus::NonFiniteData),
            // A flat line is a peak of no height, of which nothing else can be said.
            BadRow::Zeros | BadRow::Constant => {
                assert_ne!(with_bad.status[row], FitStatus::NonFiniteData);
                assert!(with_bad.parameters.row(row).iter().all(|parameter| parameter.is_finite()), "{with_bad:?}");
                assert!(with_bad.cost[row] < 1e-6, "{kind:?}: {}", with_bad.cost[row]);
            }
        }
    }
    let bad: Vec<usize> = bad.into_iter().map(|(row, _)| row).collect();
    assert_identical(&with_bad, &without, others(FITS, &bad));
    assert_eq!(without.converged(), FITS);
}

#[test]
fn one_number_that_is_not_finite_is_enough() {
    let bad = [0, 17, 18, 39];
    let mut curves = PEAK.draw::<f64>(peak(), 40, 30, 3);
    for (row, value) in bad.into_iter().zip([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]) {
        curves.y[[row, row % 30]] = value;
    }
    assert_not_fitted(&curves, &bad, FitStatus::NonFiniteData);
}

#[test]
fn a_start_that_is_not_finite_is_bad_too() {
    let bad = [3, 20, 21];
    let mut curves = PEAK.draw::<f64>(peak(), 40, 30, 3);
    for (row, value) in bad.into_iter().zip([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]) {
        curves.start[[row, row % 4]] = value;
    }
    assert_not_fitted(&curves, &bad, FitStatus::NonFiniteStart);
}

#[test]
fn so_is_one_where_the_model_is_not_finite() {
    let mut curves = PEAK.draw::<f64>(peak(), 40, 31, 3);
    // In the middle, the point at zero: 0 / 0.
    curves.start.row_mut(5).assign(&array![1.0, 0.0, 0.0, 0.0]);
    let good = PEAK.draw::<f64>(peak(), 40, 31, 3).fit(peak());
    let fits = curves.fit(peak());
    assert_eq!(fits.status[5], FitStatus::NonFiniteStart);
    assert_identical(&fits, &good, others(40, &[5]));
}

#[test]
fn numbers_that_overflow_spoil_no_neighbour() {
    let bad = [4, 30];
    let mut curves = PEAK.draw::<f64>(peak(), 40, 30, 3);
    curves.y.row_mut(4).fill(1e200);
    curves.start.row_mut(30).assign(&array![1e160, 0.0, 1e-160, 1e160]);
    let good = PEAK.draw::<f64>(peak(), 40, 30, 3).fit(peak());
    assert_identical(&curves.fit(peak()), &good, others(40, &bad));
}

#[test]
fn what_the_data_do_not_determine_is_infinitely_uncertain() {
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    let y = Array2::from_shape_fn((9, 12), |(row, i)| row as f64 + 0.3 * x[i] + 0.01 * (7.0 * x[i]).sin());
    let twice = model!(|x; a, b, c| (a + b) * x + c);
    let fits = FitMany::new(twice, &x, &y).start(&[1.0, 0.5, 0.0]).fit().unwrap();
    let reference = FitMany::new(line(), &x, &y).start(&[1.0, 0.0]).fit().unwrap();
    for row in 0..9 {
        assert_eq!(fits.status[row], FitStatus::Undetermined, "{row}");
        assert!(fits.standard_errors[[row, 0]].is_infinite() && fits.standard_errors[[row, 1]].is_infinite());
        let slope = fits.parameters[[row, 0]] + fits.parameters[[row, 1]];
        assert!((slope - reference.parameters[[row, 0]]).abs() < 1e-4 * reference.standard_errors[[row, 0]]);
        assert!((fits.cost[row] / reference.cost[row] - 1.0).abs() < 1e-8);
    }
}

#[test]
fn too_few_points_are_left() {
    let mut curves = PEAK.draw::<f64>(peak(), 10, 30, 3);
    let good = curves.fit(peak());
    curves.y.slice_mut(s![6, 3..]).fill(f64::NAN);
    curves.y.row_mut(7).fill(f64::NAN);
    let fit = FitMany::new(peak(), &curves.x, &curves.y).start(&curves.start).nan_policy(NanPolicy::Omit);
    let fits = fit.fit().unwrap();
    assert_eq!([fits.status[6], fits.status[7]], [FitStatus::TooFewPoints; 2]);
    assert_identical(&fits, &good, others(10, &[6, 7]));
}

#[test]
fn the_best_point_is_kept_when_the_iterations_are_used_up() {
    let curves = PEAK.draw::<f64>(peak(), 30, 40, 3);
    let fit = FitMany::new(peak(), &curves.x, &curves.y).start(&curves.start).max_iterations(1);
    let fits = fit.fit().unwrap();
    let cost = |row: usize, b: &[f64]| {
        let residuals = curves.x.iter().zip(curves.row(row).0);
        0.5 * residuals.map(|(&x, y)| (marquardt::Model::response(&peak(), &[x], b) - y).powi(2)).sum::<f64>()
    };
    assert!(fits.status.iter().filter(|&&status| status == FitStatus::MaxIterations).count() > 20);
    for row in 0..30 {
        assert!(fits.iterations[row] <= 1);
        let found = cost(row, &fits.parameters.row(row).to_vec());
        assert!(found <= cost(row, curves.row(row).1) && (fits.cost[row] / found - 1.0).abs() < 1e-10);
    }
}
