//! Rows of a Jacobian for weights of dense layers: sums over the uses of a weight.

use std::ops::Range;

use crate::kernels::simd::{Kernel, multiply_add};
use crate::nn::arithmetic::put;
use crate::real::Real;

/// Uses of a weight that are summed at a time.
pub(super) const MOST_USES: usize = 8;

/// Entries worked on side by side.
const LANES: usize = 8;

/// Half of them, where fewer are left.
const FEW_LANES: usize = LANES / 2;

/// A use of a weight `W` as `Wx`: the samples' `x`, and the adjoints `δ` of the products.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerUse<'a, T> {
    pub(super) delta: &'a [T],
    pub(super) x: &'a [T],
}

/// Sums that give, for every sample, some entries of `Σ δ ⊗ x` over the uses of a weight, the derivatives of `Σ δᵀWx` by `W`.
///
/// The bits of an entry do not depend on the range that is asked for.
pub(super) struct OuterProducts<'a, T> {
    /// Destination, from the first sample's entries on; a sample's start `stride` after those of the one before.
    pub(super) rows: &'a mut [T],
    pub(super) stride: usize,
    /// Range of entries of `W`.
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
            1 => self.with_one_input::<FUSED>(),
            2 if is_whole => self.narrow::<2, FUSED>(),
            3 if is_whole => self.narrow::<3, FUSED>(),
            4 if is_whole => self.narrow::<4, FUSED>(),
            5 if is_whole => self.narrow::<5, FUSED>(),
            _ => self.wide::<FUSED>(),
        }
    }
}

impl<T: Real> OuterProducts<'_, T> {
    /// A `W` with rows of one entry: the transposed products have one long row.
    #[inline(always)]
    fn with_one_input<const FUSED: bool>(self) {
        let mut uses = [LayerUse { delta: &[], x: &[] }; MOST_USES];
        for (transposed, &LayerUse { delta, x }) in uses.iter_mut().zip(self.uses) {
            *transposed = LayerUse { delta: x, x: delta };
        }
        OuterProducts { uses: &uses[..self.uses.len()], m: 1, n: self.m, ..self }.wide::<FUSED>();
    }

    /// Rows of `W` that are long, or asked for in part.
    #[inline(always)]
    fn wide<const FUSED: bool>(self) {
        let Range { start, end } = self.numbers;
        let (add, m, n, uses) = (self.add, self.m, self.n, self.uses);
        for (sample, row) in self.rows.chunks_mut(self.stride).enumerate() {
            let row = &mut row[..end - start];
            for i in start / n..end.div_ceil(n) {
                let (from, to) = (start.max(i * n), end.min((i + 1) * n));
                let sums = &mut row[from - start..to - start];
                // Places of a factor among the adjoints, and of the first entry among the inputs.
                let (factor, mut at) = (sample * m + i, sample * n + from - i * n);
                let (blocks, rest) = sums.as_chunks_mut::<LANES>();
                for block in blocks {
                    add_block::<T, LANES, FUSED>(block, add, uses, factor, at);
                    at += LANES;
                }
                let (few, rest) = rest.as_chunks_mut::<FEW_LANES>();
                for block in few {
                    add_block::<T, FEW_LANES, FUSED>(block, add, uses, factor, at);
                    at += FEW_LANES;
                }
                for number in rest.as_chunks_mut::<1>().0 {
                    add_block::<T, 1, FUSED>(number, add, uses, factor, at);
                    at += 1;
                }
            }
        }
    }

    /// All of a `W` with rows of `N` entries.
    #[inline(always)]
    fn narrow<const N: usize, const FUSED: bool>(self) {
        let (add, m, uses) = (self.add, self.m, self.uses);
        for (sample, row) in self.rows.chunks_mut(self.stride).enumerate() {
            for (block, row) in row[..m * N].chunks_mut(LANES * N).enumerate() {
                let first = block * LANES;
                let mut sums = [[T::ZERO; LANES]; N];
                for LayerUse { delta, x } in uses {
                    let (delta, Some(x)) = (&delta[sample * m..][..m], x[sample * N..].first_chunk::<N>()) else {
                        break;
                    };
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

/// Writes or adds `Σ δᵢ x` over the uses, for `COUNT` entries: `δᵢ` stands at `factor`, and `x` begins at `at`. The sum is
/// formed before it is added.
#[inline(always)]
fn add_block<T: Real, const COUNT: usize, const FUSED: bool>(
    to: &mut [T; COUNT],
    add: bool,
    uses: &[LayerUse<'_, T>],
    factor: usize,
    at: usize,
) {
    let mut sums = [T::ZERO; COUNT];
    for LayerUse { delta, x } in uses {
        let (Some(&factor), Some(x)) = (delta.get(factor), x[at..].first_chunk::<COUNT>()) else { continue };
        for k in 0..COUNT {
            sums[k] = multiply_add::<T, FUSED>(factor, x[k], sums[k]);
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

    /// Every range of some shapes, for several numbers of uses, among rows that hold other entries, too.
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
