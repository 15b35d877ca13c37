//! Bounds of a curve's parameters.

use std::sync::atomic::{AtomicUsize, Ordering};

use marquardt::autodiff::Difference;
use marquardt::curve::ParameterState;
use marquardt::models::ExponentialDecay;
use marquardt::problem::BoundSide;
use marquardt::{CurveError, CurveFit, Dual, FittedCurve, SolveError, Tie};
use proptest::prelude::*;

use crate::reference::Reference;

fn decay(x: f64, [a, k, c]: [Dual<f64, 3>; 3]) -> Dual<f64, 3> {
    a * (-k * x).exp() + c
}

#[test]
fn an_active_bound_is_a_constant_to_the_others() {
    let reference = Reference::read("curve.csv");
    let of = |what: &str| reference.of("bounded", what);
    let prepare = || CurveFit::new(decay, of("x"), of("y"), [3.0, 0.5, 0.0]).names(["a", "k", "c"]);
    let fit = prepare().bounds("c", 0.0..).fit().unwrap();
    let expected = of("parameters");
    for (parameter, expected) in fit.parameters().iter().zip(expected) {
        assert!((parameter.value - expected).abs() <= 1e-11 * expected.abs(), "{fit}");
    }
    for (parameter, expected) in fit.parameters().iter().zip(of("standard_errors")) {
        assert!((parameter.standard_error / expected - 1.0).abs() < 1e-9, "{expected}\n{fit}");
    }
    let c = fit.parameter("c").unwrap();
    assert_eq!((c.value, c.standard_error, c.state), (0.0, 0.0, ParameterState::AtLowerBound));
    let [active] = &fit.report().active[..] else { panic!("{fit}") };
    assert_eq!((active.parameter, active.side), (2, BoundSide::Lower));
    assert!((active.gradient / of("multiplier")[0] - 1.0).abs() < 1e-9);
    assert!((fit.chi_square() / of("chi_square")[0] - 1.0).abs() < 1e-12);
    assert!(fit.to_string().contains("at lower bound 0"), "{fit}");
    // A scale changes nothing of it.
    let scaled = prepare().bounds("c", 0.0..).scale("c", 1e-3).scale("a", 50.0).fit().unwrap();
    assert!((scaled.report().active[0].gradient / active.gradient - 1.0).abs() < 1e-9);
}

#[test]
fn bounds_of_all_hold_where_there_are_no_others() {
    let x: Vec<f64> = (0..15).map(|i| 0.3 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 4.0 * (-0.8 * x).exp() - 0.2).collect();
    let fit = |start: [f64; 3]| CurveFit::new(decay, &x, &y, start).names(["a", "k", "c"]).bounds_of_all(0.0..=3.5);
    let values =
        |fit: FittedCurve<'_, f64>| fit.parameters().iter().map(|parameter| parameter.value).collect::<Vec<_>>();
    let by_name = CurveFit::new(decay, &x, &y, [3.0, 0.5, 0.5]).names(["a", "k", "c"]);
    let by_name = by_name.bounds("a", 0.0..=3.5).bounds("k", 0.0..=3.5).bounds("c", 0.0..=3.5);
    assert_eq!(values(fit([3.0, 0.5, 0.5]).fit().unwrap()), values(by_name.fit().unwrap()));
    // In any order, a parameter's own bounds, value or tie come first.
    let own = values(fit([3.0, 0.5, 0.0]).bounds("c", ..=0.0).bounds_of_all(0.0..).fit().unwrap());
    assert!(own[2] < -0.19 && (own[0] - 4.0).abs() < 1e-9, "{own:?}");
    assert_eq!(values(fit([3.0, 0.5, 0.5]).fix_at("c", -0.25).fit().unwrap())[2], -0.25);
    let tie = Tie::new(["a"], |[a]| a * -0.05);
    assert!(values(fit([3.0, 0.5, 0.0]).tie("c", tie).fit().unwrap())[2] < 0.0);
    let error = fit([3.0, -0.5, 0.5]).fit().unwrap_err().to_string();
    assert!(error.contains('k'), "a start outside is named: {error}");
    // Fits of many, and in common options.
    let rows = ndarray::Array2::from_shape_fn((2, 15), |(_, i)| y[i]);
    let model = marquardt::model!(|x; a, k, c| a * exp(-k * x) + c);
    let many =
        marquardt::FitMany::new(model, &x, &rows).start(&[3.0, 0.5, 0.5]).bounds_of_all(0.0..=3.5).fit().unwrap();
    for (one, expected) in many.parameters.row(1).iter().zip(values(fit([3.0, 0.5, 0.5]).fit().unwrap())) {
        assert!((one - expected).abs() < 1e-7, "{one}, {expected}");
    }
}

#[test]
fn differences_stay_within_bounds() {
    let x: Vec<f64> = (0..15).map(|i| 0.3 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 4.0 * (-0.8 * x).exp() - 0.2).collect();
    let evaluations = AtomicUsize::new(0);
    let curve = |x: &[f64], b: &[f64]| {
        assert!((0.0..=3.5).contains(&b[0]) && (0.5..=0.7).contains(&b[1]) && b[2] >= 0.0, "{b:?}");
        evaluations.fetch_add(1, Ordering::Relaxed);
        b[0] * (-b[1] * x[0]).exp() + b[2]
    };
    for difference in [Difference::Forward, Difference::Central] {
        let fit = CurveFit::numeric(curve, difference, &x, &y, &[3.5, 0.5, 0.0]).names(["a", "k", "c"]);
        let fit = fit.bounds("a", 0.0..=3.5).bounds("k", 0.5..=0.7).bounds("c", 0.0..).fit().unwrap();
        assert_eq!(fit.report().active.len(), 2, "{fit}");
        assert_eq!((fit.parameters()[1].value, fit.parameters()[2].value), (0.7, 0.0));
    }
    assert!(evaluations.into_inner() > 0);
}

#[test]
fn a_start_outside_of_its_bounds_is_named_with_the_numbers() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0], [3.0, 2.0, 1.5, 1.2]);
    let fit = CurveFit::new(decay, &x, &y, [3.0, 0.5, 0.0]).names(["a", "k", "c"]).bounds("k", 1.0..=2.0);
    let error = fit.scale("k", 4.0).fit().unwrap_err();
    assert_eq!(error.to_string(), "the start value of \"k\" is 0.5, outside its bounds 1 and 2");
    assert!(matches!(error, CurveError::Solve(SolveError::StartOutOfBounds { .. })));
}

#[test]
fn a_guess_is_moved_within_bounds_but_not_a_start_by_hand() {
    let x: Vec<f64> = (0..15).map(|i| 0.3 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 4.0 * (-x / 1.25).exp() + 0.01 * (9.0 * x).sin()).collect();
    let guessed = || CurveFit::guessed(ExponentialDecay, &x, &y).bounds("amplitude", 0.0..=3.0);
    let fit = guessed().fit().unwrap();
    assert_eq!(fit.parameter("amplitude").unwrap().value, 3.0);
    let error = guessed().start("amplitude", 4.0).fit().unwrap_err();
    assert_eq!(error.to_string(), "the start value of \"amplitude\" is 4, outside its bounds 0 and 3");
}

#[test]
fn bounds_hold_those_that_others_are_tied_to() {
    let x: Vec<f64> = (0..15).map(|i| 0.3 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 4.0 * (-0.8 * x).exp() - 0.2 + 0.01 * (9.0 * x).sin()).collect();
    let fit = CurveFit::new(decay, &x, &y, [3.0, 0.5, 0.1]).names(["a", "k", "c"]);
    let fit = fit.bounds("a", ..=3.0).tie("c", Tie::new(["a"], |[a]| a * 0.1)).fit().unwrap();
    let [a, _, c] = fit.parameters() else { panic!("{fit}") };
    assert_eq!((a.value, a.standard_error, c.standard_error), (3.0, 0.0, 0.0));
    assert!((c.value - 0.3).abs() < 1e-15 && c.state == ParameterState::Tied);
}

#[test]
fn everything_at_a_bound_is_still_a_fit() {
    let (x, y) = ([0.0, 1.0, 2.0], [5.0, 6.0, 7.0]);
    let fit = CurveFit::new(|_, [a]: [Dual<f64, 1>; 1]| a, &x, &y, [1.0]).names(["a"]).bounds("a", 0.0..=2.0);
    let fit = fit.fit().unwrap();
    assert_eq!((fit.parameters()[0].value, fit.parameters()[0].standard_error), (2.0, 0.0));
    assert!(fit.report().is_converged() && fit.degrees_of_freedom() == 3, "{fit}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// At the minimum within bounds, the gradient vanishes for every free parameter, and pushes outwards at a bound.
    #[test]
    fn the_conditions_of_a_constrained_minimum_hold(
        truth in [1.0..5.0_f64, 0.3..1.5, -1.0..1.0],
        // Where in the box the truth is, or beside it.
        place in [-0.3..1.3_f64, -0.3..1.3, -0.3..1.3],
        width in [0.2..2.0_f64, 0.05..0.5, 0.1..1.0],
        noise in 0.001..0.3_f64,
    ) {
        let x: Vec<f64> = (0..20).map(|i| 0.25 * f64::from(i)).collect();
        let y: Vec<f64> = x
            .iter()
            .map(|x| truth[0] * (-truth[1] * x).exp() + truth[2] + noise * (37.0 * x + 1.0).sin())
            .collect();
        let lower: [f64; 3] = std::array::from_fn(|j| truth[j] - place[j] * width[j]);
        let start = std::array::from_fn(|j| lower[j] + 0.5 * width[j]);
        let mut fit = CurveFit::new(decay, &x, &y, start).names(["a", "k", "c"]);
        for (name, j) in [("a", 0), ("k", 1), ("c", 2)] {
            fit = fit.bounds(name, lower[j]..=lower[j] + width[j]);
        }
        let fit = fit.fit().unwrap();
        prop_assert!(fit.report().is_converged(), "{}", fit);
        let b: Vec<f64> = fit.parameters().iter().map(|parameter| parameter.value).collect();
        let mut gradient = [0.0; 3];
        let mut norms = [0.0; 3];
        let mut residuals = 0.0;
        for (x, y) in x.iter().zip(&y) {
            let decay = (-b[1] * x).exp();
            let r = b[0] * decay + b[2] - y;
            residuals += r * r;
            for (j, slope) in [decay, -b[0] * x * decay, 1.0].into_iter().enumerate() {
                gradient[j] += slope * r;
                norms[j] += slope * slope;
            }
        }
        for j in 0..3 {
            prop_assert!(lower[j] <= b[j] && b[j] <= lower[j] + width[j]);
            let cosine = gradient[j] / (norms[j] * residuals).sqrt();
            let holds = match fit.parameters()[j].state {
                ParameterState::AtLowerBound => b[j] == lower[j] && cosine >= 0.0,
                ParameterState::AtUpperBound => b[j] == lower[j] + width[j] && cosine <= 0.0,
                _ => cosine.abs() <= 1e-8,
            };
            prop_assert!(holds, "{j}: {cosine:e}\n{fit}");
        }
    }
}
