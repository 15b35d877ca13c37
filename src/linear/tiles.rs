//! The one seam where rows are summed: a problem's rows, a cache-sized tile at a time.

use std::ops::Range;

use super::shape::Shape;
use super::vector::dot;
use crate::{EvaluationError, LeastSquares, Real};

/// Bytes of Jacobian in one tile: small enough to stay in the second-level cache between being written and being read.
const TILE_BYTES: usize = 128 * 1024;

/// A reusable buffer that a problem's rows are evaluated into, tile after tile.
pub(crate) struct Tiles<T: Real, S: Shape<T>> {
    /// Rows in a tile: a multiple of the problem's row group.
    rows: usize,
    jacobian_on_stack: S::Tile,
    residuals_on_stack: S::Tile,
    jacobian_on_heap: Vec<T>,
    residuals_on_heap: Vec<T>,
}

impl<T: Real, S: Shape<T>> Tiles<T, S> {
    /// A buffer for `m` rows of `n` parameters that come in groups.
    #[inline]
    pub(crate) fn new(m: usize, n: usize, group: usize) -> Self {
        let rows = Self::rows(m, n, group);
        let mut tiles = Tiles {
            rows,
            jacobian_on_stack: S::tile(),
            residuals_on_stack: S::tile(),
            jacobian_on_heap: Vec::new(),
            residuals_on_heap: Vec::new(),
        };
        if rows > S::TILE_ROWS {
            tiles.jacobian_on_heap.resize(rows * n, T::ZERO);
            tiles.residuals_on_heap.resize(rows, T::ZERO);
        }
        tiles
    }

    /// Rows that fit a tile: whole groups, at least one.
    #[inline]
    fn rows(m: usize, n: usize, group: usize) -> usize {
        let wanted = match S::TILE_ROWS {
            0 => (TILE_BYTES / size_of::<T>() / n).clamp(32, 1024),
            on_stack => on_stack,
        };
        let whole_groups = (wanted / group).max(1) * group;
        whole_groups.min(m)
    }

    /// Numbers that the buffer of a problem on the heap holds.
    pub(crate) fn numbers(m: usize, n: usize, group: usize) -> usize {
        Self::rows(m, n, group) * (n + 1)
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
        let n = x.len();
        for first in (0..m).step_by(self.rows) {
            let rows = first..m.min(first + self.rows);
            let (r, jacobian) = if self.rows > S::TILE_ROWS {
                (self.residuals_on_heap.as_mut_slice(), self.jacobian_on_heap.as_mut_slice())
            } else {
                (self.residuals_on_stack.as_mut(), self.jacobian_on_stack.as_mut())
            };
            let (r, jacobian) = (&mut r[..rows.len()], &mut jacobian[..rows.len() * n]);
            problem.linearize(x, first, r, jacobian)?;
            visit(problem, rows, r, jacobian)?;
        }
        Ok(())
    }

    /// `½‖r(x)‖²`.
    #[inline]
    pub(crate) fn cost<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P, x: &[T]) -> Result<T, EvaluationError> {
        let m = problem.residual_count();
        let mut sum = T::ZERO;
        for first in (0..m).step_by(self.rows) {
            let r = if self.rows > S::TILE_ROWS {
                self.residuals_on_heap.as_mut_slice()
            } else {
                self.residuals_on_stack.as_mut()
            };
            let r = &mut r[..self.rows.min(m - first)];
            problem.residuals(x, first, r)?;
            sum += dot(r, r);
        }
        Ok(T::from_f64(0.5) * sum)
    }
}
