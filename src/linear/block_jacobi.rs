//! The inverse of the blocks on a matrix's diagonal.

use super::model::IllConditioned;
use crate::kernels::triangular::{cholesky, solve_cholesky};
use crate::lists::prefix_sums;
use crate::real::Real;

/// Cholesky factors of square blocks, one for each part of a vector.
#[derive(Debug, Clone)]
pub(super) struct BlockJacobi<T> {
    /// First entry of each part, and the length of the vector.
    offsets: Vec<usize>,
    /// First entry of each block, and the number of all.
    places: Vec<usize>,
    factors: Vec<T>,
    inverse_pivots: Vec<T>,
}

impl<T: Real> BlockJacobi<T> {
    /// Zero blocks of these sizes.
    pub(super) fn new(sizes: impl Iterator<Item = usize> + Clone) -> Self {
        let (offsets, places) = (prefix_sums(sizes.clone()), prefix_sums(sizes.map(|size| size * size)));
        let (entries, n) = (places[places.len() - 1], offsets[offsets.len() - 1]);
        BlockJacobi { offsets, places, factors: vec![T::ZERO; entries], inverse_pivots: vec![T::ZERO; n] }
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Part of the vector that belongs to block `k`.
    pub(super) fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.offsets[k]..self.offsets[k + 1]
    }

    /// Block `k`, to be filled by rows; of the triangles, the lower one counts.
    pub(super) fn block_mut(&mut self, k: usize) -> &mut [T] {
        &mut self.factors[self.places[k]..self.places[k + 1]]
    }

    /// Fills block `k` with `B + λD²`.
    pub(super) fn fill(&mut self, k: usize, block: &[T], lambda: T, d: &[T]) {
        let own = self.block_mut(k);
        own.copy_from_slice(block);
        own.iter_mut().step_by(d.len() + 1).zip(d).for_each(|(entry, &d)| *entry += lambda * d * d);
    }

    /// Factorises block `k`, which has been filled.
    pub(super) fn factorize(&mut self, k: usize) -> Result<(), IllConditioned> {
        let range = self.range(k);
        let factor = &mut self.factors[self.places[k]..self.places[k + 1]];
        if cholesky(factor, &mut self.inverse_pivots[range]) { Ok(()) } else { Err(IllConditioned) }
    }

    /// Overwrites the part `b` of a vector that belongs to block `k` with the solution of the block's system.
    #[inline(always)]
    pub(super) fn solve_block(&self, k: usize, b: &mut [T]) {
        let factor = &self.factors[self.places[k]..self.places[k + 1]];
        solve_cholesky(factor, &self.inverse_pivots[self.offsets[k]..self.offsets[k + 1]], b);
    }

    /// Overwrites a vector with the solutions of all blocks' systems.
    pub(super) fn solve(&self, b: &mut [T]) {
        (0..self.blocks()).for_each(|k| self.solve_block(k, &mut b[self.offsets[k]..self.offsets[k + 1]]));
    }
}
