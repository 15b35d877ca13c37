//! Elimination of the pivots of a front.

use std::ops::Range;

use super::{Front, STRIP, first_row, padded};
use crate::kernels::simd::{self, Kernel};
use crate::kernels::tile::{RegisterTile, difference, eliminate, scaled};
use crate::kernels::triangular::lost_digits;
use crate::real::Real;

/// Rows of the panel computed together.
const ROWS: usize = 4;

/// Pivots whose products are summed in registers and subtracted from all rows behind, before the next are eliminated.
const DEPTH: usize = 128;

/// Eliminates the pivots: the panel is overwritten with the first rows of `U`, where `A = UᵀU`, and the products of its
/// columns are subtracted from the update, unless that is empty.
pub(crate) struct Eliminate<'a, T> {
    pub(crate) front: Front<'a, T>,
    /// Diagonal of the matrix at the pivots, with which the pivots are compared; overwritten with the inverse diagonal of `U`.
    pub(crate) diagonal: &'a mut [T],
    /// Set to `false` at the first pivot that is not positive, or is at the rounding error of its diagonal.
    pub(crate) sound: &'a mut bool,
}

impl<T: Real> Kernel for Eliminate<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(mut self) {
        *self.sound = true;
        let stride = padded(self.front.size);
        for first in (0..self.diagonal.len()).step_by(DEPTH) {
            let end = self.diagonal.len().min(first + DEPTH);
            self.rows(first..end).run::<TALL, FUSED>();
            if !*self.sound {
                return;
            }
            let (above, front) = self.front.reborrow().split_at(end);
            Subtract { above: &above.panel[first * stride..], front }.subtract::<TALL, FUSED>();
        }
    }
}

impl<T: Real> Eliminate<'_, T> {
    /// These rows of the panel.
    #[inline(always)]
    fn rows(&mut self, rows: Range<usize>) -> EliminateRows<'_, T> {
        EliminateRows { front: self.front.reborrow(), diagonal: self.diagonal, rows, sound: self.sound }
    }

    /// Factors with the same bits on all cores, in `parts` parts of the rows.
    pub(crate) fn in_parts(mut self, parts: usize) {
        *self.sound = true;
        let stride = padded(self.front.size);
        for first in (0..self.diagonal.len()).step_by(DEPTH) {
            let end = self.diagonal.len().min(first + DEPTH);
            simd::run(self.rows(first..end));
            if !*self.sound {
                return;
            }
            let (above, front) = self.front.reborrow().split_at(end);
            let above = &above.panel[first * stride..];
            front.for_each_part(parts, &|front| simd::run(Subtract { above, front }));
        }
    }
}

/// Factors some rows of the panel.
struct EliminateRows<'a, T> {
    front: Front<'a, T>,
    diagonal: &'a mut [T],
    rows: Range<usize>,
    /// Set to whether the pivots are sound.
    sound: &'a mut bool,
}

impl<T: Real> Kernel for EliminateRows<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(mut self) {
        *self.sound = self.eliminate::<FUSED>();
    }
}

impl<T: Real> EliminateRows<'_, T> {
    /// `false` if a pivot is not sound.
    #[inline(always)]
    fn eliminate<const FUSED: bool>(&mut self) -> bool {
        let Range { start, end } = self.rows;
        let whole = end - (end - start) % ROWS;
        for top in (start..whole).step_by(ROWS) {
            if !self.rows::<ROWS, FUSED>(start, top) {
                return false;
            }
        }
        match end - whole {
            1 => self.rows::<1, FUSED>(start, whole),
            2 => self.rows::<2, FUSED>(start, whole),
            3 => self.rows::<3, FUSED>(start, whole),
            _ => true,
        }
    }

    /// Fills `TALL` rows of the panel, from which the products of rows before `first` are subtracted; `false` if a pivot is not
    /// sound.
    #[inline(always)]
    fn rows<const TALL: usize, const FUSED: bool>(&mut self, first: usize, top: usize) -> bool {
        let stride = padded(self.front.size);
        let (above, rows) = self.front.panel[first * stride..].split_at_mut((top - first) * stride);
        let start = stride - self.front.size + top;
        let mut corner = RegisterTile::<T, TALL, TALL>::zero();
        for row in above.chunks_exact(stride) {
            if let Some(factors) = row[start..].first_chunk::<TALL>() {
                corner.add_product::<FUSED>(factors, factors);
            }
        }
        for i in 0..TALL {
            for j in i..TALL {
                corner.0[i][j] = rows[i * stride + start + j] - corner.0[i][j];
            }
        }
        let mut inverses = [T::ZERO; TALL];
        for i in 0..TALL {
            let pivot = corner.0[i][i];
            if !(pivot > lost_digits::<T>() * self.diagonal[top + i] && pivot.is_finite()) {
                return false;
            }
            inverses[i] = pivot.sqrt().recip();
            self.diagonal[top + i] = inverses[i];
            for j in i + 1..TALL {
                corner.0[i][j] *= inverses[i];
            }
            for k in i + 1..TALL {
                for j in k..TALL {
                    let product = corner.0[i][k] * corner.0[i][j];
                    corner.0[k][j] -= product;
                }
            }
        }
        let mut factors = corner.0;
        for row in &mut factors {
            *row = scaled(row, -T::ONE);
        }
        for left in (start / STRIP * STRIP..stride).step_by(STRIP) {
            let products = products::<T, TALL, FUSED>(above, stride, start, left);
            let mut sums = RegisterTile::<T, TALL, STRIP>::zero();
            for i in 0..TALL {
                if let Some(row) = rows[i * stride + left..].first_chunk::<STRIP>() {
                    for j in 0..STRIP {
                        sums.0[i][j] = row[j] - products.0[i][j];
                    }
                }
            }
            eliminate!(sums, factors, |i| {
                sums.0[i] = scaled(&sums.0[i], inverses[i]);
                rows[i * stride + left..][..STRIP].copy_from_slice(&sums.0[i]);
            });
        }
        true
    }
}

/// Subtracts the products of eliminated rows of the panel from the rows below them.
struct Subtract<'a, T> {
    /// Rows of the panel.
    above: &'a [T],
    /// Rows below.
    front: Front<'a, T>,
}

impl<T: Real> Kernel for Subtract<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(mut self) {
        self.subtract::<TALL, FUSED>();
    }
}

impl<T: Real> Subtract<'_, T> {
    #[inline(always)]
    fn subtract<const TALL: usize, const FUSED: bool>(&mut self) {
        self.subtract_from_panel::<FUSED>();
        if !self.front.update.is_empty() {
            self.subtract_from_update::<TALL, FUSED>();
        }
    }

    #[inline(always)]
    fn subtract_from_panel<const FUSED: bool>(&mut self) {
        let Front { size, pivots, rows, panel, .. } = &mut self.front;
        let stride = padded(*size);
        let first = stride - *size + rows.start;
        let count = (*pivots).min(rows.end).saturating_sub(rows.start);
        // In strips, which stay in the cache; rows that do not fill a tile are the last.
        for left in (first / STRIP * STRIP..stride).step_by(STRIP) {
            let reached = count.min((left + STRIP).saturating_sub(first));
            let whole = reached - reached % ROWS;
            for top in (0..whole).step_by(ROWS) {
                let rows = &mut panel[top * stride + left..];
                subtract_products::<T, ROWS, FUSED>(self.above, stride, first + top, left, rows, stride);
            }
            for top in whole..reached {
                let rows = &mut panel[top * stride + left..];
                subtract_products::<T, 1, FUSED>(self.above, stride, first + top, left, rows, stride);
            }
        }
    }

    #[inline(always)]
    fn subtract_from_update<const TALL: usize, const FUSED: bool>(&mut self) {
        let Front { size, pivots, rows, update, .. } = &mut self.front;
        let (stride, side) = (padded(*size), padded(*size - *pivots));
        let (first, start) = (stride - side, first_row(*size, *pivots, rows.start));
        let end = start + update.len() / side;
        let top = start.max((side - (*size - *pivots)) / TALL * TALL);
        for left in (start / STRIP * STRIP..side).step_by(STRIP) {
            for top in (top..end.min(left + STRIP)).step_by(TALL) {
                let rows = &mut update[(top - start) * side + left..];
                subtract_products::<T, TALL, FUSED>(self.above, stride, first + top, first + left, rows, side);
            }
        }
    }
}

/// Sums over the rows of a panel the products of the columns from `tall` on with those from `wide` on.
#[inline(always)]
fn products<T: Real, const TALL: usize, const FUSED: bool>(
    panel: &[T],
    stride: usize,
    tall: usize,
    wide: usize,
) -> RegisterTile<T, TALL, STRIP> {
    let mut products = RegisterTile::<T, TALL, STRIP>::zero();
    for row in panel.chunks_exact(stride) {
        let (tall, wide) = (row[tall..].first_chunk::<TALL>(), row[wide..].first_chunk::<STRIP>());
        if let (Some(tall), Some(wide)) = (tall, wide) {
            products.add_product::<FUSED>(tall, wide);
        }
    }
    products
}

/// Subtracts from `TALL` rows of a strip the products of the panel's columns from `tall` on with those from `wide` on.
#[inline(always)]
fn subtract_products<T: Real, const TALL: usize, const FUSED: bool>(
    panel: &[T],
    stride: usize,
    tall: usize,
    wide: usize,
    rows: &mut [T],
    rows_stride: usize,
) {
    let products = products::<T, TALL, FUSED>(panel, stride, tall, wide);
    // Written out, so that the sums go from their registers into memory.
    macro_rules! subtract_rows {
        ($($i:literal)*) => {
            $(
                if $i < TALL && let Some(row) = rows[$i * rows_stride..].first_chunk_mut::<STRIP>() {
                    *row = difference(row, &products.0[$i]);
                }
            )*
        };
    }
    subtract_rows!(0 1 2 3 4 5 6 7);
}
