//! The softmax of one row of logits.

use super::elementwise::least_root;
use crate::real::Real;

/// Numerators of the probabilities `exp(z) / Σ exp(z)`, shifted by the largest logit so that nothing overflows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Softmax<T> {
    /// The largest logit.
    peak: T,
    /// Where it is.
    at: usize,
    /// `Σ exp(z − peak)` over all other logits: apart from the peak's 1, as it may be much smaller.
    rest: T,
}

impl<T: Real> Softmax<T> {
    pub(super) fn new(logits: &[T]) -> Self {
        let at = (1..logits.len()).fold(0, |at, k| if logits[k] > logits[at] { k } else { at });
        let peak = logits[at];
        let others = logits.iter().enumerate().filter(|&(k, _)| k != at);
        Softmax { peak, at, rest: others.map(|(_, &z)| (z - peak).exp()).sum() }
    }

    /// `−ln p` of the class with this logit.
    pub(super) fn surprise(&self, logit: T) -> T {
        (self.peak - logit) + self.rest.ln_1p()
    }

    /// The probability of the class with this logit.
    pub(super) fn probability(&self, logit: T) -> T {
        (logit - self.peak).exp() / (T::ONE + self.rest)
    }

    /// The probability of all other classes together, accurate where this one is nearly certain.
    pub(super) fn others(&self, class: usize, logit: T) -> T {
        let others = if class == self.at { self.rest } else { T::ONE + self.rest - (logit - self.peak).exp() };
        others / (T::ONE + self.rest)
    }

    /// The square root of the probability of the class with this logit, accurate where the probability underflows.
    fn root(&self, logit: T) -> T {
        (T::from_f64(0.5) * (logit - self.peak)).exp() / (T::ONE + self.rest).sqrt()
    }

    /// Residuals and root for the cross-entropy with targets of this `total`: the second derivative is
    /// `total (diag(p) − ppᵀ) = SSᵀ` with `S = (I − p𝟙ᵀ) diag(s)` and `s² = total · p`, and the residuals are `g / s` for
    /// the gradient `g = total · p − target`. Its numbers sum to zero, so that `S` times the residuals is `g` for any `s`.
    ///
    /// `root` is `Sᵀ`, row after row.
    pub(super) fn root_of_curvature(
        &self,
        logits: &[T],
        total: T,
        target: impl Fn(usize) -> T,
        residuals: &mut [T],
        root: &mut [T],
    ) {
        let root_total = total.sqrt();
        let scale = |class: usize| {
            let s = root_total * self.root(logits[class]);
            if target(class) > T::ZERO { s.max(least_root(target(class))) } else { s }
        };
        // Until all rows are filled, the residuals hold the probabilities.
        for (p, &z) in residuals.iter_mut().zip(logits) {
            *p = self.probability(z);
        }
        for (class, row) in root.chunks_exact_mut(logits.len()).enumerate() {
            let s = scale(class);
            row.iter_mut().zip(&*residuals).for_each(|(number, &p)| *number = -s * p);
            row[class] = s * self.others(class, logits[class]);
        }
        for (class, residual) in residuals.iter_mut().enumerate() {
            let (s, t) = (scale(class), target(class));
            let gradient = || *residual * (total - t) - self.others(class, logits[class]) * t;
            *residual = if t > T::ZERO { gradient() / s } else { s };
        }
    }
}
