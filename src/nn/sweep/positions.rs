//! Rows of a Jacobian for variables that several positions of a sample share: sums over the positions.

use std::ops::Range;

use crate::kernels::array::array_of;
use crate::kernels::simd::{Kernel, multiply_add};
use crate::nn::arithmetic::put;
use crate::real::Real;

/// Columns summed side by side.
const WIDE: usize = 8;

/// Products that give, for every sample, some entries of `Σ δ ⊗ x` over its positions, the derivatives of `Σ δᵀWx` by `W`.
///
/// Blocks of `TALL × WIDE` sums stay in registers while all positions pass by. The bits of an entry do not depend on the range
/// that is asked for.
pub(super) struct SharedProducts<'a, T> {
    /// Destination, from the first sample's entries on; a sample's start `stride` after those of the one before.
    pub(super) rows: &'a mut [T],
    pub(super) stride: usize,
    /// Range of entries of `W`.
    pub(super) numbers: Range<usize>,
    pub(super) add: bool,
    pub(super) positions: usize,
    /// Rows of `m` entries.
    pub(super) delta: &'a [T],
    pub(super) m: usize,
    /// Rows of `n` entries.
    pub(super) x: &'a [T],
    pub(super) n: usize,
}

impl<T: Real> Kernel for SharedProducts<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { rows, stride, numbers: Range { start, end }, add, positions, delta, m, x, n } = self;
        for (sample, row) in rows.chunks_mut(stride).enumerate() {
            let first = sample * positions;
            for top in (start / n..end.div_ceil(n)).step_by(TALL) {
                for left in (0..n).step_by(WIDE) {
                    let sums =
                        block::<T, TALL, FUSED>(positions, &delta[first * m + top..], m, &x[first * n + left..], n);
                    for (i, sums) in (top..end.div_ceil(n)).zip(&sums) {
                        let from = start.max(i * n + left);
                        let to = end.min(i * n + n.min(left + WIDE));
                        if from < to {
                            let sums = &sums[from - i * n - left..];
                            put(&mut row[from - start..to - start], add, sums.iter().copied());
                        }
                    }
                }
            }
        }
    }
}

/// The sums over positions of the products of the first `TALL` entries in rows of `m` with the first `WIDE` in rows of `n`.
/// Sums beyond the end of a row are computed, and not used.
#[inline(always)]
fn block<T: Real, const TALL: usize, const FUSED: bool>(
    positions: usize,
    delta: &[T],
    m: usize,
    x: &[T],
    n: usize,
) -> [[T; WIDE]; TALL] {
    let mut sums = [[T::ZERO; WIDE]; TALL];
    for position in 0..positions {
        let (tall, wide) = (first::<T, TALL>(&delta[position * m..]), first::<T, WIDE>(&x[position * n..]));
        for i in 0..TALL {
            for k in 0..WIDE {
                sums[i][k] = multiply_add::<T, FUSED>(tall[i], wide[k], sums[i][k]);
            }
        }
    }
    sums
}

/// The first `N` entries, followed by zeros where there are fewer.
#[inline(always)]
fn first<T: Real, const N: usize>(numbers: &[T]) -> [T; N] {
    match numbers.first_chunk::<N>() {
        Some(&first) => first,
        None => array_of(|k| numbers.get(k).copied().unwrap_or(T::ZERO)),
    }
}

/// Sums that give, for every sample, some entries of `Σ δ` over its positions.
pub(super) struct SharedRows<'a, T> {
    /// Destination, from the first sample's entries on; a sample's start `stride` after those of the one before.
    pub(super) rows: &'a mut [T],
    pub(super) stride: usize,
    /// Range of entries of `δ`.
    pub(super) numbers: Range<usize>,
    pub(super) add: bool,
    pub(super) positions: usize,
    /// Rows of `m` entries.
    pub(super) delta: &'a [T],
    pub(super) m: usize,
}

impl<T: Real> Kernel for SharedRows<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { rows, stride, numbers, add, positions, delta, m } = self;
        for (row, delta) in rows.chunks_mut(stride).zip(delta.chunks_exact(positions * m)) {
            for (to, left) in row[..numbers.len()].chunks_mut(WIDE).zip(numbers.clone().step_by(WIDE)) {
                let mut sums = [T::ZERO; WIDE];
                for position in 0..positions {
                    let numbers = first::<T, WIDE>(&delta[position * m + left..]);
                    for k in 0..WIDE {
                        sums[k] += numbers[k];
                    }
                }
                put(to, add, sums.iter().copied());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small whole numbers, whose products are exact in every order.
    fn numbers(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|k| ((k * 7 + seed * 5) % 11) as f64 - 5.0).collect()
    }

    /// Every range of every small shape, among rows that hold other entries, too, and with every set of instructions.
    #[test]
    fn sums_are_those_term_by_term() {
        const SAMPLES: usize = 3;
        for (positions, m, n) in [(2, 1, 1), (3, 5, 9), (4, 9, 3), (2, 2, 17), (5, 4, 8)] {
            let (delta, x) = (numbers(SAMPLES * positions * m, 1), numbers(SAMPLES * positions * n, 2));
            let sum = |sample: usize, i: usize, k: usize| -> f64 {
                let rows = sample * positions..(sample + 1) * positions;
                rows.map(|row| delta[row * m + i] * x[row * n + k]).sum()
            };
            let cuts = [0, 1, m * n / 3, m * n / 2 + 1, m * n];
            for (start, end) in cuts.iter().flat_map(|&start| cuts.map(|end| (start, end))).filter(|(s, e)| s < e) {
                let stride = end - start + 2;
                let before = numbers(SAMPLES * stride - 2, 3);
                for add in [false, true] {
                    let mut expected = before.clone();
                    for (sample, row) in expected.chunks_mut(stride).enumerate() {
                        for at in start..end {
                            let kept = if add { row[at - start] } else { 0.0 };
                            row[at - start] = kept + sum(sample, at / n, at % n);
                        }
                    }
                    let copies: [fn(SharedProducts<'_, f64>); 3] =
                        [|it| it.run::<4, false>(), |it| it.run::<4, true>(), |it| it.run::<8, true>()];
                    for run in copies {
                        let mut rows = before.clone();
                        let (numbers, delta, x) = (start..end, &delta, &x);
                        run(SharedProducts { rows: &mut rows, stride, numbers, add, positions, delta, m, x, n });
                        assert_eq!(rows, expected, "{positions} positions of {m} × {n}, {start}..{end}, {add}");
                    }
                }
            }
        }
    }

    #[test]
    fn rows_are_summed() {
        for m in [1, 7, 8, 19] {
            let (positions, delta) = (3, numbers(2 * 3 * m, 1));
            for numbers in [0..m, m / 2..m, 0..m.div_ceil(2)] {
                let mut rows = vec![1.0; 2 * numbers.len()];
                let stride = numbers.len();
                let add = true;
                SharedRows { rows: &mut rows, stride, numbers: numbers.clone(), add, positions, delta: &delta, m }
                    .run::<4, false>();
                for (sample, row) in rows.chunks(stride).enumerate() {
                    for (&found, at) in row.iter().zip(numbers.clone()) {
                        let sum: f64 = (0..positions).map(|p| delta[(sample * positions + p) * m + at]).sum();
                        assert_eq!(found, 1.0 + sum);
                    }
                }
            }
        }
    }
}
