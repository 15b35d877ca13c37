//! One workload, fitted by several crates that take turns.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::reference::refined;
use crate::table;
use crate::workloads::{Workload, digits};

/// A fit is solved to this share of the least sum of squares that any contestant found.
const SOLVED: f64 = 1e-8;

/// A contestant that is another crate.
pub fn is_peer(name: &str) -> bool {
    !name.starts_with("marquardt")
}

/// What a contestant hands back.
pub struct Fit {
    /// The parameters that it found.
    pub parameters: Vec<f64>,
    /// How many times it says to have evaluated all residuals.
    pub evaluations: Option<usize>,
}

/// A crate, in one of its settings, that fits workloads of the type `W`.
pub struct Contestant<W> {
    name: &'static str,
    fit: fn(&W, &[f64]) -> Fit,
}

impl<W> Contestant<W> {
    /// A contestant that fits a workload from a starting point by calling `fit`.
    pub fn new(name: &'static str, fit: fn(&W, &[f64]) -> Fit) -> Self {
        Self { name, fit }
    }
}

/// How often a fit is repeated: every round takes one sample, the mean time of a few fits.
pub struct Effort {
    /// Turns of every contestant.
    pub rounds: usize,
    /// Fits of one turn.
    pub fits: u32,
}

/// A workload, where its fit starts, and what it should find.
pub struct Contest<W> {
    /// Heads the table.
    pub title: String,
    /// What is fitted.
    pub workload: W,
    /// Where every fit starts.
    pub start: Vec<f64>,
    /// The true least-squares parameters, where somebody certified them.
    pub certified: Option<Vec<f64>>,
    /// How often fits are repeated.
    pub effort: Effort,
}

impl<W: Workload> Contest<W> {
    /// Times all contestants and prints a table, the best peer the measure of all.
    pub fn run(self, contestants: &[Contestant<W>]) {
        let records = self.records(contestants);
        let best = self.reference(&records);
        let target = self.certified.as_deref().unwrap_or(&best);
        let least = records.iter().map(|record| record.sum_of_squares).fold(f64::INFINITY, f64::min);
        let peers =
            records.iter().filter(|record| is_peer(record.name) && record.sum_of_squares / least - 1.0 <= SOLVED);
        let measure = peers.map(Record::median).min();
        let rows = records.iter().map(|record| table::Row {
            name: record.name,
            median: record.median(),
            best: record.best(),
            ratio: measure.map(|measure| record.median().div_duration_f64(measure)),
            digits: digits(&record.fit.parameters, target),
            excess: record.sum_of_squares / least - 1.0,
            evaluations: record.fit.evaluations,
        });
        table::print(&self.title, rows);
    }

    /// Round after round, one sample of every contestant: a slow moment of the machine then falls on all alike.
    fn records(&self, contestants: &[Contestant<W>]) -> Vec<Record> {
        let mut records: Vec<Record> = contestants.iter().map(|contestant| self.sample(contestant)).collect();
        for _ in 1..self.effort.rounds {
            for (record, contestant) in records.iter_mut().zip(contestants) {
                record.times.extend(self.sample(contestant).times);
            }
        }
        records.iter_mut().for_each(|record| record.times.sort_unstable());
        records
    }

    /// One turn of one contestant.
    fn sample(&self, contestant: &Contestant<W>) -> Record {
        let fit_once = || (contestant.fit)(black_box(&self.workload), black_box(&self.start));
        let begin = Instant::now();
        for _ in 1..self.effort.fits {
            black_box(fit_once());
        }
        let fit = black_box(fit_once());
        let time = begin.elapsed() / self.effort.fits;
        let sum_of_squares = self.workload.sum_of_squares(&fit.parameters);
        Record { name: contestant.name, times: vec![time], fit, sum_of_squares }
    }

    /// The minimiser next to the best of all fits.
    ///
    /// Refining it lets digits tell how well each contestant converged; otherwise the lowest sum of squares, which
    /// rounding decides, would be declared exact.
    fn reference(&self, records: &[Record]) -> Vec<f64> {
        let best = records.iter().min_by(|a, b| a.sum_of_squares.total_cmp(&b.sum_of_squares));
        refined(&self.workload, &best.expect("a contest has contestants").fit.parameters)
    }
}

/// A contestant's times, in ascending order once all rounds are over, and its fit.
struct Record {
    name: &'static str,
    times: Vec<Duration>,
    fit: Fit,
    sum_of_squares: f64,
}

impl Record {
    fn best(&self) -> Duration {
        self.times[0]
    }

    fn median(&self) -> Duration {
        self.times[self.times.len() / 2]
    }
}
