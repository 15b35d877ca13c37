//! The inverse of the blocks on a matrix's diagonal.

use super::block_rows::DampedRows;
use super::model::IllConditioned;
use crate::kernels::triangular::{cholesky, solve_cholesky};
use crate::kernels::vector::add_scaled;
use crate::lists::Lists;
use crate::real::Real;

/// Cholesky factors of square blocks, one for each part of a vector.
#[derive(Debug, Clone)]
pub(super) struct BlockJacobi<T> {
    /// Entries of each block.
    factors: Lists<T>,
    /// Pivots of each block, where its part of a vector is.
    inverse_pivots: Lists<T>,
}

impl<T: Real> BlockJacobi<T> {
    /// Zero blocks of these sizes.
    pub(super) fn new(sizes: impl Iterator<Item = usize> + Clone) -> Self {
        let factors = Lists::filled(sizes.clone().map(|size| size * size), T::ZERO);
        BlockJacobi { factors, inverse_pivots: Lists::filled(sizes, T::ZERO) }
    }

    /// Block `k`, to be filled by rows; of the triangles, the lower one counts.
    pub(super) fn block_mut(&mut self, k: usize) -> &mut [T] {
        self.factors.of_mut(k)
    }

    /// Fills block `k` with what is on the diagonal of the damped system for a block of its columns.
    pub(super) fn fill(&mut self, k: usize, DampedRows { rows, lambda, d }: DampedRows<'_, T>, block: usize) {
        let (own, d) = (self.factors.of_mut(k), &d[rows.structure.range(block)]);
        own.copy_from_slice(rows.diagonal_block(block));
        own.iter_mut().step_by(d.len() + 1).zip(d).for_each(|(entry, &d)| *entry += lambda * d * d);
    }

    /// Factorises block `k`, which has been filled.
    pub(super) fn factorize(&mut self, k: usize) -> Result<(), IllConditioned> {
        let is_sound = cholesky(self.factors.of_mut(k), self.inverse_pivots.of_mut(k));
        if is_sound { Ok(()) } else { Err(IllConditioned) }
    }

    /// Overwrites the part `b` of a vector that belongs to block `k` with the solution of the block's system.
    #[inline(always)]
    pub(super) fn solve_block(&self, k: usize, b: &mut [T]) {
        solve_cholesky(self.factors.of(k), self.inverse_pivots.of(k), b);
    }

    /// Overwrites the `size` columns of a matrix, whose rows belong to block `k`, with the solutions of the block's system.
    #[inline(always)]
    pub(super) fn solve_rows(&self, k: usize, rows: &mut [T], size: usize) {
        let (factor, inverse_pivots) = (self.factors.of(k), self.inverse_pivots.of(k));
        let n = inverse_pivots.len();
        for i in 0..n {
            let (above, row) = rows.split_at_mut(i * size);
            for (above, &entry) in above.chunks_exact(size).zip(&factor[i * n..]) {
                add_scaled(&mut row[..size], -entry, above);
            }
        }
        for (row, &inverse) in rows.chunks_exact_mut(size).zip(inverse_pivots) {
            row.iter_mut().for_each(|entry| *entry *= inverse);
        }
        for i in (0..n).rev() {
            let (above, row) = rows.split_at_mut(i * size);
            for (above, &entry) in above.chunks_exact_mut(size).zip(&factor[i * n..]) {
                add_scaled(above, -entry, &row[..size]);
            }
        }
    }

    /// Overwrites a vector with the solutions of all blocks' systems.
    pub(super) fn solve(&self, b: &mut [T]) {
        (0..self.factors.len()).for_each(|k| self.solve_block(k, &mut b[self.inverse_pivots.range(k)]));
    }
}
