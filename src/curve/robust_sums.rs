//! Sums that standard errors under a robust loss are made of.

use super::checked_fit::CheckedFit;
use super::likelihood::Likelihood;
use super::ranks::summed;
use crate::problem::{Evaluated, EvaluationError, RobustLoss, loss_at, mad_scale, shared_mad_scale};
use crate::real::Real;

/// Sums over the residuals of all ranks, with `ψ` for the derivative of the loss.
#[derive(Debug, Clone, Copy)]
pub(super) struct RobustSums<T> {
    /// Number of residuals.
    count: T,
    /// `Σψ²`.
    squares: T,
    /// `Σψ′`.
    curvature: T,
    /// `Σψ′²`.
    squared_curvature: T,
    /// Standard deviation of the whitened residuals but for outliers.
    pub(super) deviation: T,
}

impl<T: Real> RobustSums<T> {
    /// Computes the sums at these parameters; `None` where the loss is not robust. Collective.
    pub(super) fn at(checked: &CheckedFit<'_, T>, at: &[T]) -> Evaluated<Option<Self>> {
        let Likelihood::Robust(loss, scale) = &checked.likelihood else { return Ok(None) };
        let mut residuals = Vec::new();
        let own = checked.whitened_residuals(at).map(|own| {
            residuals = own;
            psi_sums(&**loss, *scale, &residuals)
        });
        let [squares, curvature, squared_curvature] = summed(checked.data.ranks(), own)?;
        let count = T::from_f64((checked.data.all_rows() * checked.data.outputs()) as f64);
        let deviation = shared_mad_scale(checked.data.ranks(), &residuals).map_err(EvaluationError::new)?;
        Ok(Some(RobustSums { count, squares, curvature, squared_curvature, deviation }))
    }

    /// The sums over these residuals alone.
    pub(super) fn over(loss: &dyn RobustLoss<T>, scale: T, residuals: &[T]) -> Self {
        let [squares, curvature, squared_curvature] = psi_sums(loss, scale, residuals);
        let count = T::from_f64(residuals.len() as f64);
        RobustSums { count, squares, curvature, squared_curvature, deviation: mad_scale(residuals) }
    }

    /// Factor of `(JᵀJ)⁻¹` of the whitened residuals where `rank` parameters are determined:
    /// `k² (Σψ²/(m − p)) / (mean ψ′)²` with `k = 1 + (p/m) var ψ′ / (mean ψ′)²` (Huber 1981, §7.6, the first of his three;
    /// statsmodels' `H1`). `None` where it makes no sense: without degrees of freedom, with `mean ψ′ ≤ 0`, or
    /// where squares underflow because all residuals are far outliers.
    pub(super) fn variance(&self, rank: usize) -> Option<T> {
        let (m, p, mean) = (self.count, T::from_f64(rank as f64), self.mean_curvature());
        if !(m > p && mean > T::ZERO) {
            return None;
        }
        let k = T::ONE + p / m * (self.squared_curvature / m - mean * mean) / (mean * mean);
        Some(k * k * self.squares / (m - p) / (mean * mean)).filter(|variance| variance.is_finite())
    }

    /// `mean ψ′`.
    pub(super) fn mean_curvature(&self) -> T {
        self.curvature / self.count
    }
}

/// `Σψ²`, `Σψ′` and `Σψ′²`.
fn psi_sums<T: Real>(loss: &dyn RobustLoss<T>, scale: T, residuals: &[T]) -> [T; 3] {
    let mut sums = [T::ZERO; 3];
    for &r in residuals {
        let [_, slope, curvature] = loss_at(loss, scale, r);
        let psi = slope * r;
        sums[0] += psi * psi;
        sums[1] += curvature;
        sums[2] += curvature * curvature;
    }
    sums
}
