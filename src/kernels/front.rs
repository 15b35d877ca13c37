//! Fronts: the dense matrices of a multifrontal Cholesky factorisation.

use std::ops::Range;

use super::array::array_of;
use super::simd::{self, Kernel, multiply_add};
use super::tile::{Tile, difference, eliminate, plus_multiple, scaled};
use super::triangular::lost_digits;
use crate::parallel;
use crate::real::Real;

/// Columns that are computed together.
const STRIP: usize = 8;

/// Rows of the panel that are computed together.
const ROWS: usize = 4;

/// Pivots whose products are summed in registers and subtracted from all rows behind, before the next are eliminated.
const DEPTH: usize = 128;

/// Returns the length of a row of columns, where rows consist of whole strips.
#[inline(always)]
pub(crate) fn padded(columns: usize) -> usize {
    columns.div_ceil(STRIP) * STRIP
}

/// The upper triangle of a symmetric front, of which the first variables, the pivots, are eliminated; or some of its rows.
///
/// The rows of the pivots are the panel, and all others the update, a square. Both are row-major, with rows [`padded`] on the
/// left. In the panel the padding is zero; the update also has rows above its first, and their numbers, like its padding and all
/// numbers below the diagonals, mean nothing.
pub(crate) struct Front<'a, T> {
    /// Number of rows and columns of the whole front.
    size: usize,
    /// Number of the pivots.
    pivots: usize,
    /// The rows that are here.
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

    /// The row at which the rows have about as many numbers before as behind, where whole tiles of the update begin.
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

    /// The part of a row from `left` columns before the diagonal on, of which [as many](Self::left_of) as that are there.
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

    /// Returns the range of those of `len` rows from row `to` on that are here.
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
            let mut rows = EliminateRows { front: self.front.reborrow(), diagonal: self.diagonal, rows: first..end };
            *self.sound = rows.eliminate::<FUSED>();
            if !*self.sound {
                return;
            }
            let (above, front) = self.front.reborrow().split_at(end);
            Subtract { above: &above.panel[first * stride..], front }.subtract::<TALL, FUSED>();
        }
    }
}

impl<T: Real> Eliminate<'_, T> {
    /// Factors with the same bits on all cores, in `parts` parts of the rows.
    pub(crate) fn in_parts(mut self, parts: usize) {
        *self.sound = true;
        let stride = padded(self.front.size);
        for first in (0..self.diagonal.len()).step_by(DEPTH) {
            let end = self.diagonal.len().min(first + DEPTH);
            let rows = EliminateRows { front: self.front.reborrow(), diagonal: self.diagonal, rows: first..end };
            simd::run(Checked { rows, sound: self.sound });
            if !*self.sound {
                return;
            }
            let (above, front) = self.front.reborrow().split_at(end);
            let above = &above.panel[first * stride..];
            front.for_each_part(parts, &|front| simd::run(Subtract { above, front }));
        }
    }
}

/// [`EliminateRows`], and whether the pivots are sound.
struct Checked<'a, T> {
    rows: EliminateRows<'a, T>,
    sound: &'a mut bool,
}

impl<T: Real> Kernel for Checked<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(mut self) {
        *self.sound = self.rows.eliminate::<FUSED>();
    }
}

/// Fills some rows of the panel, from which the products of those before are subtracted.
struct EliminateRows<'a, T> {
    front: Front<'a, T>,
    diagonal: &'a mut [T],
    rows: Range<usize>,
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
        let mut factors = corner.0;
        for row in &mut factors {
            *row = scaled(row, -T::ONE);
        }
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
                sums.0[i] = scaled(&sums.0[i], inverses[i]);
                rows[i * stride + left..][..STRIP].copy_from_slice(&sums.0[i]);
            });
        }
        true
    }
}

/// Subtracts the products of columns of rows of the panel, which are eliminated, from rows below them.
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
                    *row = difference(row, &products.0[$i]);
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

impl Run {
    /// Its first row in the update, that in the front, and the number of rows.
    fn places(&self) -> [usize; 3] {
        [self.from as usize, self.to as usize, self.len as usize]
    }
}

/// Adds the update of a child to the front of its parent.
pub(crate) struct ExtendAdd<'a, T> {
    pub(crate) front: Front<'a, T>,
    /// The child's update.
    pub(crate) child: &'a [T],
    /// Number of variables of the update.
    pub(crate) size: usize,
    /// Places of its variables in the front, all of them in their order.
    pub(crate) runs: &'a [Run],
}

impl<T: Real> Kernel for ExtendAdd<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(mut self) {
        let side = padded(self.size);
        let pad = side - self.size;
        for (k, run) in self.runs.iter().enumerate() {
            let [from, to, len] = run.places();
            for r in self.front.rows_of(to, len) {
                let child = &self.child[(pad + from + r) * side..][..side][pad..];
                let row = self.front.row(to + r);
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
    /// The child's panel.
    pub(crate) panel: &'a [T],
    /// Number of rows of the panel.
    pub(crate) child_pivots: usize,
    /// Number of variables of the child's update.
    pub(crate) size: usize,
    /// Places of its variables in the front, all of them in their order.
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
        let panel: [&[T]; DEEP] = array_of(|p| &self.panel[p * stride..(p + 1) * stride][stride - self.size..]);
        for (k, run) in self.runs.iter().enumerate() {
            let [from, to, len] = run.places();
            for r in self.front.rows_of(to, len) {
                let factors = array_of(|p| panel[p][from + r]);
                // A whole strip reaches below the diagonal, where numbers mean nothing.
                let missing = if len < STRIP { 0 } else { STRIP.saturating_sub(len - r) };
                let left = if missing <= self.front.left_of(to + r) { missing } else { 0 };
                let row = self.front.row_from(to + r, left);
                let own = array_of(|p| &panel[p][from + r - left..from + len]);
                subtract_row::<T, DEEP, FUSED>(&mut row[..left + len - r], factors, own);
                let row = &mut row[left..];
                for other in &self.runs[k + 1..] {
                    let [start, _, len] = other.places();
                    let others = array_of(|p| &panel[p][start..start + len]);
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
                products = plus_multiple::<T, STRIP, FUSED>(&products, factors[p], row);
            }
        }
        if let Some(sums) = sums[left..].first_chunk_mut::<STRIP>() {
            *sums = difference(sums, &products);
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
    /// Vector with a number for each column of the front.
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
    /// Vector with a number for each column of the front.
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
