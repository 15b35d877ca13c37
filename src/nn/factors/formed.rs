//! Columns of the Jacobian that are formed.

use std::ops::Range;

use super::kept::scratch;
use crate::kernels::Factor;
use crate::kernels::samples::add_row_grams;
use crate::problem::selected::{gather, scatter};
use crate::real::Real;

/// A row for each residual, with the formed columns side by side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Formed<'a, T> {
    pub(super) rows: &'a [T],
    /// Entries in a row.
    pub(super) count: usize,
    /// Ranges of the columns among the wanted ones.
    pub(super) columns: &'a [Range<usize>],
}

impl<T: Real> Formed<'_, T> {
    /// Adds to the blocks of every sample's rows with each other, `group` of them.
    pub(super) fn add_row_gram_blocks(&self, memory: &mut Vec<T>, blocks: &mut [T], group: usize) {
        let samples = self.rows.len() / self.count / group;
        let (factors, memory) = scratch(memory, samples + group).split_at_mut(samples);
        factors.fill(T::ONE);
        add_row_grams(blocks, factors, [self.rows, self.rows], self.count, group, memory);
    }

    /// Adds `Jv`.
    pub(super) fn add_product(&self, memory: &mut Vec<T>, v: &[T], product: &mut [T]) {
        let selected = scratch(memory, self.count);
        gather(selected, v, self.columns);
        T::multiply(product, true, Factor::Plain(self.rows), selected, self.count, 1);
    }

    /// Adds `JJᵀu`.
    pub(super) fn add_gram_product(&self, memory: &mut Vec<T>, u: &[T], product: &mut [T]) {
        let sums = scratch(memory, self.count);
        T::multiply(sums, false, Factor::Transposed(self.rows), u, u.len(), 1);
        T::multiply(product, true, Factor::Plain(self.rows), sums, self.count, 1);
    }

    /// Writes `Jᵀu`.
    pub(super) fn put_transposed_product(&self, memory: &mut Vec<T>, u: &[T], product: &mut [T]) {
        let sums = scratch(memory, self.count);
        T::multiply(sums, false, Factor::Transposed(self.rows), u, u.len(), 1);
        scatter(product, sums, self.columns);
    }
}
