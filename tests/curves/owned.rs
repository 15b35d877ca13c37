//! Fits that own their data move to other threads, with their observers and results.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use marquardt::curve::{
    BuiltFormula, FitInference, FitOptions, FormulaBuilder, FromModel, ManyFits, Minima, MultiStart,
};
use marquardt::models::AnyModel;
use marquardt::{CurveFit, FitMany, FittedCurve, GlobalFit, Loss, Parameters};
use ndarray::{Array2, array};

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
    assert_moves::<FitInference<f64>>();
    assert_moves::<ManyFits<f32>>();
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

/// Many fits whose data, starts and sigma the caller does not keep, of each its own or the same for all.
fn many(has_own: bool) -> FitMany<'static, f64, AnyModel> {
    let x = Array2::from_shape_fn((4, 12), |(_, i)| 0.3 * i as f64);
    let y = x.mapv(|x| 2.0 * (-0.7 * x).exp() + 0.1 * (5.0 * x).cos());
    let (start, sigma) = (array![[1.0, 1.0], [1.5, 1.2], [2.0, 2.0], [1.0, 1.5]], x.mapv(|x| 0.1 + 0.1 * x));
    let model = AnyModel::Named("exponential_decay".parse().unwrap());
    let fits = match has_own {
        true => FitMany::new(model, &x, &y).start(&start).sigma(&sigma),
        false => FitMany::new(model, x.row(0), &y).start(start.row(0)).sigma(sigma.row(0)),
    };
    fits.absolute_sigma(true).covariances(true).bounds("decay", 0.0..).into_owned()
}

#[test]
fn owned_fits_of_many_data_sets_are_made_elsewhere() {
    let [own, shared] =
        [true, false].map(|has_own| thread::spawn(move || many(has_own).fit().unwrap()).join().unwrap());
    assert_eq!((own.converged(), shared.converged()), (4, 4));
    for fit in 0..4 {
        let [one, other] = [&own, &shared].map(|fits| fits.inference(fit).unwrap());
        for (one, other) in one.parameters().iter().zip(other.parameters()) {
            assert!((one.value - other.value).abs() < 1e-4 * other.standard_error, "{one:?}, {other:?}");
        }
    }
}
