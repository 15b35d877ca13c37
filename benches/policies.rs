//! Every damping policy with every scaling and acceleration, on two collections that ask for opposite virtues: the
//! 54 NIST runs and hard starts of 20 overlapping Gaussians. No clock is read: the table is the same on every machine,
//! up to the rounding of its arithmetic. It is what the default was chosen by.
//!
//! ```text
//! cargo bench --bench policies
//! ```

#[path = "../tests/nist/mod.rs"]
#[allow(dead_code, reason = "the tests read more of the files")]
mod nist;
#[path = "problems/mod.rs"]
mod problems;
#[path = "workloads/mod.rs"]
mod workloads;

use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::solver::{Acceleration, Scaling};
use marquardt::{AutoDiff, LevenbergMarquardt};
use nist::{DataSet, Model};
use problems::Analytic;
use workloads::{Difficulty, OverlappingGaussians, Workload};

/// More correct digits than this, and a NIST run counts as solved.
const SOLVED_DIGITS: f64 = 6.0;

/// Trials that a hard start may take.
const PATIENCE: usize = 60;

const HARD_STARTS: u64 = 10;

fn main() {
    let sets: Vec<DataSet> = Model::ALL.iter().map(|&model| DataSet::load(model)).collect();
    let spectra: Vec<HardStart> = (0..HARD_STARTS).map(|seed| HardStart::new(seed, 2_000)).collect();
    println!(
        "| {:<21} | {:<14} | {:<11} | {:>6} | {:>6} | {:>11} | {:>11} | {:>17} |",
        "damping", "scaling", "accelerated", "NIST", "digits", "evaluations", "hard starts", "median iterations"
    );
    println!("|{:-<23}|{:-<16}|{:-<13}|{:->7}:|{:->7}:|{:->12}:|{:->12}:|{:->18}:|", "", "", "", "", "", "", "", "");
    for (name, damping) in dampings() {
        for scaling in [Scaling::Identity, Scaling::Marquardt, Scaling::RunningMaximum, Scaling::FadingMaximum] {
            for acceleration in [Acceleration::Never, Acceleration::WhereCurved, Acceleration::Always] {
                let solver = LevenbergMarquardt::new()
                    .with_damping(damping)
                    .with_scaling(scaling)
                    .with_acceleration(acceleration)
                    .with_log(false);
                let certified = Certified::count(&solver, &sets);
                let hard = Hard::count(&solver.with_max_iterations(PATIENCE), &spectra);
                println!(
                    "| {name:<21} | {:<14} | {:<11} | {:>3}/54 | {:>6.2} | {:>11} | {:>8}/{HARD_STARTS} | {:>17} |",
                    format!("{scaling:?}"),
                    format!("{acceleration:?}"),
                    certified.solved,
                    certified.mean_digits,
                    certified.evaluations,
                    hard.solved,
                    hard.median_iterations.map_or_else(|| "–".to_owned(), |median| median.to_string()),
                );
            }
        }
    }
    let solver = LevenbergMarquardt::new().with_log(false).with_max_iterations(PATIENCE);
    let trials = (0..HARD_STARTS).map(|seed| iterations(&solver, &HardStart::new(seed, 100_000)));
    println!(
        "\nthe default on 100,000 points, trials from each hard start: {:?}",
        trials.flatten().collect::<Vec<_>>()
    );
}

fn dampings() -> [(&'static str, Damping<f64>); 5] {
    [
        ("gain ratio", GainRatio::default().into()),
        ("Nielsen", GainRatio::nielsen(0.1).into()),
        ("trust region", TrustRegion::default().into()),
        ("×10 / ÷10", Multiplicative::default().into()),
        ("delayed gratification", Multiplicative::delayed_gratification().into()),
    ]
}

/// What became of the NIST runs.
struct Certified {
    solved: usize,
    mean_digits: f64,
    evaluations: usize,
}

impl Certified {
    fn count(solver: &LevenbergMarquardt<f64>, sets: &[DataSet]) -> Self {
        let runs = sets.iter().flat_map(|set| set.starts.iter().map(move |start| (set, start)));
        let mut count = Certified { solved: 0, mean_digits: 0.0, evaluations: 0 };
        let mut total = 0.0;
        for (set, start) in runs {
            let report = solver.minimize(&mut AutoDiff(set), start).expect("the published starts are valid");
            let digits = set.parameter_digits(&report.x);
            count.solved += usize::from(digits > SOLVED_DIGITS);
            count.evaluations += report.evaluations.residuals + report.evaluations.jacobians;
            total += digits;
        }
        Certified { mean_digits: total / (2 * sets.len()) as f64, ..count }
    }
}

/// A spectrum, a start far from it, and the sum of squares that says it was found.
struct HardStart {
    spectrum: OverlappingGaussians,
    start: Vec<f64>,
    least: f64,
}

impl HardStart {
    const PEAKS: usize = 20;

    fn new(seed: u64, points: usize) -> Self {
        let spectrum = OverlappingGaussians::new(Self::PEAKS, points, seed);
        // Another seed than the spectrum's, or the start would be disturbed by the numbers that made the peaks.
        let start = spectrum.start(seed + HARD_STARTS, Difficulty::Hard);
        let least = spectrum.sum_of_squares(spectrum.truth());
        HardStart { spectrum, start, least }
    }
}

/// What became of the hard starts.
struct Hard {
    solved: usize,
    /// Of those that were solved.
    median_iterations: Option<usize>,
}

impl Hard {
    fn count(solver: &LevenbergMarquardt<f64>, starts: &[HardStart]) -> Self {
        let mut iterations: Vec<usize> = starts.iter().filter_map(|start| iterations(solver, start)).collect();
        iterations.sort_unstable();
        Hard { solved: iterations.len(), median_iterations: iterations.get(iterations.len() / 2).copied() }
    }
}

/// Trials until the end, if that is the minimum near the truth: the least squares lie below the truth's own.
fn iterations(solver: &LevenbergMarquardt<f64>, hard: &HardStart) -> Option<usize> {
    let report = solver.minimize(&mut Analytic(&hard.spectrum), &hard.start).expect("the start is valid");
    (report.sum_of_squares() <= hard.least).then_some(report.iterations)
}
