//! Global fits: several data sets that share parameters are one fit.

use marquardt::curve::{Curve, GlobalError, NanPolicy};
use marquardt::{CurveError, CurveFit, Dual, FittedCurve, GlobalFit, Tie};
use ndarray::{Array2, array};

use crate::reference::Reference;

fn decay(t: f64, [a, k]: [Dual<f64, 2>; 2]) -> Dual<f64, 2> {
    a * (-k * t).exp()
}

const T1: [f64; 6] = [0.0, 0.5, 1.0, 2.0, 3.0, 5.0];
const Y1: [f64; 6] = [2.05, 1.61, 1.22, 0.78, 0.41, 0.19];
const T2: [f64; 5] = [0.0, 1.0, 2.0, 4.0, 6.0];
const Y2: [f64; 5] = [8.1, 5.0, 2.9, 1.15, 0.35];
const SIGMA1: [f64; 6] = [0.05, 0.05, 0.04, 0.04, 0.03, 0.03];
const SIGMA2: [f64; 5] = [0.2, 0.2, 0.15, 0.1, 0.1];

fn first<'a>() -> CurveFit<'a, f64, impl Curve<f64> + 'a> {
    CurveFit::new(decay, &T1, &Y1, [1.0, 1.0]).names(["amplitude", "rate"])
}

fn second<'a>() -> CurveFit<'a, f64, impl Curve<f64> + 'a> {
    CurveFit::new(decay, &T2, &Y2, [5.0, 2.0]).names(["amplitude", "rate"])
}

fn both() -> GlobalFit<'static, f64> {
    GlobalFit::new().data_set("low", first()).data_set("high", second()).shared(["rate"])
}

/// All rows of both sets, with the number of the set, as one would write it without help.
fn by_hand<'a>(x: &'a Array2<f64>, y: &'a [f64]) -> CurveFit<'a, f64, impl Curve<f64> + 'a> {
    let curve = |x: &[f64], [a, k, b]: [Dual<f64, 3>; 3]| if x[0] == 0.0 { a } else { b } * (-k * x[1]).exp();
    CurveFit::with_predictors(curve, x, y, [1.0, 1.0, 5.0]).names(["low.amplitude", "rate", "high.amplitude"])
}

fn stacked() -> (Array2<f64>, Vec<f64>) {
    let rows = T1.map(|t| [0.0, t]).into_iter().chain(T2.map(|t| [1.0, t])).flatten().collect();
    (Array2::from_shape_vec((11, 2), rows).unwrap(), [&Y1[..], &Y2].concat())
}

/// All figures of the two to 1e-12 of each other.
#[track_caller]
fn assert_same(one: &FittedCurve<'_, f64>, other: &FittedCurve<'_, f64>) {
    assert!(one.report().is_converged() && other.report().is_converged());
    assert_eq!(one.parameters().len(), other.parameters().len());
    for (one, other) in one.parameters().iter().zip(other.parameters()) {
        assert_eq!(one.name, other.name);
        assert!((one.value / other.value - 1.0).abs() < 1e-12, "{one:?}, {other:?}");
        assert!((one.standard_error / other.standard_error - 1.0).abs() < 1e-11, "{one:?}, {other:?}");
    }
    assert!((one.report().cost / other.report().cost - 1.0).abs() < 1e-12);
    assert_eq!(one.degrees_of_freedom(), other.degrees_of_freedom());
}

#[test]
fn it_is_the_fit_of_all_rows_written_by_hand() {
    let (x, y) = stacked();
    let fit = both().fit().unwrap();
    assert_same(&fit, &by_hand(&x, &y).fit().unwrap());

    let [low, high] = &fit.data_sets().unwrap()[..] else { panic!("two data sets") };
    assert_eq!((low.name.as_str(), low.rows.clone(), &low.observed[..]), ("low", 0..6, &Y1[..]));
    assert_eq!((high.name.as_str(), high.rows.clone(), &high.observed[..]), ("high", 6..11, &Y2[..]));
    assert_eq!([&low.fitted[..], &high.fitted].concat(), fit.fitted().to_vec());
    assert_eq!(high.residuals[2], high.observed[2] - high.fitted[2]);
    assert_eq!(fit.predict_data_set("high", &T2).unwrap(), high.fitted);
    assert_eq!(fit.predict(&array![[1.0, 3.0]]).unwrap(), fit.predict_data_set("high", &[3.0]).unwrap());
    assert!(fit.predict(&array![[2.0, 3.0]]).unwrap_err().to_string().contains("no data set number 2"));
    assert_eq!(fit.predict_data_set("medium", &T2).unwrap_err().to_string(), "there is no data set \"medium\"");
}

#[test]
fn sigma_bounds_priors_ties_and_fixed_parameters_come_along() {
    let (x, y) = stacked();
    let sigma = [&SIGMA1[..], &SIGMA2].concat();
    let set_up = |low: CurveFit<'static, f64, _>| low.sigma(&SIGMA1).absolute_sigma(true).prior("amplitude", 2.1, 0.02);
    let high = second().sigma(&SIGMA2).absolute_sigma(true).tie("amplitude", Tie::new(["rate"], |[k]| k * 16.0));
    let fit = GlobalFit::new().data_set("low", set_up(first())).data_set("high", high).shared(["rate"]).fit().unwrap();
    let tie = Tie::new(["rate"], |[k]| k * 16.0);
    let hand = by_hand(&x, &y).sigma(&sigma).absolute_sigma(true).prior("low.amplitude", 2.1, 0.02);
    assert_same(&fit, &hand.tie("high.amplitude", tie).fit().unwrap());

    let fixed = GlobalFit::new().data_set("low", first().fix_at("amplitude", 2.0)).data_set("high", second());
    let fixed = fixed.shared(["rate"]).curve_fit().unwrap().start("rate", 0.7).fit().unwrap();
    let hand = by_hand(&x, &y).fix_at("low.amplitude", 2.0).fit().unwrap();
    assert_eq!(fixed.parameters()[0].value, 2.0);
    assert!((fixed.parameters()[1].value / hand.parameters()[1].value - 1.0).abs() < 1e-12);
}

#[test]
fn a_covariance_of_one_data_set_is_a_block_of_all() {
    let (x, y) = stacked();
    let block = |i: usize, j: usize| SIGMA1[i] * SIGMA1[j] * 0.6_f64.powi((i as i32 - j as i32).abs());
    let small = Array2::from_shape_fn((6, 6), |(i, j)| block(i, j));
    let whole = Array2::from_shape_fn((11, 11), |(i, j)| match (i < 6, j < 6) {
        (true, true) => block(i, j),
        (false, false) if i == j => SIGMA2[i - 6].powi(2),
        _ => 0.0,
    });
    let sets = GlobalFit::new().data_set("low", first().data_covariance(small.view()));
    let fit = sets.data_set("high", second().sigma(&SIGMA2)).shared(["rate"]).fit().unwrap();
    assert_same(&fit, &by_hand(&x, &y).data_covariance(&whole).fit().unwrap());
}

/// A line with two predictors, a decay, and a set that is too small for a fit of its own.
#[test]
fn curves_of_different_kinds_share_what_they_have() {
    let x = array![[1.0, 0.5], [2.0, 1.0], [3.0, -1.0], [4.0, 0.0]];
    let y = [1.02, 1.9, 1.0, 1.71];
    let plane = CurveFit::with_predictors(|x, [k, b]| k * x[0] + b * x[1], &x, &y, [1.0, 1.0]).names(["rate", "slope"]);
    let few = CurveFit::new(decay, &[1.0], &[1.3], [1.0, 1.0]).names(["amplitude", "rate"]);
    let fit = GlobalFit::new().data_set("plane", plane).data_set("decay", first()).data_set("few", few);
    let fit = fit.shared(["rate"]).fit().unwrap();
    let names: Vec<_> = fit.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
    assert_eq!(names, ["rate", "plane.slope", "decay.amplitude", "few.amplitude"]);
    assert!(fit.report().is_converged() && fit.degrees_of_freedom() == 7);
    // A single observation is met whatever the rate.
    assert!(fit.data_sets().unwrap()[2].residuals[0].abs() < 1e-12);
}

#[test]
fn missing_rows_are_left_out_of_their_sets() {
    let mut with_gap = Y1;
    with_gap[2] = f64::NAN;
    let low = CurveFit::new(decay, &T1, &with_gap, [1.0, 1.0]).names(["amplitude", "rate"]).nan_policy(NanPolicy::Omit);
    let mask = [true, true, false, true, true];
    let fit = GlobalFit::new().data_set("low", low).data_set("high", second().mask(&mask[..])).shared(["rate"]);
    let sets = fit.fit().unwrap().data_sets().unwrap();
    assert_eq!(sets.iter().map(|set| set.rows.clone()).collect::<Vec<_>>(), [0..5, 5..9]);
    assert_eq!(sets[1].observed, [8.1, 5.0, 1.15, 0.35]);
}

#[test]
fn figures_are_those_of_the_reference() {
    let reference = Reference::read("curve.csv");
    let of = |name| reference.of("global", name);
    let set = |x, y: &'static str| {
        let (x, y): (&[f64], &[f64]) = (of(x), of(y));
        CurveFit::new(decay, x, y, [4.0, 0.5]).names(["a", "k"])
    };
    let fit =
        GlobalFit::new().data_set("1", set("x_1", "y_1")).data_set("2", set("x_2", "y_2")).shared(["k"]).fit().unwrap();
    let expected = of("parameters").iter().zip(of("standard_errors"));
    for (name, (&value, &error)) in ["1.a", "2.a", "k"].into_iter().zip(expected) {
        let found = fit.parameter(name).unwrap();
        assert!((found.value / value - 1.0).abs() < 1e-12, "{found:?}, not {value}");
        assert!((found.standard_error / error - 1.0).abs() < 1e-11, "{found:?}, not {error}");
    }
    assert!((fit.report().sum_of_squares() / of("chi_square")[0] - 1.0).abs() < 1e-12);
}

#[test]
fn other_statistics_just_work() {
    let fit = both().fit().unwrap();
    let interval = fit.profile_interval("rate", 0.95).unwrap();
    let rate = fit.parameter("rate").unwrap();
    assert!(interval.low < rate.value && rate.value < interval.high);
    let bootstrap = fit.bootstrap().replicates(50).seed(1).run().unwrap();
    assert!((bootstrap.standard_errors()[1] / rate.standard_error - 1.0).abs() < 0.5);
}

#[test]
fn what_does_not_go_together_is_named() {
    let message = |fit: GlobalFit<'static, f64>| fit.fit().unwrap_err().to_string();
    assert_eq!(message(GlobalFit::new()), "there are no data sets");
    assert_eq!(message(both().data_set("low", first())), "two data sets are called \"low\"");
    assert_eq!(message(both().shared(["phase"])), "\"phase\" cannot be shared: it is a parameter of no data set");
    let alone = GlobalFit::new().data_set("low", first().names(["amplitude", "k"])).data_set("high", second());
    assert_eq!(message(alone.shared(["rate"])), "\"rate\" cannot be shared: it is a parameter of \"high\" alone");
    let bounds = GlobalFit::new().data_set("low", first().bounds("rate", 0.0..)).data_set("high", second());
    let expected = "\"low\" and \"high\" have different options for the shared parameter \"rate\": its bounds";
    assert_eq!(message(bounds.shared(["rate"])), expected);
    let sigma = GlobalFit::new().data_set("low", first().sigma(&SIGMA1)).data_set("high", second());
    assert_eq!(message(sigma.shared(["rate"])), "\"low\" and \"high\" must be alike: only one has a sigma");
    let counts = GlobalFit::new().data_set("low", first().counts()).data_set("high", second());
    assert_eq!(message(counts.shared(["rate"])), "\"low\" and \"high\" must be alike: only one has counts");
    let wrong = both().data_set("third", second().fix("phase"));
    assert_eq!(message(wrong), "\"third\": there is no parameter \"phase\"; there are \"amplitude\", \"rate\"");
    let unequal = CurveFit::new(decay, &T1, &Y2, [1.0, 1.0]).names(["amplitude", "rate"]);
    let error = both().data_set("third", unequal).fit().unwrap_err();
    let is_unequal = |source: &CurveError| matches!(source, CurveError::UnequalLengths { x: 6, y: 5 });
    assert!(
        matches!(&error, GlobalError::DataSet { name, source } if name == "third" && is_unequal(source)),
        "{error}"
    );
    let too_few = |y: &'static [f64; 1]| CurveFit::new(decay, &[1.0], y, [1.0, 1.0]).names(["amplitude", "rate"]);
    let error =
        GlobalFit::new().data_set("one", too_few(&[1.0])).data_set("two", too_few(&[2.0])).shared(["rate"]).fit();
    let error = error.unwrap_err();
    assert!(
        matches!(error, GlobalError::Curve(CurveError::TooFewObservations { observations: 2, parameters: 3 })),
        "{error}"
    );
}
