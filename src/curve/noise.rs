//! Noise of the responses, and the whitening of residuals by it.

use std::borrow::Cow;
use std::iter::zip;

use ndarray::ArrayView2;

use super::CurveError;
use crate::kernels::Scratch;
use crate::real::Real;

/// The shape of the noise; whether its size is known, too, is for [`absolute_sigma`](super::CurveFit::absolute_sigma) to
/// say.
#[derive(Debug, Clone)]
pub(super) enum Noise<'a, T: Clone> {
    /// All responses are equally noisy.
    Uniform,
    /// A standard deviation to each response.
    Sigma(Cow<'a, [T]>),
    /// A covariance of all responses.
    Correlated(Whitening<T>),
}

impl<T: Real> Noise<'_, T> {
    /// Brings residuals `first..`, and rows of `n` derivatives of them, to unit variance.
    #[inline]
    pub(super) fn whiten(&self, first: usize, r: &mut [T], jacobian: &mut [T], n: usize) {
        match self {
            Noise::Uniform => {}
            Noise::Sigma(sigma) => {
                for (r, &sigma) in zip(&mut *r, &sigma[first..]) {
                    *r /= sigma;
                }
                for (row, &sigma) in zip(jacobian.chunks_exact_mut(n), &sigma[first..]) {
                    row.iter_mut().for_each(|derivative| *derivative /= sigma);
                }
            }
            Noise::Correlated(whitening) => {
                whitening.apply(r, 1);
                whitening.apply(jacobian, n);
            }
        }
    }

    /// Brings residuals of unit variance, one to each response, to their own variance.
    pub(super) fn colour(&self, r: &mut [T]) {
        match self {
            Noise::Uniform => {}
            Noise::Sigma(sigma) => zip(r, sigma.iter()).for_each(|(r, &sigma)| *r *= sigma),
            Noise::Correlated(whitening) => whitening.undo(r),
        }
    }

    /// The standard deviation of response `index`.
    pub(super) fn sigma(&self, index: usize) -> T {
        match self {
            Noise::Uniform => T::ONE,
            Noise::Sigma(sigma) => sigma[index],
            Noise::Correlated(whitening) => whitening.sigma[index],
        }
    }

    /// `ln |Σ|`.
    pub(super) fn log_determinant(&self) -> T {
        match self {
            Noise::Uniform => T::ZERO,
            Noise::Sigma(sigma) => sigma.iter().map(|sigma| T::from_f64(2.0) * sigma.ln()).sum(),
            Noise::Correlated(whitening) => {
                whitening.inverse_roots.iter().map(|root| T::from_f64(-2.0) * root.ln()).sum()
            }
        }
    }

    /// The noise of several data sets that know nothing of each other, with their numbers of responses.
    pub(super) fn joined<'p>(
        sets: impl Iterator<Item = (&'p Noise<'p, T>, usize)> + Clone,
    ) -> Result<Noise<'static, T>, CurveError> {
        let count = sets.clone().map(|(_, count)| count).sum();
        if sets.clone().all(|(noise, _)| matches!(noise, Noise::Uniform)) {
            return Ok(Noise::Uniform);
        }
        if !sets.clone().any(|(noise, _)| matches!(noise, Noise::Correlated(_))) {
            return Ok(Noise::Sigma(sets.flat_map(|(noise, count)| (0..count).map(|i| noise.sigma(i))).collect()));
        }
        let (mut covariance, mut first) = (vec![T::ZERO; count * count], 0);
        for (noise, own) in sets {
            for i in 0..own {
                let row = &mut covariance[(first + i) * count + first..][..own];
                match noise {
                    Noise::Correlated(whitening) => row.copy_from_slice(&whitening.covariance[i * own..(i + 1) * own]),
                    _ => row[i] = noise.sigma(i) * noise.sigma(i),
                }
            }
            first += own;
        }
        Ok(Noise::Correlated(Whitening::factorize(covariance, count)?))
    }

    /// The noise of only these responses.
    pub(super) fn select(&self, kept: &[usize]) -> Result<Noise<'static, T>, CurveError> {
        Ok(match self {
            Noise::Uniform => Noise::Uniform,
            Noise::Sigma(sigma) => Noise::Sigma(kept.iter().map(|&index| sigma[index]).collect()),
            Noise::Correlated(whitening) => Noise::Correlated(whitening.select(kept)?),
        })
    }
}

/// `L⁻¹`, for residuals of covariance `Σ = LLᵀ`.
#[derive(Debug, Clone)]
pub(super) struct Whitening<T> {
    /// `Σ`, row after row.
    covariance: Vec<T>,
    /// `Lᵀ` of `Σ = LDLᵀ`, ones on its diagonal; only the strict upper triangle is looked at.
    upper: Vec<T>,
    /// `1 / √D`.
    inverse_roots: Vec<T>,
    /// `√Σ_ii`.
    sigma: Vec<T>,
}

impl<T: Real> Whitening<T> {
    /// Factorises a covariance.
    pub(super) fn new(covariance: ArrayView2<'_, T>) -> Result<Self, CurveError> {
        let (m, columns) = covariance.dim();
        if m != columns {
            return Err(CurveError::CovarianceShape { rows: m, columns, responses: None });
        }
        for ((row, column), &value) in covariance.indexed_iter() {
            let transposed = covariance[[column, row]];
            let tolerance = T::from_f64(1e3) * T::EPSILON * (value.abs() + transposed.abs());
            if !value.is_finite() || !((value - transposed).abs() <= tolerance) {
                let (value, transposed) = (value.to_f64(), transposed.to_f64());
                return Err(CurveError::CovarianceNotSymmetric { row, column, value, transposed });
            }
        }
        Self::factorize(covariance.iter().copied().collect(), m)
    }

    fn factorize(covariance: Vec<T>, m: usize) -> Result<Self, CurveError> {
        let sigma: Vec<T> = (0..m).map(|i| covariance[i * m + i].sqrt()).collect();
        let (mut upper, mut inverse_pivots) = (covariance.clone(), vec![T::ZERO; m]);
        if !T::cholesky(&mut upper, &mut inverse_pivots, &mut Scratch::default()) {
            return Err(CurveError::CovarianceNotPositive);
        }
        let inverse_roots = inverse_pivots.iter().map(|pivot| pivot.sqrt()).collect();
        Ok(Whitening { covariance, upper, inverse_roots, sigma })
    }

    /// Responses that it is for.
    pub(super) fn count(&self) -> usize {
        self.sigma.len()
    }

    fn select(&self, kept: &[usize]) -> Result<Self, CurveError> {
        let m = self.count();
        let covariance = kept.iter().flat_map(|&i| kept.iter().map(move |&j| self.covariance[i * m + j]));
        Self::factorize(covariance.collect(), kept.len())
    }

    /// `L⁻¹B` in place, for all rows of a `B` with `n` columns; nothing where there are no rows.
    fn apply(&self, b: &mut [T], n: usize) {
        if b.is_empty() {
            return;
        }
        let m = self.count();
        for i in 0..m {
            let (above, row) = b[..(i + 1) * n].split_at_mut(i * n);
            for (k, other) in above.chunks_exact(n).enumerate() {
                let factor = self.upper[k * m + i];
                zip(&mut *row, other).for_each(|(value, &other)| *value -= factor * other);
            }
        }
        for (row, &root) in zip(b.chunks_exact_mut(n), &self.inverse_roots) {
            row.iter_mut().for_each(|value| *value *= root);
        }
    }

    /// `Lr` in place.
    fn undo(&self, r: &mut [T]) {
        let m = self.count();
        zip(&mut *r, &self.inverse_roots).for_each(|(value, &root)| *value /= root);
        for i in (0..m).rev() {
            let column = self.upper.iter().skip(i).step_by(m);
            let above: T = zip(&r[..i], column).map(|(&value, &factor)| value * factor).sum();
            r[i] += above;
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;

    #[test]
    fn coloured_noise_is_whitened_again() {
        let covariance = array![[4.0, 1.0, 0.5], [1.0, 9.0, -2.0], [0.5, -2.0, 1.0_f64]];
        let noise = Noise::Correlated(Whitening::new(covariance.view()).unwrap());
        let white = [0.3, -1.2, 2.0];
        let mut r = white;
        noise.colour(&mut r);
        assert!((r[0] - 0.6).abs() < 1e-15);
        noise.whiten(0, &mut r, &mut [], 1);
        zip(r, white).for_each(|(r, white)| assert!((r - white).abs() < 1e-14));
    }
}
