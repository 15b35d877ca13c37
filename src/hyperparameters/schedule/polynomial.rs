//! Polynomial decay.

use super::{require, require_finite, require_steps};
use crate::hyperparameters::HyperparameterError;

/// `(initial_learning_rate − end_learning_rate) · (1 − step / decay_steps)^power + end_learning_rate`, and
/// `end_learning_rate` after `decay_steps`.
///
/// With `cycle`, the decay restarts: `decay_steps` is replaced by its smallest multiple that is at least `step`.
///
/// ```
/// use marquardt::optim::PolynomialDecay;
///
/// let rate = PolynomialDecay::new(0.5, 100).with_end_learning_rate(0.25);
/// assert_eq!((rate.at(0), rate.at(50), rate.at(200)), (0.5, 0.375, 0.25));
/// assert_eq!(rate.with_cycle(true).at(150), 0.3125);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PolynomialDecay {
    initial_learning_rate: f64,
    decay_steps: u64,
    end_learning_rate: f64,
    power: f64,
    cycle: bool,
}

impl PolynomialDecay {
    /// Creates a linear decay to 0.0001.
    pub fn new(initial_learning_rate: f64, decay_steps: u64) -> Self {
        PolynomialDecay { initial_learning_rate, decay_steps, end_learning_rate: 1e-4, power: 1.0, cycle: false }
    }

    /// Sets the final rate; 0.0001 unless set.
    pub fn with_end_learning_rate(mut self, end_learning_rate: f64) -> Self {
        self.end_learning_rate = end_learning_rate;
        self
    }

    /// The power of the polynomial; 1 unless set.
    pub fn with_power(mut self, power: f64) -> Self {
        self.power = power;
        self
    }

    /// Restarts the decay after `decay_steps`; `false` unless set.
    pub fn with_cycle(mut self, cycle: bool) -> Self {
        self.cycle = cycle;
        self
    }

    /// The value for the step after `step` others.
    pub fn at(&self, step: u64) -> f64 {
        let (step, period) = (step as f64, self.decay_steps as f64);
        let past =
            if self.cycle { step / (period * (step / period).ceil().max(1.0)) } else { step.min(period) / period };
        (self.initial_learning_rate - self.end_learning_rate) * (1.0 - past).powf(self.power) + self.end_learning_rate
    }

    pub(super) fn check(&self) -> Result<(), HyperparameterError> {
        let name = "PolynomialDecay";
        require_finite(name, "initial_learning_rate", self.initial_learning_rate)?;
        require_steps(name, "decay_steps", self.decay_steps)?;
        require_finite(name, "end_learning_rate", self.end_learning_rate)?;
        require_finite(name, "power", self.power)?;
        require(name, "power", self.power, self.power > 0.0, "positive")
    }
}
