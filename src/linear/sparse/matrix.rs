//! Symmetric matrix of blocks.

use super::pattern::BlockPattern;
use crate::kernels::vector::dot;
use crate::real::Real;

/// A symmetric matrix `H`, given by the stored blocks of its lower triangle.
///
/// The strict upper triangle of the blocks on the diagonal is never read.
#[derive(Debug, Clone)]
pub(crate) struct BlockMatrix<T> {
    pattern: BlockPattern,
    values: Vec<T>,
}

impl<T: Real> BlockMatrix<T> {
    /// The zero matrix.
    pub(crate) fn new(pattern: BlockPattern) -> Self {
        let values = vec![T::ZERO; pattern.entry_count()];
        BlockMatrix { pattern, values }
    }

    /// The structure.
    pub(crate) fn pattern(&self) -> &BlockPattern {
        &self.pattern
    }

    /// Entries of the stored blocks, each at its [slot](BlockPattern::slot).
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// Entries of the stored blocks, each at its [slot](BlockPattern::slot).
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Sets all entries to zero.
    pub(crate) fn clear(&mut self) {
        self.values.fill(T::ZERO);
    }

    /// Adds the row-major `block` to the entries at a slot.
    #[cfg(test)]
    #[inline]
    pub(crate) fn add(&mut self, slot: usize, block: &[T]) {
        self.values[slot..][..block.len()].iter_mut().zip(block).for_each(|(sum, &entry)| *sum += entry);
    }

    /// Copies the diagonal.
    pub(crate) fn diagonal(&self, diagonal: &mut [T]) {
        for j in 0..self.pattern.blocks() {
            let size = self.pattern.size(j);
            let block = &self.values[self.pattern.diagonal_slot(j)..][..size * size];
            let entries = block.iter().step_by(size + 1);
            diagonal[self.pattern.range(j)].iter_mut().zip(entries).for_each(|(copy, &entry)| *copy = entry);
        }
    }

    /// `Σ H_jj v_j²`.
    pub(crate) fn diagonal_form(&self, v: &[T]) -> T {
        let mut form = T::ZERO;
        for j in 0..self.pattern.blocks() {
            let size = self.pattern.size(j);
            let block = &self.values[self.pattern.diagonal_slot(j)..][..size * size];
            let entries = block.iter().step_by(size + 1).zip(&v[self.pattern.range(j)]);
            form = entries.fold(form, |sum, (&entry, &v)| sum + entry * v * v);
        }
        form
    }

    /// Adds `λD²`, where `d` is the diagonal of `D`.
    #[cfg(test)]
    pub(crate) fn damp(&mut self, lambda: T, d: &[T]) {
        for j in 0..self.pattern.blocks() {
            let size = self.pattern.size(j);
            let block = &mut self.values[self.pattern.diagonal_slot(j)..][..size * size];
            let entries = block.iter_mut().step_by(size + 1);
            entries.zip(&d[self.pattern.range(j)]).for_each(|(entry, &d)| *entry += lambda * d * d);
        }
    }

    /// `product = Hv`.
    pub(crate) fn times(&self, v: &[T], product: &mut [T]) {
        product.fill(T::ZERO);
        for j in 0..self.pattern.blocks() {
            let columns = self.pattern.range(j);
            let size = columns.len();
            for entry in self.pattern.column(j) {
                let rows = self.pattern.range(entry.i);
                let block = &self.values[entry.at..][..rows.len() * size];
                for (r, row) in block.chunks_exact(size.max(1)).enumerate() {
                    let i = rows.start + r;
                    let (row, diagonal) = if entry.i == j { (&row[..r], row[r]) } else { (row, T::ZERO) };
                    let mut sum = diagonal * v[i];
                    let vi = v[i];
                    let others = columns.start..columns.start + row.len();
                    for ((&entry, &v), product) in row.iter().zip(&v[others.clone()]).zip(&mut product[others]) {
                        sum += entry * v;
                        *product += entry * vi;
                    }
                    product[i] += sum;
                }
            }
        }
    }

    /// `vᵀHv`.
    pub(crate) fn quadratic_form(&self, v: &[T]) -> T {
        let mut form = T::ZERO;
        for entry in self.pattern.stored() {
            let (rows, columns) = (self.pattern.range(entry.i), self.pattern.range(entry.j));
            let (size, v_columns) = (columns.len(), &v[columns]);
            let block = &self.values[entry.at..][..rows.len() * size];
            for (r, row) in block.chunks_exact(size.max(1)).enumerate() {
                let vi = v[rows.start + r];
                let (row, diagonal) = if entry.i == entry.j { (&row[..r], row[r]) } else { (row, T::ZERO) };
                let half = dot(row, &v_columns[..row.len()]);
                form += vi * (half + half + diagonal * vi);
            }
        }
        form
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;
    use proptest::prelude::*;

    use super::super::tests::samples;

    proptest! {
        #[test]
        fn products_are_those_of_the_dense_matrix(sample in samples(), lambda in 0.0..2.0_f64) {
            let n = sample.pattern.len();
            let v: Vec<f64> = (0..n).map(|k| (k as f64).cos()).collect();
            let d: Vec<f64> = (0..n).map(|k| 1.0 + k as f64 / n as f64).collect();
            let (mut matrix, mut dense) = (sample.matrix, sample.dense);
            matrix.damp(lambda, &d);
            (0..n).for_each(|i| dense[(i, i)] += lambda * d[i] * d[i]);
            let column = DVector::from_column_slice(&v);
            let expected = &dense * &column;
            let (mut product, mut diagonal) = (vec![f64::NAN; n], vec![0.0; n]);
            matrix.times(&v, &mut product);
            for (found, expected) in product.iter().zip(&expected) {
                prop_assert!((found - expected).abs() <= 1e-12 * dense.amax() * n as f64);
            }
            let form = matrix.quadratic_form(&v);
            prop_assert!((form - column.dot(&expected)).abs() <= 1e-12 * dense.amax() * (n * n) as f64);
            matrix.diagonal(&mut diagonal);
            for (i, found) in diagonal.iter().enumerate() {
                prop_assert!((found - dense[(i, i)]).abs() <= 1e-14 * dense.amax());
            }
            matrix.clear();
            prop_assert!(matrix.values().iter().all(|&value| value == 0.0));
        }
    }
}
