//! Shapes that do not match are named.

use marquardt::curve::{FitManyError, Predictors};
use marquardt::solver::FitStatus;
use marquardt::{CurveError, FitMany};
use ndarray::{Array2, Array3};

use crate::curves::{Formula, line, peak};

/// The error has all these in its message.
fn assert_named(fit: FitMany<f64, impl Formula>, parts: &[&str]) {
    let error = fit.fit().unwrap_err().to_string();
    for part in parts {
        assert!(error.contains(part), "{error}: no {part}");
    }
}

fn zeros(rows: usize, columns: usize) -> Array2<f64> {
    Array2::zeros((rows, columns))
}

#[test]
fn predictors_are_as_many_as_responses() {
    let (y, start) = (zeros(7, 20), [1.0, 5.0, 2.0, 0.0]);
    let (x, narrow, short, cube) = ([0.0; 19], zeros(7, 18), zeros(6, 20), Array3::zeros((7, 17, 1)));
    assert_named(FitMany::new(peak(), &x, &y).start(&start), &["19", "20"]);
    assert_named(FitMany::new(peak(), &narrow, &y).start(&start), &["18", "20"]);
    assert_named(FitMany::new(peak(), &short, &y).start(&start), &["6", "7"]);
    assert_named(FitMany::new(peak(), &cube, &y).start(&start), &["17", "20"]);
}

#[test]
fn starts_sigma_and_bounds_have_the_shapes_of_what_they_belong_to() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let (y, start) = (zeros(7, 20), [1.0, 5.0, 2.0, 0.0]);

    assert_named(FitMany::new(peak(), &x, &y).start(&start[..3]), &["3", "4"]);
    assert_named(FitMany::new(peak(), &x, &y).start(&zeros(7, 5)), &["5", "4"]);
    assert_named(FitMany::new(peak(), &x, &y).start(&zeros(8, 4)), &["8", "7"]);

    let fit = || FitMany::new(peak(), &x, &y).start(&start);
    let (narrow, short) = (Array2::ones((7, 19)), Array2::ones((5, 20)));
    assert_named(fit().sigma(&[1.0; 21]), &["21", "20"]);
    assert_named(fit().sigma(&narrow), &["19", "20"]);
    assert_named(fit().sigma(&short), &["5", "7"]);

    assert_named(fit().bounds("depth", 0.0..=9.0), &["depth", "amplitude"]);
}

#[test]
fn points_have_predictors() {
    let (x, y) = (zeros(20, 0), zeros(7, 20));
    let cube = Array3::zeros((7, 20, 0));
    for x in [Predictors::shared(&x), Predictors::from(&cube)] {
        let error = FitMany::new(peak(), x, &y).start(&[1.0; 4]).fit().unwrap_err();
        assert!(matches!(error, FitManyError::NoPredictors), "{error}");
    }
}

#[test]
fn tolerances_are_not_negative() {
    let (x, y) = ([0.0; 20], zeros(7, 20));
    for ftol in [-1e-3, f64::NAN] {
        let error = FitMany::new(peak(), &x, &y).start(&[1.0; 4]).ftol(ftol).fit().unwrap_err();
        assert!(matches!(error, FitManyError::Tolerance(_)), "{error}");
    }
}

#[test]
fn noise_and_bounds_are_not_swallowed() {
    let (x, y) = ([0.0; 20], zeros(7, 20));
    let fit = || FitMany::new(peak(), &x, &y).start(&[1.0; 4]);
    let refused = |fit: FitMany<'_, f64, _>| match fit.fit().unwrap_err() {
        FitManyError::Options(error) => *error,
        error => panic!("{error}"),
    };
    assert!(matches!(refused(fit().absolute_sigma(true)), CurveError::AbsoluteWithoutSigma));
    assert!(matches!(refused(fit().counts().sigma(&[1.0; 20])), CurveError::Conflict { first: "counts", .. }));
    assert!(matches!(refused(fit().prior("width", 1.0, 0.1)), CurveError::Conflict { first: "a prior", .. }));
    assert!(matches!(refused(fit().scale("width", 0.0)), CurveError::Scale { .. }));
    assert!(matches!(refused(fit().bounds("width", f64::NAN..)), CurveError::CrossedBounds { .. }));
}

#[test]
fn there_must_be_a_start() {
    let (x, y) = ([0.0; 20], zeros(7, 20));
    assert!(matches!(FitMany::new(peak(), &x, &y).fit().unwrap_err(), FitManyError::NoStart));
}

#[test]
fn standard_deviations_are_positive_and_finite() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let y = Array2::from_shape_fn((7, 20), |(row, i)| (row + i) as f64);
    for bad in [0.0, -2.0, f64::NAN, f64::INFINITY] {
        let mut sigma = Array2::ones((7, 20));
        sigma[[3, 13]] = bad;
        let fits = FitMany::new(line(), &x, &y).start(&[1.0, 0.0]).sigma(&sigma).fit().unwrap();
        assert_eq!((fits.status[3], fits.converged()), (FitStatus::NonFiniteData, 6), "{bad}");
    }
}

#[test]
fn without_points_there_is_nothing_to_fit() {
    let fits = FitMany::new(peak(), &[], &zeros(3, 0)).start(&[1.0; 4]).fit().unwrap();
    assert!(fits.status.iter().all(|&status| status == FitStatus::TooFewPoints));
}

#[test]
fn no_fits_are_no_error() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], zeros(0, 5));
    let fits = FitMany::new(peak(), &x, &y).start(&[1.0; 4]).fit().unwrap();
    assert_eq!((fits.parameters.dim(), fits.converged(), fits.names.len()), ((0, 4), 0, 4));
}
