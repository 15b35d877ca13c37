//! Times nonlinear least-squares crates side by side, all in one run and taking turns.
//!
//! ```text
//! cargo run --release                        every workload
//! cargo run --release -- misra1a gaussians   the workloads whose name contains one of the words
//! cargo run --release -- graphs FILES        pose graphs and bundle adjustment, see the module `graphs`
//! ```
//!
//! Every crate runs with its own default settings (where these waste time, also with better ones) and with analytic
//! derivatives (by dual numbers where the crate insists on making its own). Data are built beforehand; building the
//! crate's problem from them is part of a fit, as it is for its user.
//!
//! The column "ratio" has the time of each line over that of the best peer that got within 1e-8 of the least sum of squares; less than one
//! is faster than all of them.
//!
//! Thousands of small fits are timed as a whole; marquardt's derivatives are automatic there, the others' by hand.
//!
//! To add a contestant, write a file with a `fn(&W, &[f64]) -> Fit` (see [`contest::Contestant`]) and name it in the
//! lists below. Those whose names begin with "marquardt" are no peers.

mod basin;
mod contest;
mod graphs;
mod levenberg_marquardt;
mod many;
mod marquardt;
mod multicalc;
#[path = "../../problems/mod.rs"]
mod problems;
mod reference;
mod rmpfit;
mod table;
#[path = "../../workloads/mod.rs"]
mod workloads;

use std::error::Error;

use contest::{Contest, Contestant, Effort};
use marquardt::Lockstep;
use problems::Formula;
use workloads::{
    Decays, Dense, Difficulty, ExponentialAndTwoPeaks, GaussianPeaks, ManyCurves, Misra1a, OverlappingGaussians,
};

/// A workload's name, and how it is run.
type Entry = (&'static str, fn(&str));

const ENTRIES: [Entry; 10] = [
    ("misra1a", misra1a),
    ("gauss1", gauss1),
    ("exponential_and_two_peaks_250", |name| exponential_and_two_peaks(name, 250, Effort { rounds: 25, fits: 100 })),
    ("exponential_and_two_peaks_2000", |name| exponential_and_two_peaks(name, 2_000, Effort { rounds: 25, fits: 15 })),
    ("exponential_and_two_peaks_20000", |name| exponential_and_two_peaks(name, 20_000, Effort { rounds: 25, fits: 1 })),
    ("overlapping_gaussians_easy", |name| overlapping_gaussians(name, Difficulty::Easy)),
    ("overlapping_gaussians_hard", |name| overlapping_gaussians(name, Difficulty::Hard)),
    ("dense", dense),
    ("gaussian_peaks", many_fits::<GaussianPeaks>),
    ("decays", many_fits::<Decays>),
];

const SEED: u64 = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, rest)) = words.split_first()
        && first == "graphs"
    {
        return graphs::run(rest);
    }
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    for (name, run) in ENTRIES.into_iter().filter(|(name, _)| wanted(name)) {
        run(name);
    }
    Ok(())
}

fn misra1a(name: &str) {
    let contest = Contest {
        title: format!("{name}: 2 parameters, 14 rows; digits against NIST's certified parameters"),
        workload: Misra1a::new(),
        start: Misra1a::STARTS[0].to_vec(),
        certified: Some(Misra1a::CERTIFIED.to_vec()),
        effort: Effort { rounds: 25, fits: 2_000 },
    };
    contest.run(&[
        Contestant::new("marquardt, static, dual numbers", marquardt::misra1a),
        Contestant::new("marquardt, dynamic, analytic", marquardt::analytic),
        Contestant::new("levenberg-marquardt, 14×2 static (tolerances 30 ε)", levenberg_marquardt::misra1a),
        Contestant::new("levenberg-marquardt, Dyn (tolerances 30 ε)", levenberg_marquardt::dynamic),
        Contestant::new("rmpfit, analytic", rmpfit::analytic),
        Contestant::new("multicalc, dual numbers", multicalc::misra1a),
        Contestant::new("basin, nalgebra Cholesky", basin::nalgebra),
        Contestant::new("basin, faer Cholesky", basin::faer),
    ]);
}

fn gauss1(name: &str) {
    two_peaks(Contest {
        title: format!("{name}: NIST's data, 8 parameters, 250 rows, start 1"),
        workload: ExponentialAndTwoPeaks::gauss1(),
        start: ExponentialAndTwoPeaks::START.to_vec(),
        certified: Some(ExponentialAndTwoPeaks::CERTIFIED.to_vec()),
        effort: Effort { rounds: 25, fits: 100 },
    });
}

fn exponential_and_two_peaks(name: &str, points: usize, effort: Effort) {
    two_peaks(Contest {
        title: format!("{name}: 8 parameters, {points} rows"),
        workload: ExponentialAndTwoPeaks::new(points, SEED),
        start: ExponentialAndTwoPeaks::START.to_vec(),
        certified: None,
        effort,
    });
}

fn two_peaks(contest: Contest<ExponentialAndTwoPeaks>) {
    contest.run(&[
        Contestant::new("marquardt", marquardt::analytic),
        Contestant::new("levenberg-marquardt, Dyn", levenberg_marquardt::dynamic),
        Contestant::new("rmpfit, analytic", rmpfit::analytic),
        Contestant::new("basin, nalgebra Cholesky", basin::nalgebra),
        Contestant::new("basin, nalgebra Cholesky, relative tests", basin::nalgebra_relative),
        Contestant::new("basin, faer Cholesky", basin::faer),
        Contestant::new("basin, faer Cholesky, relative tests", basin::faer_relative),
    ]);
}

fn overlapping_gaussians(name: &str, difficulty: Difficulty) {
    let workload = OverlappingGaussians::new(20, 100_000, SEED);
    let contest = Contest {
        title: format!("{name}: 20 peaks, 60 parameters, 100,000 rows"),
        start: workload.start(SEED, difficulty),
        workload,
        certified: None,
        effort: Effort { rounds: 3, fits: 1 },
    };
    contest.run(&[
        Contestant::new("marquardt, model, derivatives automatic", marquardt::peaks),
        Contestant::new("marquardt, analytic", marquardt::analytic),
        Contestant::new("levenberg-marquardt, Dyn", levenberg_marquardt::dynamic),
        Contestant::new("rmpfit, analytic", rmpfit::analytic),
        Contestant::new("basin, faer Cholesky", basin::faer),
        Contestant::new("basin, faer Cholesky, relative tests", basin::faer_relative),
    ]);
}

fn dense(name: &str) {
    let workload = Dense::new(100_000, 101, SEED);
    let contest = Contest {
        title: format!("{name}: a stored matrix, 101 parameters, 100,000 rows"),
        start: workload.start(),
        workload,
        certified: None,
        effort: Effort { rounds: 3, fits: 1 },
    };
    contest.run(&[
        Contestant::new("marquardt, analytic", marquardt::analytic),
        Contestant::new("levenberg-marquardt, Dyn", levenberg_marquardt::dynamic),
        Contestant::new("rmpfit, analytic", rmpfit::analytic),
        Contestant::new("basin, faer Cholesky", basin::faer),
        Contestant::new("basin, faer Cholesky, relative tests", basin::faer_relative),
    ]);
}

fn many_fits<F: Formula>(name: &str) {
    let curves = ManyCurves::<F>::new(10_000, 64, SEED);
    let (one, single, two) =
        (Lockstep::<f64>::new(&curves, 1), Lockstep::<f32>::new(&curves, 1), Lockstep::<f64>::new(&curves, 2));
    let title = format!("{name}: {} fits of 4 parameters, {} rows each", curves.count(), curves.points());
    let contestants = [
        many::Contestant::new("marquardt, lockstep, automatic derivatives", || one.fit(F::formula())),
        many::Contestant::single("marquardt, lockstep, f32", || single.fit(F::formula())),
        many::Contestant::new("marquardt, lockstep, two threads", || two.fit(F::formula())),
        many::Contestant::new("marquardt, static, dual numbers", || marquardt::one_by_one(&curves)),
        many::Contestant::new("levenberg-marquardt, 64×4 static", || levenberg_marquardt::many(&curves)),
        many::Contestant::new("rmpfit, analytic", || rmpfit::many(&curves)),
    ];
    many::run(&title, &curves, &contestants);
}
