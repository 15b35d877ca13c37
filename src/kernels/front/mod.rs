//! Fronts: the dense matrices of a multifrontal Cholesky factorisation.

mod children;
mod elimination;
mod substitution;

use std::ops::Range;

pub(crate) use children::{ExtendAdd, FEW, IndexRun, SubtractProducts};
pub(crate) use elimination::Eliminate;
pub(crate) use substitution::{SolveBackward, SolveForward};

use crate::parallel;
use crate::real::Real;

/// Columns that are computed together.
const STRIP: usize = 8;

/// Returns the length of a row of columns, where rows consist of whole strips.
#[inline(always)]
pub(crate) fn padded(columns: usize) -> usize {
    columns.div_ceil(STRIP) * STRIP
}

/// The upper triangle of a symmetric front, or some of its rows. The first variables, the pivots, are eliminated.
///
/// The rows of the pivots are the panel, and all others the update, a square. Both are row-major, with rows [`padded`] on the
/// left. In the panel the padding is zero; the update also has rows above its first, and their entries, like its padding and all
/// entries below the diagonals, mean nothing.
pub(crate) struct Front<'a, T> {
    /// Number of rows and columns of the whole front.
    size: usize,
    /// Number of the pivots.
    pivots: usize,
    /// The rows in this part.
    rows: Range<usize>,
    /// Columns of the pivots.
    panel: &'a mut [T],
    /// Other columns.
    update: &'a mut [T],
}

impl<'a, T> Front<'a, T> {
    /// The front of these pivots. The update may be empty.
    #[inline(always)]
    pub(crate) fn new(size: usize, pivots: usize, panel: &'a mut [T], update: &'a mut [T]) -> Self {
        Front { size, pivots, rows: 0..size, panel, update }
    }

    /// Borrows the rows for a shorter time.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Front<'_, T> {
        let Front { size, pivots, .. } = *self;
        Front { size, pivots, rows: self.rows.clone(), panel: self.panel, update: self.update }
    }

    /// Rows of the pivots.
    #[inline(always)]
    pub(crate) fn panel(&mut self) -> &mut [T] {
        self.panel
    }

    /// The rows before row `i` and those from it on.
    fn split_at(self, i: usize) -> (Self, Self) {
        let Front { size, pivots, rows, panel, update } = self;
        let (stride, side) = (padded(size), padded(size - pivots));
        let in_panel = (i.min(pivots) - rows.start.min(pivots)) * stride;
        let in_update = update.len().min((first_row(size, pivots, i) - first_row(size, pivots, rows.start)) * side);
        let (panel, panel_below) = panel.split_at_mut(in_panel);
        let (update, update_below) = update.split_at_mut(in_update);
        let above = Front { size, pivots, rows: rows.start..i, panel, update };
        (above, Front { size, pivots, rows: i..rows.end, panel: panel_below, update: update_below })
    }

    /// The row that divides the entries into about equal halves, at the beginning of a tile of the update.
    fn middle(&self) -> Option<usize> {
        let [longest, shortest] = [self.rows.start, self.rows.end].map(|i| (self.size - i) as f64);
        let columns = (0.5 * (longest * longest + shortest * shortest)).sqrt() as usize / STRIP * STRIP;
        Some(self.size - columns).filter(|&i| self.rows.start < i && i < self.rows.end)
    }

    /// Runs `work` on `parts` parts of the rows, on all cores.
    pub(crate) fn for_each_part(self, parts: usize, work: &(impl Fn(Front<'_, T>) + Sync))
    where
        T: Send,
    {
        match self.middle().filter(|_| parts > 1) {
            None => work(self),
            Some(middle) => {
                let (above, below) = self.split_at(middle);
                parallel::join(
                    || above.for_each_part(parts / 2, work),
                    || below.for_each_part(parts.div_ceil(2), work),
                );
            }
        }
    }

    /// The part of a row from the diagonal on.
    #[inline(always)]
    fn row(&mut self, i: usize) -> &mut [T] {
        self.row_from(i, 0)
    }

    /// The part of a row from `left` columns before the diagonal on; `left` is at most [`left_of`](Self::left_of).
    #[inline(always)]
    fn row_from(&mut self, i: usize, left: usize) -> &mut [T] {
        let column = self.left_of(i);
        if i < self.pivots {
            let stride = padded(self.size);
            let at = i - self.rows.start;
            &mut self.panel[at * stride..(at + 1) * stride][column - left..]
        } else {
            let side = padded(self.size - self.pivots);
            let at = column - first_row(self.size, self.pivots, self.rows.start);
            &mut self.update[at * side..(at + 1) * side][column - left..]
        }
    }

    /// Number of columns before the diagonal of a row.
    #[inline(always)]
    fn left_of(&self, i: usize) -> usize {
        let stride = if i < self.pivots { padded(self.size) } else { padded(self.size - self.pivots) };
        stride - (self.size - i)
    }

    /// Returns the range of those of `len` rows from row `to` on that are in this part.
    #[inline(always)]
    fn rows_of(&self, to: usize, len: usize) -> Range<usize> {
        self.rows.start.saturating_sub(to)..len.min(self.rows.end.saturating_sub(to))
    }
}

/// First row of the update's square that belongs to the rows from row `i` on.
#[inline(always)]
fn first_row(size: usize, pivots: usize, i: usize) -> usize {
    if i <= pivots { 0 } else { padded(size - pivots) - (size - i) }
}

impl<T: Real> Front<'_, T> {
    /// Sets all rows to zero.
    pub(crate) fn clear(&mut self) {
        self.panel.fill(T::ZERO);
        if self.update.is_empty() {
            return;
        }
        let others = self.size - self.pivots;
        let side = padded(others);
        if others < 4 * STRIP {
            return self.update.fill(T::ZERO);
        }
        for (i, row) in (first_row(self.size, self.pivots, self.rows.start)..).zip(self.update.chunks_exact_mut(side)) {
            if i >= side - others {
                row[i / STRIP * STRIP..].fill(T::ZERO);
            }
        }
    }
}
