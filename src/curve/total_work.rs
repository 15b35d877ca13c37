//! Work of several solves that make one fit.

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::solver::{Evaluations, Report};

/// Work of the solves so far.
pub(super) struct TotalWork {
    begun: Stopwatch,
    /// Time of the solves before it began.
    before: Duration,
    pub(super) iterations: usize,
    accepted: usize,
    pub(super) evaluations: Evaluations,
}

impl TotalWork {
    /// No work yet.
    pub(super) fn begin() -> Self {
        let (begun, evaluations) = (Stopwatch::start(), Evaluations::default());
        TotalWork { begun, before: Duration::ZERO, iterations: 0, accepted: 0, evaluations }
    }

    /// The work of a solve that has ended.
    pub(super) fn of<T>(report: &Report<T>) -> Self {
        let mut work = TotalWork { before: report.elapsed, ..TotalWork::begin() };
        work.add(report);
        work
    }

    /// Adds the work of a solve since the beginning.
    pub(super) fn add<T>(&mut self, report: &Report<T>) {
        self.iterations += report.iterations;
        self.accepted += report.accepted;
        self.evaluations += report.evaluations;
    }

    /// The time of all of it.
    pub(super) fn elapsed(&self) -> Duration {
        self.before + self.begun.elapsed()
    }

    /// The report of one of the solves as that of the whole fit.
    pub(super) fn account<T>(&self, report: Report<T>) -> Report<T> {
        let &TotalWork { iterations, accepted, evaluations, .. } = self;
        Report { iterations, accepted, evaluations, elapsed: self.elapsed(), ..report }
    }
}
