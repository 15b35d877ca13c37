//! Schedules: a hyperparameter that changes with the steps.

/// A number for every step.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Schedule {
    /// `initial · rate^(step / steps)`.
    Exponential {
        /// At the first step.
        initial: f64,
        /// Steps for one factor of `rate`.
        steps: u64,
        /// The factor.
        rate: f64,
        /// Whether it falls in steps, with `step / steps` rounded down.
        staircase: bool,
    },
}

impl Schedule {
    /// The value for the step after `step` others.
    pub fn at(&self, step: u64) -> f64 {
        match *self {
            Schedule::Exponential { initial, steps, rate, staircase } => {
                let periods = step as f64 / steps as f64;
                initial * rate.powf(if staircase { periods.floor() } else { periods })
            }
        }
    }
}
