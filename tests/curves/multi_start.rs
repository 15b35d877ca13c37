//! Fits from many starts: the minima are those there are, and what fails is counted.

use std::sync::atomic::{AtomicUsize, Ordering};

use marquardt::curve::{Curve, FitFailure, FromModel, Minima, MultiStart, MultiStartError};
use marquardt::solver::Status;
use marquardt::{CurveError, CurveFit, Formula, LevenbergMarquardt, Loss, SolveError, Tie};

use crate::certified::Certified;
use crate::nist::{self, DataSet};

/// Noisy samples of `sin(3x)`, not evenly spaced, or other frequencies would do as well.
fn wave() -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..25).map(|i| 0.25 * f64::from(i) + 0.1 * f64::from(i * i).sin()).collect();
    let y = x.iter().enumerate().map(|(i, x)| (3.0 * x).sin() + 0.1 * (2.3 * (i * i) as f64).sin()).collect();
    (x, y)
}

fn frequency<'a>(x: &'a [f64], y: &'a [f64]) -> CurveFit<'a, f64, impl Curve<f64> + 'a> {
    CurveFit::new(|x, [w]| (w * x).sin(), x, y, [0.6]).names(["frequency"])
}

fn assert_accounted_for(minima: &Minima<'_, f64>, starts: usize) {
    assert_eq!(minima.minima.iter().map(|minimum| minimum.starts).sum::<usize>() + minima.failed.len(), starts);
    assert!(minima.minima.is_sorted_by(|a, b| a.cost <= b.cost));
    assert_eq!(minima.best.report().x, minima.minima[0].parameters);
    assert_eq!(minima.best.report().cost, minima.minima[0].cost);
}

#[test]
fn all_minima_of_a_frequency_are_found_and_the_lowest_first() {
    let (x, y) = wave();
    let cost = |w: f64| 0.5 * x.iter().zip(&y).map(|(x, y)| ((w * x).sin() - y).powi(2)).sum::<f64>();
    let grid: Vec<f64> = (0..8000).map(|i| 0.001 * f64::from(i)).collect();
    let mut expected: Vec<f64> =
        grid.windows(3).filter(|w| cost(w[1]) < cost(w[0]) && cost(w[1]) < cost(w[2])).map(|w| w[1]).collect();
    expected.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)));
    assert!(expected.len() >= 5, "{expected:?}");

    let minima = frequency(&x, &y).multi_start().range("frequency", 0.0..=8.0).starts(100).run().unwrap();
    assert_accounted_for(&minima, 100);
    assert!((minima.best.parameters()[0].value - 3.0).abs() < 0.05, "{:?}", minima.minima);
    let found =
        |expected: f64| minima.minima.iter().filter(|minimum| (minimum.parameters[0] - expected).abs() < 1e-3).count();
    let missing: Vec<_> = expected.iter().filter(|&&expected| found(expected) != 1).collect();
    assert!(missing.is_empty(), "{missing:?} in {:?}", minima.minima);
    // The given start leads to another minimum, and is among the starts.
    let alone = frequency(&x, &y).retry(false).fit().unwrap();
    assert!((alone.parameters()[0].value - 3.0).abs() > 1.0);
    assert!(minima.minima.iter().any(|minimum| (minimum.parameters[0] - alone.report().x[0]).abs() < 1e-9));
}

#[test]
fn a_seed_gives_the_same_minima_whatever_the_number_of_threads() {
    let (x, y) = wave();
    let run = |seed: u64| {
        let minima = frequency(&x, &y).multi_start().range("frequency", 0.0..=8.0).starts(16).seed(seed).run().unwrap();
        minima.minima
    };
    let first = run(1);
    assert_eq!(first, run(1));
    assert_ne!(first, run(2));
    #[cfg(feature = "rayon")]
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(first, pool.install(|| run(1)));
    }
}

/// The certified values, by ranges alone.
#[track_caller]
fn assert_certified(
    model: nist::Model,
    starts: usize,
    ranges: impl Fn(MultiStart<'_, f64, FromModel<Certified>>) -> MultiStart<'_, f64, FromModel<Certified>>,
) {
    let set = DataSet::load(model);
    let x = set.x.concat();
    let fit = CurveFit::model(Certified(model, set.certified.len()), &x, &set.y, &set.starts[0]);
    let minima = ranges(fit.multi_start().starts(starts)).run().unwrap();
    assert!(set.parameter_digits(&minima.best.report().x) >= 9.0, "{}", minima.best);
}

#[test]
fn hard_sets_are_solved_from_ranges() {
    assert_certified(nist::Model::BoxBOD, 12, |fit| fit.range("b1", 1.0..=500.0).log_range("b2", 1e-3..=10.0));
    assert_certified(nist::Model::MGH17, 8, |fit| {
        let fit = fit.range("b1", 0.0..=1.0).range("b2", 0.0..=5.0).range("b3", -5.0..=0.0);
        fit.log_range("b4", 1e-3..=1.0).log_range("b5", 1e-3..=1.0)
    });
}

/// Two exponentials can change places: two minima of one cost.
#[test]
fn minima_are_told_apart_by_their_parameters_and_merged_where_only_rounding_differs() {
    let x: Vec<f64> = (0..20).map(|i| 0.5 * f64::from(i)).collect();
    let curve = |x: f64, k: f64, l: f64| 3.0 * (-k * x).exp() + 3.0 * (-l * x).exp();
    let noise = |i: usize| 0.01 * (5.1 * (i * i) as f64).sin();
    let y: Vec<f64> = x.iter().enumerate().map(|(i, &x)| curve(x, 0.2, 1.5) + noise(i)).collect();
    let perfect: Vec<f64> = x.iter().map(|&x| curve(x, 0.2, 1.5)).collect();
    for y in [&y, &perfect] {
        let fit = CurveFit::new(|x, [k, l]| ((-k * x).exp() + (-l * x).exp()) * 3.0, &x, y, [1.0, 0.5]);
        let minima =
            fit.multi_start().log_range("b1", 0.05..=5.0).log_range("b2", 0.05..=5.0).starts(12).run().unwrap();
        assert_accounted_for(&minima, 12);
        let lowest: Vec<_> = minima.minima.iter().filter(|minimum| minimum.cost < 0.01).collect();
        assert_eq!(lowest.len(), 2, "{:?}", minima.minima);
        assert!((lowest[0].parameters[0] - lowest[1].parameters[1]).abs() < 1e-6);
    }
}

#[test]
fn fixed_and_tied_parameters_have_no_start_of_their_own() {
    let (x, y) = wave();
    // Cut off after one step, the fit shows all its starts.
    let fit = CurveFit::new(|x, [a, b, c, d]| a * (b * x + c).sin() + d, &x, &y, [0.5, 3.0, 0.1, 1.0]);
    let fit = fit.names(["a", "b", "c", "d"]).bounds("a", 0.5..=1.5).fix("c").tie("d", Tie::new(["a"], |[a]| a * 0.01));
    let calls = AtomicUsize::new(0);
    let count = |done: usize, total: usize| {
        assert!(done <= total && total == 9);
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let fit = fit.solver(LevenbergMarquardt::new().with_max_iterations(1));
    let minima = fit.multi_start().log_range("b", 1e-4..=1e4).starts(9).observe(count).run().unwrap();
    assert_eq!((calls.load(Ordering::Relaxed), minima.failed.len()), (9, 9));
    assert_eq!(minima.failed[0].start[..3], [0.5, 3.0, 0.1]);
    let drawn = || minima.failed[1..].iter().map(|failed| &failed.start);
    assert!(drawn().all(|start| (0.5..=1.5).contains(&start[0]) && start[2] == 0.1));
    // One start in each decade, and in each eighth of the bounds.
    let strata = |stratum: &dyn Fn(&[f64]) -> f64| {
        let mut strata: Vec<_> = drawn().map(|start| stratum(start).floor() as i32).collect();
        strata.sort_unstable();
        strata
    };
    assert_eq!(strata(&|start| start[1].log10()), (-4..4).collect::<Vec<_>>());
    assert_eq!(strata(&|start| 8.0 * (start[0] - 0.5)), (0..8).collect::<Vec<_>>());
}

#[test]
fn nothing_is_lost_where_no_start_can_be_solved_from() {
    let (x, y) = wave();
    let nowhere = CurveFit::new(|_, [a]| a * f64::NAN, &x, &y, [0.5]);
    let error = nowhere.multi_start().range("b1", 0.0..=1.0).starts(5).run().map(drop).unwrap_err();
    let MultiStartError::AllFailed { failed } = &error else { panic!("{error}") };
    assert!(
        error.to_string().starts_with("none of 5 starts could be solved from; of the first: residual 0"),
        "{error}"
    );
    let is_non_finite =
        |failure: &FitFailure| matches!(failure, FitFailure::Solve(SolveError::NonFiniteResidual { .. }));
    assert!(failed.len() == 5 && failed.iter().all(is_non_finite));
}

#[test]
fn starts_that_fail_are_counted_with_their_reasons() {
    let (x, y) = wave();
    // Half of the range has no logarithm.
    let fit = CurveFit::new(|x, [w]| (w.ln() * x).sin(), &x, &y, [20.0]);
    let minima = fit.multi_start().range("b1", -30.0..=30.0).starts(21).run().unwrap();
    assert_accounted_for(&minima, 21);
    assert_eq!(minima.failed.len(), 10);
    for failed in &minima.failed {
        assert!(failed.start[0] < 0.0 && failed.end.is_none() && failed.cost == f64::INFINITY);
        assert!(matches!(failed.reason, FitFailure::Solve(SolveError::NonFiniteResidual { .. })));
    }
    // Strata of the Latin hypercube: three units each.
    let mut strata: Vec<_> = minima.failed.iter().map(|failed| (failed.start[0] / 3.0).floor() as i32).collect();
    strata.sort_unstable();
    assert_eq!(strata, (-10..0).collect::<Vec<_>>());

    // Where none converges, the best is still there.
    let hasty = frequency(&x, &y).solver(LevenbergMarquardt::new().with_max_iterations(1));
    let minima = hasty.multi_start().range("frequency", 2.5..=3.5).starts(5).run().unwrap();
    assert!(minima.minima.is_empty() && minima.failed.len() == 5);
    let lowest = minima.failed.iter().map(|failed| failed.cost).fold(f64::INFINITY, f64::min);
    assert_eq!(minima.best.report().cost, lowest);
    let is_cut_off = |failure: &FitFailure| matches!(failure, FitFailure::NotConverged(Status::MaxIterations));
    assert!(minima.failed.iter().all(|failed| is_cut_off(&failed.reason) && failed.end.is_some()));
}

#[test]
fn one_start_is_the_fit_itself() {
    let (x, y) = wave();
    let minima = frequency(&x, &y).multi_start().starts(1).run().unwrap();
    assert_eq!(minima.best.report().x, frequency(&x, &y).retry(false).fit().unwrap().report().x);
    assert_accounted_for(&minima, 1);
}

#[test]
fn what_makes_no_sense_is_named() {
    let (x, y) = wave();
    let fit = || CurveFit::new(|x, [a, w]| a * (w * x).sin(), &x, &y, [1.0, 3.0]).names(["height", "frequency"]);
    let start = || fit().bounds("height", 0.0..=2.0).multi_start();
    let message = |starts: MultiStart<'_, f64, _>| starts.run().map(drop).unwrap_err().to_string();
    assert_eq!(message(start()), "\"frequency\" has neither finite bounds nor a range to start from");
    assert_eq!(message(start().starts(0)), "at least one start is needed");
    let expected = "\"frequency\" cannot start from 2 to 1: the lower end is above the upper one";
    assert_eq!(message(start().range("frequency", 2.0..=1.0)), expected);
    let expected = "\"frequency\" cannot start from 0 to 1: a logarithmic range must be positive";
    assert_eq!(message(start().log_range("frequency", 0.0..=1.0)), expected);
    let expected = "\"frequency\" cannot start from 0 to inf: both ends must be finite";
    assert_eq!(message(start().range("frequency", 0.0..=f64::INFINITY)), expected);
    let within = start().range("frequency", 0.0..=9.0).range("height", -1.0..=1.0);
    assert_eq!(message(within), "\"height\" cannot start from -1 to 1: it is not within the bounds");
    let error = start().range("phase", 0.0..=1.0).run().map(drop).unwrap_err();
    assert!(
        matches!(&error, MultiStartError::Curve(CurveError::NoSuchParameter { name, .. }) if name == "phase"),
        "{error}"
    );
    let fixed = fit().fix("height").multi_start().range("height", 0.0..=1.0);
    assert_eq!(message(fixed), "\"height\" is fixed or tied to others, and has no start");
}

/// A frequency found in spite of outliers: the scale is judged once, and the objective is the same for all starts.
#[test]
fn a_robust_loss_is_the_same_for_all_starts() {
    let (x, mut y) = wave();
    for i in [4, 11, 18] {
        y[i] += 4.0;
    }
    for scale in [None, Some(0.3)] {
        let fit = frequency(&x, &y).robust(Loss::Cauchy);
        let fit = if let Some(scale) = scale { fit.f_scale(scale) } else { fit };
        let minima = fit.multi_start().range("frequency", 0.0..=8.0).starts(30).run().unwrap();
        assert_accounted_for(&minima, 30);
        assert!((minima.best.parameters()[0].value - 3.0).abs() < 0.05, "{:?}", minima.minima);
        let found = minima.best.robust_scale().unwrap();
        assert!(scale.map_or((0.02..1.0).contains(&found), |scale| scale == found), "{found}");
    }
    let counts = frequency(&x, &y).robust(Loss::Cauchy).counts().multi_start().range("frequency", 0.0..=8.0);
    assert!(matches!(counts.run().unwrap_err(), MultiStartError::Curve(_)));
}

/// Within bounds a minimum may lie on one of them.
#[test]
fn minima_keep_to_the_bounds() {
    let (x, y) = wave();
    let fit = frequency(&x, &y).start("frequency", 3.3).bounds("frequency", 3.2..=5.0);
    let minima = fit.multi_start().starts(12).run().unwrap();
    assert_accounted_for(&minima, 12);
    assert!(minima.minima.iter().all(|minimum| (3.2..=5.0).contains(&minimum.parameters[0])));
    assert_eq!(minima.best.parameters()[0].value, 3.2);
}

/// A start that is guessed has a range around it, within bounds.
#[test]
fn guessed_starts_need_no_ranges() {
    let x: Vec<f64> = (0..40).map(|i| 0.25 * f64::from(i)).collect();
    let y: Vec<f64> = x.iter().map(|x| 3.0 - 2.0 * (-0.7 * x).exp() + 0.01 * (17.0 * x).sin()).collect();
    let fit = || CurveFit::guessed(Formula::parse("a + b*exp(-k*x)").unwrap(), &x, &y);
    let minima = fit().multi_start().starts(8).run().unwrap();
    assert_accounted_for(&minima, 8);
    let cost = fit().fit().unwrap().report().cost;
    assert!((minima.best.report().cost - cost).abs() < 1e-9 * cost);
    let minima = fit().bounds("k", 0.2..).multi_start().starts(8).run().unwrap();
    assert_accounted_for(&minima, 8);
}
