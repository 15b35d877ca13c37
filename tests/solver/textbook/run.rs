//! One problem solved from one start.

use std::fmt;
use std::sync::LazyLock;

use marquardt::problem::{BoundSide, Bounded};
use marquardt::{AutoDiff, Bounds, LeastSquares, LevenbergMarquardt, Report};

use super::STATIONARY;
use super::case::{Case, FACTORS};
use super::cases::CASES;
use super::first_order::FirstOrder;
use super::problem::Problem;

/// The end of a solve with the defaults.
pub struct Run {
    pub case: Case,
    start: &'static str,
    is_expected: bool,
    report: Report<f64>,
    first_order: FirstOrder,
}

impl Run {
    pub const HEADER: &'static str = "problem                     n   m  start   status             iterations  \
                                      evaluations        ‖r‖²  above global    cosine  rounding";

    /// All runs without bounds whose start has a finite cost.
    pub fn all() -> &'static [Run] {
        static ALL: LazyLock<Vec<Run>> = LazyLock::new(|| {
            let starts = FACTORS.into_iter().zip(["×1", "×10", "×100"]).enumerate();
            let of_case = |case: &'static Case| {
                starts.clone().map(|(index, (factor, name))| Run::new(case, index, name, &case.start(factor), None))
            };
            CASES.iter().flat_map(of_case).flatten().collect()
        });
        &ALL
    }

    /// The runs of one problem in one size.
    pub fn of(problem: Problem, n: usize) -> impl Iterator<Item = &'static Run> {
        Run::all().iter().filter(move |run| run.case.problem == problem && run.case.n == n)
    }

    /// The run from a start, which has a number and a name; none where the cost of the start overflows.
    pub fn new(
        case: &Case,
        index: usize,
        name: &'static str,
        start: &[f64],
        bounds: Option<&Bounds<f64>>,
    ) -> Option<Self> {
        let mut r = vec![0.0; case.m];
        AutoDiff(*case).residuals(start, 0, &mut r).unwrap();
        if !r.iter().map(|r| r * r).sum::<f64>().is_finite() {
            return None;
        }
        let (solver, mut problem) = (LevenbergMarquardt::new(), AutoDiff(*case));
        let report = match bounds {
            Some(bounds) => solver.minimize(&mut Bounded::new(problem, bounds.clone()).unwrap(), start),
            None => solver.minimize(&mut problem, start),
        };
        let report = report.unwrap_or_else(|error| panic!("{:?} from {start:?}: {error}", case.problem));
        let first_order = FirstOrder::at(case, &report.x, bounds);
        let is_expected = case.reached.as_bytes()[index] == b'+';
        Some(Run { case: *case, start: name, is_expected, report, first_order })
    }

    /// The table of the cases says that the global minimum is reached.
    pub fn is_expected(&self) -> bool {
        self.is_expected
    }

    /// The parameters that bounds hold, and on which side.
    pub fn active(&self) -> Vec<(usize, BoundSide)> {
        self.report.active.iter().map(|active| (active.parameter, active.side)).collect()
    }

    pub fn sum_of_squares(&self) -> f64 {
        self.report.sum_of_squares()
    }

    pub fn iterations(&self) -> usize {
        self.report.iterations
    }

    /// At the global minimum.
    pub fn is_solved(&self) -> bool {
        self.sum_of_squares() <= self.case.threshold()
    }

    pub fn is_converged(&self) -> bool {
        self.report.is_converged()
    }

    /// Convergence is claimed at a point that is not stationary.
    pub fn is_false(&self) -> bool {
        self.is_converged() && !self.first_order.holds(STATIONARY)
    }

    /// The known local minimum that the run ended at, to three digits.
    fn local_minimum(&self) -> Option<f64> {
        let is_here = |minimum: &f64| (self.sum_of_squares() / minimum - 1.0).abs() < 1e-3;
        self.case.local.iter().copied().find(is_here)
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { problem, n, m, minimum, .. } = self.case;
        let (name, status) = (format!("{problem:?}"), format!("{:?}", self.report.status));
        let evaluations = self.report.evaluations;
        let evaluations = format!("{}+{}", evaluations.residuals, evaluations.jacobians);
        write!(
            f,
            "{name:<25} {n:>3} {m:>3}  {:<6} {status:<18} {:>10}  {evaluations:>11}",
            self.start,
            self.iterations()
        )?;
        write!(f, "  {:>10.4e}  {:>12.3e}", self.sum_of_squares(), self.sum_of_squares() - minimum)?;
        write!(f, "  {:>8.1e}  {:>8.1e}", self.first_order.cosine, self.first_order.rounding)?;
        if self.is_false() {
            write!(f, "  FALSE")?;
        }
        match self.local_minimum() {
            _ if self.is_solved() => Ok(()),
            Some(minimum) => write!(f, "  at the local minimum {minimum}"),
            None => write!(f, "  not at the minimum"),
        }
    }
}
