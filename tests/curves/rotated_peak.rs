//! A tilted elliptical peak that is started round: the angle has no influence there, and its column consists of rounding errors.

use std::f64::consts::FRAC_PI_2;

use marquardt::problem::FiniteDifference;
use marquardt::{CurveFit, Dual, EvaluationError, Formula, LevenbergMarquardt, Scalar};
use ndarray::Array2;

const WIDTH: usize = 6;

/// Widths and the angle at the start, beside those of other reports.
const STARTS: [[f64; 3]; 12] = [
    [2.0, 2.0, 0.1],
    [2.0, 2.0, 0.3],
    [1.5, 1.5, 0.1],
    [2.0, 2.0, 1.0],
    [2.0, 2.0, 0.0],
    [2.0, 2.001, 0.1],
    [1.7, 1.7, 0.78],
    [1.0, 1.0, 0.1],
    [3.0, 3.0, 0.1],
    [1.3, 1.3, -2.0],
    [2.5, 2.5, 30.0],
    [0.9, 0.9, 0.0],
];

/// A way of writing the peak, over numbers whose derivatives are zero.
type Constants = fn(f64, f64, [Dual<f64, 1>; 6]) -> Dual<f64, 1>;

/// By the coefficients of a quadratic form.
fn by_coefficients<S: Scalar<Real = f64>>(x: f64, y: f64, [height, p, q, s, t, angle]: [S; 6]) -> S {
    let (u, v) = (-p + x, -q + y);
    let (narrow, wide) = ((s * s * 2.0).recip(), (t * t * 2.0).recip());
    let (cos, sin) = (angle.cos(), angle.sin());
    let mixed = (angle * 2.0).sin() * 0.5 * (wide - narrow);
    let a = cos * cos * narrow + sin * sin * wide;
    let c = sin * sin * narrow + cos * cos * wide;
    height * (-(a * u * u + mixed * u * v * 2.0 + c * v * v)).exp()
}

/// By turned coordinates.
fn by_rotation<S: Scalar<Real = f64>>(x: f64, y: f64, [height, p, q, s, t, angle]: [S; 6]) -> S {
    let (u, v) = (-p + x, -q + y);
    let (cos, sin) = (angle.cos(), angle.sin());
    let (along, across) = ((u * cos + v * sin) / s, (v * cos - u * sin) / t);
    height * ((along * along + across * across) * -0.5).exp()
}

const BY_COEFFICIENTS: &str = "A*exp(-((cos(th)^2/(2*s^2)+sin(th)^2/(2*t^2))*(x-p)^2+2*(-sin(2*th)/(4*s^2)+sin(2*th)/(4*t^2))*(x-p)*(y-q)\
     +(sin(th)^2/(2*s^2)+cos(th)^2/(2*t^2))*(y-q)^2))";
const BY_ROTATION: &str = "A*exp(-(((x-p)*cos(th)+(y-q)*sin(th))^2/(2*s^2)+((y-q)*cos(th)-(x-p)*sin(th))^2/(2*t^2)))";

/// An image of nine by nine with some noise: predictors and responses.
fn image() -> (Array2<f64>, Vec<f64>) {
    let x = Array2::from_shape_fn((81, 2), |(i, axis)| if axis == 0 { (i / 9) as f64 } else { (i % 9) as f64 });
    let truth = [1.0, 4.0, 4.2, 2.4, 1.3, 0.5];
    let noise = |i: usize| 0.01 * (12.9898 * i as f64).sin();
    let y = (0..81).map(|i| by_rotation(x[(i, 0)], x[(i, 1)], truth.map(Dual::<f64, 6>::constant)).value + noise(i));
    let y = y.collect();
    (x, y)
}

fn start([s, t, angle]: [f64; 3]) -> [f64; WIDTH] {
    [0.8, 4.1, 4.1, s, t, angle]
}

/// The smallest sum of squares, from a start near the truth.
fn smallest(x: &Array2<f64>, y: &[f64]) -> f64 {
    let fit = CurveFit::with_predictors(|x, b| by_rotation(x[0], x[1], b), x, y, [1.0, 4.0, 4.2, 2.4, 1.3, 0.5])
        .fit()
        .unwrap();
    2.0 * fit.report().cost
}

#[test]
fn every_door_leads_to_the_tilted_peak() {
    let (x, y) = image();
    let least = smallest(&x, &y);
    let mut wrong = Vec::new();
    let mut judge = |door: &str, from: [f64; 3], squares: f64, angle: f64, is_converged: bool| {
        if !(squares <= least * (1.0 + 1e-6)) || !is_converged || !(angle.abs() < 1e6 * FRAC_PI_2) {
            wrong.push(format!(
                "{door} from {from:?}: {squares} instead of {least}, angle {angle}, converged {is_converged}"
            ));
        }
    };
    for from in STARTS {
        let start = start(from);
        let fits = [
            (
                "coefficients",
                CurveFit::with_predictors(|x, b| by_coefficients(x[0], x[1], b), &x, &y, start).fit().unwrap(),
            ),
            ("rotation", CurveFit::with_predictors(|x, b| by_rotation(x[0], x[1], b), &x, &y, start).fit().unwrap()),
        ];
        for (door, fit) in &fits {
            judge(door, from, 2.0 * fit.report().cost, fit.report().x[5], fit.report().is_converged());
        }
        for (door, text) in [("formula of coefficients", BY_COEFFICIENTS), ("formula of rotation", BY_ROTATION)] {
            let formula = Formula::with_predictors(text, ["x", "y"]).unwrap();
            let names = ["A", "p", "q", "s", "t", "th"];
            let at = |name: &String| start[names.iter().position(|known| known == name).expect("a parameter")];
            let start: Vec<f64> = formula.parameters().iter().map(at).collect();
            let fit = CurveFit::model(formula, &x, &y, &start).fit().unwrap();
            let angle = fit.parameter("th").expect("the angle").value;
            judge(door, from, 2.0 * fit.report().cost, angle, fit.report().is_converged());
        }
        let curves: [Constants; 2] = [by_coefficients, by_rotation];
        for (door, curve) in ["differences of coefficients", "differences of rotation"].into_iter().zip(curves) {
            let residuals = |b: &[f64], r: &mut [f64]| -> Result<(), EvaluationError> {
                let b: [f64; 6] = b.try_into().expect("there are six");
                for (i, r) in r.iter_mut().enumerate() {
                    *r = curve(x[(i, 0)], x[(i, 1)], b.map(Dual::constant)).value - y[i];
                }
                Ok(())
            };
            let mut problem = FiniteDifference::new(6, 81, residuals);
            let report = LevenbergMarquardt::new().minimize(&mut problem, &start).unwrap();
            judge(door, from, 2.0 * report.cost, report.x[5], report.is_converged());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
