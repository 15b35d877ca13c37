//! Dense layers.

use super::columns::broadcast;
use crate::kernels::simd::{self, Kernel, multiply_add};
use crate::real::Real;

/// `y = x Wᵀ + b`, or `y += x Wᵀ + b`, for a weight with `columns` columns.
pub(super) fn affine<T: Real>(x: &[T], weight: &[T], columns: usize, bias: Option<&[T]>, y: &mut [T], add: bool) {
    let rows = weight.len() / columns;
    if columns == 1
        && !add
        && let Some(bias) = bias
    {
        return simd::run(Lines { x, slopes: weight, offsets: bias, y });
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

/// `y = x Wᵀ + b` where all samples have the same `x`: computed once, and copied. A sample has `width` numbers of `y`.
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

/// Numbers worked on side by side.
const LANES: usize = 4;

/// A layer of one input: row `i` of `y` is `slopes · x[i] + offsets`.
struct Lines<'a, T> {
    x: &'a [T],
    slopes: &'a [T],
    offsets: &'a [T],
    y: &'a mut [T],
}

impl<T: Real> Kernel for Lines<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { x, slopes, offsets, y } = self;
        let (slope_blocks, slope_rest) = slopes.as_chunks::<LANES>();
        let (offset_blocks, offset_rest) = offsets.as_chunks::<LANES>();
        for (y, &x) in y.chunks_exact_mut(slopes.len()).zip(x) {
            let (y, rest) = y.as_chunks_mut::<LANES>();
            for ((y, slopes), offsets) in y.iter_mut().zip(slope_blocks).zip(offset_blocks) {
                *y = std::array::from_fn(|lane| multiply_add::<T, FUSED>(x, slopes[lane], offsets[lane]));
            }
            for ((y, &slope), &offset) in rest.iter_mut().zip(slope_rest).zip(offset_rest) {
                *y = multiply_add::<T, FUSED>(x, slope, offset);
            }
        }
    }
}
