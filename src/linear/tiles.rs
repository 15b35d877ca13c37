//! Sums over a problem's dense rows, a cache-sized tile at a time.

use std::ops::Range;

use super::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Bytes of Jacobian in one tile: small enough to stay in the second-level cache between being written and being read.
const TILE_BYTES: usize = 128 * 1024;

/// Bytes of a Jacobian that is kept as a whole at most.
const MOST_KEPT_BYTES: usize = 32 * 1024 * 1024;

/// Rows in a tile of a wide problem, whatever their bytes: each tile passes over the whole of `JᵀJ`, which is not in the
/// cache by then.
const FEWEST_ROWS: usize = 96;

/// A reusable buffer that a problem's rows are evaluated into, tile after tile.
pub(crate) struct Tiles<T: Real, S: Shape<T>> {
    /// Rows in a tile: a multiple of the problem's row group.
    rows: usize,
    /// Columns of the Jacobian that are formed.
    columns: usize,
    /// Rows that there is room for: those of a tile, or all.
    kept: usize,
    /// All rows are to be kept, where they fit.
    keeps_all: bool,
    jacobian: Buffer<T, S::Tile>,
    residuals: Buffer<T, S::Column>,
    trial_residuals: Buffer<T, S::Column>,
    /// All rows of the last linearisation are still here.
    complete: bool,
}

impl<T: Real, S: Shape<T>> Tiles<T, S> {
    /// A buffer for `m` rows of `n` parameters that come in groups.
    #[inline]
    pub(crate) fn new(m: usize, n: usize, group: usize) -> Self {
        Self::of_rows(Self::rows(m, n, group), n)
    }

    /// A buffer for one group of rows after the other.
    pub(crate) fn of_one_group(n: usize, group: usize) -> Self {
        Self::of_rows(group, n)
    }

    #[inline]
    fn of_rows(rows: usize, n: usize) -> Self {
        Tiles {
            rows,
            columns: n,
            kept: rows,
            keeps_all: false,
            jacobian: Buffer::new(S::tile(), rows * n, rows <= S::TILE_ROWS),
            residuals: Buffer::new(S::column(), rows, rows <= S::TILE_ROWS),
            trial_residuals: Buffer::new(S::column(), rows, rows <= S::TILE_ROWS),
            complete: false,
        }
    }

    /// Makes room for another number of rows, which forgets those that are here.
    pub(crate) fn resize(&mut self, m: usize, n: usize, group: usize) {
        self.rows = Self::rows(m, n, group);
        self.columns = n;
        self.make_room(m);
        self.trial_residuals.grow(self.rows);
        self.complete = false;
    }

    /// Keeps all of `m` rows for later visits if that is wanted, and if they take no more than [`MOST_KEPT_BYTES`].
    pub(crate) fn keep_all(&mut self, is_wanted: bool, m: usize) {
        self.keeps_all = is_wanted && S::TILE_ROWS == 0;
        self.make_room(m);
    }

    fn make_room(&mut self, m: usize) {
        let fits = Self::kept_bytes(m, self.columns) <= MOST_KEPT_BYTES;
        self.kept = if self.keeps_all && fits { m.max(self.rows) } else { self.rows };
        self.jacobian.grow(self.kept * self.columns);
        self.residuals.grow(self.kept);
    }

    /// Bytes of all rows.
    pub(crate) fn kept_bytes(m: usize, n: usize) -> usize {
        m.saturating_mul(n).saturating_mul(size_of::<T>())
    }

    /// Rows that fit a tile: whole groups, at least one.
    #[inline]
    pub(super) fn rows(m: usize, n: usize, group: usize) -> usize {
        let wanted = match S::TILE_ROWS {
            0 => (TILE_BYTES / size_of::<T>() / n.max(1)).clamp(FEWEST_ROWS, 1024),
            on_stack => on_stack,
        };
        let group = group.max(1);
        let whole_groups = (wanted / group).max(1) * group;
        whole_groups.min(m).max(1)
    }

    /// Numbers that the buffer of a problem holds.
    pub(crate) fn numbers(m: usize, n: usize, group: usize) -> usize {
        Self::rows(m, n, group).saturating_mul(n.saturating_add(2))
    }

    /// Visits the residuals and Jacobian rows at `x`.
    #[inline]
    pub(crate) fn linearize<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        x: &[T],
        mut visit: impl FnMut(&mut P, Range<usize>, &mut [T], &mut [T]) -> Result<(), EvaluationError>,
    ) -> Result<(), EvaluationError> {
        let m = problem.residual_count();
        self.complete = false;
        for first in (0..m).step_by(self.rows) {
            let rows = first..m.min(first + self.rows);
            let place = if self.kept >= m { first } else { 0 };
            let r = self.residuals.part(place, rows.len());
            let jacobian = self.jacobian.part(place * self.columns, rows.len() * self.columns);
            problem.linearize(x, first, r, jacobian)?;
            visit(problem, rows, r, jacobian)?;
        }
        self.complete = self.kept >= m;
        Ok(())
    }

    /// Visits the rows of the Jacobian of the last [`linearize`](Self::linearize), a tile at a time; `false` where they are not here
    /// any more.
    pub(crate) fn visit_kept(&mut self, m: usize, mut visit: impl FnMut(Range<usize>, &[T])) -> bool {
        if self.complete {
            for first in (0..m).step_by(self.rows) {
                let count = self.rows.min(m - first);
                visit(first..first + count, self.jacobian.part(first * self.columns, count * self.columns));
            }
        }
        self.complete
    }

    /// Visits the rows of the last [`linearize`](Self::linearize), which was at `x`, with room for a second column beside
    /// the residuals. Where the rows are not here any more, `visit` is called without them first; only if it returns
    /// `false` is the problem asked again. Returns whether it was.
    #[inline]
    pub(crate) fn revisit<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        x: &[T],
        mut visit: impl FnMut(&mut P, usize, Option<(&[T], &[T])>, &mut [T]) -> Result<bool, EvaluationError>,
    ) -> Result<bool, EvaluationError> {
        let m = problem.residual_count();
        let mut asked = false;
        for first in (0..m).step_by(self.rows) {
            let count = self.rows.min(m - first);
            let column = self.trial_residuals.first(count);
            if !self.complete && visit(problem, first, None, column)? {
                continue;
            }
            let place = if self.complete { first } else { 0 };
            let r = self.residuals.part(place, count);
            let jacobian = self.jacobian.part(place * self.columns, count * self.columns);
            if !self.complete {
                asked = true;
                problem.linearize(x, first, r, jacobian)?;
            }
            visit(problem, first, Some((r, jacobian)), column)?;
        }
        Ok(asked)
    }

    /// The rows here are not those of the current point, or have been overwritten.
    #[inline]
    pub(crate) fn forget(&mut self) {
        self.complete = false;
    }

    /// Visits a column of numbers for all rows, without the Jacobian.
    pub(crate) fn visit<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        mut visit: impl FnMut(&mut P, usize, &mut [T]) -> Result<(), EvaluationError>,
    ) -> Result<(), EvaluationError> {
        let m = problem.residual_count();
        for first in (0..m).step_by(self.rows) {
            visit(problem, first, self.trial_residuals.first(self.rows.min(m - first)))?;
        }
        Ok(())
    }

    /// Visits two columns of numbers for all rows, without the Jacobian, whose rows are forgotten.
    pub(crate) fn visit_pairs<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        mut visit: impl FnMut(&mut P, usize, &mut [T], &mut [T]) -> Result<(), EvaluationError>,
    ) -> Result<(), EvaluationError> {
        let m = problem.residual_count();
        self.complete = false;
        for first in (0..m).step_by(self.rows) {
            let count = self.rows.min(m - first);
            visit(problem, first, self.residuals.first(count), self.trial_residuals.first(count))?;
        }
        Ok(())
    }

    /// The cost at `x`.
    #[inline]
    pub(crate) fn cost<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P, x: &[T]) -> Result<T, EvaluationError> {
        let mut cost = T::ZERO;
        self.visit(problem, |problem, first, r| {
            problem.residuals(x, first, r)?;
            cost += problem.cost_of(first, r);
            Ok(())
        })?;
        Ok(cost)
    }
}

/// Room for numbers: on the stack if they fit there, else on the heap.
struct Buffer<T, A> {
    stack: A,
    heap: Vec<T>,
}

impl<T: Real, A: AsMut<[T]>> Buffer<T, A> {
    #[inline]
    fn new(stack: A, numbers: usize, fits: bool) -> Self {
        Buffer { stack, heap: if fits { Vec::new() } else { vec![T::ZERO; numbers] } }
    }

    /// Makes room for at least this number of numbers on the heap.
    fn grow(&mut self, numbers: usize) {
        if self.heap.len() < numbers {
            self.heap.resize(numbers, T::ZERO);
        }
    }

    /// Returns the first numbers.
    #[inline]
    fn first(&mut self, count: usize) -> &mut [T] {
        self.part(0, count)
    }

    /// Returns numbers from a place on.
    #[inline]
    fn part(&mut self, start: usize, count: usize) -> &mut [T] {
        let numbers = if self.heap.is_empty() { self.stack.as_mut() } else { &mut self.heap };
        &mut numbers[start..start + count]
    }
}
