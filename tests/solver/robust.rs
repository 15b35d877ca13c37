//! Robust losses: their formulas, and fits among outliers.

use marquardt::problem::{FiniteDifference, Robust, RobustLoss, RobustScaleError, SumOfSquares, mad_scale};
use marquardt::solver::Acceleration;
use marquardt::{
    AutoDiff, Bounds, EvaluationError, LeastSquares, LevenbergMarquardt, Loss, Real, Residuals, Scalar, Variables,
    optim,
};
use ndarray::array;
use proptest::prelude::*;

use crate::common::{self, config};
use crate::nist_data::{DataSet, Model};

/// `y = x₀ t + x₁ e^(−x₂ t)`, or with two parameters the line `x₀ t + x₁`.
#[derive(Debug, Clone)]
struct Curve<T> {
    parameters: usize,
    t: Vec<T>,
    y: Vec<T>,
}

const TRUTH: [f64; 3] = [0.7, 2.0, 0.9];
const NOISE: f64 = 0.01;

impl<T: Real> Curve<T> {
    /// Observations with a little noise, of which so many percent are wildly too high.
    fn with_outliers(parameters: usize, percent: usize) -> Self {
        let t: Vec<f64> = (0..60).map(|i| i as f64 / 10.0).collect();
        let y = t.iter().enumerate().map(|(i, &t)| {
            let decay = if parameters == 3 { (-TRUTH[2] * t).exp() } else { 1.0 };
            let noise = NOISE * (1.7 * i as f64).sin();
            let wild = if (37 * i + 11) % 100 < percent { 10.0 + 3.0 * (i % 7) as f64 } else { 0.0 };
            T::from_f64(TRUTH[0] * t + TRUTH[1] * decay + noise + wild)
        });
        Curve { parameters, y: y.collect(), t: t.iter().map(|&t| T::from_f64(t)).collect() }
    }
}

impl<T: Real> Residuals<T> for Curve<T> {
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    fn residual_count(&self) -> usize {
        self.t.len()
    }

    fn evaluate<S: Scalar<Real = T>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (i, r) in (first..).zip(r) {
            let decay = x.get(2).map_or(S::constant(T::ONE), |&rate| (-rate * self.t[i]).exp());
            *r = x[0] * self.t[i] + x[1] * decay - self.y[i];
        }
        Ok(())
    }
}

fn scale(loss: Loss) -> f64 {
    NOISE * RobustLoss::<f64>::tuning(&loss)
}

/// `½ Σ C² ρ((r/C)²)`.
fn cost(curve: &Curve<f64>, loss: Loss, x: &[f64]) -> f64 {
    let mut r = vec![0.0; curve.t.len()];
    curve.evaluate(x, 0, &mut r).unwrap();
    let c = scale(loss);
    r.iter().map(|r| 0.5 * c * c * loss.rho((r / c).powi(2))[0]).sum()
}

const REDESCENDING: [Loss; 5] = [Loss::Cauchy, Loss::Arctan, Loss::Tukey, Loss::GemanMcClure, Loss::Welsch];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn derivatives_are_those_of_the_loss(exponent in -6.0..6.0_f64) {
        let z = 10.0_f64.powf(exponent);
        let h = 1e-5 * z.min(10.0);
        let (above, below) = (z + h, z - h);
        for loss in Loss::ALL.iter().copied().filter(|_| (z - 1.0).abs() > 2.0 * h) {
            let [rho, first, second] = loss.rho(z);
            let ([ahead, first_ahead, _], [behind, first_behind, _]) = (loss.rho(above), loss.rho(below));
            // A function that has levelled out rounds at the level, and near to where it does a parabola is too little.
            let error = (first - (ahead - behind) / (above - below)).abs();
            let curving = if z < 2.0 { h * h } else { 0.0 };
            prop_assert!(error <= 1e-7 * first + 1e-15 * rho / h + curving + 1e-300, "{loss} at {z}");
            let slope = (first_ahead - first_behind) / (above - below);
            prop_assert!((second - slope).abs() <= 1e-6 * second.abs() + 1e-15 * first / h + 1e-300, "{loss} at {z}");
        }
    }

    /// Never above the square, never falling, and with weights that never rise; convex in `r` where it is said to be.
    #[test]
    fn losses_are_shaped_as_documented(r in 0.0..50.0_f64) {
        for &loss in Loss::ALL {
            let [rho, first, second] = loss.rho(r * r);
            prop_assert!(rho >= 0.0 && rho <= r * r && (0.0..=1.0).contains(&first) && second <= 0.0, "{loss} at {r}");
            let convex = first + 2.0 * r * r * second >= -1e-15;
            prop_assert!(convex || REDESCENDING.contains(&loss), "{loss} at {r}");
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_cost(x in prop::array::uniform3(0.2..3.0_f64)) {
        for &loss in Loss::ALL {
            let curve = Curve::with_outliers(3, 30);
            let mut gradient = [0.0; 3];
            let mut problem = Robust::new(AutoDiff(curve.clone()), loss, scale(loss)).unwrap();
            let (mut r, mut jacobian) = (vec![0.0; 60], vec![0.0; 180]);
            problem.linearize(&x, 0, &mut r, &mut jacobian).unwrap();
            let found = problem.capabilities().cost_of(0, &r).unwrap();
            prop_assert!((found - cost(&curve, loss, &x)).abs() <= 1e-13 * found, "{loss}");
            for (row, r) in jacobian.chunks_exact(3).zip(&r) {
                (0..3).for_each(|j| gradient[j] += row[j] * r);
            }
            let numeric: Vec<f64> = (0..3).map(|j| {
                let mut x = x;
                let center = x[j];
                let mut at = |h: f64| { x[j] = center + h; cost(&curve, loss, &x) };
                let h = 1e-5;
                (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
            }).collect();
            // Huber's loss has kinks in its slope.
            let tolerance = if loss == Loss::Huber { 1e-3 } else { 1e-6 };
            prop_assert!(common::close(&gradient, &numeric, tolerance), "{loss}: {gradient:?}, {numeric:?}");
        }
    }
}

#[test]
fn redescending_losses_ignore_a_third_of_gross_outliers() {
    for loss in REDESCENDING {
        let fit = |percent, start: &[f64]| {
            let mut problem = Robust::new(AutoDiff(Curve::with_outliers(2, percent)), loss, scale(loss)).unwrap();
            LevenbergMarquardt::new().minimize(&mut problem, start).unwrap()
        };
        let (clean, found) = (fit(0, &[0.7, 2.02]), fit(30, &[0.7, 2.02]));
        assert!(clean.is_converged() && found.is_converged(), "{loss}: {}, {}", clean.status, found.status);
        for ((found, clean), truth) in found.x.iter().zip(&clean.x).zip(TRUTH) {
            assert!((found - truth).abs() < 0.005 && (found - clean).abs() < 0.005, "{loss}: {found}, {clean}");
        }
    }
    // Least squares does not.
    let report = LevenbergMarquardt::new().minimize(&mut AutoDiff(Curve::with_outliers(2, 30)), &[0.7, 2.02]).unwrap();
    assert!((report.x[1] - TRUTH[1]).abs() > 1.0, "{:?}", report.x);
}

/// Huber's loss has one minimum, so its fit is a start for the others, and its residuals say how large the noise is.
#[test]
fn the_scale_and_the_start_are_found_from_the_data() {
    let mut problem = AutoDiff(Curve::with_outliers(3, 30));
    let solver = LevenbergMarquardt::new();
    let rough = solver.minimize(&mut Robust::new(&mut problem, Loss::Huber, 0.1).unwrap(), &[1.0, 1.0, 1.0]).unwrap();
    let mut r = vec![0.0; 60];
    problem.residuals(&rough.x, 0, &mut r).unwrap();
    let noise = mad_scale(&r);
    assert!(noise > 0.2 * NOISE && noise < 10.0 * NOISE, "{noise}");
    let c = noise * RobustLoss::<f64>::tuning(&Loss::Tukey);
    let fine = solver.minimize(&mut Robust::new(&mut problem, Loss::Tukey, c).unwrap(), &rough.x).unwrap();
    assert!(fine.is_converged(), "{fine}");
    assert!(fine.x.iter().zip(TRUTH).all(|(found, truth)| (found - truth).abs() < 0.02), "{fine}");
}

/// Three in ten observations are off by a fifth to half of the largest, up or down, and nothing is known of the noise.
#[test]
fn gross_outliers_leave_nist_models_where_they_are() {
    use Model::*;
    for mut set in [Chwirut1, Eckerle4, Gauss1, Gauss2, Gauss3, Roszman1].map(DataSet::load) {
        let largest = set.y.iter().fold(0.0_f64, |largest, y| largest.max(y.abs()));
        for (i, y) in set.y.iter_mut().enumerate() {
            let draw = (0.618034 * (7 * i + 3) as f64).fract();
            if draw < 0.3 {
                *y += (0.2 + draw) * if i % 3 == 0 { -largest } else { largest };
            }
        }
        let (mut problem, mut x, mut r) = (AutoDiff(&set), set.starts[1].clone(), vec![0.0; set.y.len()]);
        for loss in [Loss::Huber, Loss::Huber, Loss::Huber, Loss::Tukey, Loss::Tukey] {
            problem.residuals(&x, 0, &mut r).unwrap();
            let scale = mad_scale(&r) * RobustLoss::<f64>::tuning(&loss);
            let mut robust = Robust::new(&mut problem, loss, scale).unwrap();
            x = LevenbergMarquardt::new().minimize(&mut robust, &x).unwrap().x;
        }
        for ((found, certified), error) in x.iter().zip(&set.certified).zip(&set.standard_deviations) {
            let errors = (found - certified).abs() / error;
            assert!(errors < 3.0, "{}: {errors} standard errors: {x:?}", set.model.name());
        }
    }
}

#[test]
fn plain_least_squares_is_the_linear_loss() {
    let curve = Curve::with_outliers(3, 0);
    let plain = LevenbergMarquardt::new().minimize(&mut AutoDiff(curve.clone()), &[1.0, 1.0, 1.0]).unwrap();
    let mut linear = Robust::new(AutoDiff(curve), Loss::Linear, 1.0).unwrap();
    let found = LevenbergMarquardt::new().minimize(&mut linear, &[1.0, 1.0, 1.0]).unwrap();
    assert!(common::close(&found.x, &plain.x, 1e-12), "{found}");
    assert!((found.cost - plain.cost).abs() <= 1e-12 * plain.cost);
}

/// At the minimum nothing is left to gain in any direction.
#[test]
fn what_is_found_is_a_minimum() {
    for &loss in Loss::ALL {
        let curve = Curve::with_outliers(3, 20);
        let mut problem = Robust::new(AutoDiff(curve.clone()), loss, scale(loss)).unwrap();
        let found = LevenbergMarquardt::new().minimize(&mut problem, &[0.7, 2.0, 1.0]).unwrap();
        assert!(found.is_converged() && found.gradient_cosine < 1e-8, "{loss}: {found}");
        assert!((found.cost - cost(&curve, loss, &found.x)).abs() <= 1e-12 * found.cost, "{loss}");
        for j in 0..3 {
            for sign in [-1.0, 1.0] {
                let mut beside = found.x.clone();
                beside[j] += sign * 1e-4;
                assert!(cost(&curve, loss, &beside) > found.cost, "{loss}: x[{j}]");
            }
        }
    }
}

/// The second derivative along a step is that of the residuals, weighted, whether exact or by differences.
#[test]
fn acceleration_follows_the_residuals() {
    let curve = Curve::with_outliers(3, 30);
    let (x, v) = ([0.6, 1.8, 1.1], [0.1, -0.2, 0.3]);
    let numeric = FiniteDifference::new(3, 60, |x: &[f64], r: &mut [f64]| curve.evaluate(x, 0, r));
    let mut exact = Robust::new(AutoDiff(curve.clone()), Loss::Cauchy, 0.1).unwrap();
    let mut differences = Robust::new(numeric, Loss::Cauchy, 0.1).unwrap();
    let (mut expected, mut found) = (vec![0.0; 60], vec![0.0; 60]);
    assert!(exact.capabilities().second_directional_derivative(&x, &v, 0, &mut expected).unwrap());
    assert!(differences.capabilities().second_directional_derivative(&x, &v, 0, &mut found).unwrap());
    assert!(common::close(&found, &expected, 0.05), "{found:?}\n{expected:?}");

    let minimize = |acceleration| {
        let solver = LevenbergMarquardt::new().with_acceleration(acceleration);
        let mut problem = Robust::new(AutoDiff(curve.clone()), Loss::Cauchy, 0.1).unwrap();
        solver.minimize(&mut problem, &[2.0, 1.0, 3.0]).unwrap()
    };
    let (plain, accelerated) = (minimize(Acceleration::Never), minimize(Acceleration::Always));
    assert!(plain.is_converged() && accelerated.is_converged());
    assert!(common::close(&plain.x, &accelerated.x, 1e-7), "{plain}\n{accelerated}");
    assert!(accelerated.iterations <= plain.iterations + 3, "{plain}\n{accelerated}");
}

/// Outliers do not decide which bound holds, either.
#[test]
fn bounds_are_kept() {
    let bounds = Bounds::unbounded(3).with(1, 0.0, 1.9).unwrap();
    let minimize = |acceleration| {
        let guarded = FiniteDifference::new(3, 60, |x: &[f64], r: &mut [f64]| {
            assert!(x[1] <= 1.9, "{x:?}");
            Curve::with_outliers(3, 30).evaluate(x, 0, r)
        });
        let mut robust = Robust::new(guarded.with_bounds(bounds.clone()), Loss::Cauchy, 0.1).unwrap();
        LevenbergMarquardt::new().with_acceleration(acceleration).minimize(&mut robust, &[0.6, 1.5, 1.1]).unwrap()
    };
    for acceleration in [Acceleration::Never, Acceleration::Always] {
        let found = minimize(acceleration);
        assert!(found.is_converged() && found.x[1] == 1.9 && found.active.len() == 1, "{found}");
        assert!((found.x[0] - TRUTH[0]).abs() < 0.02, "{found}");
    }
}

/// A pull of constant strength, written as a user would.
#[derive(Debug)]
struct Charbonnier;

impl RobustLoss<f64> for Charbonnier {
    fn name(&self) -> &str {
        "Charbonnier"
    }

    fn rho(&self, z: f64) -> [f64; 3] {
        let root = (1.0 + z).sqrt();
        [2.0 * z / (root + 1.0), 1.0 / root, -0.5 / root.powi(3)]
    }

    fn tuning(&self) -> f64 {
        1.2871
    }
}

#[test]
fn a_loss_of_ones_own_is_a_loss() {
    let fit = |loss: Box<dyn RobustLoss<f64>>| {
        let mut problem = Robust::new(AutoDiff(Curve::with_outliers(3, 30)), loss, 0.02).unwrap();
        LevenbergMarquardt::new().minimize(&mut problem, &[1.0, 1.0, 1.0]).unwrap()
    };
    let (own, built_in) = (fit(Box::new(Charbonnier)), fit(Box::new(Loss::SoftL1)));
    assert!(own.is_converged() && common::close(&own.x, &built_in.x, 1e-10), "{own}\n{built_in}");
}

#[test]
fn single_precision_is_served() {
    for loss in REDESCENDING {
        let curve = Curve::<f32>::with_outliers(3, 30);
        let mut problem = Robust::new(AutoDiff(curve), loss, scale(loss) as f32).unwrap();
        let report = LevenbergMarquardt::new().minimize(&mut problem, &[0.7, 2.05, 0.9]).unwrap();
        let near = report.x.iter().zip(TRUTH).all(|(&found, truth)| (f64::from(found) - truth).abs() < 0.02);
        assert!(near, "{loss}: {report}");
    }
}

/// Optimizers that only follow gradients see the same cost.
#[test]
fn first_order_optimizers_step_on_it_too() {
    let robust = Robust::new(AutoDiff(Curve::with_outliers(2, 30)), Loss::Cauchy, 0.1).unwrap();
    let mut objective = SumOfSquares::new(robust);
    let mut variables = Variables::new();
    let x = variables.add("x", array![1.0, 1.5].view()).unwrap();
    let mut optimizer: Box<dyn optim::Optimizer<f64>> = Box::new(optim::Adam::new(0.02));
    for _ in 0..400 {
        optimizer.step(&mut objective, &mut variables).unwrap();
    }
    let found = variables.get(x);
    assert!((found[[0]] - TRUTH[0]).abs() < 0.05 && (found[[1]] - TRUTH[1]).abs() < 0.05, "{found}");
}

/// Without any weight there is no gradient, which is no evidence of a minimum.
#[test]
fn a_point_where_all_rows_are_outliers_is_no_minimum() {
    let mut problem = Robust::new(AutoDiff(Curve::with_outliers(2, 0)), Loss::Tukey, 1e-3).unwrap();
    let report = LevenbergMarquardt::new().minimize(&mut problem, &[7.0, 5.0]).unwrap();
    assert!(!report.is_converged() && report.gradient_cosine == 1.0, "{report}");
}

#[test]
fn a_scale_must_make_sense() {
    for value in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = Robust::new(AutoDiff(Curve::with_outliers(2, 0)), Loss::Huber, value).unwrap_err();
        let RobustScaleError { value: found } = error;
        assert!(found == value || found.is_nan() && value.is_nan());
        assert!(error.to_string().contains("positive and finite"), "{error}");
    }
}
