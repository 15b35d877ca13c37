//! Fits that own their data move to other threads, with their observers and results.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use marquardt::curve::{BuiltFormula, FitOptions, FormulaBuilder, FromModel, Minima, MultiStart};
use marquardt::models::AnyModel;
use marquardt::{CurveFit, FitMany, FittedCurve, GlobalFit, Loss, Parameters};

fn assert_moves<F: Send + 'static>() {}

/// It is checked when compiled.
#[test]
fn fits_and_results_move_to_other_threads() {
    assert_moves::<CurveFit<'static, f64, FromModel<AnyModel>>>();
    assert_moves::<CurveFit<'static, f32, FromModel<BuiltFormula>>>();
    assert_moves::<FitMany<'static, f64, AnyModel>>();
    assert_moves::<GlobalFit<'static, f64>>();
    assert_moves::<MultiStart<'static, f64, FromModel<AnyModel>>>();
    assert_moves::<Parameters<f64, 3>>();
    assert_moves::<FitOptions<f32>>();
    assert_moves::<FormulaBuilder>();
    assert_moves::<FittedCurve<'static, f64>>();
    assert_moves::<Minima<'static, f64>>();
}

/// A fit whose names and curve are known at run time only, and whose data the caller does not keep.
fn at_run_time(names: &[String], trials: &Arc<AtomicUsize>) -> CurveFit<'static, f64, FromModel<BuiltFormula>> {
    let x: Vec<f64> = (0..30).map(|i| 0.1 * f64::from(i)).collect();
    let mut y: Vec<f64> = x.iter().map(|x| 2.0 - 0.5 * x + 0.25 * x * x).collect();
    y[7] = 1e3;
    y[8] = f64::NAN;
    let (sigma, mask): (Vec<f64>, Vec<bool>) = x.iter().map(|x| (0.1 + 0.01 * x, true)).unzip();
    let mut builder = FormulaBuilder::new();
    let (at, mut value) = (builder.predictor("x"), builder.constant(0.0));
    for name in names.iter().rev() {
        let (coefficient, higher) = (builder.parameter(name), builder.multiply(value, at));
        value = builder.add(coefficient, higher);
    }
    let formula = builder.finish(value).expect("it is a polynomial");
    let start = vec![0.0; names.len()];
    let trials = Arc::clone(trials);
    let fit = CurveFit::model(formula, &x, &y, &start).sigma(&sigma).mask(&mask[..]).robust(Loss::Tukey);
    let fit = fit.nan_policy(marquardt::curve::NanPolicy::Omit).bounds(&names[0], 0.0..);
    fit.into_owned().observe(move |_| {
        trials.fetch_add(1, Ordering::Relaxed);
    })
}

#[test]
fn an_owned_fit_is_solved_elsewhere() {
    let trials = Arc::new(AtomicUsize::new(0));
    let names: Vec<String> = (0..3).map(|order| format!("order {order}")).collect();
    let fit = at_run_time(&names, &trials);
    let here = fit.clone().fit().unwrap();
    let fitted = thread::spawn(move || fit.fit().unwrap()).join().unwrap();
    assert!(trials.load(Ordering::Relaxed) > 0);
    for (name, expected) in names.iter().zip([2.0, -0.5, 0.25]) {
        let found = fitted.parameter(name).unwrap();
        assert!((found.value - expected).abs() < 1e-9, "{name}: {}", found.value);
        assert_eq!(found, here.parameter(name).unwrap());
    }
    assert_eq!(fitted.omitted_rows(), [8]);
}
