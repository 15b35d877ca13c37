//! Products of the matrices that two nodes hold for each sample.

use crate::kernels::Factor;
use crate::real::Real;

/// Sizes of the products of each sample: `blocks` products `A B`, or `A Bᵀ`, one after the other, all matrices row-major.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProductSizes {
    pub(crate) blocks: usize,
    /// Rows of `A` and of the product.
    pub(crate) rows: usize,
    /// Number of terms of each entry.
    pub(crate) depth: usize,
    /// Columns of the product.
    pub(crate) columns: usize,
    /// True for `A Bᵀ`: `B` has `columns` rows then, and `depth` rows otherwise.
    pub(crate) transposed: bool,
}

impl ProductSizes {
    /// `Y = A B` or `Y = A Bᵀ`; added to `y` if `add`. Serves values and tangents.
    pub(crate) fn forward<T: Real>(self, a: &[T], b: &[T], y: &mut [T], add: bool) {
        let ProductSizes { rows, depth, columns, .. } = self;
        let factors = a.chunks_exact(rows * depth).zip(b.chunks_exact(depth * columns));
        for (y, (a, b)) in y.chunks_exact_mut(rows * columns).zip(factors) {
            if self.transposed {
                T::multiply_transposed(y, add, a, b, depth, columns);
            } else {
                T::multiply(y, add, Factor::Plain(a), b, depth, columns);
            }
        }
    }

    /// The adjoint of `A`, from that of the product.
    pub(crate) fn reverse_left<T: Real>(self, delta: &[T], b: &[T], adjoint: &mut [T], add: bool) {
        let ProductSizes { rows, depth, columns, .. } = self;
        let factors = delta.chunks_exact(rows * columns).zip(b.chunks_exact(depth * columns));
        for (adjoint, (delta, b)) in adjoint.chunks_exact_mut(rows * depth).zip(factors) {
            if self.transposed {
                T::multiply(adjoint, add, Factor::Plain(delta), b, columns, depth);
            } else {
                T::multiply_transposed(adjoint, add, delta, b, columns, depth);
            }
        }
    }

    /// The adjoint of `B`, from that of the product.
    pub(crate) fn reverse_right<T: Real>(self, delta: &[T], a: &[T], adjoint: &mut [T], add: bool) {
        let ProductSizes { rows, depth, columns, .. } = self;
        let factors = delta.chunks_exact(rows * columns).zip(a.chunks_exact(rows * depth));
        for (adjoint, (delta, a)) in adjoint.chunks_exact_mut(depth * columns).zip(factors) {
            if self.transposed {
                T::multiply(adjoint, add, Factor::Transposed(delta), a, rows, depth);
            } else {
                T::multiply(adjoint, add, Factor::Transposed(a), delta, rows, columns);
            }
        }
    }

    /// Flops for each sample.
    pub(crate) fn flops(self) -> f64 {
        [self.blocks, self.rows, self.depth, self.columns].iter().fold(2.0, |flops, &size| flops * size as f64)
    }
}
