//! The softmax of one row of logits.

use crate::Real;

/// What the probabilities `exp(z) / Σ exp(z)` are computed from, shifted by the largest logit so that nothing overflows.
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
}
