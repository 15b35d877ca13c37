//! What statistics of a fit have in common whatever the data: units, orders, limits and degenerate cases.

use marquardt::curve::{Comparison, ComparisonError, StatisticsError, f_test};
use marquardt::{CurveFit, Dual, FittedCurve, Loss, Tie, curve_fit};
use ndarray::Array2;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::common::config;

const X: [f64; 9] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0];

type Three = [Dual<f64, 3>; 3];

/// `a·(1 − exp(−k·x)) + c`.
fn rise(x: f64, [a, k, c]: Three) -> Dual<f64, 3> {
    a * (-(-k * x).exp() + 1.0) + c
}

fn responses(noise: &[f64]) -> Vec<f64> {
    X.iter().zip(noise).map(|(x, noise)| 3.0 * (1.0 - (-0.6 * x).exp()) + 1.0 + 0.1 * noise).collect()
}

fn fit<'a>(y: &'a [f64], sigma: Option<&'a [f64]>, absolute: bool) -> FittedCurve<'a, f64> {
    let fit = CurveFit::new(rise, &X, y, [3.0, 0.6, 1.0]).names(["a", "k", "c"]).absolute_sigma(absolute);
    let sigma = sigma.or(absolute.then_some(&[1.0; 9]));
    let fit = if let Some(sigma) = sigma { fit.sigma(sigma) } else { fit };
    fit.fit().unwrap()
}

fn noise() -> impl Strategy<Value = Vec<f64>> {
    vec(-1.0..1.0, X.len())
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs())
}

fn all_close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let scale = a.iter().chain(b).fold(0.0, |scale: f64, value| scale.max(value.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * scale)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn intervals_are_nested_about_the_value(noise in noise(), absolute: bool) {
        let y = responses(&noise);
        let fit = fit(&y, None, absolute);
        for parameter in fit.parameters() {
            let [narrow, wide] = [0.5, 0.99].map(|level| fit.confidence_interval(&parameter.name, level).unwrap());
            prop_assert!(wide.low < narrow.low && narrow.low < parameter.value);
            prop_assert!(parameter.value < narrow.high && narrow.high < wide.high);
            prop_assert!(close(parameter.value - wide.low, wide.high - parameter.value, 1e-9));
        }
    }

    #[test]
    fn leverages_add_up_to_the_parameters(noise in noise(), sigma in vec(0.1..2.0, X.len())) {
        let y = responses(&noise);
        let influence = fit(&y, Some(&sigma), false).influence().unwrap();
        prop_assert!(close(influence.leverage.iter().sum(), 3.0, 1e-13));
        prop_assert!(influence.leverage.iter().all(|h| (0.0..=1.0 + 1e-14).contains(h)));
    }

    /// Where the curve depends on `c` alone, and on nothing at all.
    #[test]
    fn bands_are_as_wide_as_what_the_curve_depends_on(noise in noise()) {
        let y = responses(&noise);
        let free = fit(&y, None, false);
        let at_zero = free.confidence_band(&[0.0], 0.95).unwrap()[0];
        let c = free.confidence_interval("c", 0.95).unwrap();
        prop_assert!(close(at_zero.low, c.low, 1e-12) && close(at_zero.high, c.high, 1e-12));
        prop_assert!(close(at_zero.standard_error, free.parameter("c").unwrap().standard_error, 1e-12));
        let fixed = CurveFit::new(rise, &X, &y, [3.0, 0.6, 1.0]).names(["a", "k", "c"]).fix("c").fit().unwrap();
        let at_zero = fixed.confidence_band(&[0.0], 0.95).unwrap()[0];
        prop_assert_eq!([at_zero.value, at_zero.standard_error, at_zero.low, at_zero.high], [1.0, 0.0, 1.0, 1.0]);
        let s = fixed.residual_standard_deviation().unwrap();
        prop_assert!(close(fixed.prediction_band(&[0.0], 0.95).unwrap()[0].standard_error, s, 1e-13));
    }

    #[test]
    fn derived_quantities_of_parameters_are_parameters(noise in noise(), absolute: bool) {
        let y = responses(&noise);
        let fit = fit(&y, None, absolute);
        let k = fit.parameter("k").unwrap();
        let itself = fit.derived(&Tie::new(["k"], |[k]| k)).unwrap();
        prop_assert_eq!((itself.value, itself.standard_error), (k.value, k.standard_error));
        prop_assert_eq!(itself.interval(0.9).unwrap(), fit.confidence_interval("k", 0.9).unwrap());
        // The curve itself is one.
        let curve = fit.derived(&Tie::new(["a", "k", "c"], |b| rise(2.5, b))).unwrap();
        let band = fit.confidence_band(&[2.5], 0.9).unwrap()[0];
        prop_assert!(close(curve.value, band.value, 1e-14) && close(curve.standard_error, band.standard_error, 1e-9));
        let twice = fit.derived(&Tie::new(["k", "k"], |[k, again]| k + again)).unwrap();
        prop_assert!(close(twice.standard_error, 2.0 * k.standard_error, 1e-13));
    }

    /// Responses and their sigma in another unit: what has no unit stays.
    #[test]
    fn units_do_not_matter(noise in noise(), sigma in vec(0.05..0.5, X.len()), power in -20..20, absolute: bool) {
        let unit = 10_f64.powi(power);
        let y = responses(&noise);
        let scaled_y: Vec<f64> = y.iter().map(|y| unit * y).collect();
        let scaled_sigma: Vec<f64> = sigma.iter().map(|sigma| unit * sigma).collect();
        let plain = fit(&y, Some(&sigma), absolute);
        let scaled = CurveFit::new(rise, &X, &scaled_y, [3.0 * unit, 0.6, unit]).sigma(&scaled_sigma);
        let scaled = scaled.absolute_sigma(absolute).fit().unwrap();
        for (plain, scaled) in plain.parameters().iter().zip(scaled.parameters()) {
            prop_assert!(close(plain.value / plain.standard_error, scaled.value / scaled.standard_error, 1e-6));
        }
        prop_assert!(close(plain.r_squared().unwrap(), scaled.r_squared().unwrap(), 1e-10));
        prop_assert!(close(plain.chi_square(), scaled.chi_square(), 1e-10));
        let shift = X.len() as f64 * unit.ln();
        prop_assert!((plain.log_likelihood() - scaled.log_likelihood() - shift).abs() < 1e-8);
        let [plain, scaled] = [plain.influence().unwrap(), scaled.influence().unwrap()];
        prop_assert!(all_close(&plain.leverage, &scaled.leverage, 1e-6));
        prop_assert!(all_close(&plain.standardized_residuals, &scaled.standardized_residuals, 1e-5));
        prop_assert!(all_close(&plain.cooks_distance, &scaled.cooks_distance, 1e-4));
    }

    /// What single responses decide, by leaving each of them out: exact for a straight line.
    #[test]
    fn influence_is_what_leaving_out_shows(noise in noise(), sigma in vec(0.2..2.0, X.len()), out in 0..X.len()) {
        let y = responses(&noise);
        let line = || CurveFit::new(|x, [a, b]| a + b * x, &X, &y, [0.0, 1.0]).sigma(&sigma);
        let all = line().fit().unwrap();
        let (influence, fitted) = (all.influence().unwrap(), all.fitted());
        let others = line().mask((0..X.len()).map(|row| row != out).collect::<Vec<_>>()).fit().unwrap();
        let new = others.prediction_band_with_sigma(&X[out..=out], &sigma[out..=out], 0.95).unwrap()[0];
        let studentized = influence.studentized_residuals.as_ref().unwrap()[out];
        prop_assert!(close(studentized, (y[out] - new.value) / new.standard_error, 1e-8));
        let moved = others.predict(&X).unwrap();
        let moves = moved.iter().zip(fitted).zip(&sigma).map(|((moved, fitted), sigma)| (moved - fitted) / sigma);
        let distance = moves.map(|moved| moved * moved).sum::<f64>() / (2.0 * all.reduced_chi_square().unwrap());
        prop_assert!(close(influence.cooks_distance[out], distance, 1e-8));
    }
}

/// Every number that there is of a fit.
fn numbers(fit: &FittedCurve<'_, f64>) -> Vec<f64> {
    let mut all = vec![fit.chi_square(), fit.deviance(), fit.residual_sum_of_squares(), fit.log_likelihood()];
    all.extend([fit.aic(), fit.aicc(), fit.bic()]);
    all.extend(
        [fit.reduced_chi_square(), fit.r_squared(), fit.adjusted_r_squared(), fit.durbin_watson()].iter().flatten(),
    );
    let tests =
        [fit.runs_test(), fit.shapiro_wilk(), fit.dagostino_pearson(), fit.jarque_bera(), fit.goodness_of_fit()];
    all.extend(tests.iter().flatten().flat_map(|test| [test.statistic, test.p_value]));
    all.extend(fit.residuals().iter().chain(&fit.whitened_residuals()));
    all.extend(fit.confidence_intervals(0.95).unwrap().iter().flat_map(|interval| [interval.low, interval.high]));
    for band in [fit.confidence_band(&[0.0, 1.0], 0.95), fit.prediction_band(&[0.0, 1.0], 0.95)] {
        all.extend(band.unwrap().iter().flat_map(|point| [point.value, point.standard_error, point.low, point.high]));
    }
    all.extend(fit.covariance().correlation().iter().chain(fit.covariance().matrix().iter()));
    if let Ok(influence) = fit.influence() {
        all.extend(influence.leverage.iter().chain(&influence.standardized_residuals));
        all.extend(influence.cooks_distance.iter().chain(influence.studentized_residuals.iter().flatten()));
    }
    all
}

fn assert_no_nan(fit: &FittedCurve<'_, f64>) {
    let all = numbers(fit);
    assert!(all.iter().all(|number| !number.is_nan()), "{all:?}");
}

#[test]
fn perfect_data_are_no_trouble() {
    let y = X.map(|x| 2.0 * x);
    for absolute in [false, true] {
        let line = CurveFit::new(|x, [a, b]| a + b * x, &X, &y, [0.0, 2.0]);
        let line = if absolute { line.sigma(&[1.0; 9]).absolute_sigma(true) } else { line }.fit().unwrap();
        assert_eq!((line.chi_square(), line.r_squared()), (0.0, Some(1.0)));
        assert_no_nan(&line);
        let (zero, slope) = (line.confidence_interval("b1", 0.95).unwrap(), line.parameter("b2").unwrap());
        assert_eq!((zero.contains(0.0), slope.standard_error == 0.0), (true, !absolute));
        assert_eq!(line.log_likelihood() == f64::INFINITY, !absolute);
        assert_eq!(line.goodness_of_fit().map(|test| test.p_value), absolute.then_some(1.0));
    }
    // Of two perfect fits none is better but by its parameters, and neither fits worse.
    let line = curve_fit(|x, [a, b]| a + b * x, &X, &y, [0.0, 2.0]).unwrap().criteria();
    let parabola = curve_fit(|x, [a, b, c]| a + (b + c * x) * x, &X, &y, [0.0, 2.0, 0.0]).unwrap().criteria();
    let test = f_test(&line, &parabola).unwrap();
    assert_eq!((test.statistic, test.p_value), (0.0, 1.0));
    let comparison = Comparison::of([("line", line), ("parabola", parabola)]).unwrap();
    assert_eq!([comparison.fits()[0].weight, comparison.fits()[1].weight], [0.5, 0.5]);
}

#[test]
fn responses_that_are_all_equal_are_no_trouble() {
    let y = [0.1; 9];
    let line = curve_fit(|x, [a, b]| a + b * x, &X, &y, [0.0, 1.0]).unwrap();
    assert_eq!((line.r_squared(), line.adjusted_r_squared()), (None, None));
    assert_no_nan(&line);
    let none = [0.0; 9];
    let counts = CurveFit::new(|x, [a]| a + x * 0.0, &X, &none, [1.0]).counts().fit().unwrap();
    assert_eq!(counts.r_squared(), None);
    assert_no_nan(&counts);
}

#[test]
fn no_degrees_of_freedom_are_said() {
    let (x, y) = ([0.0, 1.0, 3.0], [1.0, 2.5, 3.4]);
    let exact = CurveFit::new(rise, &x, &y, [3.0, 0.6, 1.0]).fit().unwrap();
    assert_eq!((exact.degrees_of_freedom(), exact.reduced_chi_square(), exact.adjusted_r_squared()), (0, None, None));
    let interval = exact.confidence_interval("b1", 0.5).unwrap();
    assert_eq!((interval.low, interval.high), (-f64::INFINITY, f64::INFINITY));
    assert!(matches!(exact.influence(), Err(StatisticsError::NoDegreesOfFreedom)));
    assert_eq!(exact.prediction_band(&[1.0], 0.95).unwrap()[0].high, f64::INFINITY);
    assert_eq!(exact.aicc(), f64::INFINITY);
    assert_no_nan(&exact);
    // Known noise needs none; every response is met whatever it is.
    let known = CurveFit::new(rise, &x, &y, [3.0, 0.6, 1.0]).sigma(&[1.0; 3]).absolute_sigma(true).fit().unwrap();
    assert!(known.confidence_interval("b1", 0.95).unwrap().high.is_finite());
    let influence = known.influence().unwrap();
    assert_eq!((influence.standardized_residuals, influence.cooks_distance), (vec![0.0; 3], vec![f64::INFINITY; 3]));
    assert_no_nan(&known);
    // A fixed parameter is certain in any case.
    let fixed = CurveFit::new(rise, &x[1..], &y[1..], [3.0, 0.6, 1.0]).fix("b3").fit().unwrap();
    let interval = fixed.confidence_interval("b3", 0.95).unwrap();
    assert_eq!((fixed.degrees_of_freedom(), interval.low, interval.high), (0, 1.0, 1.0));
    assert_no_nan(&fixed);
    // With one degree of freedom, there is none without a response.
    let single = curve_fit(|x, [a, b]| a + b * x, &x, &y, [0.0, 1.0]).unwrap();
    assert_eq!(single.influence().unwrap().studentized_residuals, None);
    assert_no_nan(&single);
    let all = [exact.criteria()];
    assert_eq!(Comparison::of([("exact", all[0])]), Err(ComparisonError::TooFewObservations { observations: 3 }));
}

#[test]
fn what_is_not_determined_is_infinite() {
    let y = responses(&[0.3, -0.2, 0.5, -0.9, 0.1, 0.4, -0.6, 0.2, 0.0]);
    let curve = |x: f64, [a, b, k]: Three| (a + b) * (-(-k * x).exp() + 1.0);
    let fit = CurveFit::new(curve, &X, &y, [1.0, 2.0, 0.6]).fit().unwrap();
    let interval = fit.confidence_interval("b1", 0.95).unwrap();
    assert_eq!((interval.low, interval.high), (-f64::INFINITY, f64::INFINITY));
    assert!(fit.confidence_interval("b3", 0.95).unwrap().high.is_finite());
    assert_eq!(fit.confidence_band(&[1.0], 0.95).unwrap()[0].standard_error, f64::INFINITY);
    assert_eq!(fit.derived(&Tie::new(["b1"], |[b1]| b1 * 2.0)).unwrap().standard_error, f64::INFINITY);
    // Two parameters count.
    assert_eq!((fit.criteria().parameters, fit.degrees_of_freedom()), (2, 7));
    assert!((fit.influence().unwrap().leverage.iter().sum::<f64>() - 2.0).abs() < 1e-12);
    assert_no_nan(&fit);
}

#[test]
fn ties_carry_their_errors() {
    let y = responses(&[0.3, -0.2, 0.5, -0.9, 0.1, 0.4, -0.6, 0.2, 0.0]);
    let tied = CurveFit::new(rise, &X, &y, [3.0, 0.6, 1.0]).tie("b3", Tie::new(["b1"], |[a]| a / 3.0)).fit().unwrap();
    let third = tied.confidence_interval("b3", 0.9).unwrap();
    let whole = tied.confidence_interval("b1", 0.9).unwrap();
    assert!(close(3.0 * third.low, whole.low, 1e-13) && close(3.0 * third.high, whole.high, 1e-13));
    assert_eq!((tied.criteria().parameters, tied.degrees_of_freedom()), (2, 7));
    assert!((tied.influence().unwrap().leverage.iter().sum::<f64>() - 2.0).abs() < 1e-13);
    // At zero the curve is the tied parameter.
    let band = tied.confidence_band(&[0.0], 0.9).unwrap()[0];
    assert!(close(band.low, third.low, 1e-12) && close(band.high, third.high, 1e-12));
    assert_no_nan(&tied);
}

#[test]
fn what_was_wrong_is_named() {
    let y = responses(&[0.0; 9]);
    let fit = fit(&y, None, false);
    for level in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
        let error = fit.confidence_interval("a", level).unwrap_err().to_string();
        assert_eq!(error, format!("the confidence level must be between 0 and 1, not {level}"));
        assert!(matches!(fit.prediction_band(&X, level), Err(StatisticsError::Level { .. })));
    }
    let error = fit.confidence_interval("rate", 0.95).unwrap_err().to_string();
    assert_eq!(error, "there is no parameter \"rate\"; there are \"a\", \"k\", \"c\"");
    let error = fit.derived(&Tie::new(["a", "q"], |[a, q]| a * q)).unwrap_err().to_string();
    assert_eq!(error, "there is no parameter \"q\"; there are \"a\", \"k\", \"c\"");
    let quantities = [Tie::new(["a"], |[a]| (-a).ln()), Tie::new(["a"], |[a]| (a - a).sqrt())];
    for without_value_or_derivative in &quantities {
        let error = fit.derived(without_value_or_derivative).unwrap_err().to_string();
        assert_eq!(error, "the quantity of a, or its derivative, is not finite");
    }
    let error = fit.confidence_band(&ndarray::array![[1.0, 2.0]], 0.95).unwrap_err().to_string();
    assert_eq!(error, "the curve has 1 predictors, not 2");
    let error = fit.confidence_band(&[1.0, f64::NAN], 0.95).unwrap_err().to_string();
    assert_eq!(error, "the curve or its derivative is not finite in row 2");
    let error = fit.prediction_band_with_sigma(&[1.0, 2.0], &[0.1], 0.95).unwrap_err().to_string();
    assert_eq!(error, "sigma has 1 standard deviation for 2 responses");
    let error = fit.prediction_band_with_sigma(&[1.0, 2.0], &[0.1, 0.0], 0.95).unwrap_err().to_string();
    assert_eq!(error, "sigma is 0 in row 2: standard deviations must be positive");
    assert!(fit.confidence_band(&[], 0.95).unwrap().is_empty());
}

#[test]
fn only_what_can_be_compared_is() {
    let y = responses(&[0.3, -0.2, 0.5, -0.9, 0.1, 0.4, -0.6, 0.2, 0.0]);
    let line = |x: f64, [a, b]: [Dual<f64, 2>; 2]| a + b * x;
    let simple = curve_fit(line, &X, &y, [1.0, 1.0]).unwrap().criteria();
    let (full, other) = (fit(&y, None, false).criteria(), fit(&y, None, true).criteria());
    let fewer = curve_fit(line, &X[1..], &y[1..], [1.0, 1.0]).unwrap().criteria();
    assert!(f_test(&simple, &full).unwrap().p_value < 0.01);
    assert_eq!(f_test(&full, &simple), Err(ComparisonError::Parameters { simple: 3, full: 2 }));
    assert_eq!(f_test(&simple, &simple), Err(ComparisonError::Parameters { simple: 2, full: 2 }));
    assert_eq!(f_test(&fewer, &full), Err(ComparisonError::Observations { first: 8, second: 9 }));
    assert_eq!(f_test(&simple, &other), Err(ComparisonError::Noise));
    let none: [(&str, _); 0] = [];
    assert_eq!(Comparison::<f64>::of(none), Err(ComparisonError::NoFits));
    assert_eq!(Comparison::of([("a", simple), ("b", other)]), Err(ComparisonError::Noise));
    // A parameter that is fixed at a bad value makes a fuller curve that fits worse.
    let bad = CurveFit::new(rise, &X, &y, [3.0, 40.0, 1.0]).fix("b2").fit().unwrap().criteria();
    let one = curve_fit(|x, [b]| b * x + 2.4, &X, &y, [1.0]).unwrap().criteria();
    assert!(matches!(f_test(&one, &bad), Err(ComparisonError::Worse { .. })), "{one:?} {bad:?}");
    let text = Comparison::of([("line", simple), ("rise", full)]).unwrap().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 3 && lines[1].starts_with("rise") && lines[2].starts_with("line"), "{text}");
}

#[test]
fn single_precision_has_the_same_statistics() {
    let y = responses(&[0.3, -0.2, 0.5, -0.9, 0.1, 0.4, -0.6, 0.2, 0.0]);
    let wide = fit(&y, None, false);
    let (x, y) = (X.map(|x| x as f32), y.iter().map(|&y| y as f32).collect::<Vec<_>>());
    let single = curve_fit(|x, [a, k, c]| a * (-(-k * x).exp() + 1.0) + c, &x, &y, [3.0_f32, 0.6, 1.0]).unwrap();
    assert!(close(f64::from(single.aic()), wide.aic(), 1e-4));
    let (single, wide) =
        (single.confidence_band(&[2.0], 0.95).unwrap()[0], wide.confidence_band(&[2.0], 0.95).unwrap()[0]);
    assert!(close(f64::from(single.low), wide.low, 1e-5) && close(f64::from(single.high), wide.high, 1e-5));
}

#[test]
fn robust_fits_have_the_statistics_that_make_sense() {
    let y = responses(&[0.3, -0.2, 0.5, -0.9, 0.1, 0.4, -0.6, 0.2, 0.0]);
    let clean = fit(&y, None, false);
    let widths = |fit: &[marquardt::curve::BandPoint<f64>]| fit[0].high - fit[0].low;
    let clean = [clean.confidence_band(&[2.0], 0.95).unwrap(), clean.prediction_band(&[2.0], 0.95).unwrap()];
    let clean = clean.map(|band| widths(&band));
    let with_outlier: Vec<f64> = y.iter().enumerate().map(|(i, y)| if i == 4 { y + 30.0 } else { *y }).collect();
    let robust = CurveFit::new(rise, &X, &with_outlier, [3.0, 0.6, 1.0]).robust(Loss::Huber).fit().unwrap();
    let bands = [robust.confidence_band(&[2.0], 0.95).unwrap(), robust.prediction_band(&[2.0], 0.95).unwrap()];
    for (band, clean) in bands.iter().zip(clean) {
        assert!((0.3..3.0).contains(&(widths(band) / clean)), "{band:?}, {clean}");
    }
    assert!(matches!(robust.influence(), Err(StatisticsError::RobustFit)));
    let criteria = robust.criteria();
    assert_eq!(Comparison::of([("robust", criteria), ("again", criteria)]), Err(ComparisonError::Robust));
    assert_eq!(robust.goodness_of_fit(), None);
    assert_no_nan(&robust);
}

/// A cubic about 1000: its parameters are uncertain by thousands of times what the curve is, and the band must not be
/// the difference of such numbers. Against the same cubic about zero.
#[test]
fn bands_keep_their_digits_where_parameters_lose_theirs() {
    let y = responses(&[0.3, -0.2, 0.5, -0.9, 0.1, 0.4, -0.6, 0.2, 0.0]);
    let far = X.map(|x| x + 1000.0);
    let cubic = |x: f64, [a, b, c, d]: [Dual<f64, 4>; 4]| a + (b + (c + d * x) * x) * x;
    let near = curve_fit(cubic, &X, &y, [1.0; 4]).unwrap().confidence_band(&X, 0.95).unwrap();
    let far = curve_fit(cubic, &far, &y, [1.0; 4]).unwrap().confidence_band(&far, 0.95).unwrap();
    for (near, far) in near.iter().zip(&far) {
        assert!(close(near.standard_error, far.standard_error, 1e-5), "{near:?}, {far:?}");
    }
}

/// Without the one response that is off, the curve meets all others: rounding must not make the variance of these negative.
#[test]
fn a_single_outlier_is_infinitely_far_off() {
    for (slope, row) in (1..40).map(|k| (0.1 * f64::from(k), k as usize % X.len())) {
        let mut y = X.map(|x| 0.3 + slope * x);
        y[row] += 1.0;
        let fit = curve_fit(|x, [a, b]| a + b * x, &X, &y, [0.0, 0.0]).unwrap();
        let studentized = fit.influence().unwrap().studentized_residuals.unwrap();
        assert!(studentized.iter().all(|t| !t.is_nan()), "slope {slope}, row {row}: {studentized:?}");
        assert!(studentized[row] > 1e6, "slope {slope}, row {row}: {studentized:?}");
    }
}

/// Where the curve is negative, there is no distribution of counts.
#[test]
fn counts_have_no_negative_mean() {
    let counts = [9.0, 8.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 1.0];
    let fit = CurveFit::new(|x, [a, b]| a + b * x, &X, &counts, [9.0, -1.0]).counts().fit().unwrap();
    let error = fit.prediction_band(&[0.0, 1.0, 50.0], 0.95).unwrap_err();
    let StatisticsError::NegativeMean { row, value } = error else { panic!("{error}") };
    assert!(row == 2 && value < 0.0);
    assert!(fit.confidence_band(&[50.0], 0.95).unwrap()[0].value < 0.0);
    // Zero is a mean, of counts that are all zero.
    let line = CurveFit::new(|x, [b]| b * x, &X, &counts, [1.0]).counts();
    let zero = line.mask(X.map(|x| x > 0.0).to_vec()).fit().unwrap().prediction_band(&[0.0], 0.95).unwrap()[0];
    assert_eq!([zero.value, zero.standard_error], [0.0, 0.0]);
}

/// A prior adds its own likelihood to that of the counts.
#[test]
fn counts_and_a_prior_have_a_common_likelihood() {
    let counts = [9.0, 8.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 1.0];
    let fit = CurveFit::new(|x, [a, b]| a + b * x, &X, &counts, [9.0, -0.5]).counts().prior("b2", -0.5, 0.1);
    let fit = fit.fit().unwrap();
    let pull = (fit.parameters()[1].value + 0.5) / 0.1;
    let factorial = |y: f64| (1..=y as u32).map(f64::from).product::<f64>();
    let of_counts: f64 =
        counts.iter().zip(fit.fitted()).map(|(y, mean)| y * mean.ln() - mean - factorial(*y).ln()).sum();
    let of_prior = -0.5 * (pull * pull + (2.0 * std::f64::consts::PI * 0.01).ln());
    assert!((fit.log_likelihood() - of_counts - of_prior).abs() < 1e-11, "{}", fit.log_likelihood());
    let terms = counts.iter().zip(fit.fitted()).map(|(y, mean)| 2.0 * (y * (y / mean).ln() - y + mean));
    assert!((fit.deviance() - terms.sum::<f64>() - pull * pull).abs() < 1e-11, "{}", fit.deviance());
}

/// The value may be finite where the derivative is not, and the other way round.
#[test]
fn bands_end_where_curve_or_derivative_do() {
    let y = X.map(|x| x.sqrt() + 0.1 * (7.0 * x).sin());
    let root = curve_fit(|x, [a]| (a + x).sqrt(), &X[1..], &y[1..], [1.0]).unwrap();
    let error = root.confidence_band(&[1.0, -root.parameters()[0].value], 0.95).unwrap_err();
    assert!(matches!(error, StatisticsError::NonFiniteCurve { row: 1 }), "{error}");
    let pole = curve_fit(|x: f64, [a]| a + x.recip(), &X[1..], &y[1..], [1.0]).unwrap();
    let error = pole.confidence_band(&[1.0, 2.0, 0.0], 0.95).unwrap_err();
    assert!(matches!(error, StatisticsError::NonFiniteCurve { row: 2 }), "{error}");
    for sigma in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = pole.prediction_band_with_sigma(&[1.0, 2.0], &[1.0, sigma], 0.95).unwrap_err();
        assert!(matches!(error, StatisticsError::NonPositiveSigma { row: 1, .. }), "{error}");
    }
}

/// A parameter that a bound holds is a constant.
#[test]
fn held_parameters_are_as_fixed_ones() {
    let y = responses(&[0.3, -0.2, 0.5, -0.9, 0.1, 0.4, -0.6, 0.2, 0.0]);
    let setting = || CurveFit::new(rise, &X, &y, [3.0, 0.6, 2.0]).names(["a", "k", "c"]);
    let (held, fixed) = (setting().bounds("c", 1.5..).fit().unwrap(), setting().fix_at("c", 1.5).fit().unwrap());
    assert_eq!(held.covariance().held(), ["c"]);
    let c = held.confidence_interval("c", 0.95).unwrap();
    assert_eq!((c.low, c.high, held.criteria().parameters), (1.5, 1.5, 2));
    let [held_leverage, fixed_leverage] =
        [&held.influence(), &fixed.influence()].map(|influence| influence.as_ref().unwrap().leverage.clone());
    assert!((held_leverage.iter().sum::<f64>() - 2.0).abs() < 1e-12, "{held_leverage:?}");
    assert!(all_close(&held_leverage, &fixed_leverage, 1e-6), "{held_leverage:?} {fixed_leverage:?}");
    // But for what differs by more than rounding: where they ended.
    let (held, fixed) = (numbers(&held), numbers(&fixed));
    assert!(all_close(&held, &fixed, 1e-6), "{held:?} {fixed:?}");
    assert!(held.iter().all(|number| !number.is_nan()));
}

/// A row of a curve with several responses counts once.
#[test]
fn a_row_of_several_responses_is_named_by_its_number() {
    let y = Array2::from_shape_vec((3, 2), vec![1.0, 1.1, 1.4, 1.5, 1.7, 1.9]).unwrap();
    let two = |x: &[f64], [a, b]: [Dual<f64, 2>; 2]| [a * x[0].sqrt(), b + x[0]];
    let fit = CurveFit::with_responses(two, &[1.0, 2.0, 3.0], &y, [1.0, 0.0]).fit().unwrap();
    for bad in 0..3 {
        let mut x = [1.0, 2.0, 3.0];
        x[bad] = -1.0;
        let error = fit.confidence_band(&x, 0.95).unwrap_err();
        assert!(matches!(error, StatisticsError::NonFiniteCurve { row } if row == bad), "{error}");
    }
}

/// A point that alone decides a parameter has the leverage one, but for rounding.
#[test]
fn what_is_met_whatever_it_is_has_no_studentized_residual() {
    for far in [0.1, 0.3, 0.7, 1.1, 1.9, 2.3, 7.7, 13.1_f64] {
        let x = [0.0, 0.0, 0.0, far];
        let fit = curve_fit(|x, [a, b]| a + b * x, &x, &[1.1, 0.9, 1.3, 2.0], [1.0, 1.0]).unwrap();
        let influence = fit.influence().unwrap();
        assert!((influence.leverage[3] - 1.0).abs() < 1e-14);
        assert_eq!(influence.standardized_residuals[3], 0.0);
        assert_eq!(influence.studentized_residuals.unwrap()[3], 0.0);
        assert_eq!(influence.cooks_distance[3], f64::INFINITY);
    }
}
