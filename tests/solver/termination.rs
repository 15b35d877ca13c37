//! Every way to end, and that the report tells the truth about it.

use std::ops::ControlFlow;
use std::time::Duration;

use marquardt::problem::Analytic;
use marquardt::solver::damping::{GainRatio, TrustRegion};
use marquardt::solver::{Acceleration, CancelToken, IterationRecord, Refusal, Status};
use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt, Report};

/// Is told the number of the call.
type Errand = Box<dyn FnMut(usize) -> Result<(), EvaluationError>>;

/// Rosenbrock's valley, which takes a while from (−1.2, 1), beside a residual that nothing can reduce. Counts its
/// calls.
#[derive(Default)]
struct Valley {
    residuals: usize,
    jacobians: usize,
    /// The factor on the derivatives: one, if they are right.
    distortion: Option<f64>,
    /// Done at each call.
    errand: Option<Errand>,
}

const START: [f64; 2] = [-1.2, 1.0];

impl Valley {
    fn call(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), EvaluationError> {
        r.copy_from_slice(&[10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0], 2.0]);
        let calls = self.residuals + self.jacobians;
        self.errand.as_mut().map_or(Ok(()), |errand| errand(calls))
    }
}

impl LeastSquares<f64> for Valley {
    fn parameter_count(&self) -> usize {
        2
    }

    fn residual_count(&self) -> usize {
        3
    }

    fn row_group(&self) -> usize {
        3
    }

    fn residuals(&mut self, x: &[f64], _: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.residuals += 1;
        self.call(x, r)
    }

    fn linearize(&mut self, x: &[f64], _: usize, r: &mut [f64], jacobian: &mut [f64]) -> Result<(), EvaluationError> {
        self.jacobians += 1;
        let factor = self.distortion.unwrap_or(1.0);
        jacobian.copy_from_slice(&[-20.0 * x[0], 10.0, -1.0, 0.0, 0.0, 0.0].map(|a| factor * a));
        self.call(x, r)
    }
}

/// One parameter, and residuals that do not vanish: Gauss–Newton takes a few steps to the last digit.
fn bowl() -> impl LeastSquares<f64> {
    Analytic::new(1, 3, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        r.copy_from_slice(&[x[0].exp() - 2.0, x[0] - 0.5, x[0] * x[0]]);
        if let Some(jacobian) = jacobian {
            jacobian.copy_from_slice(&[x[0].exp(), 1.0, 2.0 * x[0]]);
        }
        Ok(())
    })
}

fn plain() -> LevenbergMarquardt<f64> {
    LevenbergMarquardt::new()
}

/// Solves, and checks what holds whatever the status.
fn solve(solver: &LevenbergMarquardt<f64>, valley: &mut Valley) -> Report<f64> {
    let mut seen = Vec::new();
    let mut watch = |record: &IterationRecord<f64>, x: &[f64]| {
        seen.push((*record, x.to_vec()));
        ControlFlow::Continue(())
    };
    let report = solver.minimize_observed(valley, &START, &mut watch).unwrap();
    let records: Vec<_> = seen.iter().map(|(record, _)| *record).collect();
    assert_eq!(report.log, records);
    assert_eq!(report.iterations, seen.len());
    assert_eq!(report.accepted, records.iter().filter(|record| record.accepted).count());
    assert!(records.iter().map(|record| record.iteration).eq(1..=seen.len()));
    assert_eq!(report.damping, records.last().map_or(0.0, |record| record.damping));
    assert_eq!((report.evaluations.residuals, report.evaluations.jacobians), (valley.residuals, valley.jacobians));
    assert_eq!(report.error.is_some(), report.status == Status::EvaluationFailed);
    // The best point, and the cost there.
    let costs = |x: &[f64]| 0.5 * ((10.0 * (x[1] - x[0] * x[0])).powi(2) + (1.0 - x[0]).powi(2) + 4.0);
    for (cost, x) in [(report.cost, &report.x[..]), (report.initial_cost, &START)] {
        assert!((cost - costs(x)).abs() <= 1e-14 * cost, "{report}");
    }
    assert_eq!(report.x, seen.last().map_or(START.to_vec(), |(_, x)| x.clone()));
    let mut accepted_costs = records.iter().filter(|record| record.accepted).map(|record| record.cost);
    assert_eq!(report.cost, accepted_costs.next_back().unwrap_or(report.initial_cost));
    // The polish comes last, accepted and undamped.
    let polish = records.iter().skip_while(|record| !record.polish);
    assert!(polish.clone().all(|record| record.polish && record.accepted && record.damping == 0.0), "{report}");
    assert!(polish.count() == 0 || report.status.is_converged(), "{report}");
    report
}

#[test]
fn defaults_converge_with_a_polish() {
    let report = solve(&plain(), &mut Valley::default());
    assert!(report.is_converged(), "{report}");
    assert!((report.x[0] - 1.0).abs() < 1e-14 && (report.x[1] - 1.0).abs() < 1e-14, "{report}");
    assert!(report.gradient_cosine < 1e-13 && report.gradient_norm < 1e-11, "{report}");
}

/// A step that is not tried is no step to a point without a cost.
#[test]
fn the_log_says_why_a_step_was_not_tried() {
    let report = solve(&plain(), &mut Valley::default());
    let refused: Vec<_> = report.log.iter().filter(|record| record.refusal.is_some()).collect();
    assert!(!refused.is_empty(), "{report}");
    for record in refused {
        assert_eq!((record.refusal, record.accepted, record.cost), (Some(Refusal::TooCurved), false, f64::INFINITY));
        let line = record.to_string();
        assert!(line.ends_with("rejected: not evaluated, as the geodesic correction is too long"), "{line}");
        assert!(!line.contains("inf"), "{line}");
    }
}

/// Residuals that are rounded in another way with derivatives than without.
struct RoundedTwice;

impl LeastSquares<f64> for RoundedTwice {
    fn parameter_count(&self) -> usize {
        1
    }

    fn residual_count(&self) -> usize {
        3
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        for (i, r) in r.iter_mut().enumerate() {
            let t = (first + i + 1) as f64;
            *r = ((x[0] * t).exp() - 2.0 * t) * (1.0 - 8.0 * f64::EPSILON);
        }
        Ok(())
    }

    fn linearize(
        &mut self,
        x: &[f64],
        first: usize,
        r: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        for (i, (r, derivative)) in r.iter_mut().zip(jacobian).enumerate() {
            let t = (first + i + 1) as f64;
            (*r, *derivative) = ((x[0] * t).exp() - 2.0 * t, t * (x[0] * t).exp());
        }
        Ok(())
    }
}

#[test]
fn no_end_is_above_the_start_whichever_residuals_say_so() {
    let minimum = plain().minimize(&mut RoundedTwice, &[0.5]).unwrap().x[0];
    for polish in [true, false] {
        for k in -200..200 {
            let start = minimum * (1.0 + f64::from(k) * 1e-10);
            let report = plain().with_polish(polish).minimize(&mut RoundedTwice, &[start]).unwrap();
            assert!(report.cost <= report.initial_cost, "{start}: {report}");
        }
    }
}

#[test]
fn the_gradient_vanishes() {
    let report = solve(&plain().with_gtol(1e-3).with_polish(false), &mut Valley::default());
    assert_eq!(report.status, Status::GradientTolerance);
    assert!(report.gradient_cosine <= 1e-3 && report.gradient_cosine > 0.0, "{report}");
    // It ended at the first such point.
    let large = |record: &IterationRecord<f64>| record.gradient > 1e-3;
    assert!(report.log[..report.log.len() - 1].iter().all(large), "{report}");
}

#[test]
fn the_cost_no_longer_falls() {
    let report =
        solve(&plain().with_ftol(1e-2).with_gtol(0.0).with_xtol(0.0).with_polish(false), &mut Valley::default());
    assert_eq!(report.status, Status::CostTolerance);
    let [.., before, last] = report.log[..] else { panic!("{report}") };
    assert!((before.cost - last.cost).abs() <= 1e-2 * before.cost, "{report}");
}

#[test]
fn the_steps_become_negligible() {
    let report =
        solve(&plain().with_xtol(1e-2).with_gtol(0.0).with_ftol(0.0).with_polish(false), &mut Valley::default());
    assert_eq!(report.status, Status::StepTolerance);
    let (last, earlier) = report.log.split_last().unwrap();
    assert!(
        earlier.iter().filter(|record| record.accepted).all(|record| record.step_norm > last.step_norm),
        "{report}"
    );
}

#[test]
fn the_target_is_reached_and_nothing_more() {
    let report = solve(&plain().with_target_cost(2.5), &mut Valley::default());
    assert_eq!(report.status, Status::TargetCost);
    assert!(report.is_converged() && report.cost <= 2.5 && report.cost > 2.0, "{report}");
    assert!(report.log.iter().all(|record| !record.polish), "{report}");
    let (last, earlier) = report.log.split_last().unwrap();
    assert!(last.accepted && earlier.iter().filter(|record| record.accepted).all(|record| record.cost > 2.5));
}

#[test]
fn iterations_are_used_up() {
    for limit in [0, 1, 2, 5] {
        let report = solve(&plain().with_max_iterations(limit), &mut Valley::default());
        assert_eq!((report.status, report.iterations), (Status::MaxIterations, limit));
        assert!(!report.is_converged());
    }
}

#[test]
fn evaluations_are_used_up() {
    for limit in [0, 1, 2, 5, 9] {
        let report = solve(&plain().with_max_evaluations(limit), &mut Valley::default());
        assert_eq!(report.status, Status::MaxEvaluations);
        let used = report.evaluations.residuals + report.evaluations.jacobians;
        // The start costs one, and a trial that is under way is finished.
        assert!(used >= limit && used <= limit.max(1) + 3, "{used} of {limit}");
    }
}

#[test]
fn time_is_used_up() {
    let report = solve(&plain().with_time_limit(Duration::ZERO), &mut Valley::default());
    assert_eq!((report.status, report.iterations), (Status::TimeLimit, 0));
    let pause = |_| {
        std::thread::sleep(Duration::from_millis(20));
        Ok(())
    };
    let mut slow = Valley { errand: Some(Box::new(pause)), ..Valley::default() };
    let report = solve(&plain().with_time_limit(Duration::from_millis(70)), &mut slow);
    assert_eq!(report.status, Status::TimeLimit);
    assert!(report.elapsed >= Duration::from_millis(70) && report.iterations > 0, "{report}");
}

#[test]
fn the_observer_cancels() {
    let mut watch = |record: &IterationRecord<f64>, _: &[f64]| match record.iteration {
        3 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let report = plain().minimize_observed(&mut Valley::default(), &START, &mut watch).unwrap();
    assert_eq!((report.status, report.iterations), (Status::Cancelled, 3));
    assert!(report.cost < report.initial_cost, "{report}");
}

/// The last trials belong to the polish; there, too, the observer's word counts.
#[test]
fn the_observer_cancels_the_polish() {
    let mut watch = |record: &IterationRecord<f64>, _: &[f64]| {
        if record.polish { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let report = plain().with_gtol(1e-2).minimize_observed(&mut bowl(), &[1.0], &mut watch).unwrap();
    assert_eq!(report.status, Status::Cancelled, "{report}");
    assert_eq!(report.log.iter().filter(|record| record.polish).count(), 1);
}

#[test]
fn a_token_cancels_from_within_the_residuals() {
    let token = CancelToken::new();
    let solver = plain().with_cancel_token(token.clone());
    let cancel = move |calls| {
        if calls == 4 {
            token.cancel();
        }
        Ok(())
    };
    let report = solve(&solver, &mut Valley { errand: Some(Box::new(cancel)), ..Valley::default() });
    assert_eq!(report.status, Status::Cancelled);
    assert!(report.evaluations.residuals + report.evaluations.jacobians <= 6, "{report}");
    // The token stays used.
    let report = solve(&solver, &mut Valley::default());
    assert_eq!((report.status, report.iterations), (Status::Cancelled, 0));
}

#[test]
fn a_token_cancels_from_another_thread() {
    let token = CancelToken::new();
    let solver = plain().with_cancel_token(token.clone()).with_gtol(0.0).with_ftol(0.0).with_xtol(0.0);
    let (started, wait) = std::sync::mpsc::channel();
    let canceller = std::thread::spawn(move || {
        wait.recv().unwrap();
        token.cancel();
    });
    // Holds the solve at its third call until the other thread has done its work.
    let mut canceller = Some(canceller);
    let hold = move |calls| {
        if calls == 3 {
            started.send(()).unwrap();
            canceller.take().unwrap().join().unwrap();
        }
        Ok(())
    };
    let report = solve(&solver, &mut Valley { errand: Some(Box::new(hold)), ..Valley::default() });
    assert_eq!(report.status, Status::Cancelled, "{report}");
}

#[test]
fn the_residuals_give_up() {
    let fail = |calls| if calls > 6 { Err("out of fuel".into()) } else { Ok(()) };
    let mut valley = Valley { errand: Some(Box::new(fail)), ..Valley::default() };
    let report = plain().minimize(&mut valley, &START).unwrap();
    assert_eq!(report.status, Status::EvaluationFailed);
    assert_eq!(report.error.as_ref().unwrap().to_string(), "out of fuel");
    assert!(report.cost < report.initial_cost && report.to_string().contains("out of fuel"), "{report}");
}

#[test]
fn derivatives_of_the_wrong_sign_are_named() {
    for damping in [TrustRegion::default().into(), marquardt::solver::damping::Damping::default()] {
        let solver = plain().with_damping(damping);
        let report = solve(&solver, &mut Valley { distortion: Some(-1.0), ..Valley::default() });
        assert_eq!(report.status, Status::WrongDerivatives, "{report}");
        assert!(!report.is_converged() && report.x == START && report.accepted == 0, "{report}");
        assert!(report.to_string().starts_with("not converged: the derivatives contradict"), "{report}");
    }
}

/// Second differences are counted as evaluations of residuals.
#[test]
fn accelerated_evaluations_are_counted() {
    let plain_steps = solve(&plain().with_acceleration(Acceleration::Never), &mut Valley::default());
    let accelerated = solve(&plain().with_acceleration(Acceleration::Always), &mut Valley::default());
    assert!(plain_steps.is_converged() && accelerated.is_converged(), "{plain_steps}\n{accelerated}");
    assert!(accelerated.evaluations.residuals >= accelerated.log.iter().filter(|record| !record.polish).count());
}

/// The second-order correction of `x⁹` is 8/9 of the step, which is too long: the step without it is taken at once.
#[test]
fn a_step_with_too_long_a_correction_is_plain() {
    let mut power = Analytic::new(1, 1, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        r[0] = x[0].powi(9);
        jacobian.into_iter().for_each(|jacobian| jacobian[0] = 9.0 * x[0].powi(8));
        Ok(())
    });
    let solver = plain().with_max_iterations(1).with_acceleration(Acceleration::Always);
    let report = solver.minimize(&mut power, &[1.0]).unwrap();
    assert_eq!(report.accepted, 1, "{report}");
    assert!((report.x[0] - 8.0 / 9.0).abs() < 1e-12, "{report}");
}

#[test]
fn the_log_can_be_turned_off() {
    let with = solve(&plain(), &mut Valley::default());
    let without = plain().with_log(false).minimize(&mut Valley::default(), &START).unwrap();
    assert!(without.log.is_empty());
    assert_eq!((without.x, without.iterations, without.status), (with.x, with.iterations, with.status));
}

#[test]
fn the_polish_can_be_turned_off() {
    let fit = |polish| plain().with_gtol(1e-2).with_polish(polish).minimize(&mut bowl(), &[1.0]).unwrap();
    let (rough, polished) = (fit(false), fit(true));
    assert!(rough.log.iter().all(|record| !record.polish), "{rough}");
    assert!(polished.log.iter().any(|record| record.polish), "{polished}");
    assert_eq!(rough.status, polished.status);
    assert!(polished.gradient_cosine < 1e-13 && rough.gradient_cosine > 1e-9, "{rough}\n{polished}");
}

/// A settled solve does not depend on what the solver did before.
#[test]
fn a_solver_can_be_used_again() {
    let solver = plain();
    let reports = [0, 1].map(|_| solve(&solver, &mut Valley::default()));
    assert_eq!(reports[0].log, reports[1].log);
}

#[test]
fn the_report_prints_its_figures() {
    let mut circle = Analytic::new(1, 1, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        r[0] = x[0] * x[0] - 2.0;
        if let Some(jacobian) = jacobian {
            jacobian[0] = 2.0 * x[0];
        }
        Ok(())
    });
    let report = plain().minimize(&mut circle, &[1.0]).unwrap();
    let text = report.to_string();
    for figure in ["converged: ", "x[0] = 1.4142135624e0", "iterations", "Cholesky", "trial"] {
        assert!(text.contains(figure), "{figure} is missing in\n{text}");
    }
    assert_eq!(text.lines().filter(|line| line.trim_start().starts_with(char::is_numeric)).count(), report.iterations);
}

/// `1 + 1/(a + b)`, which has its minimum where the sum is infinite, beside a residual that ties both together and one that nothing
/// can reduce.
struct Horizon;

impl LeastSquares<f64> for Horizon {
    fn parameter_count(&self) -> usize {
        2
    }

    fn residual_count(&self) -> usize {
        3
    }

    fn row_group(&self) -> usize {
        3
    }

    fn residuals(&mut self, x: &[f64], _: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        r.copy_from_slice(&[1.0 + 1.0 / (x[0] + x[1]), 10.0 * (x[0] - x[1]), 2.0]);
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], _: usize, r: &mut [f64], jacobian: &mut [f64]) -> Result<(), EvaluationError> {
        let slope = -(x[0] + x[1]).powi(-2);
        jacobian.copy_from_slice(&[slope, slope, 10.0, -10.0, 0.0, 0.0]);
        self.residuals(x, 0, r)
    }
}

/// Damping takes nearly all of every step towards infinity; `ftol` is kept nevertheless, by how the reductions decline.
#[test]
fn what_is_left_of_a_slow_decline_is_within_ftol() {
    let mut iterations = 0;
    for ftol in [1e-3, 1e-4, 1e-5, 1e-6] {
        let solver = LevenbergMarquardt::new()
            .with_damping(GainRatio::nielsen(1e-2))
            .with_acceleration(Acceleration::Never)
            .with_polish(false)
            .with_ftol(ftol);
        let report = solver.minimize(&mut Horizon, &[0.5, 0.6]).unwrap();
        assert_eq!(report.status, Status::CostTolerance, "{report}");
        let left = report.cost / 2.5 - 1.0;
        assert!(left > 0.1 * ftol && left < 1.5 * ftol, "{left:e} with a tolerance of {ftol:e}");
        assert!(report.iterations > iterations);
        iterations = report.iterations;
    }
    assert!(iterations < 100, "{iterations}");
}
