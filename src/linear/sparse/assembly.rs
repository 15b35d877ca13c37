//! Assembly of the fronts from a matrix of blocks.

use super::matrix::BlockMatrix;
use super::symbolic::SymbolicCholesky;
use crate::kernels::front::padded;
use crate::kernels::vector::copy_few;
use crate::lists::Lists;
use crate::real::Real;

/// Copy of a block of the matrix to a panel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scatter {
    /// First entry of the block.
    pub(super) from: usize,
    /// Its first entry in the panel.
    pub(super) to: usize,
    pub(super) rows: u32,
    pub(super) columns: u32,
    pub(super) orientation: Orientation,
}

/// Orientation of a block in the panel.
#[derive(Debug, Clone, Copy)]
pub(super) enum Orientation {
    /// Rows stay rows.
    Plain,
    /// Rows become columns.
    Transposed,
    /// Rows of the lower triangle become columns of the upper.
    Diagonal,
}

/// A damped matrix, and the copies of its blocks to the fronts.
pub(super) struct Assembly<'a, T> {
    pub(super) symbolic: &'a SymbolicCholesky,
    pub(super) scatter: &'a Lists<Scatter>,
    pub(super) h: &'a BlockMatrix<T>,
    pub(super) lambda: T,
    pub(super) d: &'a [T],
}

impl<T: Real> Assembly<'_, T> {
    /// Fills the zero panel of a supernode's front with its part of the matrix, and `diagonal` with the diagonal of that part.
    #[inline]
    pub(super) fn assemble(&self, s: usize, panel: &mut [T], diagonal: &mut [T]) {
        let node = &self.symbolic.supernodes[s];
        let stride = padded(node.size);
        for block in self.scatter.of(s) {
            block.copy(self.h.values(), panel, stride);
        }
        let mut p = 0;
        for &block in &self.symbolic.order[node.first..node.first + node.columns] {
            for at in self.h.pattern().range(block as usize) {
                let entry = &mut panel[p * stride + stride - node.size + p];
                if let Some(&d) = self.d.get(at) {
                    *entry += self.lambda * d * d;
                }
                diagonal[p] = *entry;
                p += 1;
            }
        }
    }
}

impl Scatter {
    /// Copies the block into its panel, whose rows have `stride` entries.
    #[inline(always)]
    fn copy<T: Real>(&self, values: &[T], panel: &mut [T], stride: usize) {
        let (rows, columns) = (self.rows as usize, self.columns as usize);
        let block = &values[self.from..][..rows * columns];
        let panel = &mut panel[self.to..];
        for (i, row) in block.chunks_exact(columns).enumerate() {
            match self.orientation {
                Orientation::Plain => copy_few(row, &mut panel[i * stride..]),
                Orientation::Transposed => row.iter().enumerate().for_each(|(j, &entry)| panel[j * stride + i] = entry),
                Orientation::Diagonal => {
                    row[..=i].iter().enumerate().for_each(|(j, &entry)| panel[j * stride + i] = entry)
                }
            }
        }
    }
}
