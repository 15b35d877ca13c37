//! Derivatives that the chain rule leaves undefined, where the response is finite and smooth in the parameters.

use marquardt::solver::{FitStatus, SolveError};
use marquardt::{CurveError, CurveFit, Dual, FitMany, FittedCurve, Formula, Model, Real};
use ndarray::Array2;

/// Doses from zero on.
const DOSE: [f64; 9] = [0.0, 0.02, 0.1, 0.3, 0.9, 2.0, 5.0, 12.0, 40.0];

/// Times far from the centre of a logistic curve.
const TIME: [f64; 11] = [-1000.0, -700.0, -355.0, -120.0, -30.0, 10.0, 60.0, 150.0, 380.0, 720.0, 1000.0];

/// One law of dose: in the first way of writing, all derivatives are defined.
const OF_DOSE: [&str; 6] = [
    "a*x^n/(c^n + x^n)",
    "a/(1 + (x/c)^(-n))",
    "a/(1 + (c/x)^n)",
    "a*(x/c)^n/(1 + (x/c)^n)",
    "a/(1 + exp(-n*ln(x/c)))",
    "a/(1 + exp(n*(ln(c) - ln(x))))",
];

/// One law of time: in the first way of writing, nothing overflows.
const OF_TIME: [&str; 5] = [
    "a*(0.5 + 0.5*tanh(0.5*n*(x - c)))",
    "a/(1 + exp(-n*(x - c)))",
    "a*recip(1 + exp(-n*(x - c)))",
    "a*(1 - 1/(1 + exp(n*(x - c))))",
    "a*(1 + exp(-n*(x - c)))^(-1)",
];

/// A start or a truth as the values of `a`, `c` and `n`.
type Point = [f64; 3];

const DOSE_TRUTH: Point = [2.0, 1.3, 0.9];
const DOSE_START: Point = [1.0, 1.0, 0.8];
const TIME_TRUTH: Point = [3.0, 20.0, 0.017];
const TIME_START: Point = [2.0, 5.0, 1.0];

fn ordered<T: Real>(formula: &Formula, [a, c, n]: Point) -> Vec<T> {
    let value = |name: &String| match name.as_str() {
        "a" => a,
        "c" => c,
        _ => n,
    };
    formula.parameters().iter().map(value).map(T::from_f64).collect()
}

/// Predictors, and observations near a law.
fn near<T: Real>(law: &str, x: &[f64], truth: Point) -> [Vec<T>; 2] {
    let law = Formula::parse(law).unwrap();
    let b = ordered::<f64>(&law, truth);
    let response = |(i, &x): (usize, &f64)| Model::<f64>::response(&law, &[x], &b) + 0.01 * (7.3 * i as f64).sin();
    [x.to_vec(), x.iter().enumerate().map(response).collect()]
        .map(|column| column.into_iter().map(T::from_f64).collect())
}

/// Values of `a`, `c` and `n`, and the standard error of `n`.
fn found<T: Real>(fit: &FittedCurve<'_, T>) -> [f64; 4] {
    let named = ["a", "c", "n"].map(|name| fit.parameter(name).unwrap());
    let [a, c, n] = named.map(|parameter| parameter.value.to_f64());
    [a, c, n, named[2].standard_error.to_f64()]
}

#[track_caller]
fn assert_alike(found: [f64; 4], expected: [f64; 4], tolerance: f64, what: &str) {
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found} instead of {expected}");
    }
}

fn all_ways_of_writing_agree<T: Real>(tolerance: f64) {
    for (laws, x, truth, start) in
        [(&OF_DOSE[..], &DOSE[..], DOSE_TRUTH, DOSE_START), (&OF_TIME[..], &TIME[..], TIME_TRUTH, TIME_START)]
    {
        let [x, y] = near::<T>(laws[0], x, truth);
        let ends: Vec<[f64; 4]> = laws
            .iter()
            .map(|law| {
                let formula = Formula::parse(law).unwrap();
                let start = ordered::<T>(&formula, start);
                let fit =
                    CurveFit::model(formula, &x, &y, &start).fit().unwrap_or_else(|error| panic!("{law}: {error}"));
                assert!(fit.report().status.is_converged(), "{law}: {fit}");
                found(&fit)
            })
            .collect();
        for (law, &end) in laws.iter().zip(&ends) {
            assert_alike(end, ends[0], tolerance, law);
        }
    }
}

#[test]
fn all_ways_of_writing_agree_in_both_precisions() {
    all_ways_of_writing_agree::<f64>(1e-7);
    all_ways_of_writing_agree::<f32>(2e-3);
}

#[test]
fn closures_agree_with_formulas() {
    let [x, y] = near::<f64>(OF_DOSE[0], &DOSE, DOSE_TRUTH);
    let formula = Formula::parse(OF_DOSE[1]).unwrap();
    let expected = CurveFit::model(formula, &x, &y, &DOSE_START).fit().unwrap();
    let hill = |x: f64, [a, c, n]: [Dual<f64, 3>; 3]| a / ((c.recip() * x).pow(-n) + 1.0);
    let fit = CurveFit::new(hill, &x, &y, DOSE_START).names(["a", "c", "n"]).fit().unwrap();
    assert_alike(found(&fit), found(&expected), 1e-7, "dose");

    let [x, y] = near::<f64>(OF_TIME[0], &TIME, TIME_TRUTH);
    let formula = Formula::parse(OF_TIME[0]).unwrap();
    let start = ordered::<f64>(&formula, TIME_START);
    let expected = CurveFit::model(formula, &x, &y, &start).fit().unwrap();
    let logistic = |x: f64, [a, c, n]: [Dual<f64, 3>; 3]| a / ((n * (c - x)).exp() + 1.0);
    let fit = CurveFit::new(logistic, &x, &y, TIME_START).names(["a", "c", "n"]).fit().unwrap();
    assert_alike(found(&fit), found(&expected), 1e-7, "time");
}

#[test]
fn many_fits_begin_where_one_does() {
    let [x, y] = near::<f64>(OF_DOSE[0], &DOSE, DOSE_TRUTH);
    let y = Array2::from_shape_vec((1, y.len()), y).unwrap();
    for law in &OF_DOSE[1..] {
        let formula = Formula::parse(law).unwrap();
        let start = Array2::from_shape_vec((1, 3), ordered(&formula, DOSE_START)).unwrap();
        let fits = FitMany::new(formula, &x, &y).start(&start).fit().unwrap();
        assert_eq!(fits.status[0], FitStatus::Converged, "{law}");
    }
}

/// At dose zero all curves of the law are zero.
#[test]
fn a_band_is_as_narrow_as_the_curve_is_sure() {
    let [x, y] = near::<f64>(OF_DOSE[0], &DOSE, DOSE_TRUTH);
    let fit = CurveFit::model(Formula::parse(OF_DOSE[1]).unwrap(), &x, &y, &DOSE_START).fit().unwrap();
    let band = fit.confidence_band(&[0.0, 1.0], 0.95).unwrap();
    assert_eq!([band[0].value, band[0].standard_error], [0.0, 0.0]);
    assert!(band[1].standard_error > 1e-3, "{band:?}");
}

#[test]
fn differences_stay_within_the_bounds() {
    let [x, y] = near::<f64>(OF_DOSE[0], &DOSE, DOSE_TRUTH);
    let hill = |x: f64, [a, c, n]: [Dual<f64, 3>; 3]| {
        assert!((1.0..=1.4).contains(&c.value) && n.value == 0.9, "{c:?}, {n:?}");
        a / ((c.recip() * x).pow(-n) + 1.0)
    };
    let fit = CurveFit::new(hill, &x, &y, [1.0, 1.0, 0.9]).names(["a", "c", "n"]).bounds("c", 1.0..=1.4).fix("n");
    assert!(fit.fit().unwrap().report().status.is_converged());
}

/// A derivative that is infinite is no undefined one, and where a neighbouring response is none there is no difference.
#[test]
fn what_has_no_derivative_is_refused() {
    let [x, y] = [[0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 2.9, 4.2]];
    for law in ["a*x + sqrt(c)", "a*x + sqrt(c)*sqrt(c)"] {
        let error = CurveFit::model(Formula::parse(law).unwrap(), &x, &y, &[1.0, 0.0]).fit().unwrap_err();
        assert!(
            matches!(&error, CurveError::Solve(SolveError::NonFiniteDerivative { name, .. }) if name == "c"),
            "{law}: {error}"
        );
    }
}
