//! Solves with the panel of a front.

use super::{STRIP, padded};
use crate::kernels::simd::{Kernel, multiply_add};
use crate::real::Real;

/// Solves `Uᵀx = b` for the pivots of a panel, and subtracts their contributions from the entries that follow.
pub(crate) struct SolveForward<'a, T> {
    pub(crate) panel: &'a [T],
    /// Inverse diagonal of `U`.
    pub(crate) inverses: &'a [T],
    /// Vector with a number for each column of the front.
    pub(crate) x: &'a mut [T],
}

impl<T: Real> Kernel for SolveForward<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(self) {
        let stride = padded(self.x.len());
        let first = stride - self.x.len();
        for (p, (row, &inverse)) in self.panel.chunks_exact(stride).zip(self.inverses).enumerate() {
            let x = self.x[p] * inverse;
            self.x[p] = x;
            for (other, &u) in self.x[p + 1..].iter_mut().zip(&row[first + p + 1..]) {
                *other = multiply_add::<T, FUSED>(-x, u, *other);
            }
        }
    }
}

/// Solves `Ux = b` for the pivots of a panel, given the entries that follow.
pub(crate) struct SolveBackward<'a, T> {
    pub(crate) panel: &'a [T],
    /// Inverse diagonal of `U`.
    pub(crate) inverses: &'a [T],
    /// Vector with a number for each column of the front.
    pub(crate) x: &'a mut [T],
}

impl<T: Real> Kernel for SolveBackward<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const FUSED: bool>(self) {
        let stride = padded(self.x.len());
        let first = stride - self.x.len();
        for (p, (row, &inverse)) in self.panel.chunks_exact(stride).zip(self.inverses).enumerate().rev() {
            let (row, row_rest) = row[first + p + 1..].as_chunks::<STRIP>();
            let (x, x_rest) = self.x[p + 1..].as_chunks::<STRIP>();
            let mut sums = [T::ZERO; STRIP];
            for (u, x) in row.iter().zip(x) {
                for lane in 0..STRIP {
                    sums[lane] = multiply_add::<T, FUSED>(u[lane], x[lane], sums[lane]);
                }
            }
            let rest = row_rest.iter().zip(x_rest).fold(T::ZERO, |sum, (&u, &x)| sum + u * x);
            let sum = sums.into_iter().fold(rest, |sum, lane| sum + lane);
            self.x[p] = (self.x[p] - sum) * inverse;
        }
    }
}
