//! Promises of a status: converged only at stationary points, a name for every other ending, and no parameter that is not finite.

use std::cell::RefCell;
use std::ops::ControlFlow;

use marquardt::autodiff::Difference;
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::problem::{Analytic, Capabilities, FiniteDifference, Robust};
use marquardt::solver::{Acceleration, IterationRecord, Status};
use marquardt::{
    AutoDiff, CurveFit, EvaluationError, LeastSquares, LevenbergMarquardt, Loss, Real, Report, Residuals, Scalar,
    SolveError, curve_fit,
};
use proptest::prelude::*;

fn solver() -> LevenbergMarquardt<f64> {
    LevenbergMarquardt::new()
}

/// The largest cosine between the residuals and a column, worked out here.
fn cosine(problem: &mut impl LeastSquares<f64>, x: &[f64]) -> f64 {
    let (m, n, group) = (problem.residual_count(), problem.parameter_count(), problem.row_group());
    let (mut r, mut jacobian) = (vec![0.0; m], vec![0.0; m * n]);
    for first in (0..m).step_by(group) {
        let rows = first..first + group;
        problem.linearize(x, first, &mut r[rows.clone()], &mut jacobian[rows.start * n..rows.end * n]).unwrap();
    }
    let norm = |column: &dyn Fn(usize) -> f64| (0..m).map(|i| column(i) * column(i)).sum::<f64>().sqrt();
    let cosine = |j: usize| {
        let product: f64 = (0..m).map(|i| r[i] * jacobian[i * n + j]).sum();
        let size = norm(&|i| r[i]) * norm(&|i| jacobian[i * n + j]);
        if size > 0.0 { product.abs() / size } else { 0.0 }
    };
    (0..n).map(cosine).fold(0.0, f64::max)
}

/// `y = 2 x^1.4 + 1`, rounded.
fn power_law() -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (1..=12).map(f64::from).collect();
    let y = x.iter().map(|x| (100.0 * (2.0 * x.powf(1.4) + 1.0)).round() / 100.0).collect();
    (x, y)
}

/// Steps in proportion to a tiny parameter change the residuals by less than their rounding.
#[test]
fn differences_from_tiny_starts_hide_no_gradient() {
    fn check<T: Real>(sizes: &[f64]) {
        for (&first, &second) in sizes.iter().flat_map(|first| sizes.iter().map(move |second| (first, second))) {
            for (start, difference) in [[first, second], [first, -second], [-first, second], [-first, -second]]
                .iter()
                .flat_map(|start| [(start, Difference::Forward), (start, Difference::Central)])
            {
                let rosenbrock = |x: &[T], r: &mut [T]| {
                    r[0] = T::from_f64(10.0) * (x[1] - x[0] * x[0]);
                    r[1] = T::ONE - x[0];
                    Ok(())
                };
                let mut problem = FiniteDifference::new(2, 2, rosenbrock).with_difference(difference);
                let report = LevenbergMarquardt::new().minimize(&mut problem, &start.map(T::from_f64)).unwrap();
                let error = (report.x[0].to_f64() - 1.0).abs();
                assert!(report.is_converged() && error < 1e-3, "{difference:?} from {start:?}: {report}");
            }
        }
    }
    check::<f64>(&[0.0, 1e-300, 1e-150, 1e-30, 1e-9, 1e-4, 1.0]);
    check::<f32>(&[0.0, 1e-37, 1e-20, 1e-9, 1e-4, 1.0]);
}

/// A start whose derivatives are 11 orders of magnitude too large leaves a scale that would freeze a parameter.
#[test]
fn a_scale_that_is_out_of_date_freezes_no_parameter() {
    let (x, y) = power_law();
    for exponent in [10.0, 11.0, 12.0, 14.0] {
        let fit = curve_fit(|x, [a, b, c]| a * (b * x.ln()).exp() + c, &x, &y, [0.5, exponent, 2.0]).unwrap();
        let cost = fit.report().cost;
        assert!(fit.report().is_converged() && cost < 1e-4, "{exponent}: {}", fit.report());
    }
}

/// `r(x + δ)` whose Jacobian is multiplied by `factor`.
fn decay(factor: f64) -> impl LeastSquares<f64> {
    Analytic::new(3, 30, move |x: &[f64], r: &mut [f64], mut jacobian: Option<&mut [f64]>| {
        for i in 0..30 {
            let t = i as f64 / 5.0;
            let noise = 0.01 * ((i * 37 % 11) as f64 - 5.0);
            let decayed = (-x[1] * t).exp();
            r[i] = x[0] * decayed + x[2] - (3.0 * (-0.7 * t).exp() + 0.5 + noise);
            if let Some(jacobian) = jacobian.as_deref_mut() {
                jacobian[3 * i..3 * i + 3].copy_from_slice(&[decayed, -x[0] * t * decayed, 1.0].map(|a| factor * a));
            }
        }
        Ok(())
    })
}

#[test]
fn wrong_derivatives_are_named() {
    for factor in [-1.0, 0.3, 3.0] {
        let report = solver().minimize(&mut decay(factor), &[1.0, 0.2, 0.0]).unwrap();
        let named = report.status == Status::WrongDerivatives;
        // Where they are merely too large, the minimum may be found all the same.
        assert!(named || factor > 1.0 && report.is_converged(), "{factor}: {report}");
        assert!(report.iterations < 100, "{factor}: {report}");
    }
    let report = solver().minimize(&mut decay(1.0), &[1.0, 0.2, 0.0]).unwrap();
    assert!(report.is_converged(), "{report}");
}

/// The derivatives of a saturated neuron are rounding errors, to which no difference of residuals agrees.
#[test]
fn derivatives_that_are_rounding_errors_are_not_called_wrong() {
    let mut problem = Analytic::new(4, 12, |x: &[f64], r: &mut [f64], mut jacobian: Option<&mut [f64]>| {
        for (i, r) in r.iter_mut().enumerate() {
            let t = i as f64;
            let decayed = (-x[1] * t).exp();
            let neuron = (x[2] * (t + 1.0) + x[3]).tanh();
            *r = x[0] * decayed + neuron - (3.0 * (-0.4 * t).exp() + 1.0 + 0.1 * (5.0 * t).sin());
            if let Some(jacobian) = jacobian.as_deref_mut() {
                // As layers work it out.
                let slope = 1.0 - neuron * neuron;
                jacobian[4 * i..4 * i + 4].copy_from_slice(&[decayed, -x[0] * t * decayed, slope * (t + 1.0), slope]);
            }
        }
        Ok(())
    });
    for (weight, bias) in
        [1.0, 5.0, 15.0, 18.0].iter().flat_map(|&weight| [0.0, 0.3, 1.5, 3.0].map(|bias| (weight, bias)))
    {
        let report = solver().minimize(&mut problem, &[1.0, 0.2, weight, bias]).unwrap();
        assert_ne!(report.status, Status::WrongDerivatives, "{weight}, {bias}: {report}");
        assert!((report.x[0] - 3.0).abs() < 0.2 && (report.x[1] - 0.4).abs() < 0.2, "{weight}, {bias}: {report}");
    }
}

/// `1 + |x|` and what else depends on it have a minimum at a kink, with a derivative that is that of one side.
#[test]
fn a_minimum_at_a_kink_is_neither_converged_nor_a_wrong_derivative() {
    for (start, weight) in [([0.0, 1.0], 1.0), ([0.3, -2.0], 0.5), ([-7.0, 3.0], 1e6), ([2.0, 2.0], 1e-6)] {
        let mut problem = Analytic::new(2, 3, move |x: &[f64], r: &mut [f64], mut jacobian: Option<&mut [f64]>| {
            r.copy_from_slice(&[weight * (1.0 + x[0].abs()), weight * (x[1] - 2.0), weight * (x[1] + 0.5 * x[0])]);
            if let Some(jacobian) = jacobian.as_deref_mut() {
                let slope = if x[0] < 0.0 { -1.0 } else { 1.0 };
                jacobian.copy_from_slice(&[slope, 0.0, 0.0, 1.0, 0.5, 1.0].map(|a| weight * a));
            }
            Ok(())
        });
        let report = solver().minimize(&mut problem, &start).unwrap();
        assert_eq!(report.status, Status::Kink, "{start:?}: {report}");
        assert!(!report.is_converged() && report.x[0].abs() < 1e-6, "{start:?}: {report}");
    }
}

/// Derivatives by differences are inexact, but not wrong.
#[test]
fn inexact_derivatives_are_not_called_wrong() {
    let mut problem = FiniteDifference::new(2, 3, |x: &[f64], r: &mut [f64]| {
        r.copy_from_slice(&[1e3 * (x[1] - x[0] * x[0]), 1.0 - x[0], 2.0]);
        Ok(())
    });
    for start in [[-1.2, 1.0], [-30.0, 5.0], [8.0, -90.0]] {
        let report = solver().minimize(&mut problem, &start).unwrap();
        assert_ne!(report.status, Status::WrongDerivatives, "{report}");
    }
}

/// A jump of the cost is no minimum, and a parameter without influence, whose scale is never up to date, no reason to go on.
#[test]
fn a_solve_that_ends_at_a_jump_makes_no_progress() {
    let mut problem = Analytic::new(2, 1, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        r[0] = if x[0] >= 1.0 { x[0] } else { x[0] + 5.0 };
        if let Some(jacobian) = jacobian {
            jacobian.copy_from_slice(&[1.0, 0.0]);
        }
        Ok(())
    });
    let report = solver().minimize(&mut problem, &[3.0, 1.0]).unwrap();
    assert_eq!(report.status, Status::NoProgress, "{report}");
    assert!(report.iterations < 200 && (report.x[0] - 1.0).abs() < 1e-9, "{report}");
}

/// Residuals so small that their squares vanish are refused, and so are derivatives.
#[test]
fn underflow_is_an_error() {
    fn tiny<T: Real>(size: f64, slope: f64) -> Result<Report<T>, SolveError> {
        let (size, slope) = (T::from_f64(size), T::from_f64(slope));
        let mut line = Analytic::new(2, 5, move |x: &[T], r: &mut [T], jacobian: Option<&mut [T]>| {
            for (i, r) in r.iter_mut().enumerate() {
                let t = T::from_f64(i as f64);
                *r = size * (x[0] + x[1] * slope * t - T::from_f64(2.0) * t * t);
            }
            if let Some(jacobian) = jacobian {
                for (i, row) in jacobian.chunks_exact_mut(2).enumerate() {
                    row.copy_from_slice(&[size, size * slope * T::from_f64(i as f64)]);
                }
            }
            Ok(())
        });
        LevenbergMarquardt::new().minimize(&mut line, &[T::ONE, T::from_f64(3.0) / slope])
    }
    assert!(tiny::<f64>(1e-100, 1.0).unwrap().is_converged());
    assert!(tiny::<f32>(1e-12, 1.0).unwrap().is_converged());
    for error in [tiny::<f64>(1e-200, 1.0).unwrap_err(), tiny::<f32>(1e-30, 1.0).unwrap_err()] {
        assert!(matches!(error, SolveError::Underflow { .. }), "{error}");
    }
    // In the last two, all derivatives are subnormal.
    let far = [tiny::<f64>(1.0, 1e-200).err(), tiny::<f64>(0.25, 2e-308).err(), tiny::<f32>(0.25, 1e-38).err()];
    for error in far {
        let error = error.unwrap().to_string();
        assert!(error.contains("derivatives with respect to x[1] underflow"), "{error}");
    }
}

/// Steps that overflow are no way to a lower cost, although `e^−∞` is zero.
#[test]
fn no_parameter_becomes_infinite() {
    for x in [5e-324, 1e-310, 1e-300] {
        let x = [0.0, x, 2.0 * x];
        let fit = CurveFit::new(|x, [a, b]| a * (b * x).exp(), &x, &[1.0, 2.0, 1.5], [1.0, -1.0]).fit();
        if let Ok(fit) = fit {
            assert!(fit.parameters().iter().all(|parameter| parameter.value.is_finite()), "{fit}");
        }
    }
    let mut problem = Analytic::new(1, 1, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        r[0] = (x[0] / 1e300).exp();
        if let Some(jacobian) = jacobian {
            jacobian[0] = r[0] / 1e300;
        }
        Ok(())
    });
    if let Ok(report) = solver().minimize(&mut problem, &[1e307]) {
        assert!(report.x[0].is_finite(), "{report}");
    }
}

/// Poses in the plane, each seen from the one before and from the one a turn before; some of what is seen is wrong.
struct Poses {
    edges: Vec<[usize; 2]>,
    seen: Vec<[f64; 3]>,
    poses: usize,
}

/// The pose `to` seen from the pose `from`.
fn seen<S: Scalar>(from: &[S], to: &[S]) -> [S; 3] {
    let (sin, cos) = (from[2].sin(), from[2].cos());
    let [x, y, turn] = [0, 1, 2].map(|k| to[k] - from[k]);
    [cos * x + sin * y, cos * y - sin * x, turn]
}

impl Poses {
    fn new(poses: usize) -> (Self, Vec<f64>) {
        const TURN: usize = 12;
        let truth: Vec<[f64; 3]> = (0..poses)
            .map(|i| {
                let angle = i as f64 * 0.5;
                [10.0 * angle.cos() + 0.05 * i as f64, 10.0 * angle.sin(), angle + 1.57]
            })
            .collect();
        let chain = (1..poses).map(|i| [i - 1, i]);
        let edges: Vec<_> = chain.chain((TURN..poses).map(|i| [i - TURN, i])).collect();
        let noise = |k: usize| ((k * 7919 % 1009) as f64 / 1009.0 - 0.5) * if k % 23 == 22 { 5.0 } else { 0.1 };
        let seen: Vec<[f64; 3]> = edges
            .iter()
            .enumerate()
            .map(|(k, &[i, j])| {
                let [x, y, turn] = seen(&truth[i], &truth[j]);
                [x + noise(3 * k), y + noise(3 * k + 1), turn + 0.1 * noise(3 * k + 2)]
            })
            .collect();
        let mut start = truth[0].to_vec();
        for i in 1..poses {
            let ([x, y, turn], at) = (seen[i - 1], 3 * (i - 1));
            let (sin, cos) = start[at + 2].sin_cos();
            let next = [start[at] + cos * x - sin * y, start[at + 1] + sin * x + cos * y, start[at + 2] + turn];
            start.extend(next);
        }
        (Poses { edges, seen, poses }, start)
    }
}

impl Residuals<f64> for Poses {
    fn parameter_count(&self) -> usize {
        3 * self.poses
    }

    fn residual_count(&self) -> usize {
        3 * self.edges.len() + 3
    }

    fn row_group(&self) -> usize {
        3
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (k, r) in (first / 3..).zip(r.chunks_exact_mut(3)) {
            let Some(&[i, j]) = self.edges.get(k) else {
                // The first pose is known.
                [10.0, 0.0, 1.57].iter().enumerate().for_each(|(c, &known)| r[c] = x[c] - known);
                continue;
            };
            let found = seen(&x[3 * i..3 * i + 3], &x[3 * j..3 * j + 3]);
            let weights = [20.0, 20.0, 100.0];
            (0..3).for_each(|c| r[c] = (found[c] - self.seen[k][c]) * weights[c]);
        }
        Ok(())
    }
}

/// Under Huber's loss outliers have a slope and no curvature.
#[test]
fn a_robust_graph_of_poses_converges() {
    for loss in [Loss::Huber, Loss::SoftL1, Loss::Cauchy] {
        let (poses, start) = Poses::new(30);
        let report = solver().minimize(&mut Robust::new(AutoDiff(poses), loss, 1.0).unwrap(), &start).unwrap();
        assert!(report.is_converged() && report.iterations <= 150, "{loss}: {report}");
    }
}

/// Linearisations and evaluations, in order, of a solve whose first trial point has derivatives, or a residual, that are not finite.
fn events_around_a_point_that_is_not_finite(derivatives: bool) -> Vec<(bool, f64)> {
    let events = RefCell::new(Vec::new());
    let mut problem = Analytic::new(1, 2, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        let seen = events.borrow().len();
        r.copy_from_slice(&[x[0].exp() - 2.0, x[0] - 0.5]);
        // The first evaluation is at the start, the second is for the second derivative there.
        if !derivatives && seen == 2 {
            r[0] = f64::NAN;
        }
        events.borrow_mut().push((jacobian.is_some(), x[0]));
        if let Some(jacobian) = jacobian {
            let broken = derivatives && seen == 3;
            jacobian.copy_from_slice(&[if broken { f64::NAN } else { x[0].exp() }, 1.0]);
        }
        Ok(())
    });
    let report = solver().with_acceleration(Acceleration::Always).minimize(&mut problem, &[3.0]).unwrap();
    assert!(report.is_converged(), "{report}");
    events.into_inner()
}

/// A point that is not finite leaves no rows behind that a later step would take for its own: the second derivative along the next step
/// is that of the rows before, which are still there.
#[test]
fn rows_of_a_point_that_is_not_finite_are_forgotten() {
    let mut events = events_around_a_point_that_is_not_finite(true);
    let (linearized, broken) = events.remove(3);
    assert!(linearized && broken != 3.0 && events[2] == (false, broken), "{events:?}");
    assert_eq!(events, events_around_a_point_that_is_not_finite(false));
}

/// A cost of its own, which may be finite where the residuals are not.
struct Deceptive;

impl LeastSquares<f64> for Deceptive {
    fn parameter_count(&self) -> usize {
        1
    }

    fn residual_count(&self) -> usize {
        1
    }

    fn residuals(&mut self, x: &[f64], _: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        r[0] = if x[0] < 1.0 { f64::INFINITY } else { x[0] };
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], _: usize, r: &mut [f64], jacobian: &mut [f64]) -> Result<(), EvaluationError> {
        jacobian[0] = 1.0;
        self.residuals(x, 0, r)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for Deceptive {
    fn cost_of(&mut self, _: usize, r: &[f64]) -> Option<f64> {
        Some(if r[0].is_finite() { 0.5 * r[0] * r[0] } else { 0.0 })
    }
}

#[test]
fn a_gradient_that_is_not_finite_is_no_place_to_stay() {
    let report = solver().minimize(&mut Deceptive, &[3.0]).unwrap();
    assert!(report.x[0] >= 1.0 && report.gradient_norm.is_finite(), "{report}");
}

/// A line whose cost is one where its residual is zero.
struct Raised;

impl LeastSquares<f64> for Raised {
    fn parameter_count(&self) -> usize {
        1
    }

    fn residual_count(&self) -> usize {
        1
    }

    fn residuals(&mut self, x: &[f64], _: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        r[0] = x[0] - 2.0;
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], _: usize, r: &mut [f64], jacobian: &mut [f64]) -> Result<(), EvaluationError> {
        jacobian[0] = 1.0;
        self.residuals(x, 0, r)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for Raised {
    fn cost_of(&mut self, _: usize, r: &[f64]) -> Option<f64> {
        Some(0.5 * r[0] * r[0] + 1.0)
    }
}

#[test]
fn a_cost_above_zero_has_a_minimum_without_residuals() {
    let report = solver().minimize(&mut Raised, &[3.0]).unwrap();
    assert_eq!((report.status, report.gradient_cosine), (Status::GradientTolerance, 0.0), "{report}");
}

/// NaN beyond a wall.
#[test]
fn a_cost_that_is_not_finite_is_recorded_as_infinite() {
    let mut problem = FiniteDifference::new(1, 2, |x: &[f64], r: &mut [f64]| {
        r.copy_from_slice(&[(x[0]).ln() + 3.0, 0.1]);
        Ok(())
    });
    let mut records: Vec<IterationRecord<f64>> = Vec::new();
    let mut observer = |record: &IterationRecord<f64>, _: &[f64]| {
        records.push(*record);
        ControlFlow::Continue(())
    };
    let report = solver().minimize_observed(&mut problem, &[2.0], &mut observer).unwrap();
    assert!(report.is_converged(), "{report}");
    let unusable: Vec<_> = records.iter().filter(|record| !record.cost.is_finite()).collect();
    assert!(!unusable.is_empty(), "{report}");
    for record in unusable {
        assert!(record.cost == f64::INFINITY && record.gain_ratio == f64::NEG_INFINITY && !record.accepted, "{record}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// From anywhere, in every form: converged means stationary.
    #[test]
    fn converged_means_stationary(
        a in 0.1..4.0_f64, b in -3.0..14.0_f64, c in -20.0..20.0_f64, qr in any::<bool>(), polish in any::<bool>()
    ) {
        let (x, y) = power_law();
        let mut problem = Analytic::new(3, 12, |p: &[f64], r: &mut [f64], mut jacobian: Option<&mut [f64]>| {
            for (i, r) in r.iter_mut().enumerate() {
                let power = (p[1] * x[i].ln()).exp();
                *r = p[0] * power + p[2] - y[i];
                if let Some(jacobian) = jacobian.as_deref_mut() {
                    jacobian[3 * i..3 * i + 3].copy_from_slice(&[power, p[0] * power * x[i].ln(), 1.0]);
                }
            }
            Ok(())
        });
        let form = if qr { LinearSolver::Always(LinearForm::Qr) } else { LinearSolver::Auto };
        let report = solver().with_linear_solver(form).with_polish(polish).minimize(&mut problem, &[a, b, c]).unwrap();
        let cosine = cosine(&mut problem, &report.x);
        prop_assert!(!report.is_converged() || cosine <= if polish { 1e-6 } else { 1.5e-5 }, "cosine {cosine:e}\n{report}");
    }
}
