//! The normal equations where a fit in lockstep has ended, and the covariances that they give.

use super::outcomes::least_square;
use crate::kernels::triangular::{cholesky, cholesky_forward};
use crate::real::Real;
use crate::solver::lockstep::{LaneResult, UNROLLED};

/// `s² (JᵀJ)⁻¹` of the free parameters, by the factors of `JᵀJ` in units in which all columns have length one.
pub(super) struct NormalFactors<T, const N: usize> {
    matrix: [[T; N]; N],
    inverse_pivots: [T; N],
    /// Reciprocals of the lengths of the columns.
    inverse_scale: [T; N],
    held: [bool; N],
    /// Free parameters.
    n: usize,
    /// Points in excess of the parameters that no bound holds.
    pub(super) degrees_of_freedom: usize,
    /// Variance of the residuals.
    variance: T,
    /// The matrix is not too close to singular.
    is_sound: bool,
    /// No square of a column has lost digits to underflow.
    is_exact: bool,
}

impl<T: Real, const N: usize> NormalFactors<T, N> {
    /// Builds the equations of `n` free parameters at this many points; `variance` is that of the residuals, if it is known.
    #[inline]
    pub(super) fn at(arrival: &LaneResult<T, N>, n: usize, points: usize, variance: Option<T>) -> Self {
        let held = arrival.held;
        let takes_part = |j: usize| j < n && !held[j];
        let free = (0..n).filter(|&j| takes_part(j)).count();
        let degrees_of_freedom = points.saturating_sub(free);
        let variance =
            variance.unwrap_or_else(|| (arrival.cost + arrival.cost) / T::from_f64(degrees_of_freedom as f64));
        let (inverse_pivots, inverse_scale) = ([T::ONE; N], [T::ONE; N]);
        let is_exact = (0..n).all(|j| held[j] || arrival.gram[j][j] > least_square());
        let matrix = [[T::ZERO; N]; N];
        let is_sound = false;
        let mut normal = NormalFactors {
            matrix,
            inverse_pivots,
            inverse_scale,
            held,
            n,
            degrees_of_freedom,
            variance,
            is_sound,
            is_exact,
        };
        let size = normal.size();
        let matrix = &mut normal.matrix.as_flattened_mut()[..size * size];
        // What does not take part is apart from the rest.
        for i in 0..size {
            matrix[i * size + i] = T::ONE;
            if takes_part(i) {
                normal.inverse_scale[i] = arrival.gram[i][i].sqrt().recip();
                for k in (0..i).filter(|&k| takes_part(k)) {
                    matrix[i * size + k] = arrival.gram[i][k] * normal.inverse_scale[i] * normal.inverse_scale[k];
                }
            }
        }
        normal.is_sound = cholesky(matrix, &mut normal.inverse_pivots[..size]);
        normal
    }

    /// Rows and columns of the matrix.
    fn size(&self) -> usize {
        if N <= UNROLLED { N } else { self.n }
    }

    /// The equations determine all parameters, and with all digits.
    pub(super) fn is_certain(&self) -> bool {
        self.is_sound && self.is_exact
    }

    /// `L⁻¹` times a gradient by the free parameters.
    #[inline]
    pub(super) fn whitened(&self, gradient: impl Fn(usize) -> T) -> [T; N] {
        let size = self.size();
        let mut whitened = [T::ZERO; N];
        for j in (0..self.n).filter(|&j| !self.held[j]) {
            whitened[j] = gradient(j) * self.inverse_scale[j];
        }
        cholesky_forward(&self.matrix.as_flattened()[..size * size], &mut whitened[..size]);
        whitened
    }

    /// The covariance of two functions whose [whitened](Self::whitened) gradients these are. Where the matrix is too close to singular, or
    /// there are no degrees of freedom, a variance is infinite, and a covariance zero.
    #[inline]
    pub(super) fn covariance(&self, first: &[T; N], second: &[T; N], is_variance: bool) -> T {
        if !(self.is_sound && self.variance.is_finite()) {
            let depends = first.iter().any(|&slope| slope != T::ZERO);
            return if is_variance && depends { T::INFINITY } else { T::ZERO };
        }
        self.variance * self.unscaled(first, second)
    }

    fn unscaled(&self, first: &[T; N], second: &[T; N]) -> T {
        let products = first.iter().zip(second).zip(&self.inverse_pivots);
        products.fold(T::ZERO, |sum, ((&first, &second), &inverse)| sum + first * second * inverse)
    }

    /// The root of a variance, also where that underflows.
    #[inline]
    pub(super) fn standard_error(&self, whitened: &[T; N]) -> T {
        let variance = self.covariance(whitened, whitened, true);
        if variance < T::MIN_POSITIVE && self.is_sound && self.variance.is_finite() {
            self.variance.sqrt() * self.unscaled(whitened, whitened).sqrt()
        } else {
            variance.sqrt()
        }
    }
}
