//! Dense layers.

use super::columns::broadcast;
use crate::kernels::array::array_of;
use crate::kernels::simd::{self, Kernel, multiply_add};
use crate::real::Real;

/// `y = x Wᵀ + b`, or `y += x Wᵀ + b`, for a weight with `columns` columns.
pub(super) fn affine<T: Real>(x: &[T], weight: &[T], columns: usize, bias: Option<&[T]>, y: &mut [T], add: bool) {
    let rows = weight.len() / columns;
    if columns <= FEW_INPUTS && !add {
        return simd::run(FewInputs { x, weight, columns, bias, y });
    }
    let add = match bias {
        Some(bias) if add => {
            for y in y.chunks_exact_mut(rows) {
                y.iter_mut().zip(bias).for_each(|(y, &b)| *y += b);
            }
            true
        }
        Some(bias) => {
            broadcast(bias, y);
            true
        }
        None => add,
    };
    T::multiply_transposed(y, add, x, weight, columns, rows);
}

/// `y = x Wᵀ + b` where all samples have the same `x`: computed once, and copied. A sample has `width` entries of `y`.
pub(super) fn affine_of_one<T: Real>(
    x: &[T],
    weight: &[T],
    columns: usize,
    bias: Option<&[T]>,
    y: &mut [T],
    width: usize,
) {
    let (first, rest) = y.split_at_mut(width);
    affine(x, weight, columns, bias, first, false);
    broadcast(first, rest);
}

/// Most inputs of a layer that is computed without a copy of its samples' products.
const FEW_INPUTS: usize = 8;

/// Outputs whose weights are copied at a time.
const OUTPUTS: usize = 64;

/// A layer of few inputs: every entry is written once, and is the same as by a product that is added to the bias.
struct FewInputs<'a, T> {
    x: &'a [T],
    weight: &'a [T],
    columns: usize,
    bias: Option<&'a [T]>,
    y: &'a mut [T],
}

impl<T: Real> Kernel for FewInputs<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { x, weight, columns, bias, y } = self;
        let outputs = weight.len() / columns;
        let mut across = [[T::ZERO; OUTPUTS]; FEW_INPUTS];
        let mut start = [T::ZERO; OUTPUTS];
        for first in (0..outputs).step_by(OUTPUTS) {
            let count = OUTPUTS.min(outputs - first);
            for (j, row) in weight[first * columns..].chunks_exact(columns).take(count).enumerate() {
                for (across, &number) in across.iter_mut().zip(row) {
                    across[j] = number;
                }
            }
            if let Some(bias) = bias {
                start[..count].copy_from_slice(&bias[first..first + count]);
            }
            for (y, x) in y.chunks_exact_mut(outputs).zip(x.chunks_exact(columns)) {
                let (blocks, rest) = y[first..first + count].as_chunks_mut::<LANES>();
                for (j, (y, start)) in blocks.iter_mut().zip(start.as_chunks::<LANES>().0).enumerate() {
                    let mut sums = [T::ZERO; LANES];
                    for (&x, across) in x.iter().zip(&across) {
                        let across = &across.as_chunks::<LANES>().0[j];
                        sums = array_of(|lane| multiply_add::<T, FUSED>(x, across[lane], sums[lane]));
                    }
                    *y = array_of(|lane| start[lane] + sums[lane]);
                }
                let done = count - rest.len();
                for (j, y) in (done..).zip(rest) {
                    let terms = x.iter().zip(&across);
                    let sum = terms.fold(T::ZERO, |sum, (&x, across)| multiply_add::<T, FUSED>(x, across[j], sum));
                    *y = start[j] + sum;
                }
            }
        }
    }
}

/// Entries worked on side by side.
const LANES: usize = 8;
