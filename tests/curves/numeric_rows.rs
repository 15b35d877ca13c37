//! Curves that give all responses at once.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use marquardt::autodiff::Difference;
use marquardt::curve::NanPolicy;
use marquardt::solver::Status;
use marquardt::{CurveError, CurveFit, EvaluationError, LevenbergMarquardt, Loss};
use ndarray::{Array2, array};

const X: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0];
const Y: [f64; 8] = [5.1, 3.9, 3.1, 2.45, 1.9, 1.2, 0.8, 0.55];

fn decay(x: &[f64], b: &[f64], y: &mut [f64]) -> Result<(), EvaluationError> {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = b[0] * (-b[1] * x).exp() + b[2]);
    Ok(())
}

#[test]
fn the_fit_is_that_of_single_responses() {
    for difference in [Difference::Central, Difference::Forward] {
        let start = [4.0, 0.3, 0.1];
        let together = CurveFit::numeric_rows(decay, difference, &X, &Y, &start).fit().unwrap();
        let exact = CurveFit::new(|x, [a, k, c]| a * (-k * x).exp() + c, &X, &Y, start).fit().unwrap();
        assert!(together.report().is_converged());
        let digits = if difference == Difference::Central { 1e-8 } else { 1e-6 };
        for (found, exact) in together.parameters().iter().zip(exact.parameters()) {
            assert!((found.value - exact.value).abs() < digits * exact.standard_error, "{difference:?} {found:?}");
            assert!((found.standard_error / exact.standard_error - 1.0).abs() < 1e-5, "{difference:?} {found:?}");
        }
    }
}

/// Rows come all at once, without those that are left out, at each of the calls of the fit.
#[test]
fn every_call_has_all_rows_in_order() {
    let calls = Mutex::new(Vec::new());
    let counted = |x: &[f64], b: &[f64], y: &mut [f64]| {
        calls.lock().unwrap().push(x.to_vec());
        decay(x, b, y)
    };
    let mut y = Y;
    y[3] = f64::NAN;
    let fit = CurveFit::numeric_rows(counted, Difference::Central, &X, &y, &[4.0, 0.3, 0.1]);
    let fit = fit.nan_policy(NanPolicy::Omit).fit().unwrap();
    let kept = [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0];
    assert!(calls.lock().unwrap().iter().all(|x| x == &kept));
    calls.lock().unwrap().clear();
    assert_eq!(fit.predict(&[7.0, 6.0]).unwrap().len(), 2);
    assert_eq!(*calls.lock().unwrap(), [[7.0, 6.0]]);
}

/// A parameter that does not move takes no evaluations.
#[test]
fn columns_are_evaluated_for_free_parameters_alone() {
    let points = Mutex::new(Vec::new());
    let noted = |x: &[f64], b: &[f64], y: &mut [f64]| {
        points.lock().unwrap().push(b[1]);
        decay(x, b, y)
    };
    CurveFit::numeric_rows(noted, Difference::Forward, &X, &Y, &[4.0, 0.5, 0.1]).fix("b2").fit().unwrap();
    assert!(points.lock().unwrap().iter().all(|&rate| rate == 0.5));
}

#[test]
fn bounds_hold_at_every_call() {
    let within = |x: &[f64], b: &[f64], y: &mut [f64]| {
        assert!((0.0..=0.4).contains(&b[1]) && b[2] >= 0.0, "{b:?}");
        decay(x, b, y)
    };
    let fit = CurveFit::numeric_rows(within, Difference::Central, &X, &Y, &[4.0, 0.4, 0.0]);
    let fit = fit.bounds("b2", 0.0..=0.4).bounds("b3", 0.0..).fit().unwrap();
    assert_eq!(fit.parameters()[1].value, 0.4);
}

#[test]
fn several_responses_to_a_row_are_filled_in_row_after_row() {
    let x = Array2::from_shape_fn((8, 1), |(row, _)| X[row]);
    let y = Array2::from_shape_fn((8, 2), |(row, k)| if k == 0 { (-0.7 * X[row]).exp() } else { 0.7 * X[row] + 2.0 });
    let both = |x: &[f64], b: &[f64], y: &mut [f64]| {
        for (y, x) in y.chunks_exact_mut(2).zip(x) {
            (y[0], y[1]) = ((-b[0] * x).exp(), b[0] * x + b[1]);
        }
        Ok(())
    };
    let fit = CurveFit::numeric_rows(both, Difference::Central, &x, &y, &[0.2, 0.0]).fit().unwrap();
    assert!((fit.parameters()[0].value - 0.7).abs() < 1e-9 && (fit.parameters()[1].value - 2.0).abs() < 1e-9);
}

/// Responses with errors of 1e-8, as an integrator makes them: steps for exact ones would find noise instead of slopes.
#[test]
fn the_accuracy_of_responses_decides_how_far_differences_reach() {
    let noisy = |x: &[f64], b: &[f64], y: &mut [f64]| {
        decay(x, b, y)?;
        let noise = |i: usize, y: f64| y * (1.0 + 1e-8 * ((1e12 * y).sin() + (i as f64 + 1e12 * b[1]).cos()));
        y.iter_mut().enumerate().for_each(|(i, y)| *y = noise(i, *y));
        Ok(())
    };
    let exact = CurveFit::new(|x, [a, k, c]| a * (-k * x).exp() + c, &X, &Y, [4.0, 0.3, 0.1]).fit().unwrap();
    let fit = |accuracy: f64| {
        let fit = CurveFit::numeric_rows(noisy, Difference::Central, &X, &Y, &[4.0, 0.3, 0.1]).accuracy(accuracy);
        let fit = fit.fit().unwrap();
        let errors = fit.parameters().iter().zip(exact.parameters());
        errors.map(|(found, exact)| (found.standard_error / exact.standard_error - 1.0).abs()).fold(0.0, f64::max)
    };
    let (told, untold) = (fit(1e-8), fit(f64::EPSILON));
    assert!(told < 1e-4 && untold > 10.0 * told, "{told:e} {untold:e}");
}

type Simulator = fn(&[f64], &[f64], &mut [f64]) -> Result<(), EvaluationError>;

#[test]
fn what_goes_wrong_is_said() {
    let fit = |simulate: Simulator| CurveFit::numeric_rows(simulate, Difference::Central, &X, &Y, &[4.0, 0.3, 0.1]);
    for accuracy in [0.0, -1e-3, 1.0, f64::NAN] {
        let error = fit(decay).accuracy(accuracy).fit().unwrap_err().to_string();
        assert!(
            error.contains(&format!("the accuracy of responses must be between 0 and 1, not {accuracy}")),
            "{error}"
        );
    }
    let error = fit(|_, _, _| Err("the integrator stands still".into())).fit().unwrap_err().to_string();
    assert!(error.contains("the integrator stands still"), "{error}");
    // The last response is forgotten.
    let error = fit(|x, b, y| decay(&x[1..], b, &mut y[..7])).fit().unwrap_err();
    assert!(matches!(error, CurveError::NonFiniteResponse { row: 7, .. }), "{error}");
    assert_eq!(error.to_string(), "the curve is NaN in row 8 at the start");
    let two = array![[1.0, 2.0], [2.0, 3.0]];
    let error =
        CurveFit::numeric_rows(decay, Difference::Central, &[0.0, 1.0], &two, &[1.0, 1.0, 1.0]).mask(&[true][..]);
    assert_eq!(error.fit().unwrap_err().to_string(), "the mask has 1 entry for 2 rows");
    // An error on the way keeps the best point.
    let far = fit(|x, b, y| if b[1] > 0.45 { Err("too fast".into()) } else { decay(x, b, y) }).fit().unwrap();
    assert!(!far.report().is_converged() && far.report().error.as_ref().unwrap().to_string() == "too fast");
}

/// A simulator breaks down after some calls: once the solve has begun, its best point is what is left, with all that was known
/// of it, and nobody's error.
#[test]
fn what_breaks_down_on_the_way_leaves_the_best_point() {
    for is_robust in [false, true] {
        let mut ended = 0;
        for lasting in 0..400 {
            let calls = AtomicUsize::new(0);
            let brittle = |x: &[f64], b: &[f64], y: &mut [f64]| {
                if calls.fetch_add(1, Ordering::Relaxed) >= lasting { Err("broken".into()) } else { decay(x, b, y) }
            };
            let fit = CurveFit::numeric_rows(brittle, Difference::Forward, &X, &Y, &[4.0, 0.3, 0.1]);
            let fit = if is_robust { fit.robust(Loss::Huber) } else { fit };
            let fit = match fit.fit() {
                Ok(fit) => fit,
                Err(error) => {
                    assert!(ended == 0 && error.to_string().contains("broken"), "{lasting}: {error}");
                    continue;
                }
            };
            ended += 1;
            let (report, text) = (fit.report(), fit.to_string());
            assert!(report.cost.is_finite() && report.cost <= report.initial_cost, "{lasting}: {report}");
            assert!(!text.contains("NaN"), "{lasting}: {text}");
            if report.status == Status::EvaluationFailed {
                assert!(report.error.as_ref().is_some_and(|error| error.to_string().contains("broken")), "{report}");
                // The point has been linearised: its statistics need no further call.
                assert!(fit.covariance_error().is_none(), "{lasting}: {:?}", fit.covariance_error());
                assert!(fit.parameters().iter().all(|parameter| parameter.standard_error.is_finite()), "{text}");
                assert!(fit.fitted().iter().all(|y| y.is_finite()), "{text}");
            }
        }
        assert!(ended > 300, "{ended}");
    }
}

/// The solve, its test of the end, the covariance and the statistics take what is known of a point.
#[test]
fn no_point_is_evaluated_twice() {
    for difference in [Difference::Forward, Difference::Central] {
        for (is_robust, is_bounded, is_weighted) in
            [(false, false, false), (true, false, false), (false, true, false), (true, true, true)]
        {
            let calls = Mutex::new(Vec::new());
            let counted = |x: &[f64], b: &[f64], y: &mut [f64]| {
                calls.lock().unwrap().push(b.to_vec());
                decay(x, b, y)
            };
            let mut fit = CurveFit::numeric_rows(counted, difference, &X, &Y, &[4.0, 0.3, 0.1]);
            if is_robust {
                fit = fit.robust(Loss::Huber).f_scale(0.1);
            }
            if is_bounded {
                fit = fit.bounds("b2", 0.0..0.35);
            }
            if is_weighted {
                fit = fit.sigma(&[0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0]);
            }
            let fit = fit.fit().unwrap();
            assert!(fit.fitted().len() == X.len() && !fit.to_string().is_empty());
            let mut points: Vec<Vec<u64>> = Vec::new();
            for x in calls.lock().unwrap().iter() {
                let bits = x.iter().map(|x| x.to_bits()).collect();
                assert!(!points.contains(&bits), "{difference:?}, {is_robust}, {is_bounded}: {x:?} again");
                points.push(bits);
            }
        }
    }
}

/// Polishing by forward differences doubles the calls for half a digit: it is done where it is asked for.
#[test]
fn forward_differences_polish_if_asked() {
    let polish_steps = |difference, polish: Option<bool>| {
        let fit = CurveFit::numeric_rows(decay, difference, &X, &Y, &[4.0, 0.3, 0.1]);
        let solver = LevenbergMarquardt::new();
        let fit = fit.solver(polish.map_or(solver.clone(), |polish| solver.with_polish(polish))).fit().unwrap();
        assert!(fit.report().is_converged());
        fit.report().log.iter().filter(|record| record.polish).count()
    };
    assert_eq!(polish_steps(Difference::Forward, None), 0);
    assert!(polish_steps(Difference::Forward, Some(true)) > 0);
    assert!(polish_steps(Difference::Central, None) > 0);
    assert_eq!(polish_steps(Difference::Central, Some(false)), 0);
}
