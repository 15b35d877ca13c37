//! Every policy, scaling and acceleration on classic problems, and the default on hard ones.

use marquardt::problem::Capabilities;
use marquardt::solver::damping::{
    DampedSystem, Damping, DampingPolicy, GainRatio, IllConditioned, Multiplicative, Trial, TrustRegion,
};
use marquardt::solver::{Acceleration, Scaling};
use marquardt::{AutoDiff, EvaluationError, LeastSquares, LevenbergMarquardt, Report};

use crate::classics::Classic;
use crate::workload_problems::Analytic;
use crate::workloads::{Difficulty, OverlappingGaussians, Workload};

/// A policy and what to call it.
type Named = (&'static str, fn() -> Damping<f64>);

const POLICIES: [Named; 5] = [
    ("gain ratio", || GainRatio::default().into()),
    ("Nielsen", || GainRatio::nielsen(1e-2).into()),
    ("trust region", || TrustRegion::default().into()),
    ("multiplicative", || Multiplicative::default().into()),
    ("delayed gratification", || Multiplicative::delayed_gratification().into()),
];

const SCALINGS: [Scaling; 4] = [Scaling::Identity, Scaling::Marquardt, Scaling::RunningMaximum, Scaling::FadingMaximum];

const ACCELERATIONS: [Acceleration; 3] = [Acceleration::Never, Acceleration::WhereCurved, Acceleration::Always];

/// A problem that does not know its second derivatives.
struct FirstOrder(AutoDiff<Classic>);

impl LeastSquares<f64> for FirstOrder {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.0.residual_count()
    }

    fn row_group(&self) -> usize {
        self.0.row_group()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.residuals(x, first, r)
    }

    fn linearize(
        &mut self,
        x: &[f64],
        first: usize,
        r: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        self.0.linearize(x, first, r, jacobian)
    }
}

/// The sum of squares is one of the published minima.
fn at_a_minimum(problem: Classic, report: &Report<f64>) -> bool {
    let sum = report.sum_of_squares();
    problem.minima().iter().any(|minimum| (sum - minimum).abs() <= 1e-5 * minimum + 1e-12)
}

/// The reports of all combinations of policy, scaling and acceleration that `wanted` does not want.
fn unwanted(
    wanted: impl Fn(Classic, &Report<f64>) -> bool,
    minimize: impl Fn(&LevenbergMarquardt<f64>, Classic) -> Report<f64>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (name, policy) in POLICIES {
        for scaling in SCALINGS {
            for acceleration in ACCELERATIONS {
                let solver = LevenbergMarquardt::new().with_damping(policy()).with_scaling(scaling);
                let solver = solver.with_acceleration(acceleration);
                for &problem in Classic::ALL {
                    let report = minimize(&solver, problem);
                    if !wanted(problem, &report) {
                        let (status, sum, cosine) = (report.status, report.sum_of_squares(), report.gradient_cosine);
                        found.push(format!(
                            "{problem:?} by {name}, {scaling:?}, {acceleration:?}: {status:?} at {sum:e}, cosine {cosine:.1e}\n"
                        ));
                    }
                }
            }
        }
    }
    found
}

fn exact(solver: &LevenbergMarquardt<f64>, problem: Classic) -> Report<f64> {
    solver.minimize(&mut AutoDiff(problem), problem.start()).unwrap()
}

fn by_differences(solver: &LevenbergMarquardt<f64>, problem: Classic) -> Report<f64> {
    solver.minimize(&mut FirstOrder(AutoDiff(problem)), problem.start()).unwrap()
}

#[test]
fn the_default_solves_all_classics() {
    for &problem in Classic::ALL {
        for report in [exact(&LevenbergMarquardt::new(), problem), by_differences(&LevenbergMarquardt::new(), problem)]
        {
            assert!(at_a_minimum(problem, &report) && report.is_converged(), "{problem:?}: {report}");
            assert!(report.iterations <= 150, "{problem:?}: {report}");
        }
    }
}

/// A problem that knows products with its transposed Jacobian, for chord corrections.
struct Corrected(AutoDiff<Classic>);

impl LeastSquares<f64> for Corrected {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.0.residual_count()
    }

    fn row_group(&self) -> usize {
        self.0.row_group()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.residuals(x, first, r)
    }

    fn linearize(
        &mut self,
        x: &[f64],
        first: usize,
        r: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        self.0.linearize(x, first, r, jacobian)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for Corrected {
    fn transposed_product(
        &mut self,
        x: &[f64],
        first: usize,
        u: &[f64],
        product: &mut [f64],
    ) -> Result<bool, EvaluationError> {
        let (mut r, mut jacobian) = (vec![0.0; u.len()], vec![0.0; u.len() * x.len()]);
        self.0.linearize(x, first, &mut r, &mut jacobian)?;
        for (row, &u) in jacobian.chunks_exact(x.len()).zip(u) {
            product.iter_mut().zip(row).for_each(|(product, &derivative)| *product += u * derivative);
        }
        Ok(true)
    }
}

#[test]
fn corrected_trials_lead_to_the_minima() {
    let solve = |solver: &LevenbergMarquardt<f64>, problem: Classic| {
        let solver = solver.clone().with_chord_corrections(3);
        solver.minimize(&mut Corrected(AutoDiff(problem)), problem.start()).unwrap()
    };
    for &problem in Classic::ALL {
        let report = solve(&LevenbergMarquardt::new(), problem);
        assert!(at_a_minimum(problem, &report) && report.is_converged(), "{problem:?}: {report}");
    }
    let converged = |problem, report: &Report<f64>| !at_a_minimum(problem, report) || report.is_converged();
    let failures = unwanted(converged, solve);
    assert!(failures.is_empty(), "{}", failures.concat());
}

/// Box's problem also has a valley to infinity, with a limit that is none of the minima.
#[test]
fn all_combinations_reach_a_minimum() {
    let reached = |problem, report: &Report<f64>| problem == Classic::Box || at_a_minimum(problem, report);
    for failures in [unwanted(reached, exact), unwanted(reached, by_differences)] {
        assert!(failures.is_empty(), "{}", failures.concat());
    }
}

#[test]
fn all_combinations_know_a_minimum() {
    let converged = |problem, report: &Report<f64>| !at_a_minimum(problem, report) || report.is_converged();
    let failures = unwanted(converged, exact);
    assert!(failures.is_empty(), "{}", failures.concat());
}

/// At a minimum of zero the second differences are rounding errors, which must not hold up the last steps.
#[test]
fn all_combinations_know_a_minimum_by_second_differences() {
    let converged = |problem, report: &Report<f64>| !at_a_minimum(problem, report) || report.is_converged();
    let failures = unwanted(converged, by_differences);
    assert!(failures.is_empty(), "{}", failures.concat());
}

/// Where a solve claims to have converged, the residuals are orthogonal to the Jacobian, or zero.
#[test]
fn no_combination_claims_a_minimum_where_there_is_none() {
    let honest = |problem, report: &Report<f64>| {
        !report.is_converged() || at_a_minimum(problem, report) || report.gradient_cosine < 1e-5
    };
    for failures in [unwanted(honest, exact), unwanted(honest, by_differences)] {
        assert!(failures.is_empty(), "{}", failures.concat());
    }
}

/// Halve or quadruple, which is all that a policy of one's own needs.
#[derive(Clone)]
struct Simple(f64);

impl DampingPolicy<f64> for Simple {
    fn start(&mut self, _scaled_start: f64) {
        self.0 = 1e-2;
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<f64>) -> Result<f64, IllConditioned> {
        system.solve(self.0)?;
        Ok(self.0)
    }

    fn update(&mut self, trial: &Trial<f64>) {
        self.0 *= if trial.accepted { 0.5 } else { 4.0 };
    }

    fn damp_more(&mut self) {
        self.0 *= 4.0;
    }
}

#[test]
fn a_policy_of_ones_own_solves_the_classics() {
    let solver = LevenbergMarquardt::new().with_damping(Simple(f64::NAN));
    for problem in [Classic::Rosenbrock, Classic::Bard, Classic::KowalikOsborne, Classic::Wood, Classic::HelicalValley]
    {
        let report = solver.minimize(&mut AutoDiff(problem), problem.start()).unwrap();
        assert!(at_a_minimum(problem, &report) && report.is_converged(), "{problem:?}: {report}");
        assert!(report.log.iter().filter(|record| !record.polish).all(|record| record.damping > 0.0));
    }
}

/// Twenty peaks, sixty parameters, starts far off.
#[test]
fn hard_starts_of_overlapping_peaks_are_solved() {
    let spectrum = OverlappingGaussians::new(20, 600, 1);
    let at_truth = spectrum.sum_of_squares(spectrum.truth());
    let solver = LevenbergMarquardt::new().with_max_iterations(60);
    let sums: Vec<_> = (0..10)
        .map(|seed| {
            let start = spectrum.start(seed, Difficulty::Hard);
            solver.minimize(&mut Analytic(&spectrum), &start).unwrap().sum_of_squares()
        })
        .collect();
    let solved = sums.iter().filter(|&&sum| sum < 1.0001 * at_truth).count();
    assert!(solved >= 9, "{solved} of 10: {sums:?}, {at_truth:e} at the truth");
}
