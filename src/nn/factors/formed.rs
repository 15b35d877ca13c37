//! Columns of the Jacobian that are formed.

use std::ops::Range;

use super::kept::room;
use crate::Real;
use crate::kernels::Factor;
use crate::kernels::vector::dot;

/// A row for each residual, with the formed columns side by side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Formed<'a, T> {
    pub(super) rows: &'a [T],
    /// Numbers in a row.
    pub(super) count: usize,
    /// Which of the wanted columns they are.
    pub(super) columns: &'a [Range<usize>],
}

impl<T: Real> Formed<'_, T> {
    /// Adds to the blocks of every `group` rows with each other.
    pub(super) fn add_row_gram_blocks(&self, blocks: &mut [T], group: usize) {
        let samples = blocks.chunks_exact_mut(group * group).zip(self.rows.chunks_exact(group * self.count));
        for (block, rows) in samples {
            for (block, a) in block.chunks_exact_mut(group).zip(rows.chunks_exact(self.count)) {
                let numbers = block.iter_mut().zip(rows.chunks_exact(self.count));
                numbers.for_each(|(number, b)| *number += dot(a, b));
            }
        }
    }

    /// Adds `Jv`.
    pub(super) fn add_product(&self, memory: &mut Vec<T>, v: &[T], product: &mut [T]) {
        let selected = room(memory, self.count);
        let mut rest = &mut *selected;
        for range in self.columns {
            let (now, later) = rest.split_at_mut(range.len());
            now.copy_from_slice(&v[range.clone()]);
            rest = later;
        }
        T::multiply(product, true, Factor::Plain(self.rows), selected, self.count, 1);
    }

    /// Writes `Jᵀu`.
    pub(super) fn put_transposed_product(&self, memory: &mut Vec<T>, u: &[T], product: &mut [T]) {
        let sums = room(memory, self.count);
        T::multiply(sums, false, Factor::Transposed(self.rows), u, u.len(), 1);
        let mut rest = &*sums;
        for range in self.columns {
            let (now, later) = rest.split_at(range.len());
            product[range.clone()].copy_from_slice(now);
            rest = later;
        }
    }
}
