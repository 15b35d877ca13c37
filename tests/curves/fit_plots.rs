//! Plots of fits: what they hold. How that is drawn is tested in `plots.rs`.
#![cfg(feature = "plot")]

use marquardt::curve::{HeatMap, NanPolicy, Plot, PlotError};
use marquardt::models::{ExponentialDecay, Linear, Named};
use marquardt::{CurveFit, Dual, FitMany, GlobalFit, Loss, curve_fit};
use ndarray::array;

const X: [f64; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
const Y: [f64; 6] = [1.1, 2.9, 5.2, 6.8, 9.1, 10.9];

fn line(x: f64, [a, b]: [Dual<f64, 2>; 2]) -> Dual<f64, 2> {
    a + b * x
}

fn fit<'a>(x: &'a [f64], y: &'a [f64]) -> CurveFit<'a, f64, impl marquardt::curve::Curve<f64> + Clone> {
    CurveFit::with_predictors(|x, b| line(x[0], b), x, y, [0.0, 1.0])
}

/// How often something is in the plot, as `Debug` prints it.
fn count(plot: &Plot, what: &str) -> usize {
    format!("{plot:?}").matches(what).count()
}

#[test]
fn all_there_is_to_see_is_drawn() {
    let fit = fit(&X, &Y).fit().unwrap();
    let plot = fit.plot().unwrap();
    assert_eq!(count(&plot, "mark: Datum"), X.len());
    assert_eq!(count(&plot, ", error: 0.0"), X.len());
    assert_eq!(count(&plot, "band: Some(Band { level: 0.95"), 2);
    let deviation = fit.residual_standard_deviation().unwrap();
    assert_eq!(count(&plot, &format!("residual_band: Some({deviation:?})")), 1);
    let residuals: Vec<(f64, f64)> = X.into_iter().zip(fit.residuals()).collect();
    assert_eq!(count(&plot, &format!("residuals: {residuals:?}")), 1);
    // The curve and its bands are those of the fit, up to the last datum.
    let curve = fit.predict(&[5.0]).unwrap()[0];
    assert_eq!(count(&plot, &format!("(5.0, {curve:?})],")), 1);
    for point in [fit.confidence_band(&[5.0], 0.95).unwrap()[0], fit.prediction_band(&[5.0], 0.95).unwrap()[0]] {
        assert_eq!(count(&plot, &format!("(5.0, {:?}, {:?})] }}", point.low, point.high)), 1);
    }
    let svg = plot.title("A line").x_label("time (s)").to_svg();
    assert!(svg.contains("A line") && svg.contains("time (s)") && svg.contains("95 % prediction band"));
}

#[test]
fn rows_left_out_are_not_drawn() {
    let (x, mut y) = ([0.0, 1.0, 2.0, 2.5, 3.0, 4.0, 5.0], [1.1, 2.9, 5.2, f64::NAN, 6.8, 9.1, 10.9]);
    let without = fit(&X, &Y).fit().unwrap().plot().unwrap();
    assert_eq!(fit(&x, &y).nan_policy(NanPolicy::Omit).fit().unwrap().plot().unwrap(), without);
    y[3] = 100.0;
    let mask = [true, true, true, false, true, true, true];
    assert_eq!(fit(&x, &y).mask(&mask[..]).fit().unwrap().plot().unwrap(), without);
}

#[test]
fn sigma_becomes_error_bars() {
    let sigma = [0.25; 6];
    let absolute = fit(&X, &Y).sigma(&sigma).absolute_sigma(true).fit().unwrap().plot().unwrap();
    assert_eq!(count(&absolute, "error: 0.25"), 6);
    assert_eq!(count(&absolute, "residual / σ"), 1);
    assert_eq!(count(&absolute, "residual_band: Some(1.0)"), 1);
    assert_eq!(count(&absolute, "prediction_band: Some"), 1);
    // A relative sigma says nothing of the size of the noise.
    let relative = |sigma: f64| {
        let sigma = [sigma; 6];
        fit(&X, &Y).sigma(&sigma).fit().unwrap().plot().unwrap()
    };
    let deviation = fit(&X, &Y).fit().unwrap().residual_standard_deviation().unwrap();
    assert_eq!(count(&relative(0.25), &format!("error: {:.10}", deviation)[..18]), 6);
    assert_eq!(count(&relative(4.0), &format!("error: {:.10}", deviation)[..18]), 6);
    let different = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2];
    let different = fit(&X, &Y).sigma(&different).absolute_sigma(true).fit().unwrap().plot().unwrap();
    assert_eq!(count(&different, "error: 0.1"), 3);
    assert_eq!((count(&different, "confidence_band: Some"), count(&different, "prediction_band: Some")), (1, 0));
    let mut covariance = ndarray::Array2::from_diag(&array![0.25, 0.25, 0.25, 0.25, 0.25, 0.25]);
    (covariance[[0, 1]], covariance[[1, 0]]) = (0.1, 0.1);
    let correlated = fit(&X, &Y).data_covariance(&covariance).absolute_sigma(true).fit().unwrap();
    let plot = correlated.plot().unwrap();
    assert_eq!(count(&plot, "error: 0.5"), 6);
    assert_eq!(count(&plot, &format!("(0.0, {:?})", correlated.residuals()[0])), 1);
}

#[test]
fn without_degrees_of_freedom_there_are_no_bands() {
    let plot = fit(&X[..2], &Y[..2]).fit().unwrap().plot().unwrap();
    assert_eq!((count(&plot, "mark: Datum"), count(&plot, "band: Some")), (2, 0));
    assert!(!plot.to_svg().is_empty());
    // One place is no range.
    let point = curve_fit(|_, [a]| a, &[2.0, 2.0, 2.0], &[1.0, 1.1, 1.2], [0.0]).unwrap();
    assert!(!point.plot().unwrap().to_svg().is_empty());
}

#[test]
fn several_responses_are_several_series() {
    let y = array![[2.0, 0.1], [1.1, -3.3], [-0.8, -3.6], [-2.0, -0.6], [-1.3, 3.0], [0.6, 4.0]];
    let motion = |t: &[f64], [a, w]: [Dual<f64, 2>; 2]| [a * (w * t[0]).cos(), -a * w * (w * t[0]).sin()];
    let t = X.map(|x| 0.5 * x);
    let fit = CurveFit::with_responses(motion, &t, &y, [1.0, 1.8]);
    let named = fit.clone().response_names(["position", "velocity"]).fit().unwrap().plot().unwrap();
    assert!(named.to_svg().contains("position") && named.to_svg().contains("velocity"));
    let error = fit.clone().response_names(["position"]).fit().unwrap_err();
    assert_eq!(error.to_string(), "there are 2 responses to a row, but 1 name was given");
    let plot = fit.fit().unwrap().plot().unwrap();
    assert_eq!((count(&plot, "name: Some(\"y1\")"), count(&plot, "name: Some(\"y2\")")), (1, 1));
    assert_eq!((count(&plot, "mark: Datum"), count(&plot, "confidence_band: Some")), (12, 2));
    assert_eq!(count(&plot, "y: -3.3"), 1);
}

#[test]
fn data_sets_are_several_series() {
    let low = Y.map(|y| y - 3.0);
    let both = GlobalFit::new()
        .data_set("low", fit(&X[..4], &low[..4]).names(["intercept", "slope"]))
        .data_set("high", fit(&X, &Y).names(["intercept", "slope"]))
        .shared(["slope"])
        .fit()
        .unwrap();
    let plot = both.plot().unwrap();
    assert_eq!((count(&plot, "name: Some(\"low\")"), count(&plot, "name: Some(\"high\")")), (1, 1));
    assert_eq!((count(&plot, "mark: Datum"), count(&plot, "confidence_band: Some")), (10, 2));
    // Each curve ends with its own data.
    for (set, end) in [("low", 3.0), ("high", 5.0)] {
        let y = both.predict_data_set(set, &[end]).unwrap()[0];
        assert_eq!(count(&plot, &format!("({end:?}, {y:?})],")), 1);
    }
}

#[test]
fn outliers_are_marked() {
    let mut y = Y;
    y[2] = 50.0;
    let robust = fit(&X, &y).robust(Loss::Tukey).fit().unwrap().plot().unwrap();
    assert_eq!((count(&robust, "mark: Outlier"), count(&robust, "mark: Datum")), (1, 5));
    let good = fit(&X, &Y).robust(Loss::Huber).fit().unwrap().plot().unwrap();
    assert_eq!(count(&good, "mark: Outlier"), 0);
}

#[test]
fn counts_are_standardised_by_their_mean() {
    let counts = [3.0, 4.0, 9.0, 12.0, 11.0, 20.0];
    let fit = fit(&X, &counts).start("b1", 3.0).counts().fit().unwrap();
    let plot = fit.plot().unwrap();
    let residuals: Vec<(f64, f64)> = X.into_iter().zip(fit.whitened_residuals()).collect();
    assert_eq!(count(&plot, &format!("residuals: {residuals:?}")), 1);
    assert_eq!((count(&plot, "residual / σ"), count(&plot, ", error: 0.0")), (1, 6));
}

#[test]
fn bands_go_round_what_is_not_finite() {
    let pole = |x: f64, [a]: [Dual<f64, 1>; 1]| a / x;
    let plot = curve_fit(pole, &[-2.0, -1.0, 1.0, 2.0], &[-1.1, -2.0, 2.1, 1.0], [1.0]).unwrap().plot().unwrap();
    assert_eq!(count(&plot, "confidence_band: Some"), 1);
    assert!(!plot.to_svg().contains("NaN"));
}

#[test]
fn curves_of_more_than_two_predictors_are_not_drawn() {
    let x = array![[1.0, 0.0, 1.0], [2.0, 1.0, 3.0], [3.0, 0.0, 0.0], [4.0, 1.0, 2.0]];
    let plane =
        CurveFit::with_predictors(|x, [a, b]| a * x[0] + b * x[1] + x[2], &x, &Y[..4], [1.0, 1.0]).fit().unwrap();
    assert!(matches!(plane.plot().unwrap_err(), PlotError::NotOnePredictor { predictors: 3 }));
    assert!(plane.plot().unwrap_err().to_string().ends_with("this one has 3 predictors"));
}

/// Curves of two predictors are surfaces with the data in them, and residuals below.
#[test]
fn surfaces_are_drawn() {
    let x = array![[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0], [2.5, 0.5]];
    let fit = CurveFit::with_predictors(|x, [a, b]| a * x[0] + b * x[1], &x, &Y[..5], [1.0, 1.0]).fit().unwrap();
    let plot = fit.plot().unwrap();
    let svg = plot.clone().color_label("height").to_svg();
    assert_eq!(svg.matches("<image").count(), 1);
    // Each point in the map has two rims, and one below has none.
    assert_eq!(svg.matches("<circle").count(), 3 * 5 + 5);
    assert!(svg.contains("residual") && svg.contains("height") && svg.len() < 1_000_000);
    let value = fit.predict(&array![[1.0, 0.0]]).unwrap()[0];
    assert!(
        format!("{plot:?}").contains(&format!("x: {value:?}, y: {:?}", Y[0] - value)),
        "the residual over the fitted value"
    );
    // One predictor that does not vary, and single precision, have pictures too.
    let flat = array![[1.0_f32, 2.0], [2.0, 2.0], [3.0, 2.0]];
    let fit = CurveFit::with_predictors(|x, [a]| a * x[0] + x[1], &flat, &[3.0, 4.1, 5.0], [1.0]).fit().unwrap();
    assert!(!fit.plot().unwrap().to_svg().contains("NaN"));
}

#[test]
fn terms_of_a_sum_are_drawn_below_it() {
    let x: Vec<f64> = (0..80).map(|i| 0.25 * f64::from(i)).collect();
    let peak = |x: f64, at: f64| 5.0 * (-0.5 * (x - at) * (x - at)).exp();
    let y: Vec<f64> =
        x.iter().map(|&x| peak(x, 6.0) + 2.0 * peak(x, 13.0) + 0.1 * x + 0.01 * (7.0 * x).sin()).collect();
    let sum: Named = "gaussian+gaussian+linear".parse().unwrap();
    let fit = CurveFit::guessed(sum, &x, &y).fit().unwrap();
    let series = fit.plot_series().unwrap().remove(0);
    let components: Vec<_> = series.components().collect();
    assert_eq!(components.iter().map(|one| one.0).collect::<Vec<_>>(), ["gaussian 1", "gaussian 2", "linear"]);
    for (index, &(x, y)) in series.lines().1.iter().enumerate() {
        let sum: f64 = components.iter().map(|(_, line)| line[index].1).sum();
        assert!((sum - y).abs() < 1e-9 && components[0].1[index].0 == x);
    }
    let svg = fit.plot().unwrap().to_svg();
    assert!(["gaussian 1", "gaussian 2", "linear"].iter().all(|name| svg.contains(name)));
    let alone = CurveFit::guessed(Linear, &X, &Y).fit().unwrap().plot_series().unwrap().remove(0);
    assert_eq!(alone.components().count(), 0);
}

#[test]
fn observations_have_errors_and_weights() {
    let plain = fit(&X, &Y).fit().unwrap();
    assert_eq!((plain.observation_errors(), plain.robust_weights()), (None, None));
    let relative = fit(&X, &Y).sigma(&[2.0; 6]).fit().unwrap();
    let deviation = plain.residual_standard_deviation().unwrap();
    assert!(relative.observation_errors().unwrap().iter().all(|error| (error / deviation - 1.0).abs() < 1e-9));
    let mut y = Y;
    y[2] = 50.0;
    let weights = fit(&X, &y).robust(Loss::Tukey).fit().unwrap().robust_weights().unwrap();
    assert!(weights[2] == 0.0 && weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
    assert!(weights.iter().sum::<f64>() > 4.0);
}

/// Parameters of the pixels of an image.
#[test]
fn many_fits_are_maps() {
    let t: Vec<f64> = (0..12).map(f64::from).collect();
    let mut stack =
        ndarray::Array2::from_shape_fn((12, 12), |(pixel, t)| 5.0 * (-(t as f64) / (3.0 + pixel as f64)).exp());
    stack[[5, 3]] = f64::NAN;
    let fits = FitMany::new(ExponentialDecay, &t, &stack).guessed().fit().unwrap();
    let plot = |map: HeatMap| Plot::new().heat_map(map).x_label("column").y_label("row");
    let svg = plot(fits.heat_map("decay", [3, 4]).unwrap()).to_svg();
    assert!(svg.contains("<image") && svg.contains("decay") && !svg.contains("NaN"));
    // Colours of pixels, read off the picture, rise from the first pixel to the last.
    let png = plot(fits.heat_map("decay", [3, 4]).unwrap()).size(400, 300).to_png();
    assert_eq!(png[1..4], *b"PNG");
    let error = fits.heat_map("rate", [3, 4]).unwrap_err().to_string();
    assert_eq!(error, "there is no parameter \"rate\"; the parameters are amplitude, decay");
    let error = fits.heat_map("decay", [5, 4]).unwrap_err().to_string();
    assert_eq!(error, "an image of 5 × 4 pixels needs one fit for each pixel, but there are 12 fits");
    assert!(fits.heat_map("decay", [usize::MAX, 2]).is_err());
}

#[test]
fn single_precision_is_drawn() {
    let (x, y) = (X.map(|x| x as f32 + 0.1), Y.map(|y| y as f32));
    let plot = curve_fit(|x, [a, b]| a + b * x, &x, &y, [0.0_f32, 1.0]).unwrap().plot().unwrap();
    assert_eq!((count(&plot, "mark: Datum"), count(&plot, "band: Some(Band")), (6, 2));
}

/// Data sets have horizontal error bars where they have errors in x, of their own lengths.
#[test]
fn data_sets_have_horizontal_error_bars() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [0.1, 1.2, 1.9, 3.1, 4.0]);
    let line = || CurveFit::guessed(Linear, &x, &y).sigma(&[0.5; 5]).absolute_sigma(true);
    let sets = GlobalFit::new().data_set("exact", line()).data_set("one", line().sigma_x(&[0.25]));
    let sets = sets.data_set("each", line().sigma_x(&[0.0, 0.125, 0.125, 0.125, 0.0625]));
    let fit = sets.shared(["slope"]).fit().unwrap();
    let plot = fit.plot().unwrap();
    let bars = |length: &str| count(&plot, &format!("x_error: {length},"));
    assert_eq!([bars("0.25"), bars("0.125"), bars("0.0625")], [5, 3, 1]);
    assert_eq!(count(&plot, " error: 0.5"), 15);
    let alone = line().sigma_x(&[0.25]).fit().unwrap().plot().unwrap();
    assert_eq!(count(&alone, "x_error: 0.25,"), 5);
}
