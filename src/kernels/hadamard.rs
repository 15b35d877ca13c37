//! Elementwise products of Gram matrices.

use super::simd::{self, Kernel, multiply_add};
use crate::real::Real;

/// The first columns of some rows of a row-major matrix.
pub(crate) struct MatrixBlock<'a, T> {
    /// Entries from the first of the rows on.
    pub(crate) rows: &'a mut [T],
    /// Entries in a whole row.
    pub(crate) stride: usize,
    /// Columns of the block.
    pub(crate) width: usize,
}

/// `K = P ⊙ (S + c)`, or `K += P ⊙ (S + c)`, where every entry of `S` is repeated `group × group` times.
///
/// `K` is a block, `products` are rows of as many entries as it has columns, and `factors` holds `S`. `scratch`
/// holds at least one of these rows.
pub(crate) fn put_hadamard<T: Real>(
    block: MatrixBlock<'_, T>,
    accumulate: bool,
    products: &[T],
    factors: &[T],
    c: T,
    group: usize,
    scratch: &mut [T],
) {
    simd::run(Hadamard { block, accumulate, products, factors, c, group, scratch });
}

struct Hadamard<'a, T> {
    block: MatrixBlock<'a, T>,
    accumulate: bool,
    products: &'a [T],
    factors: &'a [T],
    c: T,
    group: usize,
    scratch: &'a mut [T],
}

impl<T: Real> Kernel for Hadamard<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Hadamard { block: MatrixBlock { rows, stride, width }, accumulate, products, factors, c, group, scratch } =
            self;
        let scratch = &mut scratch[..width];
        let samples = rows.chunks_mut(group * stride).zip(products.chunks_exact(group * width));
        for ((rows, products), factors) in samples.zip(factors.chunks_exact(width / group)) {
            if group == 1 {
                scratch.iter_mut().zip(factors).for_each(|(to, &factor)| *to = factor + c);
            } else {
                for (to, &factor) in scratch.chunks_exact_mut(group).zip(factors) {
                    to.fill(factor + c);
                }
            }
            for (row, products) in rows.chunks_mut(stride).zip(products.chunks_exact(width)) {
                let entries = row.iter_mut().zip(products).zip(&*scratch);
                if accumulate {
                    entries.for_each(|((to, &p), &factor)| *to = multiply_add::<T, FUSED>(p, factor, *to));
                } else {
                    entries.for_each(|((to, &p), &factor)| *to = p * factor);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registers::tests::in_all;

    /// Small whole numbers, whose products are exact in every order.
    fn entries<T: Real>(count: usize, seed: usize) -> Vec<T> {
        (0..count).map(|k| T::from_f64(((k * 7 + seed * 5) % 11) as f64 - 5.0)).collect()
    }

    fn agrees<T: Real>(samples: usize, columns: usize, group: usize, accumulate: bool) {
        let (height, width, stride) = (samples * group, columns * group, columns * group + 3);
        let (products, factors): (Vec<T>, Vec<T>) = (entries(height * width, 1), entries(samples * columns, 2));
        let before: Vec<T> = entries(height * stride, 3);
        let (mut matrix, c) = (before.clone(), T::from_f64(2.0));
        let block = MatrixBlock { rows: &mut matrix, stride, width };
        put_hadamard(block, accumulate, &products, &factors, c, group, &mut vec![T::ZERO; width + 1]);
        for (at, (&found, &before)) in matrix.iter().zip(&before).enumerate() {
            let (i, j) = (at / stride, at % stride);
            let expected = if j < width {
                let product = products[i * width + j] * (factors[i / group * columns + j / group] + c);
                if accumulate { before + product } else { product }
            } else {
                before
            };
            assert_eq!(found, expected, "{samples} × {columns} of {group}, {accumulate}: ({i}, {j})");
        }
    }

    #[test]
    fn every_number_is_multiplied_by_its_samples_factor() {
        in_all(|| {
            for (samples, columns, group) in [(1, 1, 1), (3, 5, 1), (2, 40, 1), (1, 1, 4), (3, 4, 2), (2, 7, 5)] {
                for accumulate in [false, true] {
                    agrees::<f64>(samples, columns, group, accumulate);
                    agrees::<f32>(samples, columns, group, accumulate);
                }
            }
        });
    }
}
