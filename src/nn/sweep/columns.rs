//! Moving columns between row-major matrices.

use crate::Real;
use crate::nn::arithmetic::put;

/// Some columns of a row-major matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    /// Numbers in a whole row.
    pub(crate) width: usize,
    /// The first column.
    pub(crate) start: usize,
}

/// Copies `count` columns, or adds them to what is there.
pub(crate) fn transfer<T: Real>(
    from: &[T],
    from_columns: Columns,
    to: &mut [T],
    to_columns: Columns,
    count: usize,
    add: bool,
) {
    let rows = from.chunks_exact(from_columns.width).zip(to.chunks_exact_mut(to_columns.width));
    for (from, to) in rows {
        let from = &from[from_columns.start..from_columns.start + count];
        put(&mut to[to_columns.start..to_columns.start + count], add, from.iter().copied());
    }
}

/// Sums over columns, in place of what is there or added to it.
pub(crate) fn row_sums<T: Real>(from: &[T], width: usize, to: &mut [T], add: bool) {
    put(to, add, from.chunks_exact(width).map(|row| row.iter().copied().sum()));
}

/// Repeats one column, in place of what is there or added to it.
pub(crate) fn repeat<T: Real>(from: &[T], to: &mut [T], width: usize, add: bool) {
    for (&number, to) in from.iter().zip(to.chunks_exact_mut(width)) {
        put(to, add, std::iter::repeat_n(number, width));
    }
}

/// The same row for every sample.
pub(crate) fn broadcast<T: Real>(row: &[T], to: &mut [T]) {
    for to in to.chunks_exact_mut(row.len()) {
        to.copy_from_slice(row);
    }
}
