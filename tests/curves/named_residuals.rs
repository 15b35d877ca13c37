//! Residuals over named parameters that are no curve, against lmfit's `Minimizer`; `tests/reference/generate_minimizer.py` says how.

use std::f64::consts::PI;

use marquardt::autodiff::Difference;
use marquardt::curve::ParameterState;
use marquardt::{CurveError, EvaluationError, FittedCurve, LevenbergMarquardt, Loss, Parameters, SolveError, Tie, tie};

use crate::reference::Reference;

const START: [(&str, f64); 4] = [("east", 1.0), ("north", 0.0), ("radius", 1.5), ("area", 0.0)];

/// The circle through the points of the reference, with residuals divided by sigma.
fn circle(
    reference: &Reference,
    sigma: f64,
    set: fn(Parameters<f64, 4>) -> Parameters<f64, 4>,
) -> FittedCurve<'static, f64> {
    let [x, y] = ["x", "y"].map(|name| reference.of("points", name).to_vec());
    let parameters = Parameters::new(START).tie("area", tie!(|radius| pi * radius * radius; pi = PI));
    let fit = set(parameters).minimize(x.len(), move |[east, north, radius, _], r| {
        for ((r, &x), &y) in r.iter_mut().zip(&x).zip(&y) {
            *r = ((east - x).hypot(north - y) - radius) / sigma;
        }
    });
    fit.unwrap()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-8 * expected.abs(), "{found} is not {expected}");
}

#[test]
fn the_fit_is_lmfits() {
    let reference = Reference::read("minimizer.csv");
    let check = |case: &str, fit: FittedCurve<'static, f64>| {
        assert!(fit.report().is_converged(), "{fit}");
        let of = |quantity| reference.of(case, quantity);
        for (index, parameter) in fit.parameters().iter().enumerate() {
            near(parameter.value, of("values")[index]);
            near(parameter.standard_error, of("errors")[index]);
        }
        near(fit.chi_square(), of("chi_square")[0]);
        near(fit.reduced_chi_square().unwrap(), of("reduced_chi_square")[0]);
        near(fit.covariance().correlation()[(1, 2)], of("correlation")[0]);
        fit_intervals(&reference, case, &fit);
    };
    check("free", circle(&reference, 1.0, |parameters| parameters));
    check("fixed", circle(&reference, 1.0, |parameters| parameters.fix("east")));
    check("absolute", circle(&reference, 0.05, |parameters| parameters.absolute(true)));
}

/// Profile intervals and criteria, where the noise is judged by the residuals.
fn fit_intervals(reference: &Reference, case: &str, fit: &FittedCurve<'static, f64>) {
    if case == "absolute" {
        return;
    }
    near(fit.aic(), reference.of(case, "aic")[0]);
    near(fit.bic(), reference.of(case, "bic")[0]);
    for parameter in fit.parameters().iter().filter(|parameter| parameter.state == ParameterState::Free) {
        let interval = fit.profile_interval(&parameter.name, 0.95).unwrap();
        let expected = reference.of(case, &format!("interval_{}", parameter.name));
        near(interval.low, expected[0]);
        near(interval.high, expected[1]);
    }
}

#[test]
fn differences_find_the_same() {
    let reference = Reference::read("minimizer.csv");
    let [x, y] = ["x", "y"].map(|name| reference.of("points", name));
    let parameters = Parameters::new([("east", 1.0), ("north", 0.0), ("radius", 1.5)]);
    let fit = parameters.minimize_numeric(x.len(), Difference::Central, |b, r| {
        let points = x.iter().zip(y);
        r.iter_mut().zip(points).for_each(|(r, (x, y))| *r = (b[0] - x).hypot(b[1] - y) - b[2]);
        Ok(())
    });
    for (index, parameter) in fit.unwrap().parameters().iter().enumerate() {
        near(parameter.value, reference.of("free", "values")[index]);
        assert!((parameter.standard_error / reference.of("free", "errors")[index] - 1.0).abs() < 1e-7);
    }
}

#[test]
fn the_report_has_names_and_residuals_are_those_of_the_closure() {
    let reference = Reference::read("minimizer.csv");
    let fit = circle(&reference, 1.0, |parameters| parameters.bounds("radius", 0.0..));
    let report = fit.to_string();
    for text in ["area", "= pi * radius * radius; pi = PI", "radius", "≥ 0", "observations                 15"] {
        assert!(report.contains(text), "{text} is not in\n{report}");
    }
    assert!(!report.contains("R²"), "{report}");
    // What is tied is no row of the correlations.
    assert!(!report.split("correlations").nth(1).unwrap().contains("area"), "{report}");
    let value = |name: &str| fit.parameter(name).unwrap().value;
    let [x, y] = ["x", "y"].map(|name| reference.of("points", name)[3]);
    let residual = (value("east") - x).hypot(value("north") - y) - value("radius");
    assert!((fit.residuals()[3] - residual).abs() < 1e-15);
    assert!(fit.predict(&[15.0]).unwrap_err().to_string().contains("there is no residual 15, but 15 from 0 on"));
    let drawn = fit.bootstrap().replicates(20).seed(1).run().unwrap();
    assert!(drawn.standard_errors()[2] > 0.0);
}

#[test]
fn bounds_priors_and_losses_hold() {
    let reference = Reference::read("minimizer.csv");
    let bounded = circle(&reference, 1.0, |parameters| parameters.bounds("radius", 1.0..=1.9));
    assert_eq!(bounded.parameter("radius").unwrap().value, 1.9);
    assert_eq!(bounded.parameter("radius").unwrap().state, ParameterState::AtUpperBound);
    let prior = circle(&reference, 0.05, |parameters| parameters.absolute(true).prior("radius", 2.1, 1e-6));
    assert!((prior.parameter("radius").unwrap().value - 2.1).abs() < 1e-5);
    // One of the points is far away.
    let line = |parameters: Parameters<f64, 2>| {
        let fit = parameters.minimize(8, |[a, b], r| {
            for (i, r) in r.iter_mut().enumerate() {
                let (t, noise) = (i as f64, 0.01 * (7.0 * i as f64).sin());
                *r = b * t + a - (1.0 + 0.5 * t + noise + if i == 5 { 40.0 } else { 0.0 });
            }
        });
        fit.unwrap().parameters()[1].value
    };
    let parameters = || Parameters::new([("a", 0.0), ("b", 0.0)]);
    assert!((line(parameters().robust(Loss::Tukey)) - 0.5).abs() < 0.01);
    assert!((line(parameters().robust(Loss::Cauchy).f_scale(0.02)) - 0.5).abs() < 0.01);
    assert!((line(parameters()) - 0.5).abs() > 1.0);
}

#[test]
fn what_is_wrong_is_named() {
    let parameters = || Parameters::new([("a", 1.0), ("b", 2.0)]);
    let refuse = |parameters: Parameters<f64, 2>| {
        let fit = parameters.minimize(3, |[a, b], r| (0..3).for_each(|i| r[i] = a + b * i as f64 - 1.0));
        fit.map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(refuse(parameters().fix("c")), "there is no parameter \"c\"; there are \"a\", \"b\"");
    assert_eq!(refuse(parameters().fix("a").fix("b")), "no parameter is free to be fitted");
    assert_eq!(
        refuse(Parameters::new([("a", 1.0), ("a", 2.0)])),
        "two parameters are called \"a\"; a prefix would tell them apart"
    );
    assert_eq!(refuse(parameters().bounds("a", 2.0..)), "the start value of \"a\" is 1, outside its bounds 2 and inf");
    let tied = parameters().fix("a").tie("a", Tie::new(["b"], |[b]| b));
    assert_eq!(refuse(tied), "\"a\" is fixed and is tied to other parameters; say one of them");
    assert!(refuse(parameters().prior("a", 1.0, 0.1)).starts_with("a prior and a relative sigma exclude each other"));
    let none = parameters().minimize(0, |_, _| ()).map(|_| ()).unwrap_err();
    assert!(matches!(none, CurveError::NoObservations), "{none}");
    let few = parameters().minimize(1, |[a, b], r| r[0] = a * b).map(|_| ()).unwrap_err();
    assert_eq!(few.to_string(), "1 observation cannot determine 2 parameters");
    let forgotten = parameters().minimize(3, |[a, b], r| (0..2).for_each(|i| r[i] = a + b * i as f64)).map(|_| ());
    assert!(matches!(forgotten, Err(CurveError::NonFiniteResponse { row: 2, .. })));
    let failed = |_: &[f64], _: &mut [f64]| Err::<(), EvaluationError>("no licence".into());
    let failed = parameters().minimize_numeric(3, Difference::Central, failed).map(|_| ()).unwrap_err();
    assert!(matches!(failed, CurveError::Solve(SolveError::Evaluation(_))), "{failed}");
    let limited = parameters().solver(LevenbergMarquardt::new().with_max_iterations(1));
    let limited = limited.minimize(2, |[a, b], r| [r[0], r[1]] = [a * a * a - 5.0, a * b * b - 7.0]).unwrap();
    assert!(!limited.report().is_converged());
}
