//! A linear warm-up before any other schedule.

use super::{require_finite, require_steps};
use crate::hyperparameters::{Hyperparameter, HyperparameterError};

/// Rises linearly from `initial_learning_rate` to the start of another schedule, in `warmup_steps` steps, and then follows that schedule.
///
/// ```
/// use marquardt::optim::{ExponentialDecay, LinearWarmup};
///
/// let rate = LinearWarmup::new(10, ExponentialDecay::new(0.1, 100, 0.5));
/// assert_eq!((rate.at(0), rate.at(5), rate.at(10), rate.at(110)), (0.0, 0.05, 0.1, 0.05));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LinearWarmup {
    initial_learning_rate: f64,
    warmup_steps: u64,
    then: Box<Hyperparameter>,
}

impl LinearWarmup {
    /// Creates a linear rise from zero to a number, or to the start of a schedule.
    pub fn new(warmup_steps: u64, then: impl Into<Hyperparameter>) -> Self {
        LinearWarmup { initial_learning_rate: 0.0, warmup_steps, then: Box::new(then.into()) }
    }

    /// Sets the initial rate; 0 unless set.
    pub fn with_initial_learning_rate(mut self, initial_learning_rate: f64) -> Self {
        self.initial_learning_rate = initial_learning_rate;
        self
    }

    /// The value for the step after `step` others.
    pub fn at(&self, step: u64) -> f64 {
        if step >= self.warmup_steps {
            return self.then.at(step - self.warmup_steps);
        }
        let part = step as f64 / self.warmup_steps as f64;
        (self.then.at(0) - self.initial_learning_rate) * part + self.initial_learning_rate
    }

    pub(super) fn check(&self) -> Result<(), HyperparameterError> {
        let name = "LinearWarmup";
        require_finite(name, "initial_learning_rate", self.initial_learning_rate)?;
        require_steps(name, "warmup_steps", self.warmup_steps)?;
        match &*self.then {
            Hyperparameter::Number(number) => require_finite(name, "then", *number),
            Hyperparameter::Schedule(schedule) => schedule.check(),
        }
    }
}
