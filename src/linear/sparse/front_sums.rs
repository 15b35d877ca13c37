//! Sums of a front, source by source.

use crate::kernels::front::{Eliminate, Front, padded};
use crate::kernels::simd;
use crate::linear::IllConditioned;
use crate::real::Real;

/// Sums of the front of a clique; the last column is the right-hand side.
pub(super) struct FrontSums<T> {
    pivots: usize,
    size: usize,
    /// Rows of the pivots, as the front has them.
    pub(super) panel: Vec<T>,
    /// Sums of the others; once the pivots are eliminated, their Schur complement.
    pub(super) update: Vec<T>,
    /// Position of each entry of a source.
    entries: Vec<usize>,
}

impl<T: Real> FrontSums<T> {
    pub(super) fn new(pivots: usize, size: usize) -> Self {
        let side = padded(size - pivots);
        let (panel, update) = (vec![T::ZERO; pivots * padded(size)], vec![T::ZERO; side * side]);
        FrontSums { pivots, size, panel, update, entries: Vec::new() }
    }

    /// Adds the upper triangle of a matrix, whose last row and column are the right-hand side, for blocks at these positions and of these sizes. Its
    /// rows may be padded on the left, and other rows may be above its first.
    pub(super) fn add(&mut self, blocks: impl Iterator<Item = (usize, usize)>, matrix: &[T]) {
        let FrontSums { pivots, size, panel, update, entries } = self;
        let (pivots, size) = (*pivots, *size);
        entries.clear();
        blocks.for_each(|(position, size)| entries.extend(position..position + size));
        entries.push(size - 1);
        let (stride, side, width) = (padded(size), padded(size - pivots), matrix.len().isqrt());
        let padding = width - entries.len();
        for (i, &a) in entries.iter().enumerate() {
            let row = &matrix[(padding + i) * width + padding..][..entries.len()];
            for (&b, &entry) in entries[i..].iter().zip(&row[i..]) {
                let (row, column) = (a.min(b), a.max(b));
                if row < pivots {
                    panel[row * stride + stride - size + column] += entry;
                } else {
                    update[(side - (size - row)) * side + side - (size - column)] += entry;
                }
            }
        }
    }

    /// Eliminates the pivots. `diagonal` is that of the matrix, and is overwritten with the inverse diagonal of the factor.
    pub(super) fn eliminate(&mut self, diagonal: &mut [T]) -> Result<(), IllConditioned> {
        let mut sound = false;
        let front = Front::new(self.size, self.pivots, &mut self.panel, &mut self.update);
        simd::run(Eliminate { front, diagonal, sound: &mut sound });
        if sound { Ok(()) } else { Err(IllConditioned) }
    }
}
