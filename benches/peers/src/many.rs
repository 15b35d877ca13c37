//! Thousands of small fits, by several crates that take turns.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::contest::is_peer;
use crate::reference::refined;
use crate::table;
use crate::workloads::{Family, ManyCurves, OneCurve, Workload};

/// Turns of every contestant.
const ROUNDS: usize = 7;

/// A crate, in one of its settings, that fits all curves and hands back the parameters, row after row.
pub struct Contestant<'a> {
    name: &'static str,
    fit: Box<dyn Fn() -> Vec<f64> + 'a>,
    tolerance: f64,
}

impl<'a> Contestant<'a> {
    /// A contestant in double precision: a fit is solved to 1e-8 of its least cost.
    pub fn new(name: &'static str, fit: impl Fn() -> Vec<f64> + 'a) -> Self {
        Self { name, fit: Box::new(fit), tolerance: 1e-8 }
    }

    /// A contestant in single precision: a fit is solved to 1e-4 of its least cost.
    pub fn single(name: &'static str, fit: impl Fn() -> Vec<f64> + 'a) -> Self {
        Self { tolerance: 1e-4, ..Self::new(name, fit) }
    }
}

/// Times all contestants and prints a table, the best peer the measure of all.
pub fn run<F: Family>(title: &str, curves: &ManyCurves<F>, contestants: &[Contestant]) {
    let records = records(contestants);
    let found: Vec<&[f64]> = records.iter().map(|record| &record.parameters[..]).collect();
    let least = least_sums_of_squares(curves, &found);
    let peers = contestants.iter().zip(&records).filter(|(contestant, _)| is_peer(contestant.name));
    let measure = peers.map(|(_, record)| record.best()).min();
    let rows = contestants.iter().zip(&records).map(|(contestant, record)| {
        let excesses = excesses(curves, &record.parameters, &least);
        table::ManyRow {
            name: contestant.name,
            median: record.median(),
            best: record.best(),
            ratio: measure.map(|measure| record.best().div_duration_f64(measure)),
            solved: excesses.iter().filter(|&&excess| excess <= contestant.tolerance).count(),
            excess: excesses.into_iter().fold(0.0, worse),
        }
    });
    table::print_many(title, rows);
}

/// Round after round, one sample of every contestant.
fn records(contestants: &[Contestant]) -> Vec<Record> {
    let mut records: Vec<Record> = contestants.iter().map(sample).collect();
    for _ in 1..ROUNDS {
        for (record, contestant) in records.iter_mut().zip(contestants) {
            record.times.extend(sample(contestant).times);
        }
    }
    records.iter_mut().for_each(|record| record.times.sort_unstable());
    records
}

/// One turn of one contestant.
fn sample(contestant: &Contestant) -> Record {
    let begin = Instant::now();
    let parameters = black_box((contestant.fit)());
    Record { times: vec![begin.elapsed()], parameters }
}

/// A contestant's times, in ascending order once all rounds are over, and what it found in the first.
struct Record {
    times: Vec<Duration>,
    parameters: Vec<f64>,
}

impl Record {
    fn best(&self) -> Duration {
        self.times[0]
    }

    fn median(&self) -> Duration {
        self.times[self.times.len() / 2]
    }
}

/// The least sum of squares of each fit, near the truth or any contestant's solution.
fn least_sums_of_squares<F: Family>(curves: &ManyCurves<F>, found: &[&[f64]]) -> Vec<f64> {
    let least = |(fit, curve): (usize, OneCurve<F>)| {
        let of_fit = |all: &[f64]| all.as_chunks().0[fit];
        let candidates = found.iter().map(|all| of_fit(all)).chain([*curve.truth]);
        let sums = candidates.flat_map(|candidate: [f64; 4]| {
            [curve.sum_of_squares(&candidate), curve.sum_of_squares(&refined(&curve, &candidate))]
        });
        sums.fold(f64::INFINITY, f64::min)
    };
    curves.each().enumerate().map(least).collect()
}

/// By how much each sum of squares exceeds the least, relative to it.
fn excesses<F: Family>(curves: &ManyCurves<F>, parameters: &[f64], least: &[f64]) -> Vec<f64> {
    let fits = curves.each().zip(parameters.chunks_exact(ManyCurves::<F>::PARAMETERS));
    fits.zip(least).map(|((curve, found), least)| curve.sum_of_squares(found) / least - 1.0).collect()
}

/// The larger of two, NaN being the largest.
fn worse(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
