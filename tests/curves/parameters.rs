//! What is said of parameters before a fit: starts, names, fixed values, ties, priors, scales.

use marquardt::curve::NanPolicy;
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::solver::Scaling;
use marquardt::{CurveError, CurveFit, Dual, LevenbergMarquardt, SolveError, Tie};
use ndarray::{Array2, array};

const X: [f64; 9] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0];
const Y: [f64; 9] = [5.6, 4.5, 3.7, 3.1, 2.35, 1.75, 1.2, 0.82, 0.51];

/// `a·exp(−k·x) + c`, which has a fit within the parameters' usual ranges.
fn decay<'a>() -> CurveFit<'a, f64, impl marquardt::curve::Curve<f64> + 'a> {
    let curve = |x: f64, [a, k, c]: [Dual<f64, 3>; 3]| a * (-k * x).exp() + c;
    CurveFit::new(curve, &X, &Y, [4.0, 1.0, 0.1]).names(["a", "k", "c"])
}

fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs().max(1e-300), "{found} is not {expected}");
}

#[test]
fn a_fixed_parameter_is_a_constant() {
    let fixed = decay().fix_at("c", 0.3).fit().unwrap();
    let constant =
        CurveFit::new(|x, [a, k]: [Dual<f64, 2>; 2]| a * (-k * x).exp() + 0.3, &X, &Y, [4.0, 1.0]).fit().unwrap();
    for (name, index) in [("a", 0), ("k", 1)] {
        let (found, expected) = (fixed.parameter(name).unwrap(), &constant.parameters()[index]);
        assert_close(found.value, expected.value, 1e-13);
        assert_close(found.standard_error, expected.standard_error, 1e-11);
    }
    let c = fixed.parameter("c").unwrap();
    assert_eq!((c.value, c.standard_error), (0.3, 0.0));
    assert_eq!(fixed.degrees_of_freedom(), 7);
    assert_eq!(decay().start("c", 0.3).fix("c").fit().unwrap().parameters(), fixed.parameters());
}

#[test]
fn a_tied_parameter_follows_the_others_and_so_does_its_standard_error() {
    let tied = decay().tie("c", Tie::new(["a", "k"], |[a, k]| a * k / 5.0)).fit().unwrap();
    let curve = |x: f64, [a, k]: [Dual<f64, 2>; 2]| a * (-k * x).exp() + a * k / 5.0;
    let written_out = CurveFit::new(curve, &X, &Y, [4.0, 1.0]).fit().unwrap();
    for (name, index) in [("a", 0), ("k", 1)] {
        let (found, expected) = (tied.parameter(name).unwrap(), &written_out.parameters()[index]);
        assert_close(found.value, expected.value, 1e-12);
        assert_close(found.standard_error, expected.standard_error, 1e-10);
    }
    let (a, k) = (tied.parameter("a").unwrap().value, tied.parameter("k").unwrap().value);
    let c = tied.parameter("c").unwrap();
    assert_close(c.value, a * k / 5.0, 1e-15);
    let covariance = written_out.covariance().matrix();
    let gradient = array![k / 5.0, a / 5.0];
    assert_close(c.standard_error, gradient.dot(&covariance.dot(&gradient)).sqrt(), 1e-10);
}

#[test]
fn ties_of_ties_are_followed_in_any_order() {
    let double = || Tie::new(["k"], |[k]| k * 2.0);
    let half = || Tie::new(["a"], |[a]| a * 0.5);
    let fit = decay().tie("a", double()).tie("c", half()).fit().unwrap();
    let value = |name| fit.parameter(name).unwrap().value;
    assert_close(value("a"), 2.0 * value("k"), 1e-15);
    assert_close(value("c"), value("k"), 1e-15);
    assert_eq!(fit.degrees_of_freedom(), 8);
}

#[test]
fn ties_that_go_in_circles_are_refused_by_name() {
    let itself = decay().tie("c", Tie::new(["c"], |[c]| c)).fit().unwrap_err();
    assert_eq!(itself.to_string(), "\"c\" is tied to itself");
    let circle = decay().tie("a", Tie::new(["c"], |[c]| c)).tie("c", Tie::new(["a"], |[a]| a)).fit().unwrap_err();
    assert_eq!(circle.to_string(), "\"a\" is tied to itself, by way of \"c\"");
    // One that waits for a circle is not to blame.
    let third = decay().tie("k", Tie::new(["a"], |[a]| a));
    let circle = third.tie("a", Tie::new(["c"], |[c]| c)).tie("c", Tie::new(["a"], |[a]| a)).fit().unwrap_err();
    assert!(matches!(circle, CurveError::TieToItself { names } if !names.contains(&"k".to_owned())));
    let unknown = decay().tie("c", Tie::new(["b"], |[b]| b)).fit().unwrap_err();
    assert_eq!(unknown.to_string(), "\"c\" is tied to \"b\", which is no parameter");
}

#[test]
fn a_prior_is_one_more_observation() {
    let sigma = [0.1; 9];
    let fit = decay().sigma(&sigma).absolute_sigma(true).prior("k", 0.6, 0.02).fit().unwrap();
    // The same as an own row: x = −1 marks it.
    let x: Vec<f64> = X.iter().copied().chain([-1.0]).collect();
    let y: Vec<f64> = Y.iter().copied().chain([0.6]).collect();
    let sigma: Vec<f64> = sigma.iter().copied().chain([0.02]).collect();
    let curve = |x: f64, [a, k, c]: [Dual<f64, 3>; 3]| if x < 0.0 { k } else { a * (-k * x).exp() + c };
    let expected = CurveFit::new(curve, &x, &y, [4.0, 1.0, 0.1]).sigma(&sigma).absolute_sigma(true).fit().unwrap();
    for (found, expected) in fit.parameters().iter().zip(expected.parameters()) {
        assert_close(found.value, expected.value, 1e-12);
        assert_close(found.standard_error, expected.standard_error, 1e-11);
    }
    assert_eq!(fit.degrees_of_freedom(), 7);
    let refused = decay().prior("k", 0.6, 0.02).fit().unwrap_err();
    assert!(refused.to_string().starts_with("a prior and a relative sigma exclude each other"), "{refused}");
}

#[test]
fn a_prior_on_a_tied_parameter_counts_for_those_it_follows() {
    let sigma = [0.1; 9];
    let tied = decay().tie("c", Tie::new(["a"], |[a]| a * 0.1)).sigma(&sigma).absolute_sigma(true);
    let by_c = tied.prior("c", 0.5, 0.01).fit().unwrap();
    let tied = decay().tie("c", Tie::new(["a"], |[a]| a * 0.1)).sigma(&sigma).absolute_sigma(true);
    let by_a = tied.prior("a", 5.0, 0.1).fit().unwrap();
    for (one, other) in by_c.parameters().iter().zip(by_a.parameters()) {
        assert_close(one.value, other.value, 1e-12);
        assert_close(one.standard_error, other.standard_error, 1e-10);
    }
}

#[test]
fn a_scale_changes_the_path_but_not_the_fit() {
    let plain = decay().fit().unwrap();
    let solver = || LevenbergMarquardt::new().with_scaling(Scaling::Identity);
    let scaled = decay().scale("a", 100.0).scale("k", 1e-3).solver(solver()).fit().unwrap();
    let unscaled = decay().solver(solver()).fit().unwrap();
    assert_ne!(scaled.report().iterations, unscaled.report().iterations);
    for (one, other) in scaled.parameters().iter().zip(plain.parameters()) {
        assert_close(one.value, other.value, 1e-11);
        assert_close(one.standard_error, other.standard_error, 1e-9);
    }
}

#[test]
fn several_responses_share_their_parameters() {
    let t: Vec<f64> = (0..12).map(|i| 0.25 * f64::from(i)).collect();
    let y = Array2::from_shape_fn((12, 2), |(i, j)| {
        let noise = 0.02 * (7.0 * i as f64 + 3.0 * j as f64).sin();
        noise + if j == 0 { 2.0 * (1.7 * t[i]).cos() } else { -3.4 * (1.7 * t[i]).sin() }
    });
    let motion = |t: &[f64], [a, w]: [Dual<f64, 2>; 2]| [a * (w * t[0]).cos(), -a * w * (w * t[0]).sin()];
    let fit = CurveFit::with_responses(motion, &t, &y, [1.5, 1.5]).fit().unwrap();
    // The same, a row a response.
    let x = Array2::from_shape_fn((24, 2), |(i, k)| if k == 0 { t[i / 2] } else { (i % 2) as f64 });
    let flat: Vec<f64> = y.iter().copied().collect();
    let one_each = |x: &[f64], b: [Dual<f64, 2>; 2]| motion(x, b)[x[1] as usize];
    let expected = CurveFit::with_predictors(one_each, &x, &flat, [1.5, 1.5]).fit().unwrap();
    for (found, expected) in fit.parameters().iter().zip(expected.parameters()) {
        assert_close(found.value, expected.value, 1e-13);
        assert_close(found.standard_error, expected.standard_error, 1e-11);
    }
    assert_eq!(fit.degrees_of_freedom(), 22);
    assert_eq!(fit.predict(&t[..3]).unwrap().len(), 6);
    let refused = CurveFit::with_responses(motion, &t, &flat[..12], [1.5, 1.5]).fit().unwrap_err();
    assert_eq!(refused.to_string(), "the curve has 2 responses to a row, but y has 1");
}

#[test]
fn responses_with_a_prior_fill_up_their_last_group() {
    let t = [0.0, 0.5, 1.0];
    let y = array![[2.0, 0.1], [1.4, -2.4], [-0.3, -3.2]];
    let sigma = Array2::from_elem((3, 2), 0.1);
    let motion = |t: &[f64], [a, w]: [Dual<f64, 2>; 2]| [a * (w * t[0]).cos(), -a * w * (w * t[0]).sin()];
    let fit = CurveFit::with_responses(motion, &t, &y, [1.5, 1.5]).sigma(&sigma).absolute_sigma(true);
    let fit = fit.names(["a", "w"]).prior("a", 2.0, 0.05).fit().unwrap();
    assert_eq!(fit.degrees_of_freedom(), 5);
    assert!(fit.report().is_converged());
}

#[test]
fn what_is_said_of_parameters_is_checked() {
    let message = |fit: Result<_, CurveError>| match fit {
        Ok(_) => String::new(),
        Err::<marquardt::FittedCurve<'_, f64>, _>(error) => error.to_string(),
    };
    assert_eq!(message(decay().fix("d").fit()), "there is no parameter \"d\"; there are \"a\", \"k\", \"c\"");
    assert_eq!(
        message(decay().names(["a", "k", "a"]).fit()),
        "two parameters are called \"a\"; a prefix would tell them apart"
    );
    assert_eq!(
        message(decay().bounds("k", 2.0..=1.0).fit()),
        "the lower bound of \"k\", 2, is not below its upper bound, 1"
    );
    assert_eq!(
        message(decay().bounds("c", 0.0..).tie("c", Tie::new(["a"], |[a]| a)).fit()),
        "\"c\" is tied to other parameters, and cannot have bounds; bound those"
    );
    let of_a = || Tie::new(["a"], |[a]| a);
    let twice = "\"c\" is fixed and is tied to other parameters; say one of them";
    assert_eq!(message(decay().fix("c").tie("c", of_a()).fit()), twice);
    assert_eq!(message(decay().tie("c", of_a()).fix_at("c", 1.0).fit()), twice);
    let started = message(decay().start("c", 0.1).tie("c", of_a()).fit());
    assert_eq!(started, "\"c\" has a start and is tied to other parameters; say one of them");
    assert!(decay().fix("a").tie("c", of_a()).fit().is_ok(), "of two parameters they are no contradiction");
    let sigma = [0.1; 9];
    let held = message(decay().sigma(&sigma).absolute_sigma(true).fix("a").prior("a", 1.0, 0.1).fit());
    assert_eq!(held, "\"a\" is fixed and has a prior; say one of them");
    assert_eq!(
        message(decay().sigma(&sigma).absolute_sigma(true).prior("a", 1.0, 0.0).fit()),
        "the prior of \"a\" must have a finite mean and a positive standard deviation, not 1 and 0"
    );
    assert_eq!(message(decay().scale("a", -1.0).fit()), "the scale of \"a\" must be positive and finite, not -1");
    let start = decay().start("k", f64::NAN).fit().unwrap_err();
    assert!(matches!(start, CurveError::Solve(SolveError::NonFiniteStart { name, .. }) if name == "k"));
    let nothing = decay().fix("a").fix("k").fix("c").fit().unwrap_err();
    assert!(matches!(nothing, CurveError::NothingToFit));
}

#[test]
fn too_few_observations_count_only_what_is_free() {
    let mask = [true, true, false, false, false, false, false, false, false];
    let refused = decay().mask(&mask[..]).fit().unwrap_err();
    assert_eq!(refused.to_string(), "2 observations cannot determine 3 parameters");
    let fit = decay().mask(&mask[..]).fix_at("c", 0.3).nan_policy(NanPolicy::Omit).fit().unwrap();
    assert_eq!(fit.degrees_of_freedom(), 0);
    assert!(fit.parameter("a").unwrap().standard_error.is_infinite());
}

#[test]
fn variable_projection_changes_the_path_but_not_the_fit() {
    let plain = decay().fit().unwrap();
    let projected = decay().start("a", 0.0).start("c", 0.0).variable_projection(true).fit().unwrap();
    assert!(projected.report().iterations < plain.report().iterations, "{projected}\n{plain}");
    for (one, other) in projected.parameters().iter().zip(plain.parameters()) {
        assert_close(one.value, other.value, 1e-11);
        assert_close(one.standard_error, other.standard_error, 1e-9);
    }
    let refused = decay().variable_projection(true).counts().fit().unwrap_err();
    assert!(refused.to_string().starts_with("counts and variable projection exclude each other"), "{refused}");
}

/// A curve has rows of a Jacobian, and a form that takes anything else says so, whichever way the fit goes.
#[test]
fn linear_forms_of_other_problems_are_refused() {
    let fit = |form: LinearForm, eliminates: bool| {
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
        decay().solver(solver).variable_projection(eliminates).fit()
    };
    for eliminates in [false, true] {
        let rate = |form| fit(form, eliminates).unwrap().parameter("k").unwrap().value;
        let expected = rate(LinearForm::Cholesky);
        for form in [LinearForm::Qr, LinearForm::Dual] {
            assert!((rate(form) / expected - 1.0).abs() < 1e-8, "{form}");
        }
        for form in [LinearForm::FactoredDual, LinearForm::ConjugateGradients, LinearForm::TruncatedConjugateGradients]
        {
            let error = fit(form, eliminates).unwrap_err().to_string();
            assert!(error.contains("needs a problem that multiplies by its Jacobian"), "{form}: {error}");
        }
        for form in [LinearForm::SparseCholesky, LinearForm::Schur, LinearForm::Cgnr, LinearForm::IterativeSchur] {
            let error = fit(form, eliminates).unwrap_err().to_string();
            assert!(error.contains("needs a problem whose Jacobian is made of blocks"), "{form}: {error}");
        }
    }
}

#[test]
fn variable_projection_keeps_to_bounds_and_priors() {
    let sigma = [0.1; 9];
    let prepare =
        || decay().start("k", 0.4).bounds("a", 0.0..=4.9).bounds("k", 0.2..=0.45).sigma(&sigma).absolute_sigma(true);
    let plain = prepare().prior("c", 0.3, 0.1).fit().unwrap();
    let projected = prepare().start("c", 0.0).prior("c", 0.3, 0.1).variable_projection(true).fit().unwrap();
    assert_eq!(plain.covariance().held(), projected.covariance().held());
    assert!(!plain.covariance().held().is_empty(), "{plain}");
    for (one, other) in projected.parameters().iter().zip(plain.parameters()) {
        assert_close(one.value, other.value, 1e-10);
    }
}
