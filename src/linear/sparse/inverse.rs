//! Blocks of the inverse, for covariances.

use super::cholesky::SparseCholesky;
use super::symbolic::Supernode;
use crate::kernels::front::padded;
use crate::kernels::vector::{add_scaled, dot};
use crate::real::Real;

/// The blocks of `(H + λD²)⁻¹` at which the factor has blocks, those of `H` among them (Takahashi, Fagan & Chin 1973).
///
/// About twice the flops of the factorisation, and as much memory as the factor. All other blocks take a solution for each column.
#[derive(Debug, Clone)]
pub(crate) struct InverseSubset<T> {
    factor: SparseCholesky<T>,
    /// The supernode that each block belongs to, in the order of elimination.
    supernode_of: Vec<usize>,
    /// Rows of the inverse at the pivots of each supernode, stored like those of the factor.
    panels: Vec<T>,
}

impl<T: Real> InverseSubset<T> {
    /// Creates the inverse from the last factorisation.
    pub(crate) fn new(factor: SparseCholesky<T>) -> Self {
        let supernode_of = factor.symbolic.supernode_of_all();
        let panels = vec![T::ZERO; factor.panels.len()];
        let mut position = vec![0; supernode_of.len()];
        let mut subset = InverseSubset { factor, supernode_of, panels };
        let mut front = Vec::new();
        for s in (0..subset.factor.symbolic.supernodes.len()).rev() {
            let node = &subset.factor.symbolic.supernodes[s];
            front.clear();
            front.resize(node.size * node.size, T::ZERO);
            subset.gather(node, &mut front, &mut position);
            subset.eliminate(s, &mut front);
        }
        subset
    }

    /// Fills the rows and columns of a front below its pivots.
    fn gather(&self, node: &Supernode, front: &mut [T], position: &mut [usize]) {
        let symbolic = &self.factor.symbolic;
        let rows = &symbolic.rows[node.rows.clone()];
        let (mut of, mut top) = (usize::MAX, node.pivots);
        for (k, &row) in rows.iter().enumerate() {
            let row = row as usize;
            let owner = self.supernode_of[row];
            let ancestor = &symbolic.supernodes[owner];
            if of != owner {
                of = owner;
                symbolic.find_positions(ancestor, position);
            }
            let stride = padded(ancestor.size);
            let mut left = top;
            for &column in &rows[k..] {
                let column = column as usize;
                for r in 0..symbolic.size(row) {
                    let from = (position[row] + r) * stride + stride - ancestor.size + position[column];
                    let entries = &self.panels[self.factor.starts[owner] + from..][..symbolic.size(column)];
                    for (c, &entry) in entries.iter().enumerate() {
                        front[(top + r) * node.size + left + c] = entry;
                        front[(left + c) * node.size + top + r] = entry;
                    }
                }
                left += symbolic.size(column);
            }
            top += symbolic.size(row);
        }
    }

    /// Fills the rows and columns of the pivots, the last first: `Z` is the inverse where `UZ = U⁻ᵀ`.
    fn eliminate(&mut self, s: usize, front: &mut [T]) {
        let node = &self.factor.symbolic.supernodes[s];
        let (m, stride, start) = (node.size, padded(node.size), self.factor.starts[s]);
        let inverses = &self.factor.inverses[self.factor.symbolic.offsets[node.first]..];
        for p in (0..node.pivots).rev() {
            let u = &self.factor.panels[start + p * stride..][..stride][stride - m..];
            let (above, below) = front.split_at_mut((p + 1) * m);
            let row = &mut above[p * m..];
            for (&u, other) in u[p + 1..].iter().zip(below.chunks_exact(m)) {
                add_scaled(&mut row[p + 1..], -(u * inverses[p]), &other[p + 1..]);
            }
            row[p] = inverses[p] * (inverses[p] - dot(&u[p + 1..], &row[p + 1..]));
            for (&entry, other) in row[p + 1..].iter().zip(below.chunks_exact_mut(m)) {
                other[p] = entry;
            }
        }
        for (p, row) in front.chunks_exact(m).take(node.pivots).enumerate() {
            self.panels[start + p * stride..][..stride][stride - m..].copy_from_slice(row);
        }
    }

    /// Copies block `(i, j)` of the inverse, row-major.
    pub(crate) fn block(&mut self, i: usize, j: usize, block: &mut [T]) {
        if !self.known_block(i, j, block) {
            self.factor.inverse_block(i, j, block);
        }
    }

    /// Copies block `(i, j)` of the inverse, row-major; `false` if the factor has no block there.
    fn known_block(&self, i: usize, j: usize, block: &mut [T]) -> bool {
        let symbolic = &self.factor.symbolic;
        let [row, column] = [i, j].map(|block| symbolic.label[block] as usize);
        let (pivot, other) = (row.min(column), row.max(column));
        let node = &symbolic.supernodes[self.supernode_of[pivot]];
        let (from, to) = (symbolic.offsets[node.first], symbolic.offsets[pivot]);
        let left = if other < node.first + node.columns {
            symbolic.offsets[other] - from
        } else {
            let rows = &symbolic.rows[node.rows.clone()];
            let Ok(at) = rows.binary_search(&(other as u32)) else {
                return false;
            };
            node.pivots + rows[..at].iter().map(|&row| symbolic.size(row as usize)).sum::<usize>()
        };
        let stride = padded(node.size);
        let start = self.factor.starts[self.supernode_of[pivot]] + (to - from) * stride + stride - node.size + left;
        for r in 0..symbolic.size(row) {
            for c in 0..symbolic.size(column) {
                let (p, q) = if row <= column { (r, c) } else { (c, r) };
                block[r * symbolic.size(column) + c] = self.panels[start + p * stride + q];
            }
        }
        true
    }
}

impl<T: Real> SparseCholesky<T> {
    /// Copies block `(i, j)` of `(H + λD²)⁻¹`, row-major, by a solution for each column.
    fn inverse_block(&mut self, i: usize, j: usize, block: &mut [T]) {
        let [rows, columns] = [i, j].map(|block| self.symbolic.natural_range(self.symbolic.label[block] as usize));
        let mut x = vec![T::ZERO; self.inverses.len()];
        for (c, at) in columns.clone().enumerate() {
            x.fill(T::ZERO);
            x[at] = T::ONE;
            self.solve_in_place(&mut x);
            for (r, &entry) in x[rows.clone()].iter().enumerate() {
                block[r * columns.len() + c] = entry;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::{Sample, samples};
    use super::*;
    use crate::linear::sparse::SymbolicCholesky;

    proptest! {
        #[test]
        fn blocks_are_those_of_the_dense_inverse(sample in samples()) {
            let Sample { pattern, matrix, dense, .. } = sample;
            let inverse = dense.try_inverse().unwrap();
            let largest = inverse.amax();
            let mut factor = SparseCholesky::new(SymbolicCholesky::new(&pattern).unwrap(), &pattern).unwrap();
            factor.factorize(&matrix, 0.0, &[]).unwrap();
            let n = pattern.blocks();
            let mut solved = factor.clone();
            let subset = InverseSubset::new(factor);
            for i in 0..n {
                for j in 0..n {
                    let (rows, columns) = (pattern.range(i), pattern.range(j));
                    let expected = |k: usize| inverse[(rows.start + k / columns.len(), columns.start + k % columns.len())];
                    let mut block = vec![0.0; rows.len() * columns.len()];
                    if subset.known_block(i, j, &mut block) {
                        for (k, found) in block.iter().enumerate() {
                            prop_assert!((found - expected(k)).abs() <= 1e-9 * largest, "{found}, not {}", expected(k));
                        }
                    } else {
                        prop_assert!(pattern.slot(i.max(j), i.min(j)).is_none());
                    }
                    if j > 0 {
                        continue;
                    }
                    solved.inverse_block(i, j, &mut block);
                    for (k, found) in block.iter().enumerate() {
                        prop_assert!((found - expected(k)).abs() <= 1e-9 * largest, "{found}, not {}", expected(k));
                    }
                }
            }
        }
    }
}
