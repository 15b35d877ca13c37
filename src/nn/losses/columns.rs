//! Narrow rows side by side, a lane of a register for each.

use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;

/// Largest width of a narrow row. Wider ones fill registers by themselves.
pub(super) const NARROW: usize = 32;

/// The same part of some rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowSpan {
    /// Entries of a whole row.
    pub(crate) stride: usize,
    /// The first entry of the part.
    pub(crate) first: usize,
}

impl RowSpan {
    /// The whole of rows of this width.
    pub(crate) fn whole(width: usize) -> RowSpan {
        RowSpan { stride: width, first: 0 }
    }

    /// The part of each row, of `width` entries.
    #[inline(always)]
    pub(crate) fn of<T>(self, rows: &[T], width: usize) -> impl Iterator<Item = &[T]> {
        rows.chunks_exact(self.stride).map(move |row| &row[self.first..self.first + width])
    }

    /// The part of each row, of `width` entries.
    #[inline(always)]
    pub(crate) fn of_mut<T>(self, rows: &mut [T], width: usize) -> impl Iterator<Item = &mut [T]> {
        rows.chunks_exact_mut(self.stride).map(move |row| &mut row[self.first..self.first + width])
    }
}

/// Entries of a few narrow rows, column by column. Lanes without a row hold zeros, or entries of an earlier row.
pub(super) struct LaneColumns<T, R>([Lanes<T, R>; NARROW]);

impl<T: Real, R: Register<T>> LaneColumns<T, R> {
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn new() -> Self {
        LaneColumns([Lanes::splat(T::ZERO); NARROW])
    }

    /// The first columns.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn first(&mut self, width: usize) -> &mut [Lanes<T, R>] {
        &mut self.0[..width]
    }

    /// Takes rows in, as many as there are lanes or fewer, and returns their columns.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn load<'a>(&mut self, rows: impl Iterator<Item = &'a [T]>, width: usize) -> &mut [Lanes<T, R>] {
        let columns = self.first(width);
        for (lane, row) in rows.enumerate() {
            columns.iter_mut().zip(row).for_each(|(column, &number)| column.as_mut_slice()[lane] = number);
        }
        columns
    }

    /// Writes to rows, as many as there are lanes or fewer.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn store<'a>(&self, rows: impl Iterator<Item = &'a mut [T]>) {
        for (lane, row) in rows.enumerate() {
            row.iter_mut().zip(&self.0).for_each(|(number, column)| *number = column.as_slice()[lane]);
        }
    }
}

/// `then` where `number` is this class, `otherwise` elsewhere.
#[inline(always)]
pub(super) fn select_class<N: Number>(number: N, class: usize, then: N, otherwise: N) -> N {
    (number - N::from_f64(f64::from(class as i32))).abs().select_less(N::from_f64(0.5), then, otherwise)
}
