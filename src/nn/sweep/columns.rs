//! Moving columns between row-major matrices.

use crate::kernels::simd::{self, Kernel};
use crate::nn::arithmetic::put;
use crate::real::Real;

/// Some columns of a row-major matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnRange {
    /// Entries in a whole row.
    pub(crate) width: usize,
    /// The first column.
    pub(crate) start: usize,
}

/// Copies `count` columns, or adds them to `to`.
pub(crate) fn transfer<T: Real>(
    from: &[T],
    from_columns: ColumnRange,
    to: &mut [T],
    to_columns: ColumnRange,
    count: usize,
    add: bool,
) {
    let rows = from.chunks_exact(from_columns.width).zip(to.chunks_exact_mut(to_columns.width));
    for (from, to) in rows {
        let from = &from[from_columns.start..from_columns.start + count];
        put(&mut to[to_columns.start..to_columns.start + count], add, from.iter().copied());
    }
}

/// Sums over columns, overwriting `to` or added to it.
pub(crate) fn row_sums<T: Real>(from: &[T], width: usize, to: &mut [T], add: bool) {
    put(to, add, from.chunks_exact(width).map(|row| row.iter().copied().sum()));
}

/// Repeats one column, overwriting `to` or added to it.
pub(crate) fn repeat<T: Real>(from: &[T], to: &mut [T], width: usize, add: bool) {
    for (&number, to) in from.iter().zip(to.chunks_exact_mut(width)) {
        put(to, add, std::iter::repeat_n(number, width));
    }
}

/// Copies a row to every sample.
pub(crate) fn broadcast<T: Real>(row: &[T], to: &mut [T]) {
    simd::run(Broadcast { row, to });
}

struct Broadcast<'a, T> {
    row: &'a [T],
    to: &'a mut [T],
}

impl<T: Real> Kernel for Broadcast<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Broadcast { row, to } = self;
        for to in to.chunks_exact_mut(row.len()) {
            if row.len() < 4 {
                put(to, false, row.iter().copied());
                continue;
            }
            // Short rows: without a loop for what is left over at the end, nor a call to copy memory.
            for (to, row) in to.as_chunks_mut::<4>().0.iter_mut().zip(row.as_chunks::<4>().0) {
                *to = *row;
            }
            // Some of the last four may have been written already.
            if let (Some(to), Some(row)) = (to.last_chunk_mut::<4>(), row.last_chunk::<4>()) {
                *to = *row;
            }
        }
    }
}
