//! Fronts: the dense matrices of a multifrontal Cholesky factorisation.

use std::array::from_fn;
use std::ops::Range;

use super::simd::{Kernel, multiply_add};
use super::tile::{Tile, eliminate};
use super::triangular::lost_digits;
use crate::Real;

/// Columns that are computed together.
const STRIP: usize = 8;

/// Rows of the panel that are computed together.
const ROWS: usize = 4;

/// Pivots whose products are summed in registers and subtracted from all rows behind, before the next are eliminated.
const DEPTH: usize = 128;

/// Numbers of a row of so many columns, where rows consist of whole strips.
#[inline(always)]
pub(crate) fn padded(columns: usize) -> usize {
    columns.div_ceil(STRIP) * STRIP
}

/// The upper triangle of a symmetric front, of which the first variables, the pivots, are eliminated.
///
/// The rows of the pivots are the panel, and all others the update, a square. Both are row-major, with rows [`padded`] on the
/// left. In the panel the padding is zero; the update also has rows above its first, and their numbers, like its padding and all
/// numbers below the diagonals, mean nothing.
pub(crate) struct Front<'a, T> {
    /// Number of rows and columns.
    pub(crate) size: usize,
    /// Rows of the pivots.
    pub(crate) panel: &'a mut [T],
    /// Rows of the others.
    pub(crate) update: &'a mut [T],
}

impl<T> Front<'_, T> {
    /// The part of a row from the diagonal on.
    #[inline(always)]
    fn row(&mut self, i: usize, pivots: usize) -> &mut [T] {
        if i < pivots {
            let stride = padded(self.size);
            &mut self.panel[i * stride..(i + 1) * stride][stride - self.size + i..]
        } else {
            let side = padded(self.size - pivots);
            let at = side - (self.size - i);
            &mut self.update[at * side..(at + 1) * side][at..]
        }
    }
}

impl<T: Real> Front<'_, T> {
    /// Sets all rows to zero.
    pub(crate) fn clear(&mut self, pivots: usize) {
        self.panel.fill(T::ZERO);
        if self.update.is_empty() {
            return;
        }
        let others = self.size - pivots;
        let side = padded(others);
        if others < 4 * STRIP {
            return self.update.fill(T::ZERO);
        }
        for i in side - others..side {
            self.update[i * side + i / STRIP * STRIP..(i + 1) * side].fill(T::ZERO);
        }
    }
}

/// Eliminates the pivots: the panel is overwritten with the first rows of `U`, where `A = UᵀU`, and the products of its
/// columns are subtracted from the update, unless that is empty.
pub(crate) struct Eliminate<'a, T> {
    pub(crate) front: Front<'a, T>,
    /// Diagonal of the matrix at the pivots, by which the pivots are judged; overwritten with the inverse diagonal of `U`.
    pub(crate) diagonal: &'a mut [T],
    /// Turns `false` at the first pivot that is not positive, or is what rounding left of its diagonal.
    pub(crate) sound: &'a mut bool,
}

impl<T: Real> Kernel for Eliminate<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(mut self) {
        let pivots = self.diagonal.len();
        *self.sound = true;
        for first in (0..pivots).step_by(DEPTH) {
            let end = pivots.min(first + DEPTH);
            let whole = end - (end - first) % ROWS;
            for top in (first..whole).step_by(ROWS) {
                *self.sound = *self.sound && self.rows::<ROWS, FUSED>(first, top);
            }
            *self.sound = *self.sound
                && match end - whole {
                    1 => self.rows::<1, FUSED>(first, whole),
                    2 => self.rows::<2, FUSED>(first, whole),
                    3 => self.rows::<3, FUSED>(first, whole),
                    _ => true,
                };
            if !*self.sound {
                return;
            }
            self.subtract_from_panel::<FUSED>(first..end);
            if !self.front.update.is_empty() {
                self.subtract_from_update::<TALL, FUSED>(first..end);
            }
        }
    }
}

impl<T: Real> Eliminate<'_, T> {
    /// Fills `TALL` rows of the panel, from which the products of rows before `first` are subtracted; `false` if a pivot is not
    /// sound.
    #[inline(always)]
    fn rows<const TALL: usize, const FUSED: bool>(&mut self, first: usize, top: usize) -> bool {
        let stride = padded(self.front.size);
        let (above, rows) = self.front.panel[first * stride..].split_at_mut((top - first) * stride);
        let start = stride - self.front.size + top;
        let mut corner = Tile::<T, TALL, TALL>::zero();
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
        let factors = corner.0.map(|row| row.map(|u| -u));
        for left in (start / STRIP * STRIP..stride).step_by(STRIP) {
            let mut products = Tile::<T, TALL, STRIP>::zero();
            for row in above.chunks_exact(stride) {
                let (row, wide) = (row[start..].first_chunk::<TALL>(), row[left..].first_chunk::<STRIP>());
                if let (Some(tall), Some(wide)) = (row, wide) {
                    products.add_product::<FUSED>(tall, wide);
                }
            }
            let mut sums = Tile::<T, TALL, STRIP>::zero();
            for i in 0..TALL {
                if let Some(row) = rows[i * stride + left..].first_chunk::<STRIP>() {
                    for j in 0..STRIP {
                        sums.0[i][j] = row[j] - products.0[i][j];
                    }
                }
            }
            eliminate!(sums, factors, |i| {
                sums.0[i] = sums.0[i].map(|sum| sum * inverses[i]);
                rows[i * stride + left..][..STRIP].copy_from_slice(&sums.0[i]);
            });
        }
        true
    }

    /// Subtracts the products of columns of these rows of the panel from the rows below them.
    #[inline(always)]
    fn subtract_from_panel<const FUSED: bool>(&mut self, rows: Range<usize>) {
        let stride = padded(self.front.size);
        let pad = stride - self.front.size;
        let (above, below) = self.front.panel.split_at_mut(rows.end * stride);
        let above = &above[rows.start * stride..];
        // In strips, which stay in the cache; rows that do not fill a tile are the last.
        for left in ((pad + rows.end) / STRIP * STRIP..stride).step_by(STRIP) {
            let reached = (self.diagonal.len() - rows.end).min((left + STRIP).saturating_sub(pad + rows.end));
            let whole = reached - reached % ROWS;
            for top in (0..whole).step_by(ROWS) {
                let below = &mut below[top * stride + left..];
                subtract_products::<T, ROWS, FUSED>(above, stride, pad + rows.end + top, left, below, stride);
            }
            for top in whole..reached {
                let below = &mut below[top * stride + left..];
                subtract_products::<T, 1, FUSED>(above, stride, pad + rows.end + top, left, below, stride);
            }
        }
    }

    /// Subtracts the products of columns of these rows of the panel from the update.
    #[inline(always)]
    fn subtract_from_update<const TALL: usize, const FUSED: bool>(&mut self, rows: Range<usize>) {
        let others = self.front.size - self.diagonal.len();
        let (stride, side) = (padded(self.front.size), padded(others));
        let first = stride - side;
        let above = &self.front.panel[rows.start * stride..rows.end * stride];
        for left in (0..side).step_by(STRIP) {
            for top in ((side - others) / TALL * TALL..left + STRIP).step_by(TALL) {
                let update = &mut self.front.update[top * side + left..];
                subtract_products::<T, TALL, FUSED>(above, stride, first + top, first + left, update, side);
            }
        }
    }
}

/// Subtracts, from `TALL` rows of a strip, products of as many columns of the panel's rows, from `tall` on, with those of a
/// strip, from `wide` on.
#[inline(always)]
fn subtract_products<T: Real, const TALL: usize, const FUSED: bool>(
    panel: &[T],
    stride: usize,
    tall: usize,
    wide: usize,
    rows: &mut [T],
    rows_stride: usize,
) {
    let mut products = Tile::<T, TALL, STRIP>::zero();
    for row in panel.chunks_exact(stride) {
        let (tall, wide) = (row[tall..].first_chunk::<TALL>(), row[wide..].first_chunk::<STRIP>());
        if let (Some(tall), Some(wide)) = (tall, wide) {
            products.add_product::<FUSED>(tall, wide);
        }
    }
    // Written out, so that the sums go from their registers into memory.
    macro_rules! subtract_rows {
        ($($i:literal)*) => {
            $(
                if $i < TALL && let Some(row) = rows[$i * rows_stride..].first_chunk_mut::<STRIP>() {
                    *row = from_fn(|j| row[j] - products.0[$i][j]);
                }
            )*
        };
    }
    subtract_rows!(0 1 2 3 4 5 6 7);
}

/// Variables that follow each other both in a child's update and in its parent's front.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// First of them in the update.
    pub(crate) from: u32,
    /// First of them in the front.
    pub(crate) to: u32,
    /// Number of them.
    pub(crate) len: u32,
}

/// Adds the update of a child to the front of its parent.
pub(crate) struct ExtendAdd<'a, T> {
    pub(crate) front: Front<'a, T>,
    /// Number of the front's pivots.
    pub(crate) pivots: usize,
    /// The child's update.
    pub(crate) child: &'a [T],
    /// Number of variables of the update.
    pub(crate) size: usize,
    /// Where they are in the front, all of them in their order.
    pub(crate) runs: &'a [Run],
}

impl<T: Real> Kernel for ExtendAdd<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(mut self) {
        let side = padded(self.size);
        let pad = side - self.size;
        for (k, run) in self.runs.iter().enumerate() {
            let [from, to, len] = [run.from, run.to, run.len].map(|number| number as usize);
            for r in 0..len {
                let child = &self.child[(pad + from + r) * side..][..side][pad..];
                let row = self.front.row(to + r, self.pivots);
                add(&mut row[..len - r], &child[from + r..]);
                for other in &self.runs[k + 1..] {
                    add(&mut row[other.to as usize - to - r..][..other.len as usize], &child[other.from as usize..]);
                }
            }
        }
    }
}

/// Most pivots of a child whose products go into the front of its parent at once.
pub(crate) const FEW: usize = 4;

/// Subtracts the products of the columns of a child's panel, of at most [`FEW`] rows, from the front of its parent: as
/// [`Eliminate`] and [`ExtendAdd`] do, to the last bit, without an update between them.
pub(crate) struct SubtractProducts<'a, T> {
    pub(crate) front: Front<'a, T>,
    /// Number of the front's pivots.
    pub(crate) pivots: usize,
    /// The child's panel.
    pub(crate) panel: &'a [T],
    /// Number of rows of the panel.
    pub(crate) child_pivots: usize,
    /// Number of variables of the child's update.
    pub(crate) size: usize,
    /// Where they are in the front, all of them in their order.
    pub(crate) runs: &'a [Run],
}

impl<T: Real> Kernel for SubtractProducts<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(self) {
        match self.child_pivots {
            1 => self.of::<1, FUSED>(),
            2 => self.of::<2, FUSED>(),
            3 => self.of::<3, FUSED>(),
            _ => self.of::<FEW, FUSED>(),
        }
    }
}

impl<T: Real> SubtractProducts<'_, T> {
    /// The products of a panel of `DEEP` rows.
    #[inline(always)]
    fn of<const DEEP: usize, const FUSED: bool>(mut self) {
        let stride = padded(self.size + DEEP);
        // The parts of the rows that belong to the update.
        let panel: [&[T]; DEEP] = from_fn(|p| &self.panel[p * stride..(p + 1) * stride][stride - self.size..]);
        for (k, run) in self.runs.iter().enumerate() {
            let [from, to, len] = [run.from, run.to, run.len].map(|number| number as usize);
            for r in 0..len {
                let factors = from_fn(|p| panel[p][from + r]);
                let row = self.front.row(to + r, self.pivots);
                let own = panel.map(|panel| &panel[from + r..from + len]);
                subtract_row::<T, DEEP, FUSED>(&mut row[..len - r], factors, own);
                for other in &self.runs[k + 1..] {
                    let [start, len] = [other.from, other.len].map(|number| number as usize);
                    let others = panel.map(|panel| &panel[start..start + len]);
                    subtract_row::<T, DEEP, FUSED>(&mut row[other.to as usize - to - r..][..len], factors, others);
                }
            }
        }
    }
}

/// `sums −= Σ factors[p] · rows[p]`.
#[inline(always)]
fn subtract_row<T: Real, const DEEP: usize, const FUSED: bool>(sums: &mut [T], factors: [T; DEEP], rows: [&[T]; DEEP]) {
    let count = sums.len();
    let whole = count - count % STRIP;
    for left in (0..whole).step_by(STRIP) {
        let mut products = [T::ZERO; STRIP];
        for p in 0..DEEP {
            if let Some(row) = rows[p][left..].first_chunk::<STRIP>() {
                products = from_fn(|j| multiply_add::<T, FUSED>(factors[p], row[j], products[j]));
            }
        }
        if let Some(sums) = sums[left..].first_chunk_mut::<STRIP>() {
            *sums = from_fn(|j| sums[j] - products[j]);
        }
    }
    for j in whole..count {
        let product = (0..DEEP).fold(T::ZERO, |sum, p| multiply_add::<T, FUSED>(factors[p], rows[p][j], sum));
        sums[j] -= product;
    }
}

/// `sums += numbers`.
#[inline(always)]
fn add<T: Real>(sums: &mut [T], numbers: &[T]) {
    for (sum, &number) in sums.iter_mut().zip(numbers) {
        *sum += number;
    }
}

/// Solves `Uᵀx = b` for the pivots of a panel, and subtracts their contributions from the numbers behind them.
pub(crate) struct SolveForward<'a, T> {
    pub(crate) panel: &'a [T],
    /// Inverse diagonal of `U`.
    pub(crate) inverses: &'a [T],
    /// As many numbers as the front has columns.
    pub(crate) x: &'a mut [T],
}

impl<T: Real> Kernel for SolveForward<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(self) {
        let stride = padded(self.x.len());
        let first = stride - self.x.len();
        for (p, (row, &inverse)) in self.panel.chunks_exact(stride).zip(self.inverses).enumerate() {
            let x = self.x[p] * inverse;
            self.x[p] = x;
            for (other, &u) in self.x[p + 1..].iter_mut().zip(&row[first + p + 1..]) {
                *other = multiply_add::<T, FUSED>(-x, u, *other);
            }
        }
    }
}

/// Solves `Ux = b` for the pivots of a panel, given the numbers behind them.
pub(crate) struct SolveBackward<'a, T> {
    pub(crate) panel: &'a [T],
    /// Inverse diagonal of `U`.
    pub(crate) inverses: &'a [T],
    /// As many numbers as the front has columns.
    pub(crate) x: &'a mut [T],
}

impl<T: Real> Kernel for SolveBackward<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(self) {
        let stride = padded(self.x.len());
        let first = stride - self.x.len();
        for (p, (row, &inverse)) in self.panel.chunks_exact(stride).zip(self.inverses).enumerate().rev() {
            let (row, row_rest) = row[first + p + 1..].as_chunks::<STRIP>();
            let (x, x_rest) = self.x[p + 1..].as_chunks::<STRIP>();
            let mut sums = [T::ZERO; STRIP];
            for (u, x) in row.iter().zip(x) {
                for lane in 0..STRIP {
                    sums[lane] = multiply_add::<T, FUSED>(u[lane], x[lane], sums[lane]);
                }
            }
            let rest = row_rest.iter().zip(x_rest).fold(T::ZERO, |sum, (&u, &x)| sum + u * x);
            let sum = sums.into_iter().fold(rest, |sum, lane| sum + lane);
            self.x[p] = (self.x[p] - sum) * inverse;
        }
    }
}
