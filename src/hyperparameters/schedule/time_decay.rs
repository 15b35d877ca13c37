//! Decays in equal times: exponential, and as one over the time.

use super::{require, require_finite, require_steps};
use crate::hyperparameters::HyperparameterError;

/// `initial_learning_rate · decay_rate^(step / decay_steps)`.
///
/// ```
/// use marquardt::optim::ExponentialDecay;
///
/// let rate = ExponentialDecay::new(0.1, 10, 0.5);
/// assert_eq!((rate.at(0), rate.at(10), rate.at(20)), (0.1, 0.05, 0.025));
/// assert_eq!(rate.with_staircase(true).at(9), 0.1);
/// ```
pub type ExponentialDecay = TimeDecay<false>;

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
pub type InverseTimeDecay = TimeDecay<true>;

/// Decay with a rate for each `decay_steps` steps: the factor of an exponential decay, or the increase of the denominator of an inverse
/// time decay.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TimeDecay<const INVERSE: bool> {
    initial_learning_rate: f64,
    decay_steps: u64,
    decay_rate: f64,
    staircase: bool,
}

impl<const INVERSE: bool> TimeDecay<INVERSE> {
    /// A decay by `decay_rate` in `decay_steps`.
    pub fn new(initial_learning_rate: f64, decay_steps: u64, decay_rate: f64) -> Self {
        TimeDecay { initial_learning_rate, decay_steps, decay_rate, staircase: false }
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
        if INVERSE {
            self.initial_learning_rate / (1.0 + self.decay_rate * periods)
        } else {
            self.initial_learning_rate * self.decay_rate.powf(periods)
        }
    }

    pub(super) fn check(&self) -> Result<(), HyperparameterError> {
        let name = if INVERSE { "InverseTimeDecay" } else { "ExponentialDecay" };
        require_finite(name, "initial_learning_rate", self.initial_learning_rate)?;
        require_steps(name, "decay_steps", self.decay_steps)?;
        require_finite(name, "decay_rate", self.decay_rate)?;
        let (fits, requirement) =
            if INVERSE { (self.decay_rate >= 0.0, "at least 0") } else { (self.decay_rate > 0.0, "positive") };
        require(name, "decay_rate", self.decay_rate, fits, requirement)
    }
}
