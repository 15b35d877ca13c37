//! Robust losses: each fit is what `CurveFit` makes of it.

use marquardt::curve::{FitOptions, ManyFits, NanPolicy};
use marquardt::models::{ExponentialDecay, Gaussian};
use marquardt::problem::RobustLoss;
use marquardt::solver::FitStatus;
use marquardt::{CurveFit, FitMany, FittedCurve, Loss, Real, Tie, model};
use ndarray::{Array2, s};

use crate::curves::{Curves, LOGISTIC, PEAK, TWO_PEAKS, assert_identical, logistic, peak, two_peaks};

/// A loss of one's own, of which the lanes know nothing.
#[derive(Debug)]
struct Charbonnier;

impl<T: Real> RobustLoss<T> for Charbonnier {
    fn name(&self) -> &str {
        "Charbonnier"
    }

    fn rho(&self, z: T) -> [T; 3] {
        let [half, quarter] = [0.5, 0.25].map(T::from_f64);
        let root = (half * z + T::ONE).sqrt();
        [(z + z) / (root + T::ONE), root.recip(), -quarter / (root * root * root)]
    }

    fn tuning(&self) -> T {
        T::from_f64(0.91)
    }
}

/// Two points of each curve are far off.
fn with_outliers<T: Real>(mut curves: Curves<T>) -> Curves<T> {
    let points = curves.y.ncols();
    for (row, mut y) in curves.y.rows_mut().into_iter().enumerate() {
        y[(7 * row + 3) % points] += T::from_f64(2.0);
        y[(5 * row + 11) % points] -= T::from_f64(1.5);
    }
    curves
}

/// The fit in a row is this one. Scales follow from residuals, which are those of parameters within a hundred-thousandth of their errors.
fn assert_same(fits: &ManyFits<f64>, row: usize, fit: &FittedCurve<f64>) {
    assert!(fits.status[row].is_converged() && fit.report().is_converged(), "{row}: {}\n{fit}", fits.status[row]);
    assert!(
        (fits.cost[row] / fit.report().cost - 1.0).abs() < 1e-4,
        "{row}: {}, {}\n{fit}",
        fits.cost[row],
        fits.parameters.row(row)
    );
    for (j, parameter) in fit.parameters().iter().enumerate() {
        let (value, error) = (fits.parameters[[row, j]], fits.standard_errors[[row, j]]);
        let expected = parameter.standard_error;
        assert!((value - parameter.value).abs() <= 1e-3 * expected, "{row}, {j}: {value}\n{fit}");
        assert!((error - expected).abs() <= 1e-4 * expected, "{row}, {j}: ± {error}\n{fit}");
    }
}

/// The options of all losses, with a scale of their own and with one that is given.
fn all_losses<T: Real>(scale: f64) -> Vec<FitOptions<T>> {
    let of = |loss: Loss| FitOptions::new().robust(loss);
    let mut options: Vec<FitOptions<T>> = Loss::ALL.iter().map(|&loss| of(loss)).collect();
    options.push(FitOptions::new().robust(Charbonnier));
    let given: Vec<FitOptions<T>> = options.iter().map(|of| of.clone().f_scale(T::from_f64(scale))).collect();
    options.extend(given);
    options
}

#[test]
fn all_losses_are_those_of_single_fits() {
    let curves = with_outliers(PEAK.draw::<f64>(peak(), 11, 40, 21));
    for options in all_losses(0.5) {
        let fits =
            FitMany::new(peak(), &curves.x, &curves.y).start(&curves.start).options(options.clone()).fit().unwrap();
        for row in 0..11 {
            let start = curves.start.row(row).to_vec();
            let one = CurveFit::model(peak(), &curves.x, curves.y.row(row), &start).options(options.clone());
            assert_same(&fits, row, &one.fit().unwrap());
        }
    }
}

#[test]
fn models_of_more_parameters_take_part() {
    let logistics = with_outliers(LOGISTIC.draw::<f64>(logistic(), 9, 60, 22));
    let fits = FitMany::new(logistic(), &logistics.x, &logistics.y).start(&logistics.start).robust(Loss::Cauchy);
    let peaks = with_outliers(TWO_PEAKS.draw::<f64>(two_peaks(), 9, 80, 23));
    let peak_fits = FitMany::new(two_peaks(), &peaks.x, &peaks.y).start(&peaks.start).robust(Loss::SoftL1);
    let (fits, peak_fits) = (fits.fit().unwrap(), peak_fits.fit().unwrap());
    for row in 0..9 {
        let start = logistics.start.row(row).to_vec();
        let one = CurveFit::model(logistic(), &logistics.x, logistics.y.row(row), &start).robust(Loss::Cauchy);
        assert_same(&fits, row, &one.fit().unwrap());
        let start = peaks.start.row(row).to_vec();
        let one = CurveFit::model(two_peaks(), &peaks.x, peaks.y.row(row), &start).robust(Loss::SoftL1);
        assert_same(&peak_fits, row, &one.fit().unwrap());
    }
}

#[test]
fn all_options_count() {
    let mut curves = PEAK.draw::<f64>(peak(), 7, 50, 24);
    let sigma: Vec<f64> = (0..50).map(|i| 0.02 + 0.001 * f64::from(i)).collect();
    curves.y = Array2::from_shape_fn((7, 50), |(row, i)| {
        let (center, width) = (0.3 * row as f64 - 1.0, 0.6 + 0.05 * row as f64);
        let noise = sigma[i] * ((row * 37 + i * 17) as f64).sin();
        1.5 * (-0.5 * ((curves.x[i] - center) / width).powi(2)).exp() + 0.3 + noise
    });
    curves.start = Array2::from_shape_fn((7, 4), |(row, j)| [1.2, 0.3 * row as f64 - 0.9, 0.8, 0.2][j]);
    let curves = with_outliers(curves);
    let mut y = curves.y.clone();
    y.slice_mut(s![.., 17]).fill(f64::NAN);
    let robust = || FitOptions::<f64>::new().robust(Loss::Tukey).nan_policy(NanPolicy::Omit);
    let options = [
        robust(),
        robust().fix_at("offset", 0.3),
        robust().tie("offset", Tie::parse("amplitude / 5").unwrap()),
        robust().bounds("width", ..=0.9).bounds("offset", 0.0..),
    ];
    for options in options {
        let fits = FitMany::new(peak(), &curves.x, &y).start(&curves.start).sigma(&sigma);
        let fits = fits.options(options.clone()).fit().unwrap();
        for row in 0..7 {
            let start = curves.start.row(row).to_vec();
            let one = CurveFit::model(peak(), &curves.x, y.row(row), &start).sigma(&sigma);
            assert_same(&fits, row, &one.options(options.clone()).fit().unwrap());
        }
    }
}

#[test]
fn starts_may_be_guessed() {
    let x: Vec<f64> = (0..60).map(|i| 0.1 * f64::from(i)).collect();
    let y = Array2::from_shape_fn((5, 60), |(row, i)| {
        let noise = 0.02 * ((row * 37 + i * 17) as f64).sin();
        let outlier = if i % 20 == row { 3.0 } else { 0.0 };
        2.0 * (-(x[i] - 2.0 - 0.3 * row as f64).powi(2)).exp() + noise + outlier
    });
    let fits = FitMany::new(Gaussian, &x, &y).guessed().robust(Loss::Huber).fit().unwrap();
    for row in 0..5 {
        assert_same(&fits, row, &CurveFit::guessed(Gaussian, &x, y.row(row)).robust(Loss::Huber).fit().unwrap());
    }
}

fn neighbours_do_not_matter<T: Real>() {
    let peak = || model!(|x; height, center, width| height * exp(-0.5 * ((x - center) / width).powi(2)));
    let curves = with_outliers(PEAK.draw::<T>(crate::curves::peak(), 40, 40, 25));
    let fit = |rows: std::ops::Range<usize>| -> ManyFits<T> {
        let (y, start) = (curves.y.slice(s![rows.clone(), ..]), curves.start.slice(s![rows, ..3]));
        FitMany::new(peak(), &curves.x, y).start(start).robust(Loss::Welsch).fit().unwrap()
    };
    let all = fit(0..40);
    assert_eq!(all.converged(), 40);
    for row in [0, 13, 39] {
        let alone = fit(row..row + 1);
        let bits = |fits: &ManyFits<T>, row: usize| fits.parameters.row(row).mapv(|value| value.to_f64().to_bits());
        assert_eq!(bits(&alone, 0), bits(&all, row));
        assert_eq!((alone.iterations[0], alone.status[0]), (all.iterations[row], all.status[row]));
    }
    assert_identical(&all, &fit(0..40), 0..40);
}

#[test]
fn neighbours_do_not_matter_in_both_precisions() {
    neighbours_do_not_matter::<f64>();
    neighbours_do_not_matter::<f32>();
}

/// Half of the data are outliers, or all of them, or there is nothing to fit.
#[test]
fn wild_data_end_as_single_fits_do() {
    let x: Vec<f64> = (0..30).map(|i| 0.1 * f64::from(i)).collect();
    let y = Array2::from_shape_fn((6, 30), |(row, i)| match row {
        0 => 0.0,
        1 => 1.0,
        2 if i % 2 == 0 => 50.0 * (i as f64).sin(),
        3 => 1e6 * ((i * i) as f64).sin(),
        4 if i == 4 => f64::NAN,
        5 => 2.0 * (-x[i]).exp(),
        _ => 2.0 * (-x[i]).exp() + 0.01 * (i as f64).cos(),
    });
    for options in all_losses::<f64>(0.05) {
        let fits = FitMany::new(ExponentialDecay, &x, &y).start(&[1.0, 0.7]).options(options.clone()).fit().unwrap();
        for (row, status) in fits.status.iter().enumerate() {
            let one =
                CurveFit::model(ExponentialDecay, &x, y.row(row), &[1.0, 0.7]).retry(false).options(options.clone());
            match one.fit() {
                Err(_) => assert!(matches!(status, FitStatus::NonFiniteData | FitStatus::Converged), "{row}: {status}"),
                Ok(one) if row > 1 && one.report().status.is_converged() => {
                    assert!(status.is_converged(), "{row} {options:?}: {status}, and not\n{one}");
                    // Of several minima under a loss that redescends, each may find another.
                    assert!(
                        fits.cost[row] <= one.report().cost * 1.5 + 1e-9,
                        "{row} {options:?}: {}\n{one}",
                        fits.cost[row]
                    );
                }
                Ok(_) => {}
            }
        }
    }
}

#[test]
fn losses_that_make_no_sense_are_refused() {
    let (x, y) = (vec![0.0, 1.0, 2.0, 3.0], Array2::from_elem((1, 4), 1.0));
    let decay = model!(|x; a, k| a * exp(-k * x));
    let fits = || FitMany::new(decay, &x, &y).start(&[1.0, 1.0]);
    let error = fits().robust(Loss::Huber).counts().fit().unwrap_err();
    assert!(error.to_string().contains("a robust loss"), "{error}");
    let error = fits().f_scale(-1.0).fit().unwrap_err();
    assert!(error.to_string().contains("-1"), "{error}");
}
