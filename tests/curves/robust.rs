//! Robust fits: against statsmodels and SciPy, and NIST's sets with a third of the data gone wild.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use marquardt::curve::Curve;
use marquardt::models::SkewedGaussian;
use marquardt::problem::RobustLoss;
use marquardt::solver::{CovarianceError, Status};
use marquardt::{CurveFit, Dual, EvaluationError, FittedCurve, LevenbergMarquardt, Loss, ScalarOf};
use proptest::prelude::*;

use crate::nist::{self, DataSet};
use crate::reference::Reference;

fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() <= tolerance, "{what}: {found} is not {expected}");
    }
}

fn values(fit: &FittedCurve<'_, f64>) -> Vec<f64> {
    fit.parameters().iter().map(|parameter| parameter.value).collect()
}

fn errors(fit: &FittedCurve<'_, f64>) -> Vec<f64> {
    fit.parameters().iter().map(|parameter| parameter.standard_error).collect()
}

/// A linear model of as many predictors, as statsmodels' RLM fits it.
fn check_linear<const N: usize>(case: &str) {
    let reference = Reference::read("curve.csv");
    let y = reference.of(case, "y");
    let x = ndarray::ArrayView2::from_shape((y.len(), N - 1), reference.of(case, "x")).unwrap();
    let plane = |x: &[f64], b: [Dual<f64, N>; N]| x.iter().zip(&b[1..]).fold(b[0], |sum, (&x, &slope)| sum + slope * x);
    for (name, loss) in [("huber", Loss::Huber), ("tukey", Loss::Tukey)] {
        for scale in ["mad", "fixed"] {
            let expected = |what: &str| reference.of(case, &format!("{name}_{scale}_{what}"));
            let tuning = RobustLoss::<f64>::tuning(&loss);
            let squares = values(&CurveFit::with_predictors(plane, x, y, [0.0; N]).fit().unwrap());
            let start = std::array::from_fn(|j| squares[j]);
            let mut fit = CurveFit::with_predictors(plane, x, y, start).robust(loss);
            if scale == "fixed" {
                fit = fit.f_scale(tuning * expected("scale")[0]);
            }
            let fit = fit.fit().unwrap();
            let what = format!("{case}, {name}, {scale}");
            assert_close(&what, &values(&fit), expected("parameters"), 1e-9);
            assert_close(&what, &errors(&fit), expected("standard_errors_h1"), 1e-8);
            assert_close(&what, &[fit.robust_scale().unwrap()], &[tuning * expected("scale")[0]], 1e-9);
        }
    }
}

#[test]
fn lines_and_planes_agree_with_statsmodels() {
    check_linear::<2>("robust_line");
    check_linear::<3>("robust_plane");
}

#[test]
fn curves_agree_with_scipy() {
    let reference = Reference::read("curve.csv");
    let of = |what: &str| reference.of("robust_curve", what);
    let decay = |x: f64, [a, k, c]: [Dual<f64, 3>; 3]| a * (-k * x).exp() + c;
    for loss in [Loss::Huber, Loss::SoftL1, Loss::Cauchy, Loss::Arctan] {
        let fit = CurveFit::new(decay, of("x"), of("y"), [4.0, 0.9, 1.0]).robust(loss).f_scale(of("f_scale")[0]);
        let fit = fit.fit().unwrap();
        assert_close(loss.name(), &values(&fit), of(&format!("{loss}_parameters")), 1e-8);
        assert_close(loss.name(), &[fit.report().cost], of(&format!("{loss}_cost")), 1e-12);
    }
}

/// Every third or so of the data lies on one side, ten and more standard deviations and a good part of the range away.
#[test]
fn gross_outliers_do_not_move_nist_s_fits() {
    use nist::Model::*;
    for model in [Misra1a, Chwirut2, Gauss1, DanWood, Eckerle4, Hahn1, MGH09, MGH10, MGH17, Nelson, Rat43, Roszman1] {
        let set = DataSet::load(model);
        let rows = set.y.len();
        let x = ndarray::Array2::from_shape_fn((rows, set.x[0].len()), |(i, k)| set.x[i][k]);
        let range = set.y.iter().fold(0.0_f64, |range, y| range.max(y.abs()));
        let mut y = set.y.clone();
        let mut spoilt = 0;
        for (i, y) in y.iter_mut().enumerate() {
            // 0.3 of them, spread without a pattern.
            if (0.618_034 * (i + 1) as f64).fract() < 0.3 {
                *y += range * (0.5 + (0.381_966 * (i + 1) as f64).fract());
                spoilt += 1;
            }
        }
        assert!(spoilt as f64 >= 0.25 * rows as f64, "{model:?}: {spoilt} of {rows}");
        let others = [Loss::GemanMcClure, Loss::Welsch].into_iter().filter(|_| set.y.len() < 40);
        for loss in others.chain([Loss::Tukey]) {
            let curve = NistCurve(model, set.certified.len());
            let fit = CurveFit::model(curve, &x, &y, &set.starts[1]).robust(loss).fit().unwrap();
            for ((found, certified), error) in values(&fit).iter().zip(&set.certified).zip(&set.standard_deviations) {
                let away = (found - certified).abs() / error;
                assert!(away < 3.0, "{model:?}, {loss}: {found}, {certified} +- {error}\n{fit}");
            }
        }
    }
}

struct NistCurve(nist::Model, usize);

impl marquardt::Model<f64> for NistCurve {
    fn parameter_count(&self) -> usize {
        self.1
    }

    #[inline(always)]
    fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
        self.0.response(b, x)
    }
}

#[test]
fn robust_bounded_and_with_standard_errors() {
    let x: Vec<f64> = (0..20).map(|i| 0.3 * f64::from(i)).collect();
    let mut y: Vec<f64> = x.iter().map(|x| 5.0 * (-0.7 * x).exp() - 0.1 + 0.05 * (9.0 * x).sin()).collect();
    (y[3], y[11], y[12]) = (25.0, 9.0, -14.0);
    let decay = |x: f64, [a, k, c]: [Dual<f64, 3>; 3]| a * (-k * x).exp() + c;
    let fit =
        CurveFit::new(decay, &x, &y, [4.0, 0.5, 0.5]).names(["a", "k", "c"]).bounds("c", 0.0..).robust(Loss::Tukey);
    let bounded = fit.fit().unwrap();
    let fixed = CurveFit::new(decay, &x, &y, [4.0, 0.5, 0.0]).names(["a", "k", "c"]).fix("c").robust(Loss::Tukey);
    let fixed = fixed.fit().unwrap();
    assert_eq!(bounded.parameter("c").unwrap().value, 0.0);
    assert_eq!(bounded.covariance().held(), ["c"]);
    assert_close("values", &values(&bounded)[..2], &values(&fixed)[..2], 1e-9);
    assert_close("errors", &errors(&bounded)[..2], &errors(&fixed)[..2], 1e-8);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (x, y) = ([0.0, 1.0, 2.0, 3.0], [0.1, 0.9, 2.1, 3.0]);
    let line = || CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a + b * x, &x, &y, [1.0, 1.0]);
    let message = line().f_scale(0.0).fit().unwrap_err().to_string();
    assert_eq!(message, "the scale of a robust loss must be positive and finite, not 0");
    let message = line().robust(Loss::Huber).counts().fit().unwrap_err().to_string();
    assert!(message.starts_with("counts and a robust loss exclude each other"), "{message}");
    let sigma = [1.0; 4];
    let prior = line().names(["a", "b"]).sigma(&sigma).absolute_sigma(true).prior("a", 0.0, 1.0);
    let message = prior.robust(Loss::Huber).fit().unwrap_err().to_string();
    assert!(message.starts_with("a prior and a robust loss exclude each other"), "{message}");
}

#[test]
fn data_without_noise_leave_nothing_to_be_robust_against() {
    let x = [0.0, 1.0, 2.0, 3.0, 4.0];
    let y = x.map(|x| 1.0 + 2.0 * x);
    let fit = CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a + b * x, &x, &y, [1.0, 2.0]).robust(Loss::Tukey);
    assert_eq!(values(&fit.fit().unwrap()), [1.0, 2.0]);
}

/// Responses that are all equal, to the digit, leave no scale to judge by: once the residuals are all zero.
#[test]
fn equal_points_have_a_fit() {
    for loss in [Loss::Huber, Loss::Tukey] {
        let fit = CurveFit::guessed(SkewedGaussian, &[2.0; 40], &[3.0; 40]).robust(loss).fit().unwrap();
        assert!(fit.report().is_converged() && fit.fitted().iter().all(|y: &f64| (y - 3.0).abs() < 1e-12), "{fit}");
    }
}

/// Equal responses along x are a skewed Gaussian of infinite width, which no solve gets to: the iterations end, and the report
/// has them all.
#[test]
fn a_search_for_the_scale_has_an_end() {
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let solver = LevenbergMarquardt::new().with_max_iterations(60);
    let fit = CurveFit::guessed(SkewedGaussian, &x, &[3.0; 40]).robust(Loss::Huber).solver(solver).fit().unwrap();
    let report = fit.report();
    assert_eq!(report.status, Status::MaxIterations);
    assert!(report.iterations > 60 && report.iterations <= 5 * 60, "{report}");
}

/// Fits of a decay with outliers, counting how often each row is evaluated.
#[test]
fn the_report_accounts_for_the_search_for_the_scale() {
    let x: Vec<f64> = (0..20).map(|i| 0.3 * f64::from(i)).collect();
    let mut y: Vec<f64> = x.iter().map(|x| 5.0 * (-0.7 * x).exp() + 0.05 * (9.0 * x).sin()).collect();
    (y[3], y[11], y[12]) = (25.0, 9.0, -14.0);
    let rows = AtomicUsize::new(0);
    let fit = |solver: LevenbergMarquardt<f64>| {
        rows.store(0, Ordering::Relaxed);
        let decay = |x: f64, [a, k]: [Dual<f64, 2>; 2]| {
            rows.fetch_add(1, Ordering::Relaxed);
            a * (-k * x).exp()
        };
        CurveFit::new(decay, &x, &y, [4.0, 0.5]).robust(Loss::Tukey).solver(solver).fit().unwrap()
    };
    let whole = fit(LevenbergMarquardt::new());
    let evaluations = |fit: &FittedCurve<'_, f64>| {
        let evaluations = fit.report().evaluations;
        evaluations.residuals + evaluations.jacobians
    };
    assert!(whole.report().is_converged(), "{whole}");
    // Residuals for the scale, and second derivatives, come on top.
    let counted = rows.load(Ordering::Relaxed) / x.len();
    assert!(evaluations(&whole) <= counted && counted <= 3 * evaluations(&whole), "{counted} counted, {whole}");
    assert!(
        whole.report().iterations >= whole.report().accepted && whole.report().iterations > whole.report().log.len()
    );

    let most = evaluations(&whole) / 2;
    let half = fit(LevenbergMarquardt::new().with_max_evaluations(most));
    assert_eq!(half.report().status, Status::MaxEvaluations);
    // Each of the solves evaluates the point it ends at.
    assert!(evaluations(&half) <= most + 20 && most > 50, "{} of {most}", evaluations(&half));
    let none = fit(LevenbergMarquardt::new().with_time_limit(Duration::ZERO));
    assert_eq!(none.report().status, Status::TimeLimit);
    assert!(evaluations(&none) <= 6, "{none}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// In other units of y the fit is the same: bit for bit where the unit is a power of two. Another unit rounds the data, which can move the
    /// last iteration: the largest of 60,000 differences was 2.2e-8, the tolerance of the solve.
    #[test]
    fn the_unit_does_not_matter(power in -60..60_i32, wild in 5.0..50.0_f64) {
        let x: Vec<f64> = (0..15).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 2.0 + 0.5 * x + 0.1 * (5.0 * x).sin()).collect();
        y[4] += wild;
        y[9] -= wild;
        let line = |unit: f64| {
            let y: Vec<f64> = y.iter().map(|y| y * unit).collect();
            let fit = CurveFit::new(|x, [a, b]: [Dual<f64, 2>; 2]| a + b * x, &x, &y, [0.0, 0.0]).robust(Loss::Welsch);
            let fit = fit.fit().unwrap();
            [values(&fit), errors(&fit)].concat()
        };
        let (binary, decimal) = (2.0_f64.powi(3 * power), 10.0_f64.powi(power));
        for ((one, by_two), by_ten) in line(1.0).iter().zip(line(binary)).zip(line(decimal)) {
            prop_assert_eq!(one * binary, by_two);
            prop_assert!((one * decimal / by_ten - 1.0).abs() < 1e-7, "{one}, {by_ten}");
        }
    }
}

/// A line whose slope is infinite in one row, but at the start.
struct Cliff;

impl Curve<f64> for Cliff {
    fn parameter_count(&self) -> usize {
        2
    }

    fn responses(&self, x: &[f64], _: usize, b: &[f64], y: &mut [f64]) -> Result<(), EvaluationError> {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = b[0] + b[1] * x);
        Ok(())
    }

    fn linearize(
        &self,
        x: &[f64],
        width: usize,
        b: &[f64],
        y: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        for (row, &x) in jacobian.chunks_exact_mut(2).zip(x) {
            row.copy_from_slice(&[1.0, if x == 3.0 && b[0] != 0.0 { f64::INFINITY } else { x }]);
        }
        self.responses(x, width, b, y)
    }
}

/// An outlier without weight may have any derivative: the fit is finished, and says why it has no standard errors.
#[test]
fn derivatives_of_outliers_keep_nothing_from_being_fitted() {
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    let mut y: Vec<f64> = x.iter().map(|x| 0.2 + 0.1 * x + 0.01 * (5.0 * x).sin()).collect();
    y[3] = 1e9;
    let fit = CurveFit::curve(Cliff, &x, &y, &[0.0, 0.1]).robust(Loss::Tukey).fit().unwrap();
    assert!((fit.parameters()[0].value - 0.2).abs() < 0.02, "{fit}");
    assert!(matches!(fit.covariance_error(), Some(CovarianceError::NonFinite)), "{:?}", fit.covariance_error());
    assert!(errors(&fit).iter().all(|error| error.is_infinite()), "{fit}");
    assert!(fit.to_string().contains("no standard errors: a residual or derivative is not finite"), "{fit}");
}
