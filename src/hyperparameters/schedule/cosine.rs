//! Cosine decay, with a warm-up.

use std::f64::consts::PI;

use super::{require_finite, require_steps};
use crate::hyperparameters::HyperparameterError;

/// `peak · ((1 − alpha) · ½(1 + cos(π · step / decay_steps)) + alpha)`, and `peak · alpha` after `decay_steps`.
///
/// The peak is `initial_learning_rate`. With a warm-up the rate first rises in a line from `initial_learning_rate` to
/// `warmup_target` in `warmup_steps`; from there on the peak is `warmup_target`, and steps count from the end of the
/// warm-up.
///
/// ```
/// use marquardt::optim::CosineDecay;
///
/// let rate = CosineDecay::new(1.0, 100).with_alpha(0.5);
/// assert_eq!((rate.at(0), rate.at(50), rate.at(100)), (1.0, 0.75, 0.5));
/// let rate = CosineDecay::new(0.0, 100).with_warmup(0.1, 10);
/// assert_eq!((rate.at(5), rate.at(10), rate.at(110)), (0.05, 0.1, 0.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CosineDecay {
    initial_learning_rate: f64,
    decay_steps: u64,
    alpha: f64,
    /// `warmup_target` and `warmup_steps`.
    warmup: Option<(f64, u64)>,
}

impl CosineDecay {
    /// Creates a decay to zero, without a warm-up.
    pub fn new(initial_learning_rate: f64, decay_steps: u64) -> Self {
        CosineDecay { initial_learning_rate, decay_steps, alpha: 0.0, warmup: None }
    }

    /// Sets the fraction of the peak that is left at the end; 0 unless set.
    pub fn with_alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// A rise before the fall.
    pub fn with_warmup(mut self, warmup_target: f64, warmup_steps: u64) -> Self {
        self.warmup = Some((warmup_target, warmup_steps));
        self
    }

    /// The value for the step after `step` others.
    pub fn at(&self, step: u64) -> f64 {
        let (peak, step) = match self.warmup {
            None => (self.initial_learning_rate, step),
            Some((target, steps)) if step < steps => {
                let part = step as f64 / steps as f64;
                return (target - self.initial_learning_rate) * part + self.initial_learning_rate;
            }
            Some((target, steps)) => (target, step - steps),
        };
        let past = step.min(self.decay_steps) as f64 / self.decay_steps as f64;
        peak * ((1.0 - self.alpha) * (0.5 * (1.0 + (PI * past).cos())) + self.alpha)
    }

    pub(super) fn check(&self) -> Result<(), HyperparameterError> {
        let name = "CosineDecay";
        require_finite(name, "initial_learning_rate", self.initial_learning_rate)?;
        require_steps(name, "decay_steps", self.decay_steps)?;
        require_finite(name, "alpha", self.alpha)?;
        if let Some((target, steps)) = self.warmup {
            require_finite(name, "warmup_target", target)?;
            require_steps(name, "warmup_steps", steps)?;
        }
        Ok(())
    }
}
