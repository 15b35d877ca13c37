//! Unknown predictors, read off a fitted curve.

use marquardt::curve::{CalibrationError, StatisticsError};
use marquardt::models::{Gaussian, Linear};
use marquardt::{CurveFit, Dual, FitMany, Formula};
use ndarray::Array2;
use proptest::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Weight of nasturtium over the concentration of a herbicide: Racine-Poon, A Bayesian approach to nonlinear calibration problems, JASA 83
/// (1988) 650. Estimates and intervals are those of Greenwell and Schubert Kabban, investr: an R package for inverse estimation, The R
/// Journal 6 (2014) 90.
#[test]
fn an_unknown_concentration() {
    const WEIGHTS: [[f64; 6]; 7] = [
        [920.0, 889.0, 866.0, 930.0, 992.0, 1017.0],
        [919.0, 878.0, 882.0, 854.0, 851.0, 850.0],
        [870.0, 825.0, 953.0, 834.0, 810.0, 875.0],
        [880.0, 834.0, 795.0, 837.0, 834.0, 810.0],
        [693.0, 690.0, 722.0, 738.0, 563.0, 591.0],
        [429.0, 395.0, 435.0, 412.0, 273.0, 257.0],
        [200.0, 244.0, 209.0, 225.0, 128.0, 221.0],
    ];
    let x: Vec<f64> = [0.0, 0.025, 0.075, 0.25, 0.75, 2.0, 4.0].into_iter().flat_map(|x| [x; 6]).collect();
    let y: Vec<f64> = WEIGHTS.into_iter().flatten().collect();
    let curve = Formula::parse("t1 / (1 + exp(t2) * x^t3)").unwrap();
    let fit = CurveFit::model(curve, &x, &y, &[1000.0, -1.0, 1.0]).fit().unwrap();
    // The package takes two degrees of freedom more than there are observations less parameters.
    let quantile = StudentsT::new(0.0, 1.0, 41.0).unwrap().inverse_cdf(0.975);
    let level = 2.0 * StudentsT::new(0.0, 1.0, 39.0).unwrap().cdf(quantile) - 1.0;
    let found = fit.x_for(&[309.0, 296.0, 419.0]).unwrap().level(level).solve().unwrap();
    assert_eq!(found.len(), 1);
    let unknown = found[0];
    assert!((unknown.x - 2.2638535).abs() < 5e-6, "{unknown:?}");
    assert!((unknown.interval.low - 1.772244).abs() < 2e-5, "{unknown:?}");
    assert!((unknown.interval.high - 2.969355).abs() < 2e-5, "{unknown:?}");
    assert!((unknown.standard_error - 0.2847019).abs() < 1e-6, "{unknown:?}");
    #[cfg(feature = "json")]
    {
        let stored = marquardt::curve::StoredFit::<f64>::from_json(&fit.to_stored().to_json()).unwrap();
        assert_eq!(stored.x_for(&[309.0, 296.0, 419.0]).unwrap().level(level).solve().unwrap(), found);
        let without = fit.to_stored_without_data();
        let error = without.x_for(&[309.0]).unwrap().solve().unwrap_err();
        assert!(matches!(error, CalibrationError::NoRange), "{error}");
        let within = without.x_for(&[309.0, 296.0, 419.0]).unwrap().within(0.0..=4.0).solve().unwrap();
        assert!((within[0].x - unknown.x).abs() < 1e-12);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Fieller's interval has a closed form: the roots of a quadratic.
    #[test]
    fn a_line_has_fiellers_interval(
        seed in 0..1000_u64, slope in prop::sample::select(vec![-3.0, -0.7, 0.5, 4.0]), count in 1..4_usize, level in 0.5..0.99_f64,
        unit in prop::sample::select(vec![1e-8, 1.0, 1e6]),
    ) {
        let n = 12;
        let x: Vec<f64> = (0..n).map(|i| i as f64 * unit).collect();
        let noise = |i: usize| ((seed as f64 + 1.7) * (i as f64 + 0.3) * 12.9898).sin() * 0.3;
        let y: Vec<f64> = (0..n).map(|i| 2.0 + slope * i as f64 + noise(i)).collect();
        let fit = CurveFit::guessed(Linear, &x, &y).fit().unwrap();
        let responses: Vec<f64> = (0..count).map(|k| 2.0 + slope * 5.3 + noise(20 + k)).collect();
        let found = fit.x_for(&responses).unwrap().level(level).solve().unwrap();
        prop_assert_eq!(found.len(), 1);
        // (ȳ − a − b x)² = t² s² (1/m + 1/n + (x − x̄)²/S).
        let mean_x = x.iter().sum::<f64>() / n as f64;
        let squares: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
        let (b, a) = (fit.parameter("slope").unwrap().value, fit.parameter("intercept").unwrap().value);
        let mean = responses.iter().sum::<f64>() / count as f64;
        let t = StudentsT::new(0.0, 1.0, 10.0).unwrap().inverse_cdf(0.5 + 0.5 * level);
        let variance = (t * fit.residual_standard_deviation().unwrap()).powi(2);
        let off = mean - a - b * mean_x;
        let (p, q) = (b * b - variance / squares, b * off);
        let r = off * off - variance * (1.0 / count as f64 + 1.0 / n as f64);
        let root = (q * q - p * r).sqrt();
        let (low, high) = (mean_x + (q - root) / p, mean_x + (q + root) / p);
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-8 * unit;
        prop_assert!(close(found[0].x, mean_x + off / b), "{:?}", found[0]);
        prop_assert!(close(found[0].interval.low, low) && close(found[0].interval.high, high), "{:?}: {low}, {high}", found[0]);
    }
}

#[test]
fn both_sides_of_a_peak() {
    let x: Vec<f64> = (0..41).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> =
        x.iter().map(|x| 10.0 * (-(x - 3.7) * (x - 3.7) / 2.0).exp() + 0.05 * (64.949 * x).sin()).collect();
    let fit = CurveFit::guessed(Gaussian, &x, &y).fit().unwrap();
    let found = fit.x_for(&[5.0]).unwrap().solve().unwrap();
    let half_width = (2.0 * 2.0_f64.ln()).sqrt();
    assert_eq!(found.len(), 2);
    for (unknown, truth) in found.iter().zip([3.7 - half_width, 3.7 + half_width]) {
        assert!((unknown.x - truth).abs() < 0.02 && unknown.interval.contains(truth), "{unknown:?}");
        assert!(unknown.interval.high - unknown.interval.low < 0.1);
    }
    // In a part of the range there is one; a level of the curve itself is known better than a response.
    let one = fit.x_for(&[5.0]).unwrap().within(0.0..=3.7).solve().unwrap();
    assert_eq!((one.len(), one[0].x), (1, found[0].x));
    let known = fit.x_for(&[5.0]).unwrap().known_response(true).solve().unwrap()[0];
    assert!(known.x == found[0].x && known.standard_error < 0.6 * found[0].standard_error, "{known:?}");
    let error = fit.x_for(&[10.5]).unwrap().solve().unwrap_err();
    assert!(error.to_string().ends_with("for x from 0 to 8, and does not reach 10.5"), "{error}");
}

/// Ends of an interval beyond the data are open.
#[test]
fn an_interval_that_leaves_the_data() {
    let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let y = [0.1, 1.3, 1.8, 3.2, 3.9, 5.1_f64];
    let fit = CurveFit::guessed(Linear, &x, &y).fit().unwrap();
    let unknown = fit.x_for(&[4.9]).unwrap().solve().unwrap()[0];
    assert!(unknown.interval.low.is_finite() && unknown.interval.high == f64::INFINITY, "{unknown:?}");
    let farther = fit.x_for(&[4.9]).unwrap().within(-5.0..=15.0).solve().unwrap()[0];
    assert!((farther.x - unknown.x).abs() < 1e-9 && farther.interval.high < 6.5, "{farther:?}");
    assert!((farther.interval.low - unknown.interval.low).abs() < 1e-9);
}

#[test]
fn what_cannot_be_read_off() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0_f32], [0.1, 1.2, 1.9, 3.1, 4.0]);
    let line = || CurveFit::guessed(Linear, &x, &y);
    let fit = line().fit().unwrap();
    assert!((fit.x_for(&[2.0]).unwrap().solve().unwrap()[0].x - 1.96).abs() < 0.05);
    for wrong in [&[][..], &[1.0, f32::NAN], &[f32::INFINITY]] {
        let error = fit.x_for(wrong).unwrap().solve().unwrap_err();
        assert!(matches!(error, CalibrationError::NoResponse), "{error}");
    }
    let error = fit.x_for(&[1.0]).unwrap().level(1.0).solve().unwrap_err();
    assert!(matches!(error, CalibrationError::Statistics(StatisticsError::Level { .. })), "{error}");
    let error = fit.x_for(&[1.0]).unwrap().within(2.0..=1.0).solve().unwrap_err();
    assert!(matches!(error, CalibrationError::NoRange), "{error}");
    // The noise of a new response must be known where sigma differs.
    let sigma = [0.1, 0.1, 0.2, 0.1, 0.1];
    let weighted = line().sigma(&sigma).fit().unwrap();
    let error = weighted.x_for(&[1.0]).unwrap().solve().unwrap_err();
    assert!(matches!(error, CalibrationError::Statistics(StatisticsError::UnknownSigma)), "{error}");
    assert!(weighted.x_for(&[1.0]).unwrap().sigma(0.1).solve().unwrap()[0].interval.contains(0.9));
    let plane = Array2::from_shape_fn((5, 2), |(i, j)| (i * (j + 1) % 4) as f32);
    let two =
        CurveFit::with_predictors(|x: &[f32], [a, b]: [Dual<f32, 2>; 2]| a * x[0] + b * x[1], &plane, &y, [1.0, 1.0]);
    let error = two.fit().unwrap().x_for(&[1.0]).unwrap().solve().unwrap_err();
    assert!(matches!(error, CalibrationError::NotOneEach { predictors: 2, responses: 1 }), "{error}");
}

/// Many fits have no report that quantities could be in.
#[test]
fn many_fits_refuse_derived_quantities() {
    let x = [0.0, 1.0, 2.0, 3.0];
    let y = ndarray::array![[0.1, 1.0, 2.1, 2.9]];
    let options =
        marquardt::curve::FitOptions::new().derive("root", marquardt::Tie::parse("-intercept / slope").unwrap());
    let error = FitMany::new(Linear, &x, &y).options(options).guessed().fit().unwrap_err();
    assert_eq!(
        error.to_string(),
        "many fits and derived quantities exclude each other: ManyFits::inference computes those of each"
    );
}
