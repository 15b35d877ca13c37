//! Addition of a child's update to the front of its parent.

use super::{Front, STRIP, padded};
use crate::kernels::array::array_of;
use crate::kernels::simd::{Kernel, multiply_add};
use crate::kernels::tile::{difference, plus_multiple};
use crate::real::Real;

/// Variables that follow each other both in a child's update and in its parent's front.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexRun {
    /// First of them in the update.
    pub(crate) from: u32,
    /// First of them in the front.
    pub(crate) to: u32,
    /// Number of them.
    pub(crate) len: u32,
}

impl IndexRun {
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
    pub(crate) runs: &'a [IndexRun],
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
/// [`Eliminate`](super::Eliminate) and [`ExtendAdd`] do, to the last bit, without an update between them.
pub(crate) struct SubtractProducts<'a, T> {
    pub(crate) front: Front<'a, T>,
    /// The child's panel.
    pub(crate) panel: &'a [T],
    /// Number of rows of the panel.
    pub(crate) child_pivots: usize,
    /// Number of variables of the child's update.
    pub(crate) size: usize,
    /// Places of its variables in the front, all of them in their order.
    pub(crate) runs: &'a [IndexRun],
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
                // A whole strip reaches below the diagonal, where entries mean nothing.
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

/// `sums += entries`.
#[inline(always)]
fn add<T: Real>(sums: &mut [T], entries: &[T]) {
    for (sum, &entry) in sums.iter_mut().zip(entries) {
        *sum += entry;
    }
}
