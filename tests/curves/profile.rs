//! Profile-likelihood intervals and contours.

use std::f64::consts::{FRAC_PI_4, TAU};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::{Curve, IntervalEnd, ProfileError, StatisticsError};
use marquardt::solver::{CancelToken, Status};
use marquardt::{CurveFit, Dual, EvaluationError, FittedCurve, LevenbergMarquardt, Loss, Scalar, Tie, curve_fit};
use rand_distr::{Distribution, StandardNormal};

use crate::certified::Certified;
use crate::nist::{self, DataSet};
use crate::reference::Reference;

fn certified(model: nist::Model) -> FittedCurve<'static, f64> {
    let set: &'static DataSet = Box::leak(Box::new(DataSet::load(model)));
    let x: &'static Vec<f64> = Box::leak(Box::new(set.x.concat()));
    CurveFit::model(Certified(model, set.certified.len()), x, &set.y, &set.starts[1]).fit().unwrap()
}

#[track_caller]
fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} is not {expected}");
}

/// The worst of all ends of all parameters at two levels.
#[track_caller]
fn assert_reference(model: nist::Model, case: &str) {
    let (reference, fit) = (Reference::read("curve.csv"), certified(model));
    for (level, label) in [(0.95, "95"), (0.6827, "6827")] {
        let [low, high] = ["lower", "upper"].map(|side| reference.of(case, &format!("profile_{label}_{side}")));
        for (j, parameter) in fit.parameters().iter().enumerate() {
            let interval = fit.profile_interval(&parameter.name, level).unwrap();
            assert_eq!((interval.low_end, interval.high_end), (IntervalEnd::Level, IntervalEnd::Level));
            assert_close(interval.low, low[j], 1e-11);
            assert_close(interval.high, high[j], 1e-11);
        }
    }
    let eighths = (0..8).map(|k| (FRAC_PI_4 * f64::from(k)).sin_cos()).map(|(sine, cosine)| [cosine, sine]);
    let contour = fit.contour_towards("b1", "b2", 0.95, &eighths.collect::<Vec<_>>()).unwrap();
    let [first, second] = ["contour_first", "contour_second"].map(|name| reference.of(case, name));
    assert_eq!((contour.points.len(), contour.failed.len()), (8, 0));
    for (point, (&first, &second)) in contour.points.iter().zip(first.iter().zip(second)) {
        assert_eq!(point.end, IntervalEnd::Level);
        assert_close(point.at[0], first, 1e-10);
        assert_close(point.at[1], second, 1e-10);
    }
}

#[test]
fn misra1a_is_as_in_the_reference() {
    assert_reference(nist::Model::Misra1a, "misra1a");
}

#[test]
fn thurber_is_as_in_the_reference() {
    assert_reference(nist::Model::Thurber, "thurber");
}

#[test]
fn eckerle4_is_as_in_the_reference() {
    assert_reference(nist::Model::Eckerle4, "eckerle4");
}

const X: [f64; 8] = [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0];
const Y: [f64; 8] = [5.1, 4.0, 3.15, 1.9, 1.25, 0.7, 0.28, 0.04];

fn decay<'a>() -> CurveFit<'a, f64, impl Curve<f64> + 'a> {
    CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &X, &Y, [3.0, 1.0]).names(["a", "k"])
}

/// For a straight line the profile is that of Student's t, and the contour an ellipse.
#[test]
fn linear_curves_have_the_intervals_of_students_t() {
    let fit = curve_fit(|x, [a, b]| a + b * x, &X, &Y, [0.0, 0.0]).unwrap();
    // scipy.stats.t.ppf(0.975, 6)
    let t = 2.446_911_851_144_969;
    for parameter in fit.parameters() {
        let interval = fit.profile_interval(&parameter.name, 0.95).unwrap();
        assert_close(interval.high - parameter.value, t * parameter.standard_error, 1e-10);
        assert_close(parameter.value - interval.low, t * parameter.standard_error, 1e-10);
    }
    let profile = fit.profile("b2", 0.95, 3).unwrap();
    assert!(profile.points.len() >= 9 && profile.points.is_sorted_by(|one, other| one.value < other.value));
    for point in &profile.points {
        let tau = (point.value - fit.parameters()[1].value) / fit.parameters()[1].standard_error;
        assert!((point.tau - tau).abs() < 1e-9, "{point:?}");
        assert_eq!(point.parameters[1], point.value);
    }
    // Evenly spread on either side.
    for quarter in (-4..=4).map(|quarter| 0.25 * f64::from(quarter)) {
        let is_there = profile.points.iter().any(|point| (point.tau - quarter * t).abs() < 1e-9);
        assert!(is_there, "{quarter} of {t}: {profile:?}");
    }
    // On the ellipse, uᵀ C⁻¹ u is twice the quantile of F(2, 6).
    let c = fit.covariance().matrix();
    let determinant = c[[0, 0]] * c[[1, 1]] - c[[0, 1]] * c[[0, 1]];
    let contour = fit.contour("b1", "b2", 0.95, 12).unwrap();
    assert_eq!(contour.points.len(), 12);
    let (errors, correlation) = ([0, 1].map(|j| fit.parameters()[j].standard_error), fit.covariance().correlation());
    let correlation = correlation[[0, 1]];
    for (k, point) in contour.points.iter().enumerate() {
        let [u, v] = [0, 1].map(|j| point.at[j] - fit.parameters()[j].value);
        // Evenly spread over the circle that the ellipse is in units of the errors, without the correlation.
        let along = u / errors[0];
        let across = (v / errors[1] - correlation * along) / (1.0 - correlation * correlation).sqrt();
        let (sine, cosine) = (TAU * k as f64 / 12.0).sin_cos();
        let radius = along.hypot(across);
        assert!((along - radius * cosine).abs() < 1e-8 && (across - radius * sine).abs() < 1e-8, "{point:?}");
        let form = (c[[1, 1]] * u * u - 2.0 * c[[0, 1]] * u * v + c[[0, 0]] * v * v) / determinant;
        // 2 · scipy.stats.f.ppf(0.95, 2, 6)
        assert_close(form, 10.286_505_699_569_439, 1e-9);
    }
}

/// The mean of one Poisson count of 7: where its deviance has grown by the quantile of χ²₁ (by `scipy.stats`).
#[test]
fn a_single_parameter_and_counts() {
    let fit = CurveFit::new(|_, [mean]| mean, &[0.0], &[7.0], [3.0]).counts().fit().unwrap();
    let interval = fit.profile_interval("b1", 0.95).unwrap();
    let excess = |mean: f64| 2.0 * (mean - 7.0 - 7.0 * (mean / 7.0).ln());
    // scipy.stats.chi2.ppf(0.95, 1)
    for end in [interval.low, interval.high] {
        assert_close(excess(end), 3.841_458_820_694_124, 1e-10);
    }
    assert!(interval.low < 7.0 && interval.high > 7.0);
}

#[test]
fn known_noise_takes_the_normal_distribution() {
    let sigma = [0.1; 8];
    let fit = decay().sigma(&sigma).absolute_sigma(true).fit().unwrap();
    let interval = fit.profile_interval("k", 0.95).unwrap();
    for end in [interval.low, interval.high] {
        let held = decay().sigma(&sigma).absolute_sigma(true).fix_at("k", end).fit().unwrap();
        let excess = held.report().sum_of_squares() - fit.report().sum_of_squares();
        assert_close(excess, 3.841_458_820_694_124, 1e-9);
    }
    let contour = fit.contour("a", "k", 0.9, 5).unwrap();
    for point in &contour.points {
        let residuals = X.iter().zip(&Y).map(|(x, y)| (point.at[0] * (-point.at[1] * x).exp() - y) / 0.1);
        let excess = residuals.map(|r| r * r).sum::<f64>() - fit.report().sum_of_squares();
        // scipy.stats.chi2.ppf(0.9, 2)
        assert_close(excess, 4.605_170_185_988_092, 1e-9);
    }
}

#[test]
fn bounds_end_an_interval() {
    let free = decay().fit().unwrap();
    let whole = free.profile_interval("k", 0.95).unwrap();
    let upper = 0.5 * (free.parameters()[1].value + whole.high);
    let bounded = decay().start("k", 0.3).bounds("k", ..=upper).fit().unwrap().profile_interval("k", 0.95).unwrap();
    assert_eq!((bounded.high, bounded.high_end, bounded.low_end), (upper, IntervalEnd::Bound, IntervalEnd::Level));
    assert_close(bounded.low, whole.low, 1e-10);
    let contour = decay().start("k", 0.3).bounds("k", ..=upper).fit().unwrap().contour("a", "k", 0.95, 16).unwrap();
    assert!(
        contour
            .points
            .iter()
            .all(|point| point.at[1] <= upper && (point.end == IntervalEnd::Bound) == (point.at[1] == upper))
    );
    assert!(contour.points.iter().any(|point| point.end == IntervalEnd::Bound));
}

/// Without a count the mean may be anything down to zero, where the likelihood ends.
#[test]
fn the_edge_of_what_has_a_value_ends_an_interval() {
    let counts = [3.0, 1.0];
    let fit = CurveFit::new(|x, [mean, excess]| mean + excess * x, &[0.0, 1.0], &counts, [2.0, 0.1]).counts();
    let fit = fit.fix_at("b1", 0.5).fit().unwrap();
    let interval = fit.profile_interval("b2", 0.9999).unwrap();
    assert!((interval.low + 0.5).abs() < 0.01 && interval.low > -0.5, "{interval:?}");
    let certain = CurveFit::new(|_, [mean]| mean.sqrt() * 3.0 + 5.0, &[0.0, 1.0], &[5.5, 5.7], [0.04]).fit().unwrap();
    let interval = certain.profile_interval("b1", 0.95).unwrap();
    assert_eq!(interval.low_end, IntervalEnd::Edge);
    assert!(interval.low.abs() < 1e-12, "{interval:?}");
}

/// From data without a plateau the rate may be zero, and the height infinite.
#[test]
fn flat_profiles_are_open() {
    let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0], [1.05, 1.9, 3.0, 3.7, 4.5]);
    let rise = CurveFit::new(|x, [a, k]| -a * (-k * x).exp_m1(), &x, &y, [20.0, 0.05]).names(["a", "k"]).fit().unwrap();
    let height = rise.profile_interval("a", 0.95).unwrap();
    assert_eq!((height.high, height.high_end, height.low_end), (f64::INFINITY, IntervalEnd::Open, IntervalEnd::Level));
    // Only the sum of the two matters.
    let sum = curve_fit(|x, [a, b, c]| a + b + c * x, &x, &y, [0.1, 0.1, 0.5]).unwrap();
    let open = sum.profile_interval("b1", 0.95).unwrap();
    assert_eq!((open.low, open.high), (-f64::INFINITY, f64::INFINITY));
    let slope = sum.profile_interval("b3", 0.95).unwrap();
    assert_eq!((slope.low_end, slope.high_end), (IntervalEnd::Level, IntervalEnd::Level));
    let across = sum.contour("b1", "b3", 0.95, 8).unwrap();
    assert!(across.points.iter().any(|point| point.end == IntervalEnd::Open && point.at[0].is_infinite()));
}

/// The fit of a frequency that ends in a wrong minimum; the profile of the height leads out of it.
#[test]
fn a_better_minimum_is_handed_over() {
    let x: Vec<f64> = (0..30).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> =
        x.iter().enumerate().map(|(i, x)| (2.0 * x).sin() + 0.05 * (3.1 * (i * i) as f64).sin()).collect();
    let fit = CurveFit::new(|x, [w]| (w * x).sin(), &x, &y, [3.5]).retry(false).fit().unwrap();
    assert!((fit.parameters()[0].value - 2.0).abs() > 1.0, "{fit}");
    let error = fit.profile_interval("b1", 0.999999).unwrap_err();
    let ProfileError::BetterMinimum { parameters, chi_square, before } = &error else { panic!("{error}") };
    assert!((parameters[0] - 2.0).abs() < 0.05 && chi_square < before);
    assert_close(*before, fit.report().sum_of_squares(), 1e-12);
    assert!(error.to_string().contains("fit again from there"));
}

/// Residuals that are all rounding leave no room; neither does a fit without degrees of freedom say anything.
#[test]
fn perfect_data() {
    let y = X.map(|x| 5.0 * (-0.5 * x).exp());
    let fit = curve_fit(|x, [a, k]| a * (-k * x).exp(), &X, &y, [3.0, 1.0]).unwrap();
    let interval = fit.profile_interval("b2", 0.95).unwrap();
    assert!((interval.low - 0.5).abs() < 1e-13 && (interval.high - 0.5).abs() < 1e-13, "{interval:?}");
    let exact = curve_fit(|x, [a, k]| a * (-k * x).exp(), &X[..2], &Y[..2], [3.0, 1.0]).unwrap();
    assert!(matches!(
        exact.profile_interval("b2", 0.95).unwrap_err(),
        ProfileError::Statistics(StatisticsError::NoDegreesOfFreedom)
    ));
    assert!(matches!(
        exact.contour("b1", "b2", 0.95, 8).unwrap_err(),
        ProfileError::Statistics(StatisticsError::NoDegreesOfFreedom)
    ));
}

#[test]
fn single_precision_has_its_digits() {
    let (x, y) = (X.map(|x| x as f32), Y.map(|y| y as f32));
    let single = curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [3.0, 1.0]).unwrap();
    let found = single.profile_interval("b2", 0.95).unwrap();
    let expected = decay().fit().unwrap().profile_interval("k", 0.95).unwrap();
    assert_close(f64::from(found.low), expected.low, 1e-4);
    assert_close(f64::from(found.high), expected.high, 1e-4);
}

#[test]
fn what_has_no_profile_is_named() {
    let message = |error: ProfileError| error.to_string();
    let fit = decay().fix_at("a", 5.0).fit().unwrap();
    assert_eq!(message(fit.profile_interval("a", 0.95).unwrap_err()), "\"a\" is fixed, and has no profile");
    assert_eq!(
        message(fit.profile_interval("b", 0.95).unwrap_err()),
        "there is no parameter \"b\"; there are \"a\", \"k\""
    );
    assert_eq!(
        message(fit.profile_interval("k", 95.0).unwrap_err()),
        "the confidence level must be between 0 and 1, not 95"
    );
    let tied = decay().tie("a", Tie::new(["k"], |[k]| k * 9.0)).fit().unwrap();
    assert_eq!(message(tied.profile_interval("a", 0.95).unwrap_err()), "\"a\" is tied to others, and has no profile");
    assert!(tied.profile_interval("k", 0.95).is_ok());
    for level in [0.0, 1.0, f64::NAN] {
        let error = decay().fit().unwrap().contour("a", "k", level, 8).unwrap_err();
        assert!(matches!(error, ProfileError::Statistics(StatisticsError::Level { .. })), "{error}");
    }
    let error = tied.contour("k", "k", 0.95, 8).unwrap_err();
    assert_eq!(message(error), "a contour needs two parameters, not \"k\" twice");
}

/// A bound that holds a parameter ends its interval on that side; on the other the rest is fitted along.
#[test]
fn a_parameter_held_by_a_bound_has_one_side() {
    let free = decay().fit().unwrap().profile_interval("k", 0.95).unwrap();
    let upper = 0.5 * (free.low + decay().fit().unwrap().parameters()[1].value);
    let held = decay().start("k", 0.3).bounds("k", ..=upper).fit().unwrap();
    assert_eq!(held.parameters()[1].value, upper);
    let interval = held.profile_interval("k", 0.95).unwrap();
    assert_eq!((interval.high, interval.high_end, interval.low_end), (upper, IntervalEnd::Bound, IntervalEnd::Level));
    assert!(interval.low < upper && interval.low > 0.0);
    // The other one is fitted with it held.
    let height = held.profile_interval("a", 0.95).unwrap();
    assert!(height.low < held.parameters()[0].value && held.parameters()[0].value < height.high);
}

/// Where hardly a residual is beyond its scale, a robust loss is least squares.
#[test]
fn a_robust_loss_has_profiles_of_its_own() {
    let plain = decay().fit().unwrap().profile_interval("k", 0.95).unwrap();
    let wide = decay().robust(Loss::Huber).f_scale(10.0).fit().unwrap().profile_interval("k", 0.95).unwrap();
    assert_close(wide.low, plain.low, 1e-9);
    assert_close(wide.high, plain.high, 1e-9);
    // An outlier that is not looked at changes little.
    let mut y = Y;
    y[3] = 9.0;
    let with_outlier = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &X, &y, [5.0, 0.5]).robust(Loss::Tukey);
    let robust = with_outlier.fit().unwrap().profile_interval("b2", 0.95).unwrap();
    assert!((robust.low - plain.low).abs() < 0.05 && (robust.high - plain.high).abs() < 0.05, "{robust:?}, {plain:?}");
}

/// As long as no residual of a mean crosses the scale of the loss, its cost is a parabola with the curvature of the others.
#[test]
fn the_profile_of_a_robust_mean_is_that_of_its_standard_error() {
    let y = [1.0, 1.3, 0.8, 1.1, 0.9, 1.2, 30.0, 40.0];
    let fit = CurveFit::new(|_, [mean]| mean, &X, &y, [1.0]).robust(Loss::Huber).f_scale(5.0).fit().unwrap();
    let (profile, linear) = (fit.profile_interval("b1", 0.5).unwrap(), fit.confidence_interval("b1", 0.5).unwrap());
    assert_close(profile.low, linear.low, 1e-9);
    assert_close(profile.high, linear.high, 1e-9);
}

/// A generalised logistic curve turns into Gompertz's, which the data do not exclude: one direction leads far away.
#[test]
fn a_direction_that_is_lost_does_not_take_the_others_along() {
    let fit = certified(nist::Model::Rat43);
    let contour = fit.contour("b1", "b2", 0.95, 8).unwrap();
    let at_level = contour.points.iter().filter(|point| point.end == IntervalEnd::Level).count();
    assert!(at_level >= 7 && contour.points.len() + contour.failed.len() == 8, "{contour:?}");
}

/// `a exp(−(x/t)^b)`, which has no value for a negative `t`.
fn stretched(x: f64, [a, t, b]: [Dual<f64, 3>; 3]) -> Dual<f64, 3> {
    a * (-Scalar::pow(t.recip() * x, b)).exp()
}

const STEPS: [f64; 8] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];

/// The level is not reached before `t` is zero.
#[test]
fn a_wall_of_the_curve_ends_an_interval() {
    let y = [3.9, 3.63, 1.69, -0.13, -0.3, 1.52, 0.28, -1.33];
    let fit = CurveFit::new(stretched, &STEPS, &y, [4.0, 3.0, 1.5]).fit().unwrap();
    let interval = fit.profile_interval("b2", 0.95).unwrap();
    assert_eq!((interval.low_end, interval.high_end), (IntervalEnd::Edge, IntervalEnd::Level));
    assert!(interval.low > 0.0 && interval.low < 1e-12 && interval.high > 3.1, "{interval:?}");
    // The level comes first where it is lower.
    let narrow = fit.profile_interval("b2", 0.5).unwrap();
    assert_eq!((narrow.low_end, narrow.high_end), (IntervalEnd::Level, IntervalEnd::Level));
    let profile = fit.profile("b2", 0.95, 4).unwrap();
    assert_eq!(profile.interval, interval);
    assert!(profile.points.iter().all(|point| point.tau.is_finite() && point.value >= interval.low), "{profile:?}");
    let contour = fit.contour("b1", "b2", 0.95, 12).unwrap();
    assert!(contour.points.iter().all(|point| point.at[1] > 0.0), "{contour:?}");
    assert_eq!(contour.points.len() + contour.failed.len(), 12);
    assert!(contour.failed.iter().all(|error| matches!(error, ProfileError::Unfinished { .. })), "{contour:?}");
}

/// Between 1 and 2 the curve has no value. The first look goes beyond, where the level is exceeded.
#[test]
fn a_gap_of_the_curve_is_an_edge_and_no_jump() {
    let y = [-2.5, 2.75].repeat(4);
    let with_gap = |_, [b]: [Dual<f64, 1>; 1]| b * b * b + ((b - 1.0) * (b - 2.0)).sqrt() * 0.0;
    let interval = CurveFit::new(with_gap, &X, &y, [0.4]).fit().unwrap().profile_interval("b1", 0.95).unwrap();
    assert_eq!((interval.low_end, interval.high_end), (IntervalEnd::Level, IntervalEnd::Edge));
    assert!((interval.high - 1.0).abs() < 1e-9, "{interval:?}");
}

/// Noise as large as this leads to walls, to valleys without end, and to other minima; every search comes to an end that
/// says what it met.
#[test]
fn every_search_ends() {
    const SEED: u64 = 15;
    const MOST: usize = 10_000;
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let (mut edges, mut jumps, mut unfinished) = (0, 0, 0);
    for set in 0..107 {
        let noisy = |x: f64| {
            let noise: f64 = StandardNormal.sample(&mut random);
            4.0 * (-(x / 3.0).powf(1.5)).exp() + noise
        };
        let y = STEPS.map(noisy);
        let rows = AtomicUsize::new(0);
        let counted = |x, b| {
            rows.fetch_add(1, Ordering::Relaxed);
            stretched(x, b)
        };
        let solver = LevenbergMarquardt::new().with_max_iterations(100);
        let fit = CurveFit::new(counted, &STEPS, &y, [4.0, 3.0, 1.5]).solver(solver).fit().unwrap();
        rows.store(0, Ordering::Relaxed);
        let found = fit.profile_interval("b2", 0.95);
        let evaluations = rows.load(Ordering::Relaxed) / STEPS.len();
        assert!(evaluations <= MOST, "set {set} of seed {SEED}: {evaluations} evaluations for {found:?}");
        match found {
            Ok(interval) => {
                let value = fit.parameters()[1].value;
                assert!(interval.low <= value && value <= interval.high, "set {set} of seed {SEED}: {interval:?}");
                edges += usize::from(interval.low_end == IntervalEnd::Edge);
            }
            Err(error @ ProfileError::Unfinished { .. }) => {
                unfinished += 1;
                let ProfileError::Unfinished { reached, tau, level, .. } = &error else { unreachable!() };
                assert!(tau < level && reached.starts_with("b2 = "), "set {set} of seed {SEED}: {error}");
            }
            Err(ProfileError::Jump { .. }) => jumps += 1,
            Err(ProfileError::BetterMinimum { .. }) => {}
            Err(error) => panic!("set {set} of seed {SEED}: {error}"),
        }
    }
    // The test has seen what it is about.
    assert!(edges >= 10 && jumps >= 1 && unfinished >= 1, "seed {SEED}: {edges}, {jumps}, {unfinished}");
}

#[test]
fn a_search_hears_the_cancel_token() {
    let token = CancelToken::new();
    let solver = || LevenbergMarquardt::new().with_cancel_token(token.clone());
    let (two, one) =
        (decay().solver(solver()).fit().unwrap(), decay().fix_at("a", 5.0).solver(solver()).fit().unwrap());
    token.cancel();
    for fit in [&two, &one] {
        let error = fit.profile_interval("k", 0.95).unwrap_err();
        let ProfileError::Unfinished { tau, source, .. } = &error else { panic!("{error}") };
        assert!(
            *tau == 0.0 && matches!(**source, ProfileError::NotConverged { status: Status::Cancelled, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_fit_that_uses_up_its_time_ends_the_search() {
    let solver = LevenbergMarquardt::new().with_time_limit(Duration::ZERO);
    let rows = AtomicUsize::new(0);
    let counted = |x: f64, [a, k]: [Dual<f64, 2>; 2]| {
        rows.fetch_add(1, Ordering::Relaxed);
        a * (-k * x).exp()
    };
    let fit = CurveFit::new(counted, &X, &Y, [5.0, 0.5]).names(["a", "k"]).solver(solver).fit().unwrap();
    rows.store(0, Ordering::Relaxed);
    let error = fit.profile_interval("k", 0.95).unwrap_err();
    let ProfileError::Unfinished { source, .. } = &error else { panic!("{error}") };
    assert!(matches!(**source, ProfileError::NotConverged { status: Status::TimeLimit, .. }), "{error}");
    // At once, and from no other start.
    assert!(rows.load(Ordering::Relaxed) <= 4 * X.len(), "{rows:?}");
}

#[test]
fn a_search_whose_fits_all_fail_gives_up() {
    let solver = LevenbergMarquardt::new().with_max_iterations(0);
    let error = decay().solver(solver).fit().unwrap().profile_interval("k", 0.95).unwrap_err();
    let ProfileError::Unfinished { tau, source, .. } = &error else { panic!("{error}") };
    let is_of_the_limit = matches!(**source, ProfileError::NotConverged { status: Status::MaxIterations, .. });
    assert!(*tau == 0.0 && is_of_the_limit, "{error}");
}

/// The mean, which is refused beyond 1.3.
struct Limited;

impl Curve<f64> for Limited {
    fn parameter_count(&self) -> usize {
        1
    }

    fn responses(&self, _: &[f64], _: usize, b: &[f64], y: &mut [f64]) -> Result<(), EvaluationError> {
        y.fill(b[0]);
        if b[0] > 1.3 { Err("out of range".into()) } else { Ok(()) }
    }

    fn linearize(
        &self,
        x: &[f64],
        width: usize,
        b: &[f64],
        y: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        jacobian.fill(1.0);
        self.responses(x, width, b, y)
    }
}

#[test]
fn a_search_comes_close_to_where_fits_fail() {
    let y = [-1.0, 3.0].repeat(4);
    let error = CurveFit::curve(Limited, &X, &y, &[0.5]).fit().unwrap().profile_interval("b1", 0.95).unwrap_err();
    let ProfileError::Unfinished { reached, .. } = &error else { panic!("{error}") };
    let reached: f64 = reached.strip_prefix("b1 = ").unwrap().parse().unwrap();
    // Within a thousandth of the way from 1.
    assert!(reached <= 1.3 && reached > 1.2997, "{error}");
}

/// Neither a standard error nor the value says how far to look.
#[test]
fn a_parameter_held_at_zero_has_an_interval() {
    let y = X.map(|x| 1.0 + 0.01 * x + 0.1 * (7.0 * x).sin());
    let line = || CurveFit::new(|x, [a, b]| a + b * x, &X, &y, [0.0, -1.0]);
    let held = line().bounds("b2", ..=0.0).fit().unwrap();
    assert_eq!(held.parameters()[1].value, 0.0);
    let interval = held.profile_interval("b2", 0.95).unwrap();
    assert_eq!((interval.high, interval.high_end, interval.low_end), (0.0, IntervalEnd::Bound, IntervalEnd::Level));
    let low = line().fix_at("b2", interval.low).fit().unwrap();
    let excess = (low.chi_square() - held.chi_square()) / held.reduced_chi_square().unwrap();
    // scipy.stats.t.ppf(0.975, 7) squared
    assert_close(excess, 2.364_624_251_592_784_4_f64.powi(2), 1e-9);
}

#[test]
fn directions_that_lead_nowhere_are_refused() {
    let fit = decay().fit().unwrap();
    for direction in [[0.0, 0.0], [f64::NAN, 1.0], [1.0, f64::INFINITY]] {
        let error = fit.contour_towards("a", "k", 0.95, &[[1.0, 0.0], direction]).unwrap_err();
        assert!(matches!(error, ProfileError::Direction { .. }), "{error}");
    }
}

/// Where no value is too large for the data, the search goes to the largest floats and no farther.
#[test]
fn no_parameter_is_held_at_infinity() {
    let y = [-2.0, 3.0, 1.0, 2.5, -0.5, 0.7].map(|y| 1e150 * y);
    let curve = |_, [b]: [Dual<f64, 1>; 1]| (b * 1e-300).atan() * 1e150;
    let fit = CurveFit::new(curve, &X[..6], &y, [1e300]).fit().unwrap();
    let profile = fit.profile("b1", 0.95, 2).unwrap();
    assert_eq!((profile.interval.low_end, profile.interval.high_end), (IntervalEnd::Level, IntervalEnd::Open));
    assert!(profile.points.iter().all(|point| point.value.is_finite()), "{profile:?}");
}
