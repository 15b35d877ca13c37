//! Substitution in the factors of systems that are not small, in vector registers.

use super::array::array_of;
use super::simd::{Kernel, multiply_add};
use super::vector::{add_scaled, dot};
use crate::real::Real;

/// Unknowns that are substituted at a time. Those that do not fill a block come first, so that the columns to the right of a
/// block fill registers.
const TOGETHER: usize = 4;

/// Solves `Lx = b` in place, given `Lᵀ` above the diagonal of `factor`.
pub(super) struct ForwardSubstitution<'a, T> {
    pub(super) factor: &'a [T],
    pub(super) b: &'a mut [T],
}

/// Solves `Lᵀx = b` in place, given `Lᵀ` above the diagonal of `factor`.
pub(super) struct BackwardSubstitution<'a, T> {
    pub(super) factor: &'a [T],
    pub(super) b: &'a mut [T],
}

/// Some rows of the factor, from their diagonal block on.
#[inline(always)]
fn rows<T>(factor: &[T], n: usize, first: usize) -> [&[T]; TOGETHER] {
    array_of(|k| &factor[(first + k) * n + first..][..n - first])
}

impl<T: Real> Kernel for ForwardSubstitution<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { factor, b } = self;
        let n = b.len();
        let odd = n % TOGETHER;
        for i in 0..odd {
            let x = b[i];
            add_scaled(&mut b[i + 1..], -x, &factor[i * n + i + 1..(i + 1) * n]);
        }
        for first in (odd..n).step_by(TOGETHER) {
            let rows = rows(factor, n, first);
            let (x, after) = b[first..].split_at_mut(TOGETHER);
            for k in 0..TOGETHER {
                for below in k + 1..TOGETHER {
                    x[below] = multiply_add::<T, FUSED>(-rows[k][below], x[k], x[below]);
                }
            }
            let x: [T; TOGETHER] = array_of(|k| -x[k]);
            let rows: [&[T]; TOGETHER] = array_of(|k| &rows[k][TOGETHER..][..after.len()]);
            for (j, b) in after.iter_mut().enumerate() {
                for k in 0..TOGETHER {
                    *b = multiply_add::<T, FUSED>(x[k], rows[k][j], *b);
                }
            }
        }
    }
}

impl<T: Real> Kernel for BackwardSubstitution<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Self { factor, b } = self;
        let n = b.len();
        let odd = n % TOGETHER;
        for first in (odd..n).step_by(TOGETHER).rev() {
            let rows = rows(factor, n, first);
            let (x, after) = b[first..].split_at_mut(TOGETHER);
            let after = after.as_chunks::<TOGETHER>().0;
            let mut sums = [[T::ZERO; TOGETHER]; TOGETHER];
            let chunks: [_; TOGETHER] = array_of(|k| &rows[k][TOGETHER..].as_chunks::<TOGETHER>().0[..after.len()]);
            for (j, b) in after.iter().enumerate() {
                for k in 0..TOGETHER {
                    let row = &chunks[k][j];
                    sums[k] = array_of(|lane| multiply_add::<T, FUSED>(row[lane], b[lane], sums[k][lane]));
                }
            }
            for k in (0..TOGETHER).rev() {
                x[k] -= (sums[k][0] + sums[k][1]) + (sums[k][2] + sums[k][3]);
                for below in k + 1..TOGETHER {
                    x[k] = multiply_add::<T, FUSED>(-rows[k][below], x[below], x[k]);
                }
            }
        }
        for i in (0..odd).rev() {
            b[i] -= dot(&factor[i * n + i + 1..(i + 1) * n], &b[i + 1..]);
        }
    }
}
