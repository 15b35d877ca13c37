//! Likelihoods: a sum of squares, or the negative logarithm of another likelihood.

use std::iter::zip;
use std::sync::Arc;

use crate::problem::{RobustLoss, RobustRow};
use crate::real::Real;
use crate::statistics::half_deviance;

/// Negative log-likelihood that serves as the cost.
#[derive(Debug, Clone)]
pub(super) enum Likelihood<T> {
    /// Half the sum of squares.
    Gaussian,
    /// Half the deviance of counts: `Σ (μ − y + y ln(y/μ))` with the curve `μ` as their mean.
    Poisson,
    /// A robust loss and its scale `C`.
    Robust(Arc<dyn RobustLoss<T>>, T),
}

impl<T: Real> Likelihood<T> {
    /// The cost is half the sum of the squared residuals.
    pub(super) fn is_sum_of_squares(&self) -> bool {
        matches!(self, Likelihood::Gaussian)
    }

    /// The residual `r` of a response that was observed to be `y`, as generalised Gauss–Newton sees it.
    #[inline]
    pub(super) fn row(&self, y: T, r: T) -> RobustRow<T> {
        match self {
            Likelihood::Gaussian => RobustRow { residual: r, root: T::ONE, cost: T::from_f64(0.5) * r * r },
            Likelihood::Poisson => {
                // Fisher scoring: the variance of a count is its mean.
                let mean = r + y;
                let deviation = mean.sqrt();
                RobustRow { residual: r / deviation, root: deviation.recip(), cost: half_deviance(y, mean) }
            }
            Likelihood::Robust(loss, scale) => RobustRow::new(&**loss, *scale, r),
        }
    }

    /// Turns residuals, and rows of `n` derivatives of them, into those whose `Jᵀr` is the gradient of the cost and whose `JᵀJ`
    /// approximates its second derivative. Returns the cost.
    pub(super) fn reweigh(&self, y: &[T], r: &mut [T], jacobian: &mut [T], n: usize) -> T {
        let mut cost = T::ZERO;
        let mut rows = jacobian.chunks_exact_mut(n);
        for (r, &y) in zip(r, y) {
            let row = self.row(y, *r);
            *r = row.residual;
            cost += row.cost;
            if let Some(derivatives) = rows.next() {
                row.scale(derivatives);
            }
        }
        cost
    }
}
