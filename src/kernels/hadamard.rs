//! Elementwise products of Gram matrices.

use super::simd::{self, Kernel, multiply_add};
use crate::real::Real;

/// Some rows of a row-major matrix, and of each of them the first columns.
pub(crate) struct MatrixBlock<'a, T> {
    /// Numbers from the first of the rows on.
    pub(crate) rows: &'a mut [T],
    /// Numbers in a whole row.
    pub(crate) stride: usize,
    /// Columns that are meant.
    pub(crate) width: usize,
}

/// `K = P ⊙ (S + c)`, or `K += P ⊙ (S + c)`, where every number of `S` stands for `group × group` numbers.
///
/// `K` is a block, `products` are rows of as many numbers as it has columns, and `factors` holds `S`. There has to be room
/// for one of these rows in `room`.
pub(crate) fn put_hadamard<T: Real>(
    block: MatrixBlock<'_, T>,
    accumulate: bool,
    products: &[T],
    factors: &[T],
    c: T,
    group: usize,
    room: &mut [T],
) {
    simd::run(Hadamard { block, accumulate, products, factors, c, group, room });
}

struct Hadamard<'a, T> {
    block: MatrixBlock<'a, T>,
    accumulate: bool,
    products: &'a [T],
    factors: &'a [T],
    c: T,
    group: usize,
    room: &'a mut [T],
}

impl<T: Real> Kernel for Hadamard<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Hadamard { block: MatrixBlock { rows, stride, width }, accumulate, products, factors, c, group, room } =
            self;
        let room = &mut room[..width];
        let samples = rows.chunks_mut(group * stride).zip(products.chunks_exact(group * width));
        for ((rows, products), factors) in samples.zip(factors.chunks_exact(width / group)) {
            if group == 1 {
                room.iter_mut().zip(factors).for_each(|(to, &factor)| *to = factor + c);
            } else {
                for (to, &factor) in room.chunks_exact_mut(group).zip(factors) {
                    to.fill(factor + c);
                }
            }
            for (row, products) in rows.chunks_mut(stride).zip(products.chunks_exact(width)) {
                let numbers = row.iter_mut().zip(products).zip(&*room);
                if accumulate {
                    numbers.for_each(|((to, &p), &factor)| *to = multiply_add::<T, FUSED>(p, factor, *to));
                } else {
                    numbers.for_each(|((to, &p), &factor)| *to = p * factor);
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
    fn numbers<T: Real>(count: usize, seed: usize) -> Vec<T> {
        (0..count).map(|k| T::from_f64(((k * 7 + seed * 5) % 11) as f64 - 5.0)).collect()
    }

    fn agrees<T: Real>(samples: usize, columns: usize, group: usize, accumulate: bool) {
        let (height, width, stride) = (samples * group, columns * group, columns * group + 3);
        let (products, factors): (Vec<T>, Vec<T>) = (numbers(height * width, 1), numbers(samples * columns, 2));
        let before: Vec<T> = numbers(height * stride, 3);
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
