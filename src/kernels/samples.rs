//! Products of a small matrix with a vector, for each sample of a batch.

use super::product::{RowDots, RowsTimes};
use super::simd::{self, Kernel, multiply_add};
use crate::real::Real;

/// `y_b += M_b x_b` for every sample `b`: `x` holds rows of `n` entries, and `matrices` for each of them `group` rows.
pub(crate) fn add_matrices_times<T: Real>(y: &mut [T], matrices: &[T], x: &[T], n: usize, group: usize) {
    simd::run(MatricesTimes { y, matrices, x, n, group, transposed: false });
}

/// `y_b = M_bᵀ x_b` for every sample `b`: `y` has rows of `n` entries, and `matrices` for each of them `group` rows.
pub(crate) fn put_transposed_matrices_times<T: Real>(y: &mut [T], matrices: &[T], x: &[T], n: usize, group: usize) {
    simd::run(MatricesTimes { y, matrices, x, n, group, transposed: true });
}

/// `G_b += f_b A_b B_bᵀ` for every sample `b`: `a` and `b` hold `group` rows of `n` entries for each of them, and `grams` as
/// many rows of `group` entries. `scratch` holds at least `group` entries.
pub(crate) fn add_row_grams<T: Real>(
    grams: &mut [T],
    factors: &[T],
    [a, b]: [&[T]; 2],
    n: usize,
    group: usize,
    scratch: &mut [T],
) {
    simd::run(RowGrams { grams, factors, a, b, n, group, scratch });
}

struct RowGrams<'a, T> {
    grams: &'a mut [T],
    factors: &'a [T],
    a: &'a [T],
    b: &'a [T],
    n: usize,
    group: usize,
    scratch: &'a mut [T],
}

impl<T: Real> Kernel for RowGrams<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let RowGrams { grams, factors, a, b, n, group, scratch } = self;
        let dots = &mut scratch[..group];
        let samples = a.chunks_exact(group * n).zip(b.chunks_exact(group * n)).zip(factors);
        for (gram, ((a, rows), &factor)) in grams.chunks_exact_mut(group * group).zip(samples) {
            for (gram, x) in gram.chunks_exact_mut(group).zip(a.chunks_exact(n)) {
                RowDots { y: &mut *dots, accumulate: false, rows, x }.run::<TALL, FUSED>();
                for (number, &dot) in gram.iter_mut().zip(&*dots) {
                    *number = multiply_add::<T, FUSED>(factor, dot, *number);
                }
            }
        }
    }
}

/// `y_b += M_b x_b`, or `y_b = M_bᵀ x_b`, for every sample.
struct MatricesTimes<'a, T> {
    y: &'a mut [T],
    matrices: &'a [T],
    x: &'a [T],
    n: usize,
    group: usize,
    transposed: bool,
}

impl<T: Real> Kernel for MatricesTimes<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let MatricesTimes { y, matrices, x, n, group, transposed } = self;
        let (of_y, of_x) = if transposed { (n, group) } else { (group, n) };
        let samples = y.chunks_exact_mut(of_y).zip(matrices.chunks_exact(group * n)).zip(x.chunks_exact(of_x));
        for ((y, rows), x) in samples {
            if !transposed {
                RowDots { y, accumulate: true, rows, x }.run::<TALL, FUSED>();
            } else if group == 1 {
                y.iter_mut().zip(rows).for_each(|(y, &a)| *y = x[0] * a);
            } else {
                RowsTimes { y, accumulate: false, rows, x }.run::<TALL, FUSED>();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registers::tests::in_all;

    /// Small whole numbers, whose products are exact in every order.
    fn entries(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|k| ((k * 7 + seed * 5) % 11) as f64 - 5.0).collect()
    }

    #[test]
    fn every_sample_has_a_matrix_of_its_own() {
        in_all(|| {
            for (samples, n, group) in [(1, 1, 1), (4, 3, 1), (3, 40, 1), (3, 1, 4), (5, 7, 2), (2, 33, 10)] {
                let matrices = entries(samples * group * n, 1);
                let entry = |b: usize, k: usize, j: usize| matrices[(b * group + k) * n + j];

                let (x, before) = (entries(samples * n, 2), entries(samples * group, 3));
                let mut y = before.clone();
                add_matrices_times(&mut y, &matrices, &x, n, group);
                for (i, (y, before)) in y.iter().zip(before).enumerate() {
                    let (b, k) = (i / group, i % group);
                    let product: f64 = (0..n).map(|j| entry(b, k, j) * x[b * n + j]).sum();
                    assert_eq!(*y, before + product, "{samples} of {group} × {n}");
                }

                let (x, mut y) = (entries(samples * group, 4), vec![f64::NAN; samples * n]);
                put_transposed_matrices_times(&mut y, &matrices, &x, n, group);
                for (i, y) in y.iter().enumerate() {
                    let (b, j) = (i / n, i % n);
                    let product: f64 = (0..group).map(|k| entry(b, k, j) * x[b * group + k]).sum();
                    assert_eq!(*y, product, "{samples} of {group} × {n}, transposed");
                }

                let (others, factors) = (entries(samples * group * n, 5), entries(samples, 6));
                let before = entries(samples * group * group, 7);
                let mut grams = before.clone();
                add_row_grams(&mut grams, &factors, [&matrices, &others], n, group, &mut vec![f64::NAN; group + 1]);
                for (i, (gram, before)) in grams.iter().zip(before).enumerate() {
                    let (b, k, l) = (i / (group * group), i / group % group, i % group);
                    let product: f64 = (0..n).map(|j| entry(b, k, j) * others[(b * group + l) * n + j]).sum();
                    assert_eq!(*gram, before + factors[b] * product, "{samples} of {group} × {n}, Gram matrices");
                }
            }
        });
    }
}
