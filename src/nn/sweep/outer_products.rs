//! Rows of a Jacobian for weights of dense layers: sums over the uses of a weight.

use std::ops::Range;

use crate::kernels::simd::{Kernel, multiply_add};
use crate::nn::arithmetic::put;
use crate::real::Real;

/// Uses of a weight that are summed at a time.
pub(super) const MOST_USES: usize = 8;

/// Numbers worked on side by side.
const LANES: usize = 8;

/// Half of them, where fewer are left.
const FEW_LANES: usize = LANES / 2;

/// A use of a weight `W` as `Wx`: the samples' `x`, and the adjoints `δ` of the products.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerUse<'a, T> {
    pub(super) delta: &'a [T],
    pub(super) x: &'a [T],
}

/// Sums that give, for every sample, some numbers of `Σ δ ⊗ x` over the uses of a weight, the derivatives of `Σ δᵀWx` by `W`.
///
/// A number is the same whichever others are asked for along with it.
pub(super) struct OuterProducts<'a, T> {
    /// Destination, from the first sample's numbers on; a sample's start `stride` after those of the one before.
    pub(super) rows: &'a mut [T],
    pub(super) stride: usize,
    /// Range of numbers of `W`.
    pub(super) numbers: Range<usize>,
    pub(super) add: bool,
    /// At most [`MOST_USES`].
    pub(super) uses: &'a [LayerUse<'a, T>],
    /// Rows and columns of `W`.
    pub(super) m: usize,
    pub(super) n: usize,
}

impl<T: Real> Kernel for OuterProducts<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let is_whole = self.numbers == (0..self.m * self.n);
        // Loops whose length the compiler knows run in whole registers.
        match self.n {
            1 if is_whole => self.narrow::<1, FUSED>(),
            2 if is_whole => self.narrow::<2, FUSED>(),
            3 if is_whole => self.narrow::<3, FUSED>(),
            4 if is_whole => self.narrow::<4, FUSED>(),
            5 if is_whole => self.narrow::<5, FUSED>(),
            _ => self.wide::<FUSED>(),
        }
    }
}

impl<'a, T: Real> OuterProducts<'a, T> {
    /// The adjoints and inputs of a sample, use by use.
    #[inline(always)]
    fn of_sample(&self, sample: usize) -> [(&'a [T], &'a [T]); MOST_USES] {
        let mut uses = [(&[][..], &[][..]); MOST_USES];
        for (sides, LayerUse { delta, x }) in uses.iter_mut().zip(self.uses) {
            *sides = (&delta[sample * self.m..][..self.m], &x[sample * self.n..][..self.n]);
        }
        uses
    }

    /// Rows of `W` that are long, or asked for in part.
    #[inline(always)]
    fn wide<const FUSED: bool>(self) {
        let Range { start, end } = self.numbers;
        let (add, n, count, stride) = (self.add, self.n, self.uses.len(), self.stride);
        for sample in 0..self.rows.len().div_ceil(stride) {
            let sides = self.of_sample(sample);
            let uses = &sides[..count];
            let row = &mut self.rows[sample * stride..][..end - start];
            for i in start / n..end.div_ceil(n) {
                let (from, to) = (start.max(i * n), end.min((i + 1) * n));
                let (sums, first) = (&mut row[from - start..to - start], from - i * n);
                let (blocks, rest) = sums.as_chunks_mut::<LANES>();
                let mut at = first;
                for block in blocks {
                    add_block::<T, LANES, FUSED>(block, add, uses, i, at);
                    at += LANES;
                }
                let (few, rest) = rest.as_chunks_mut::<FEW_LANES>();
                for block in few {
                    add_block::<T, FEW_LANES, FUSED>(block, add, uses, i, at);
                    at += FEW_LANES;
                }
                for number in rest.as_chunks_mut::<1>().0 {
                    add_block::<T, 1, FUSED>(number, add, uses, i, at);
                    at += 1;
                }
            }
        }
    }

    /// All of a `W` with rows of `N` numbers.
    #[inline(always)]
    fn narrow<const N: usize, const FUSED: bool>(self) {
        let (add, m, count, stride) = (self.add, self.m, self.uses.len(), self.stride);
        for sample in 0..self.rows.len().div_ceil(stride) {
            let sides = self.of_sample(sample);
            let uses = &sides[..count];
            let row = &mut self.rows[sample * stride..][..m * N];
            for (block, row) in row.chunks_mut(LANES * N).enumerate() {
                let first = block * LANES;
                let mut sums = [[T::ZERO; LANES]; N];
                for (delta, x) in uses {
                    let mut few = [T::ZERO; LANES];
                    let delta = match delta[first..].first_chunk::<LANES>() {
                        Some(delta) => delta,
                        None => {
                            few.iter_mut().zip(&delta[first..]).for_each(|(few, &delta)| *few = delta);
                            &few
                        }
                    };
                    for k in 0..N {
                        for j in 0..LANES {
                            sums[k][j] = multiply_add::<T, FUSED>(delta[j], x[k], sums[k][j]);
                        }
                    }
                }
                for (j, row) in row.as_chunks_mut::<N>().0.iter_mut().enumerate() {
                    put(row, add, (0..N).map(|k| sums[k][j]));
                }
            }
        }
    }
}

/// `Σ δᵢ x` over the uses, for `COUNT` numbers of `x` from a place on. Only the whole sum is added, as rows of few numbers add theirs.
#[inline(always)]
fn add_block<T: Real, const COUNT: usize, const FUSED: bool>(
    to: &mut [T; COUNT],
    add: bool,
    uses: &[(&[T], &[T])],
    i: usize,
    at: usize,
) {
    let mut sums = [T::ZERO; COUNT];
    for (delta, x) in uses {
        let Some(x) = x[at..].first_chunk::<COUNT>() else { continue };
        for k in 0..COUNT {
            sums[k] = multiply_add::<T, FUSED>(delta[i], x[k], sums[k]);
        }
    }
    put(to, add, sums.into_iter());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registers::tests::in_all;
    use crate::kernels::simd;

    /// Small whole numbers, whose products are exact in every order.
    fn numbers(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|k| ((k * 7 + seed * 5) % 11) as f64 - 5.0).collect()
    }

    /// Every range of some shapes, for several numbers of uses, among rows that hold other numbers, too.
    #[test]
    fn sums_are_those_term_by_term() {
        const SAMPLES: usize = 3;
        for (count, m, n) in [(1, 3, 1), (2, 9, 2), (3, 17, 3), (4, 8, 5), (3, 5, 9), (MOST_USES, 4, 21)] {
            let all: Vec<_> =
                (0..count).map(|k| (numbers(SAMPLES * m, 2 * k), numbers(SAMPLES * n, 2 * k + 1))).collect();
            let uses: Vec<_> = all.iter().map(|(delta, x)| LayerUse { delta, x }).collect();
            let sum = |sample: usize, at: usize| -> f64 {
                all.iter().map(|(delta, x)| delta[sample * m + at / n] * x[sample * n + at % n]).sum()
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
                            row[at - start] = kept + sum(sample, at);
                        }
                    }
                    in_all(|| {
                        let mut rows = before.clone();
                        let (rows_mut, numbers) = (&mut rows[..], start..end);
                        simd::run(OuterProducts { rows: rows_mut, stride, numbers, add, uses: &uses, m, n });
                        assert_eq!(rows, expected, "{count} uses of {m} × {n}, {start}..{end}, {add}");
                    });
                }
            }
        }
    }
}
