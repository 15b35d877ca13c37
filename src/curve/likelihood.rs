//! What the residuals count for: a sum of squares, or minus the logarithm of a likelihood that stands for one.

use std::iter::zip;

use crate::Real;
use crate::kernels::vector::dot;

/// How far data are from a curve, as a cost.
#[derive(Debug, Clone, Copy)]
pub(super) enum Likelihood {
    /// Half the sum of squares.
    Gaussian,
    /// Half the deviance of counts: `Σ (μ − y + y ln(y/μ))` with the curve `μ` as their mean.
    Poisson,
}

impl Likelihood {
    /// The cost is half the sum of the squared residuals.
    pub(super) fn is_sum_of_squares(&self) -> bool {
        matches!(self, Likelihood::Gaussian)
    }

    /// Turns residuals, and rows of `n` derivatives of them, into those whose `Jᵀr` is the gradient of the cost and whose
    /// `JᵀJ` its expected second derivative. Returns the cost.
    pub(super) fn reweigh<T: Real>(&self, y: &[T], r: &mut [T], jacobian: &mut [T], n: usize) -> T {
        match self {
            Likelihood::Gaussian => T::from_f64(0.5) * dot(r, r),
            Likelihood::Poisson => {
                let mut cost = T::ZERO;
                let mut rows = jacobian.chunks_exact_mut(n);
                for (r, &y) in zip(r, y) {
                    let mean = *r + y;
                    cost += half_deviance(y, mean);
                    // Fisher scoring: the variance of a count is its mean.
                    let root = mean.sqrt();
                    *r /= root;
                    if let Some(row) = rows.next() {
                        row.iter_mut().for_each(|derivative| *derivative /= root);
                    }
                }
                cost
            }
        }
    }
}

/// `μ − y + y ln(y/μ)`, infinite where no mean may be.
fn half_deviance<T: Real>(y: T, mean: T) -> T {
    if !(mean > T::ZERO) {
        return T::INFINITY;
    }
    let excess = (mean - y) / mean;
    // y/μ = 1 − excess; the two terms nearly cancel at a good fit.
    if y > T::ZERO { mean * (excess + (T::ONE - excess) * (-excess).ln_1p()) } else { mean }
}
