//! The mathematics of the iteration, on random small problems.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::problem::FixedAutoDiff;
use marquardt::solver::damping::{
    DampedSystem, Damping, DampingPolicy, GainRatio, IllConditioned, Multiplicative, Trial, TrustRegion,
};
use marquardt::solver::{Acceleration, IterationRecord, Scaling};
use marquardt::{AutoDiff, LevenbergMarquardt};
use nalgebra::{DMatrix, DVector, SVector};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::common::{Wavy, close, cost, damped_step, linearized, wavy};

const FORMS: [LinearForm; 3] = [LinearForm::Cholesky, LinearForm::Qr, LinearForm::Dual];

/// More rows than parameters.
fn overdetermined(bend: f64) -> impl Strategy<Value = Wavy<f64>> {
    (1..6_usize, 2..12_usize).prop_flat_map(move |(n, spare)| wavy(n + spare, n, bend))
}

/// Fewer rows than parameters.
fn underdetermined(bend: f64) -> impl Strategy<Value = Wavy<f64>> {
    (1..6_usize, 1..6_usize).prop_flat_map(move |(m, spare)| wavy(m, m + spare, bend))
}

/// Any shape, with a start.
fn with_start(problems: impl Strategy<Value = Wavy<f64>>) -> impl Strategy<Value = (Wavy<f64>, Vec<f64>)> {
    problems.prop_flat_map(|problem| {
        let n = problem.parameters;
        (Just(problem), vec(-2.0..2.0, n))
    })
}

fn any_shape(bend: f64) -> impl Strategy<Value = (Wavy<f64>, Vec<f64>)> {
    with_start(prop_oneof![overdetermined(bend), underdetermined(bend)])
}

fn policy(lambda: f64) -> impl Strategy<Value = Damping<f64>> {
    select(vec![GainRatio::nielsen(lambda).into(), Multiplicative::new(lambda, 10.0, 10.0).into()])
}

fn any_policy() -> impl Strategy<Value = Damping<f64>> {
    let delayed = Multiplicative::delayed_gratification();
    select(vec![
        GainRatio::default().into(),
        TrustRegion::default().into(),
        Multiplicative::default().into(),
        delayed.into(),
    ])
}

/// The first trial alone, and the point after it. Rejects a start that is a solution.
fn first_trial<D: DampingPolicy<f64>>(
    solver: LevenbergMarquardt<f64, D>,
    problem: &Wavy<f64>,
    start: &[f64],
) -> Result<(IterationRecord<f64>, Vec<f64>), TestCaseError> {
    let mut seen = None;
    let mut watch = |record: &IterationRecord<f64>, x: &[f64]| {
        seen = Some((*record, x.to_vec()));
        ControlFlow::Break(())
    };
    let solver = solver.with_acceleration(Acceleration::Never).with_max_iterations(1).with_polish(false);
    solver.minimize_observed(&mut AutoDiff(problem.clone()), start, &mut watch).unwrap();
    seen.ok_or_else(|| TestCaseError::reject("the start is a solution"))
}

/// The first step, if it was taken.
fn first_step<D: DampingPolicy<f64>>(
    solver: LevenbergMarquardt<f64, D>,
    problem: &Wavy<f64>,
    start: &[f64],
) -> Result<(IterationRecord<f64>, Vec<f64>), TestCaseError> {
    let (record, x) = first_trial(solver, problem, start)?;
    prop_assume!(record.accepted);
    Ok((record, difference(&x, start)))
}

fn column_norms(jacobian: &DMatrix<f64>) -> Vec<f64> {
    jacobian.column_iter().map(|column| column.norm()).map(|norm| if norm > 0.0 { norm } else { 1.0 }).collect()
}

fn norm(a: &[f64]) -> f64 {
    a.iter().map(|a| a * a).sum::<f64>().sqrt()
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn linear_problems_end_at_the_answer_of_qr((problem, start) in with_start(overdetermined(0.0)), damping in any_policy()) {
        let (r, jacobian) = linearized(&mut AutoDiff(problem.clone()), &start);
        let step = damped_step(&r, &jacobian, 0.0, &vec![0.0; start.len()]);
        let answer: Vec<_> = start.iter().zip(&step).map(|(x, step)| x + step).collect();
        let report = LevenbergMarquardt::new().with_damping(damping).minimize(&mut AutoDiff(problem), &start).unwrap();
        prop_assert!(report.is_converged(), "{report}");
        prop_assert!(close(&report.x, &answer, 1e-12), "{answer:?}\n{report}");
    }

    #[test]
    fn a_wide_trust_region_solves_linear_problems_in_one_step((problem, start) in with_start(overdetermined(0.0))) {
        let solver = LevenbergMarquardt::new().with_damping(TrustRegion::new(1e6));
        let report = solver.minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
        prop_assume!(!report.log.is_empty());
        let first = report.log[0];
        prop_assert!(first.accepted && first.damping == 0.0, "{report}");
        // The linear model is right, to the rounding of the costs.
        let surprise = (first.gain_ratio - 1.0) * (report.initial_cost - first.cost);
        prop_assert!(surprise.abs() <= 1e-12 * report.initial_cost, "{report}");
        let visible = report.log.iter().filter(|record| record.accepted && record.cost < first.cost * (1.0 - 1e-12));
        prop_assert_eq!(visible.count(), 0, "{}", report);
        let (_, x) = first_trial(solver, &problem, &start)?;
        prop_assert!(close(&x, &report.x, 1e-11));
    }

    #[test]
    fn the_first_step_solves_the_damped_system(
        (problem, start) in any_shape(0.1),
        (lambda, damping) in (1e-3..1e3).prop_flat_map(|lambda| (Just(lambda), policy(lambda))),
        scaling in select(vec![Scaling::Identity, Scaling::Marquardt]),
    ) {
        let (r, jacobian) = linearized(&mut AutoDiff(problem.clone()), &start);
        let d: Vec<_> = match scaling {
            Scaling::Identity => vec![1.0; start.len()],
            _ => column_norms(&jacobian),
        };
        let solver = LevenbergMarquardt::new().with_damping(damping).with_scaling(scaling);
        let (record, step) = first_step(solver, &problem, &start)?;
        prop_assert_eq!(record.damping, lambda);
        let expected = damped_step(&r, &jacobian, lambda, &d);
        prop_assert!(close(&step, expected.as_slice(), 1e-9), "{step:?} is not {expected}");
        let length = step.iter().zip(&d).map(|(step, d)| (d * step).powi(2)).sum::<f64>().sqrt();
        prop_assert!((record.step_norm - length).abs() <= 1e-9 * (1.0 + length));
        // The equation itself: (JᵀJ + λD²)δ + Jᵀr = 0.
        let damping = DVector::from_fn(start.len(), |j, _| lambda * d[j] * d[j] * step[j]);
        let gradient = jacobian.transpose() * &r;
        let rest = jacobian.transpose() * (&jacobian * DVector::from(step)) + damping + &gradient;
        prop_assert!(rest.norm() <= 1e-9 * (gradient.norm() + lambda), "{rest}");
    }

    #[test]
    fn more_damping_never_lengthens_the_step((problem, start) in any_shape(0.1), less in 1e-4..1e2, factor in 1.0..1e3) {
        let length = |lambda| {
            let solver = LevenbergMarquardt::new().with_damping(GainRatio::nielsen(lambda));
            first_trial(solver, &problem, &start).map(|(record, _)| record.step_norm)
        };
        prop_assert!(length(less * factor)? <= length(less)? * (1.0 + 1e-12));
    }

    #[test]
    fn the_trust_region_keeps_its_radius((problem, start) in any_shape(0.1), factor in 1e-3..10.0) {
        let (_, jacobian) = linearized(&mut AutoDiff(problem.clone()), &start);
        let scaled = column_norms(&jacobian).iter().zip(&start).map(|(d, x)| (d * x).powi(2)).sum::<f64>().sqrt();
        let radius = if scaled > 0.0 { factor * scaled } else { factor };
        let solver = LevenbergMarquardt::new().with_damping(TrustRegion::new(factor));
        let (record, _) = first_trial(solver, &problem, &start)?;
        prop_assert!(record.step_norm <= 1.1 * radius * (1.0 + 1e-9), "{record:?} in {radius}");
        // A damped step reaches the radius, unless the rows are so few that no step gets so long.
        let reaches = record.step_norm >= 0.9 * radius * (1.0 - 1e-9);
        prop_assert!(record.damping == 0.0 || reaches || problem.y.len() < start.len(), "{record:?} in {radius}");
    }

    #[test]
    fn all_linear_forms_give_the_same_step((problem, start) in any_shape(0.1), lambda in 1e-3..1e3) {
        let step = |form| {
            let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
            first_step(solver.with_damping(GainRatio::nielsen(lambda)), &problem, &start).map(|(_, step)| step)
        };
        let qr = step(LinearForm::Qr)?;
        for form in [LinearForm::Cholesky, LinearForm::Dual] {
            let other = step(form)?;
            let apart = norm(&difference(&other, &qr));
            prop_assert!(apart <= 1e-8 * norm(&qr), "by {form}: {other:?} is not {qr:?}");
        }
    }

    #[test]
    fn all_linear_forms_end_at_the_same_minimum((problem, start) in with_start(overdetermined(0.1))) {
        let [cholesky, qr, dual] = FORMS.map(|form| {
            let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
            let report = solver.minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
            assert_eq!(report.linear_form, form);
            report.x
        });
        prop_assert!(close(&cholesky, &qr, 1e-10), "{cholesky:?} is not {qr:?}");
        // With more rows than parameters the undamped dual is singular, so that there is no polish.
        prop_assert!(close(&dual, &qr, 1e-5), "{dual:?} is not {qr:?}");
    }

    #[test]
    fn the_linear_model_always_promises((problem, start) in any_shape(1.0), inner in any_policy()) {
        let recorder = Recorder { inner, trials: Arc::default() };
        let report =
            LevenbergMarquardt::new().with_damping(recorder.clone()).minimize(&mut AutoDiff(problem), &start).unwrap();
        let trials = recorder.trials.lock().unwrap();
        prop_assert!(!trials.is_empty());
        for trial in trials.iter() {
            prop_assert!(trial.predicted >= 0.0 && trial.slope <= 0.0 && trial.lambda >= 0.0, "{trial:?}\n{report}");
            prop_assert!(!trial.accepted || trial.actual > 0.0, "{trial:?}\n{report}");
        }
    }

    #[test]
    fn accepted_steps_lower_the_cost((problem, start) in any_shape(1.0), damping in any_policy()) {
        let report = LevenbergMarquardt::new().with_damping(damping).minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
        let mut before = report.initial_cost;
        for record in report.log.iter().filter(|record| record.accepted && !record.polish) {
            prop_assert!(record.cost < before, "{report}");
            before = record.cost;
        }
        prop_assert!(report.cost <= report.initial_cost, "{report}");
        let again = cost(&mut AutoDiff(problem), &report.x);
        prop_assert!((report.cost - again).abs() <= 1e-12 * again + 1e-28, "{again:e}\n{report}");
    }

    /// Powers of two scale every intermediate number exactly, so not even the last bit may change.
    #[test]
    fn units_of_parameters_change_nothing(
        (problem, start) in with_start(overdetermined(0.5)),
        exponents in vec(-20..20, 6),
        damping in any_policy(),
        scaling in select(vec![Scaling::Marquardt, Scaling::RunningMaximum, Scaling::FadingMaximum]),
    ) {
        let units: Vec<_> = exponents[..start.len()].iter().map(|&k| 2_f64.powi(k)).collect();
        let solver = LevenbergMarquardt::new().with_damping(damping).with_scaling(scaling);
        let plain = solver.minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
        let scaled_start: Vec<_> = start.iter().zip(&units).map(|(x, unit)| x / unit).collect();
        let scaled = solver.minimize(&mut AutoDiff(problem.in_units(&units)), &scaled_start).unwrap();
        let back: Vec<_> = scaled.x.iter().zip(&units).map(|(x, unit)| x * unit).collect();
        prop_assert_eq!(&back, &plain.x);
        prop_assert_eq!(scaled.log, plain.log);
    }

    #[test]
    fn the_order_of_rows_changes_nothing((problem, start, order) in with_start(overdetermined(0.1)).prop_flat_map(|(p, x)| {
        let order: Vec<_> = (0..p.y.len()).collect();
        (Just(p), Just(x), Just(order).prop_shuffle())
    })) {
        let solver = LevenbergMarquardt::new();
        let straight = solver.minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
        let shuffled = solver.minimize(&mut AutoDiff(problem.permuted(&order)), &start).unwrap();
        prop_assert!(close(&shuffled.x, &straight.x, 1e-12), "{straight}\n{shuffled}");
    }

    #[test]
    fn single_precision_agrees_to_its_digits((problem, start) in with_start(overdetermined(0.1))) {
        let double = LevenbergMarquardt::new().minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
        let single_start: Vec<_> = start.iter().map(|&x| x as f32).collect();
        let single = LevenbergMarquardt::<f32>::new().minimize(&mut AutoDiff(problem.single()), &single_start).unwrap();
        prop_assert!(single.is_converged(), "{single}");
        let widened: Vec<_> = single.x.iter().map(|&x| f64::from(x)).collect();
        prop_assert!(close(&widened, &double.x, 1e-5), "{double}\n{single}");
    }

    #[test]
    fn row_groups_change_nothing((problem, start) in with_start(wavy(24, 3, 0.3)), group in select(vec![2, 3, 8, 24])) {
        let solver = LevenbergMarquardt::new();
        let single = solver.minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
        let grouped = solver.minimize(&mut AutoDiff(Wavy { row_group: group, ..problem }), &start).unwrap();
        prop_assert_eq!(single.x, grouped.x);
        prop_assert_eq!(single.log, grouped.log);
    }

    #[test]
    fn fixed_and_dynamic_sizes_agree((problem, start) in with_start(wavy(40, 3, 0.3)), damping in any_policy()) {
        let solver = LevenbergMarquardt::new().with_damping(damping);
        let dynamic = solver.minimize(&mut AutoDiff(problem.clone()), &start).unwrap();
        let start = SVector::<f64, 3>::from_column_slice(&start);
        let fixed = solver.minimize_fixed(&mut FixedAutoDiff::<_, 3>(problem), start).unwrap();
        prop_assert!(close(fixed.x.as_slice(), &dynamic.x, 1e-12), "{dynamic}\n{fixed}");
        prop_assert!(fixed.is_converged() && fixed.log.is_empty());
    }
}

/// Enough rows for several tiles, which a single group would forbid.
#[test]
fn tiles_change_only_rounding() {
    let m = 3000;
    let wave = |k: usize| (k as f64 * 0.7).sin();
    let streamed = Wavy {
        parameters: 2,
        slopes: (0..2 * m).map(|k| wave(k) + (k % 2) as f64).collect(),
        waves: (0..2 * m).map(|k| wave(3 * k)).collect(),
        y: (0..m).map(|k| wave(5 * k)).collect(),
        bend: 0.3,
        row_group: 1,
    };
    let whole = Wavy { row_group: m, ..streamed.clone() };
    let fit = |problem| LevenbergMarquardt::new().minimize(&mut AutoDiff(problem), &[1.0, -1.0]).unwrap();
    let (streamed, whole) = (fit(streamed), fit(whole));
    assert!(streamed.is_converged() && close(&streamed.x, &whole.x, 1e-12), "{streamed}\n{whole}");
    assert!((streamed.cost - whole.cost).abs() <= 1e-12 * whole.cost);
}

/// As the problem of a closure has it, and many more parameters than residuals.
#[test]
fn the_dual_takes_the_shortest_step_to_an_exact_fit() {
    let problem = Wavy {
        parameters: 30,
        slopes: (0..60).map(|k| (k as f64).cos()).collect(),
        waves: vec![0.0; 60],
        y: vec![1.0, 2.0],
        bend: 0.0,
        row_group: 1,
    };
    let solver = LevenbergMarquardt::new().with_scaling(Scaling::Identity).with_damping(TrustRegion::new(1e6));
    let report = solver.minimize(&mut AutoDiff(problem.clone()), &[0.0; 30]).unwrap();
    assert_eq!(report.linear_form, LinearForm::Dual);
    assert!(report.is_converged() && report.cost < 1e-28, "{report}");
    let (_, jacobian) = linearized(&mut AutoDiff(problem), &[0.0; 30]);
    let shortest = jacobian.svd(true, true).solve(&DVector::from(vec![1.0, 2.0]), 1e-12).unwrap();
    assert!(close(&report.x, shortest.as_slice(), 1e-12), "{report}");
}

/// Passes everything on to another policy, and writes the trials down.
#[derive(Clone)]
struct Recorder {
    inner: Damping<f64>,
    trials: Arc<Mutex<Vec<Trial<f64>>>>,
}

impl DampingPolicy<f64> for Recorder {
    fn start(&mut self, scaled_start: f64) {
        self.inner.start(scaled_start);
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<f64>) -> Result<f64, IllConditioned> {
        self.inner.damp(system)
    }

    fn update(&mut self, trial: &Trial<f64>) {
        self.trials.lock().unwrap().push(*trial);
        self.inner.update(trial);
    }

    fn damp_more(&mut self) {
        self.inner.damp_more();
    }
}

/// What a policy is told of the system: `−d‖Dδ‖/dλ` against a difference, and `‖D⁻¹Jᵀr‖`.
#[test]
fn policies_are_told_the_truth() {
    #[derive(Clone)]
    struct Probe;

    impl DampingPolicy<f64> for Probe {
        fn start(&mut self, _: f64) {}

        fn damp(&mut self, system: &mut dyn DampedSystem<f64>) -> Result<f64, IllConditioned> {
            let (lambda, h) = (0.7, 1e-5);
            let slope = (system.solve(lambda + h)? - system.solve(lambda - h)?) / (2.0 * h);
            let length = system.solve(lambda)?;
            let rate = system.shrink_rate();
            assert!((rate + slope).abs() <= 1e-7 * rate.abs(), "{rate} is not {}", -slope);
            assert!(length <= system.gradient_norm() / lambda);
            let limit = system.solve(1e12)? * 1e12;
            assert!((limit - system.gradient_norm()).abs() <= 1e-6 * limit);
            system.solve(lambda)?;
            Ok(lambda)
        }

        fn update(&mut self, _: &Trial<f64>) {}

        fn damp_more(&mut self) {
            unreachable!("so much damping is always enough")
        }
    }

    let problem = Wavy {
        parameters: 3,
        slopes: vec![1.0, 2.0, 0.5, -1.0, 0.3, 0.2, 0.4, 0.1, 2.0],
        waves: vec![0.5; 9],
        y: vec![1.0, -2.0, 3.0],
        bend: 0.1,
        row_group: 1,
    };
    for form in FORMS {
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form)).with_damping(Probe);
        let report = solver.with_max_iterations(3).minimize(&mut AutoDiff(problem.clone()), &[0.5, -0.3, 1.0]).unwrap();
        assert!(report.cost < report.initial_cost, "{report}");
    }
}
