//! Quantities that are computed from parameters.

use marquardt::curve::CurveError;
use marquardt::models::{Gaussian, Named};
use marquardt::{CurveFit, Dual, GlobalFit, Tie, tie};

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
