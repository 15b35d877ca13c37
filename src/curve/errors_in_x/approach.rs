//! Starts of fits with errors in the predictors.

use crate::curve::checked_fit::CheckedFit;
use crate::curve::total_work::TotalWork;
use crate::real::Real;
use crate::solver::{Report, SolveError};

impl<T: Real> CheckedFit<'_, T> {
    /// Fit with exact predictors, which is less sensitive to far points; for an implicit curve, the least-squares fit of its condition.
    /// `None` where there are no errors in the predictors, or no such fit. Collective.
    pub(in crate::curve) fn approach_errors_in_x(&self, start: &[T]) -> Option<Report<T>> {
        if !self.data.has_errors_in_x() {
            return None;
        }
        self.solve_with(&self.data.with_exact_predictors(), &self.map, start).ok()
    }

    /// Solves from the better one of the given start and the end of the approach, with what that has left of the limits. The report is on
    /// both. Collective.
    pub(in crate::curve) fn solve_after(&mut self, approach: Report<T>, start: &[T]) -> Result<Report<T>, SolveError> {
        let cost = |at: &[T]| self.evaluate(&self.map, at).map_or(T::INFINITY, |(_, cost)| cost);
        let initial_cost = cost(start);
        let nearer = if cost(&approach.x) < initial_cost { &approach.x } else { start };
        let mut work = TotalWork::of(&approach);
        let all = self.method.solver.clone();
        let settings = &mut self.method.solver.settings;
        settings.spend(work.iterations, 1, work.evaluations.total(), work.elapsed());
        let solved = self.solve_from(nearer);
        self.method.solver = all;
        let report = solved?;
        work.add(&report);
        Ok(Report { initial_cost, ..work.account(report) })
    }
}
