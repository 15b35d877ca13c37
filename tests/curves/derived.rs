//! Quantities that are computed from parameters.

use marquardt::autodiff::Difference;
use marquardt::curve::{CurveError, IntervalEnd, ProfileError, ProfileInterval, Relation};
use marquardt::models::{Gaussian, Named};
use marquardt::{CurveFit, Dual, FittedCurve, GlobalFit, Loss, Tie, tie};
use proptest::prelude::*;

const X: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0];
const Y: [f64; 8] = [5.02, 3.72, 2.71, 2.02, 1.52, 0.81, 0.48, 0.22];

fn decay(x: f64, [a, k]: [Dual<f64, 2>; 2]) -> Dual<f64, 2> {
    a * (-k * x).exp()
}

/// A quantity in the report has the numbers of the same curve in terms of the quantity.
#[test]
fn a_half_life_is_that_of_a_curve_with_it() {
    let fit = CurveFit::new(decay, &X, &Y, [4.0, 0.5]).names(["a", "k"]);
    let fit = fit.derive("half_life", Tie::parse("ln(2)/k").unwrap()).derive("area", tie!(|a, k| a / k)).fit().unwrap();
    let direct = CurveFit::new(
        |x: f64, [a, h]: [Dual<f64, 2>; 2]| a * (-h.recip() * (2.0_f64.ln() * x)).exp(),
        &X,
        &Y,
        [4.0, 1.0],
    );
    let direct = direct.names(["a", "half_life"]).fit().unwrap();
    let (derived, expected) = (fit.derived_quantities(), direct.parameter("half_life").unwrap().clone());
    let half_life = derived[0].estimate;
    assert!((half_life.value - expected.value).abs() < 1e-8);
    assert!((half_life.standard_error - expected.standard_error).abs() < 1e-7 * expected.standard_error);
    let (one, other) = (half_life.interval(0.95).unwrap(), direct.confidence_interval("half_life", 0.95).unwrap());
    assert!((one.low - other.low).abs() < 1e-7 && (one.high - other.high).abs() < 1e-7);
    assert_eq!((derived[1].name.as_str(), derived[1].quantity.to_string().as_str()), ("area", "a / k"));
    let (text, markdown) = (fit.to_string(), fit.summary().to_markdown());
    let line = text.lines().find(|line| line.starts_with("half_life")).unwrap();
    assert!(line.ends_with("= ln(2)/k") && line.contains('±'), "{text}");
    assert!(
        text.contains("\nquantity ") && markdown.contains("| quantity |") && markdown.contains("| area |"),
        "{text}"
    );
    assert!(!direct.to_string().contains("quantity"));
    #[cfg(feature = "json")]
    {
        let json = fit.summary().to_json();
        let read: marquardt::curve::FitSummary = serde_json::from_str(&json).unwrap();
        assert_eq!(read.derived.len(), 2);
        assert!(!direct.summary().to_json().contains("derived\""));
    }
    let bootstrap = fit.bootstrap().replicates(300).seed(3).run().unwrap();
    let percentiles = bootstrap.derived_interval(&derived[0].quantity, 0.95).unwrap();
    assert!(percentiles.contains(half_life.value) && (percentiles.high - percentiles.low) < 2.0 * (one.high - one.low));
    assert!(bootstrap.derived_interval(&tie!(|q| q), 0.95).is_err());
}

#[test]
fn wrong_quantities_are_named() {
    let fit = || CurveFit::new(decay, &X, &Y, [4.0, 0.5]).names(["a", "k"]);
    let message = |fit: CurveFit<'_, f64, _>| fit.fit().map(|_| ()).unwrap_err().to_string();
    let half_life = || Tie::parse("ln(2)/rate").unwrap();
    assert_eq!(
        message(fit().derive("half_life", half_life())),
        "\"half_life\" is computed from \"rate\", which is no parameter"
    );
    for (first, second) in [("k", "b"), ("b", "b")] {
        let error = fit().derive(first, tie!(|a| 2 * a)).derive(second, tie!(|a| a)).fit().map(|_| ()).unwrap_err();
        assert!(matches!(error, CurveError::DuplicateName { .. }), "{error}");
    }
    // A logarithm of a negative number is no number, and the report says so much.
    let undefined = fit().derive("log", tie!(|a| ln(-a))).fit().unwrap();
    let quantity = &undefined.derived_quantities()[0].estimate;
    assert!(quantity.value.is_nan() && quantity.standard_error.is_infinite());
    assert!(undefined.to_string().contains("NaN ± undetermined"), "{undefined}");
}

/// Each data set brings its quantities along.
#[test]
fn in_a_global_fit() {
    let halved = Y.map(|y| 0.5 * y);
    let set = |y| CurveFit::new(decay, &X, y, [4.0, 0.5]).names(["a", "k"]).derive("area", tie!(|a, k| a / k));
    let fit = GlobalFit::new().data_set("one", set(&Y)).data_set("two", set(&halved)).shared(["k"]).fit().unwrap();
    let derived = fit.derived_quantities();
    let names: Vec<&str> = derived.iter().map(|quantity| quantity.name.as_str()).collect();
    assert_eq!(names, ["one.area", "two.area"]);
    let ratio = derived[0].estimate.value / derived[1].estimate.value;
    assert!((ratio - 2.0).abs() < 1e-6, "{ratio}");
}

/// Models know their own.
#[test]
fn of_models() {
    let x: Vec<f64> = (0..50).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 3.0 * (-(x - 5.0) * (x - 5.0) / 1.28).exp() + 0.02 * (37.0 * x).sin()).collect();
    let model: Named = "gaussian".parse().unwrap();
    let quantities = model.derived_quantities();
    let fit = quantities
        .iter()
        .fold(CurveFit::guessed(Gaussian, &x, &y), |fit, (name, text)| fit.derive(name, Tie::parse(text).unwrap()));
    let fit = fit.fit().unwrap();
    let of_name =
        |name: &str| fit.derived_quantities().into_iter().find(|quantity| quantity.name == name).unwrap().estimate;
    assert!((of_name("fwhm").value - 0.8 * 2.354820045).abs() < 3.0 * of_name("fwhm").standard_error);
    assert!((of_name("height").value - 3.0).abs() < 3.0 * of_name("height").standard_error);
}

/// The interval by the profile is that of a curve that has the quantity for a parameter, by [`FittedCurve::profile_interval`].
#[track_caller]
fn assert_same_profile(fit: &FittedCurve<'_, f64>, quantity: &str, direct: &FittedCurve<'_, f64>, parameter: &str) {
    for level in [0.5, 0.95, 0.999] {
        let found = fit.profile_interval(quantity, level).unwrap();
        let expected = direct.profile_interval(parameter, level).unwrap();
        assert_eq!((found.low_end, found.high_end), (expected.low_end, expected.high_end), "{found:?}, {expected:?}");
        let finite = |interval: &ProfileInterval<f64>| {
            [interval.low, interval.high].map(|end| if end.is_finite() { end } else { 0.0 })
        };
        let ([low, high], [expected_low, expected_high]) = (finite(&found), finite(&expected));
        let length = expected_high - expected_low;
        assert!((low - expected_low).abs() < 1e-8 * length.abs(), "{quantity}: {found:?}, {expected:?}");
        assert!((high - expected_high).abs() < 1e-8 * length.abs(), "{quantity}: {found:?}, {expected:?}");
    }
}

#[test]
fn a_profile_is_that_of_a_curve_with_the_quantity() {
    let fit = || {
        let fit = CurveFit::new(decay, &X, &Y, [4.0, 0.5]).names(["a", "k"]).derive("half_life", tie!(|k| ln(2) / k));
        fit.derive("area", tie!(|a, k| a / k))
            .derive("twice", tie!(|k| 2 * k))
            .derive("cube", Tie::parse("(a - 4 * k)^3").unwrap())
    };
    let direct = |curve: fn(f64, [Dual<f64, 2>; 2]) -> Dual<f64, 2>, start| CurveFit::new(curve, &X, &Y, start);
    let free = fit().fit().unwrap();
    let by_half_life = direct(|x, [a, h]| a * (-h.recip() * (2.0_f64.ln() * x)).exp(), [4.0, 1.0]).fit().unwrap();
    let by_area = direct(|x, [area, k]| area * k * (-k * x).exp(), [8.0, 0.5]).fit().unwrap();
    let by_cube = direct(|x, [cube, k]| (cube.cbrt() + k * 4.0) * (-k * x).exp(), [8.0, 0.5]).fit().unwrap();
    assert_same_profile(&free, "half_life", &by_half_life, "b2");
    assert_same_profile(&free, "area", &by_area, "b1");
    assert_same_profile(&free, "cube", &by_cube, "b1");
    let (twice, once) = (free.profile_interval("twice", 0.95).unwrap(), free.profile_interval("k", 0.95).unwrap());
    assert!((twice.low - 2.0 * once.low).abs() < 1e-10 && (twice.high - 2.0 * once.high).abs() < 1e-10);
    // Of a single free parameter, and through one that is tied.
    let fixed = fit().fix_at("a", 5.0).fit().unwrap();
    let by_half_life = direct(|x, [a, h]| a * (-h.recip() * (2.0_f64.ln() * x)).exp(), [5.0, 1.0]).names(["a", "h"]);
    let by_area = direct(|x, [area, k]| area * k * (-k * x).exp(), [8.0, 0.5]).names(["area", "k"]);
    assert_same_profile(&fixed, "half_life", &by_half_life.fix("a").fit().unwrap(), "h");
    assert_same_profile(&fixed, "area", &by_area.tie("k", tie!(|area| 5 / area)).fit().unwrap(), "area");
    let tied = fit().tie("a", tie!(|k| 8 * k + 1)).fit().unwrap();
    let by_half_life = direct(|x, [a, h]| a * (-h.recip() * (2.0_f64.ln() * x)).exp(), [4.0, 1.0]).names(["a", "h"]);
    let by_half_life = by_half_life.tie("a", tie!(|h| 8 * ln(2) / h + 1)).fit().unwrap();
    assert_same_profile(&tied, "half_life", &by_half_life, "h");
    // The points lie on the curve of the quantity.
    let profile = free.profile("area", 0.95, 3).unwrap();
    assert!(profile.points.len() >= 9 && profile.points.is_sorted_by(|one, other| one.value < other.value));
    for point in &profile.points {
        assert!((point.parameters[0] / point.parameters[1] - point.value).abs() < 1e-10 * point.value, "{point:?}");
    }
}

/// Priors, counts, robust losses and noise of a known size are those of the fit.
#[test]
fn a_profile_knows_the_likelihood() {
    let counts = [50.0, 37.0, 27.0, 20.0, 15.0, 8.0, 5.0, 2.0];
    let direct = |x: f64, [a, h]: [Dual<f64, 2>; 2]| a * (-h.recip() * (2.0_f64.ln() * x)).exp();
    let half_life = || tie!(|k| ln(2) / k);
    for prior in [None, Some((60.0, 4.0))] {
        let fit = CurveFit::new(decay, &X, &counts, [40.0, 0.5]).names(["a", "k"]).derive("h", half_life()).counts();
        let by_half_life = CurveFit::new(direct, &X, &counts, [40.0, 1.0]).names(["a", "h"]).counts();
        let [fit, by_half_life] = match prior {
            Some((mean, deviation)) => {
                [fit.prior("a", mean, deviation).fit(), by_half_life.prior("a", mean, deviation).fit()]
            }
            None => [fit.fit(), by_half_life.fit()],
        };
        assert_same_profile(&fit.unwrap(), "h", &by_half_life.unwrap(), "h");
    }
    // The prior of a parameter that follows from the quantity.
    let fit = CurveFit::new(decay, &X, &counts, [40.0, 0.5]).names(["a", "k"]).derive("area", tie!(|a, k| a / k));
    let by_area = |x: f64, [a, k, _]: [Dual<f64, 3>; 3]| a * (-k * x).exp();
    let by_area = CurveFit::new(by_area, &X, &counts, [40.0, 0.5, 80.0]).names(["a", "k", "area"]);
    let by_area = by_area.tie("a", tie!(|area, k| area * k)).counts().prior("a", 60.0, 4.0).fit().unwrap();
    assert_same_profile(&fit.counts().prior("a", 60.0, 4.0).fit().unwrap(), "area", &by_area, "area");
    let mut y = Y;
    y[3] = 4.0;
    let fit = CurveFit::new(decay, &X, &y, [4.0, 0.5]).names(["a", "k"]).derive("h", half_life());
    let by_half_life = CurveFit::new(direct, &X, &y, [4.0, 1.0]).names(["a", "h"]);
    let [fit, by_half_life] = [fit.robust(Loss::Huber).fit().unwrap(), by_half_life.robust(Loss::Huber).fit().unwrap()];
    let (found, expected) =
        (fit.profile_interval("h", 0.95).unwrap(), by_half_life.profile_interval("h", 0.95).unwrap());
    assert!((found.low / expected.low - 1.0).abs() < 1e-4 && (found.high / expected.high - 1.0).abs() < 1e-4);
}

/// Data that allow for no decay allow for every long half-life.
#[test]
fn a_profile_may_be_open() {
    let y = [1.02, 0.97, 1.05, 0.98, 1.01, 0.97, 1.0, 0.97];
    let fit =
        CurveFit::new(decay, &X, &y, [1.0, 0.1]).names(["a", "k"]).derive("h", tie!(|k| ln(2) / k)).fit().unwrap();
    assert!(fit.profile_interval("k", 0.95).unwrap().low < 0.0);
    let interval = fit.profile_interval("h", 0.95).unwrap();
    assert_eq!(
        (interval.low_end, interval.high_end, interval.high),
        (IntervalEnd::Level, IntervalEnd::Open, f64::INFINITY)
    );
    let rate = fit.profile_interval("k", 0.95).unwrap();
    assert!((interval.low * rate.high / 2.0_f64.ln() - 1.0).abs() < 1e-9, "{interval:?}, {rate:?}");
}

/// Where a bound stops one parameter, the others give the quantity its value; where it stops all, the interval ends.
#[test]
fn a_profile_keeps_to_bounds_and_relations() {
    const Y: [f64; 8] = [0.9, 1.6, 1.9, 2.6, 2.9, 4.1, 4.9, 6.1];
    let line = || {
        let fit = CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a + b * x, &X, &Y, [0.5, 0.5]).names(["a", "b"]);
        fit.derive("at_five", tie!(|a, b| a + 5 * b)).derive("ratio", tie!(|a, b| a / b))
    };
    let free = line().fit().unwrap();
    let [a, b] = [0, 1].map(|index| free.parameters()[index].value);
    // At the edge of the profile of a linear function, the parameters are on the tangent: a bound there leaves one of them.
    for (name, range) in [("a", (a - 0.01)..=(a + 0.01)), ("b", (b - 0.001)..=(b + 0.001))] {
        let bounded = line().start("a", a).start("b", b).bounds(name, range.clone()).fit().unwrap();
        for quantity in ["at_five", "ratio"] {
            let interval = bounded.profile_interval(quantity, 0.95).unwrap();
            let profile = bounded.profile(quantity, 0.95, 2).unwrap();
            assert_eq!((interval.low_end, interval.high_end), (IntervalEnd::Level, IntervalEnd::Level), "{interval:?}");
            let index = usize::from(name == "b");
            assert!(profile.points.iter().all(|point| range.contains(&point.parameters[index])), "{profile:?}");
        }
    }
    let both =
        line().start("a", a).start("b", b).bounds("a", (a - 0.01)..=(a + 0.01)).bounds("b", (b - 0.001)..=(b + 0.001));
    let interval = both.fit().unwrap().profile_interval("at_five", 0.95).unwrap();
    assert_eq!((interval.low_end, interval.high_end), (IntervalEnd::Edge, IntervalEnd::Edge));
    let middle = a + 5.0 * b;
    assert!((interval.low - (middle - 0.015)).abs() < 1e-9 && (interval.high - (middle + 0.015)).abs() < 1e-9);
    let held = line().start("b", b - 0.01).bounds("b", ..=(b - 0.01)).fit().unwrap();
    assert_eq!(held.parameters()[1].value, b - 0.01);
    assert!(held.profile_interval("at_five", 0.95).unwrap().high > held.parameters()[0].value + 5.0 * (b - 0.01));
    // A relation cuts a side off, or limits the quantity itself.
    let direct = CurveFit::new(|x, [g, b]: [Dual<f64, 2>; 2]| g + b * (x - 5.0), &X, &Y, [3.0, 0.5]).names(["g", "b"]);
    let relation = |text: &str| Relation::parse(&text.replace('r', &(a + b + 0.05).to_string())).unwrap();
    let related = line().start("a", 0.4).constrain(relation("a + b <= r")).fit().unwrap();
    assert_same_profile(&related, "at_five", &direct.constrain(relation("g - 4*b <= r")).fit().unwrap(), "g");
    let limited = line().start("a", 0.4).constrain(Relation::parse("a + 5*b <= 3.5").unwrap()).fit().unwrap();
    let interval = limited.profile_interval("at_five", 0.99999).unwrap();
    assert_eq!((interval.low_end, interval.high_end), (IntervalEnd::Level, IntervalEnd::Edge));
    assert!((interval.high - 3.5).abs() < 1e-9, "{interval:?}");
}

#[test]
fn a_profile_in_single_precision() {
    let (x, y) = (X.map(|x| x as f32), Y.map(|y| y as f32));
    let fit = CurveFit::new(|x, [a, k]: [Dual<f32, 2>; 2]| a * (-k * x).exp(), &x, &y, [4.0, 0.5]).names(["a", "k"]);
    let single = fit.derive("area", tie!(|a, k| a / k)).fit().unwrap().profile_interval("area", 0.95).unwrap();
    let fit = CurveFit::new(decay, &X, &Y, [4.0, 0.5]).names(["a", "k"]).derive("area", tie!(|a, k| a / k));
    let double = fit.fit().unwrap().profile_interval("area", 0.95).unwrap();
    assert!(
        (f64::from(single.low) / double.low - 1.0).abs() < 1e-4
            && (f64::from(single.high) / double.high - 1.0).abs() < 1e-4
    );
}

#[test]
fn quantities_without_profiles_are_named() {
    let fit = CurveFit::new(decay, &X, &Y, [4.0, 0.5]).names(["a", "k"]).fix_at("a", 5.0);
    let fit = fit.derive("twice", tie!(|a| 2 * a)).derive("log", tie!(|k| ln(-k))).fit().unwrap();
    let message = |name| fit.profile_interval(name, 0.95).unwrap_err().to_string();
    assert_eq!(message("twice"), "\"twice\" is constant in the free parameters, and has no profile");
    assert!(
        matches!(fit.profile_interval("log", 0.95).unwrap_err(), ProfileError::Statistics(_)),
        "{}",
        message("log")
    );
    assert_eq!(message("half"), "there is no parameter \"half\"; there are \"a\", \"k\"");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Units, errors in x, variable projection and numerical derivatives change nothing in what the profile of a quantity is.
    #[test]
    fn profiles_in_all_units(unit in -60.0..60.0_f64, time in -60.0..60.0_f64, kind in 0..4_u8) {
        let (unit, time) = (10.0_f64.powf(unit), 10.0_f64.powf(time));
        let (x, y) = (X.map(|x| time * x), Y.map(|y| unit * y));
        let direct = |x: f64, [area, k]: [Dual<f64, 2>; 2]| area * k * (-k * x).exp();
        let start = [4.0 * unit, 0.5 / time];
        let area = || tie!(|a, k| a / k);
        let (deviations, sigma) = ([0.05 * time], [0.05 * unit; 8]);
        let fit = match kind {
            0 => CurveFit::new(decay, &x, &y, start).names(["a", "k"]).derive("area", area()).fit(),
            1 => CurveFit::new(decay, &x, &y, start).names(["a", "k"]).derive("area", area()).variable_projection(true).fit(),
            2 => {
                let numeric = |x: &[f64], b: &[f64]| b[0] * (-b[1] * x[0]).exp();
                CurveFit::numeric(numeric, Difference::Central, &x, &y, &start).names(["a", "k"]).derive("area", area()).fit()
            }
            _ => {
                let fit = CurveFit::new(decay, &x, &y, start).names(["a", "k"]).derive("area", area());
                fit.sigma(&sigma).sigma_x(&deviations).fit()
            }
        };
        let direct = CurveFit::new(direct, &x, &y, [8.0 * unit * time, 0.5 / time]);
        let direct = if kind == 3 { direct.sigma(&sigma).sigma_x(&deviations).fit() } else { direct.fit() };
        let found = fit.unwrap().profile_interval("area", 0.95).unwrap();
        let expected = direct.unwrap().profile_interval("b1", 0.95).unwrap();
        let length = expected.high - expected.low;
        prop_assert!((found.low - expected.low).abs() < 1e-6 * length, "{kind}: {found:?}, {expected:?}");
        prop_assert!((found.high - expected.high).abs() < 1e-6 * length, "{kind}: {found:?}, {expected:?}");
    }
}

/// The data determine only the product of two parameters, which has the interval of a slope; and a square is never negative.
#[test]
fn a_profile_of_what_is_determined() {
    let y = X.map(|x| 6.0 * x + 0.3 * (5.0 * x).sin());
    let fit = CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a * b * x, &X, &y, [2.0, 1.0]).names(["a", "b"]);
    let fit = fit.derive("product", tie!(|a, b| a * b)).fit().unwrap();
    let slope = CurveFit::new(|x, [slope]: [Dual<f64, 1>; 1]| slope * x, &X, &y, [1.0]).fit().unwrap();
    let (found, expected) =
        (fit.profile_interval("product", 0.95).unwrap(), slope.profile_interval("b1", 0.95).unwrap());
    assert!(
        (found.low - expected.low).abs() < 1e-8 && (found.high - expected.high).abs() < 1e-8,
        "{found:?}, {expected:?}"
    );
    let y = [0.3, -0.6, 0.5, 0.2, -0.1, 0.7, -0.2, 0.1];
    let mean = CurveFit::new(|_, [mean]: [Dual<f64, 1>; 1]| mean, &X, &y, [1.0]).names(["mean"]);
    let fit = mean.derive("square", tie!(|mean| mean * mean)).fit().unwrap();
    let interval = fit.profile_interval("square", 0.95).unwrap();
    let upper = fit.profile_interval("mean", 0.95).unwrap().high;
    assert!((interval.high - upper * upper).abs() < 1e-10, "{interval:?}");
    assert!(interval.low_end == IntervalEnd::Edge && interval.low.abs() < 1e-9, "{interval:?}");
}

/// In a global fit, a quantity may be of the parameters of several data sets.
#[test]
fn a_profile_in_a_global_fit() {
    let halved = Y.map(|y| 0.5 * y + 0.01);
    let set = |y| CurveFit::new(decay, &X, y, [4.0, 0.5]).names(["a", "k"]);
    let sets = GlobalFit::new().data_set("one", set(&Y).derive("area", tie!(|a, k| a / k)));
    let sets = sets.data_set("two", set(&halved)).shared(["k"]);
    let fit = sets.curve_fit().unwrap().derive("ratio", Tie::new(["one.a", "two.a"], |[a, b]| a / b)).fit().unwrap();
    let interval = fit.profile_interval("ratio", 0.95).unwrap();
    assert!(interval.low > 1.8 && interval.low < 2.0 && interval.high > 1.95 && interval.high < 2.2, "{interval:?}");
    let profile = fit.profile("one.area", 0.95, 1).unwrap();
    assert!(profile.interval.low < profile.interval.high && profile.interval.high_end == IntervalEnd::Level);
}
