//! Inverse-time decay.

use super::{require, require_finite, require_steps};
use crate::hyperparameters::HyperparameterError;

/// `initial_learning_rate / (1 + decay_rate · step / decay_steps)`.
///
/// With one decay step it is what PyTorch's Adagrad calls `lr_decay`.
///
/// ```
/// use marquardt::optim::InverseTimeDecay;
///
/// let rate = InverseTimeDecay::new(0.1, 10, 1.0);
/// assert_eq!((rate.at(0), rate.at(10)), (0.1, 0.05));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InverseTimeDecay {
    initial_learning_rate: f64,
    decay_steps: u64,
    decay_rate: f64,
    staircase: bool,
}

impl InverseTimeDecay {
    /// The denominator grows by `decay_rate` in `decay_steps`.
    pub fn new(initial_learning_rate: f64, decay_steps: u64, decay_rate: f64) -> Self {
        InverseTimeDecay { initial_learning_rate, decay_steps, decay_rate, staircase: false }
    }

    /// Makes the rate fall in stairs, `step / decay_steps` rounded down; `false` unless set.
    pub fn with_staircase(mut self, staircase: bool) -> Self {
        self.staircase = staircase;
        self
    }

    /// The value for the step after `step` others.
    pub fn at(&self, step: u64) -> f64 {
        let periods = step as f64 / self.decay_steps as f64;
        let periods = if self.staircase { periods.floor() } else { periods };
        self.initial_learning_rate / (1.0 + self.decay_rate * periods)
    }

    pub(super) fn check(&self) -> Result<(), HyperparameterError> {
        let name = "InverseTimeDecay";
        require_finite(name, "initial_learning_rate", self.initial_learning_rate)?;
        require_steps(name, "decay_steps", self.decay_steps)?;
        require_finite(name, "decay_rate", self.decay_rate)?;
        require(name, "decay_rate", self.decay_rate, self.decay_rate >= 0.0, "at least 0")
    }
}
