//! Further attempts of a fit that ended badly.

use super::checked_fit::CheckedFit;
use super::likelihood::Likelihood;
use super::other_starts::OtherStarts;
use super::robust::Robustness;
use super::total_work::TotalWork;
use super::{Attempt, Attempts, CurveError, FittedCurve};
use crate::real::Real;
use crate::solver::damping::{Damping, GainRatio, TrustRegion};
use crate::solver::{LevenbergMarquardt, Report, SolveError, Status};

/// Iterations of all attempts together, in units of those of one solve, unless a limit was set.
const SOLVES: usize = 4;

/// Evaluations that a solve may take beyond its limit.
const RESERVE: usize = 4;

/// Costs that differ by no more than this share of them, and no more than `ε` to this power, are the same.
const SAME: f64 = 1e-6;
const SAME_POWER: f64 = 0.6;

/// Share of the iterations of a solve that each further attempt may take, as a divisor.
const SHARES: usize = 4;

/// Number of attempts that end at the lowest cost, after which no other is made: of those that end well, and of others.
const AGREEING: usize = 2;
const AGREEING_BADLY: usize = 5;

/// Initial damping of Nielsen's policy.
const NIELSEN: f64 = 1e-3;

/// Tries a fit that ended badly in other ways, and returns the best result. Collective.
pub(super) fn best_attempt<T: Real>(fit: FittedCurve<'_, T>) -> Result<FittedCurve<'_, T>, CurveError> {
    if !fit.may_be_improved() {
        return Ok(fit);
    }
    let start: Vec<T> = fit.checked.map.parameters.iter().map(|parameter| parameter.start).collect();
    let other_starts = OtherStarts::of(&fit.checked, &start);
    // A minimum of linear least squares is the only one.
    if other_starts.are_needless() && fit.report.is_converged() {
        return Ok(fit);
    }
    let mut search = AttemptSearch::after(fit);
    for way in search.ways(start, &other_starts) {
        if search.is_over() {
            return Ok(search.finish());
        }
        search = search.attempt(way)?;
    }
    if search.is_over() {
        return Ok(search.finish());
    }
    let (starts, evaluations) = other_starts.find(&search.best.checked, &search.left());
    search.spent.evaluations += evaluations;
    let (damping, eliminates) = (search.solver.damping, other_starts.can_eliminate());
    for start in starts {
        if search.is_over() {
            break;
        }
        search = search.attempt(AttemptPlan { kind: Attempt::Start, start, damping, eliminates })?;
    }
    Ok(search.finish())
}

/// Start and method of an attempt.
struct AttemptPlan<T> {
    kind: Attempt,
    start: Vec<T>,
    damping: Damping<T>,
    /// Parameters that enter linearly are eliminated.
    eliminates: bool,
}

/// The attempts until now.
struct AttemptSearch<'a, T: Real> {
    best: FittedCurve<'a, T>,
    attempts: Attempts,
    /// Number of attempts that ended at the lowest cost.
    agreeing: usize,
    /// A limit, or the user, ended the last attempt.
    is_stopped: bool,
    spent: TotalWork,
    /// Cost at the start of the first attempt.
    initial_cost: T,
    /// The solver that was asked for, and whether it eliminates parameters.
    solver: LevenbergMarquardt<T>,
    variable_projection: bool,
}

impl<'a, T: Real> AttemptSearch<'a, T> {
    fn after(best: FittedCurve<'a, T>) -> Self {
        AttemptSearch {
            attempts: best.attempts,
            agreeing: 1,
            is_stopped: false,
            spent: TotalWork::of(&best.report),
            initial_cost: best.report.initial_cost,
            solver: best.checked.method.solver.clone(),
            variable_projection: best.checked.method.variable_projection,
            best,
        }
    }

    /// Other ways from the same start, cheap ones first.
    fn ways(&self, start: Vec<T>, other_starts: &OtherStarts) -> Vec<AttemptPlan<T>> {
        let mut ways = Vec::new();
        let mut add =
            |kind, damping, eliminates| ways.push(AttemptPlan { kind, start: start.clone(), damping, eliminates });
        if other_starts.can_eliminate() && !self.variable_projection {
            add(Attempt::VariableProjection, self.solver.damping, true);
        }
        if !other_starts.are_needless() {
            add(Attempt::Damping, GainRatio::nielsen(T::from_f64(NIELSEN)).into(), false);
            add(Attempt::Damping, TrustRegion::default().into(), false);
        }
        ways
    }

    /// The solver with what is left of its limits.
    fn left(&self) -> LevenbergMarquardt<T> {
        let mut left = self.solver.clone();
        let mut solves = 1;
        if !left.settings.limits_iterations() {
            left.settings.share_iterations(SHARES);
            solves = SHARES * SOLVES;
        }
        let spent = &self.spent;
        left.settings.spend(spent.iterations, solves, spent.evaluations.total() + RESERVE, spent.elapsed());
        left
    }

    /// Nothing is left of the limits, or to be gained.
    fn is_over(&self) -> bool {
        let is_confirmed = self.agreeing >= if self.best.is_usable() { AGREEING } else { AGREEING_BADLY };
        self.is_stopped || is_confirmed || !self.left().settings.has_work_left()
    }

    /// Makes one more attempt. Where it fails there is still the best of the others. Collective.
    fn attempt(mut self, way: AttemptPlan<T>) -> Result<Self, CurveError> {
        let held = (score(&self.best.checked, &self.best.report), self.best.checked.likelihood.clone());
        let solver = self.left().with_damping(way.damping);
        let checked = &mut self.best.checked;
        checked.method.solver = solver;
        let solved = checked.solve_by_way(&way, &mut self.spent);
        checked.method.solver = self.solver.clone();
        checked.method.variable_projection = self.variable_projection;
        self.attempts.count += 1;
        let Ok(report) = solved else {
            self.best.checked.likelihood = held.1;
            return Ok(self);
        };
        self.spent.add(&report);
        self.is_stopped = matches!(
            report.status,
            Status::MaxEvaluations | Status::TimeLimit | Status::Cancelled | Status::TargetCost
        );
        self.keep_better(report, way.kind, held)
    }

    /// Keeps the new result if its cost is noticeably lower, or if it is usable at a cost that is no higher, and the best one is not. The cost of
    /// an end at which no step made progress is below the minimum by rounding error alone, and so may be lower, though not noticeably.
    fn keep_better(
        mut self,
        report: Report<T>,
        kind: Attempt,
        (old, likelihood): (T, Likelihood<T>),
    ) -> Result<Self, CurveError> {
        let new = score(&self.best.checked, &report);
        let tolerance = T::from_f64(SAME).max(T::EPSILON.powf(T::from_f64(SAME_POWER))) * old.abs();
        let is_lower = new < old - tolerance;
        let is_stalled = self.best.report.status == Status::NoProgress;
        let highest = if is_stalled { old + tolerance } else { old };
        let may_be_better = new <= highest && !self.best.is_usable();
        self.agreeing = match is_lower {
            true => 1,
            false => self.agreeing + usize::from(new <= old + tolerance),
        };
        if !is_lower && !may_be_better {
            self.best.checked.likelihood = likelihood;
            return Ok(self);
        }
        let FittedCurve { checked, report: held, .. } = self.best;
        self.best = FittedCurve::new(checked, report)?;
        if is_lower || self.best.is_usable() {
            self.attempts.kept = kind;
            return Ok(self);
        }
        let mut checked = self.best.checked;
        checked.likelihood = likelihood;
        self.best = FittedCurve::new(checked, held)?;
        Ok(self)
    }

    /// The best result, with the work of all attempts.
    fn finish(self) -> FittedCurve<'a, T> {
        let AttemptSearch { mut best, attempts, spent, initial_cost, .. } = self;
        best.report = Report { initial_cost, ..spent.account(best.report) };
        best.attempts = attempts;
        best
    }
}

/// The number that is lower for a better result: the cost, or the scale of a robust loss that was judged by the residuals.
fn score<T: Real>(checked: &CheckedFit<'_, T>, report: &Report<T>) -> T {
    match (&checked.likelihood, &checked.options.robust) {
        (&Likelihood::Robust(_, scale), Some(Robustness { scale: None, .. })) => scale,
        _ => report.cost,
    }
}

impl<T: Real> CheckedFit<'_, T> {
    /// Solves from another start, or by another method. Under another likelihood, the parameters that enter linearly are eliminated
    /// from the least squares that lead to the start. Collective.
    fn solve_by_way(&mut self, way: &AttemptPlan<T>, spent: &mut TotalWork) -> Result<Report<T>, SolveError> {
        if !way.eliminates {
            return self.solve_under_loss(&way.start);
        }
        let is_approach = !self.likelihood.is_sum_of_squares();
        let likelihood = std::mem::replace(&mut self.likelihood, Likelihood::Gaussian);
        self.method.variable_projection = true;
        let solved = self.solve(&way.start);
        self.likelihood = likelihood;
        if !is_approach {
            return solved;
        }
        self.method.variable_projection = false;
        let near = solved?;
        spent.add(&near);
        self.method.solver.settings.spend(near.iterations, 1, near.evaluations.total(), near.elapsed);
        self.solve_under_loss(&near.x)
    }
}
