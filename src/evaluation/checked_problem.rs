//! A problem whose rows have been checked.

use std::fmt;

use super::{OverRanks, ProblemRows, RankSync, RowWorkspace};
use crate::distributed::RankError;
use crate::problem::LeastSquares;
use crate::real::Real;
use crate::storage::Storage;

/// A problem that has been checked on all ranks which its rows are spread over.
pub(crate) struct CheckedProblem<'p, T, P: ?Sized> {
    pub(crate) problem: &'p mut P,
    sync: Option<RankSync<T>>,
}

impl<'p, T: Real, P: LeastSquares<T> + ?Sized> CheckedProblem<'p, T, P> {
    /// Takes up a problem, after each rank has checked its rows.
    ///
    /// # Errors
    ///
    /// The error of any of them, the same on all.
    #[inline]
    pub(crate) fn new<E: fmt::Display + From<RankError>>(
        problem: &'p mut P,
        checked: Result<(), E>,
    ) -> Result<Self, E> {
        let sync = RankSync::open(problem, checked)?;
        Ok(CheckedProblem { problem, sync })
    }

    /// Number of residuals on all ranks, and the largest number of them that are computed together.
    #[inline]
    pub(crate) fn size(&self) -> (usize, usize) {
        match &self.sync {
            None => (self.problem.residual_count(), self.problem.row_group()),
            Some(sync) => (sync.residuals, sync.largest_group),
        }
    }

    /// Number of ranks.
    #[inline]
    pub(crate) fn ranks(&self) -> usize {
        self.sync.as_ref().map_or(1, RankSync::ranks)
    }

    /// All rows are here.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.sync.is_none()
    }

    /// The first thing that is not the same on all ranks, of the bounds and the start, and the rank where it differs.
    #[inline]
    pub(crate) fn first_to_differ(&self, start: &[T]) -> Result<Option<(&'static str, usize)>, RankError> {
        self.sync.as_ref().map_or(Ok(None), |sync| sync.first_to_differ(self.problem, start))
    }

    /// The evaluation of the problem on all ranks.
    #[inline]
    pub(crate) fn evaluate<S: Storage<T>>(
        self,
        workspace: &'p mut RowWorkspace<T, S>,
    ) -> OverRanks<ProblemRows<'p, T, S, P>, T> {
        OverRanks::new(ProblemRows::new(self.problem, workspace), self.sync)
    }
}
