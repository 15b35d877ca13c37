//! Errors of hyperparameters.

use thiserror::Error;

/// Errors of hyperparameters and schedules with invalid values.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum HyperparameterError {
    /// A hyperparameter cannot have this value.
    #[error("{name} must be {requirement}, not {value}")]
    Value {
        /// Its name.
        name: String,
        /// The values allowed.
        requirement: String,
        /// The value.
        value: f64,
    },
    /// An argument of a schedule has an invalid value.
    #[error("{schedule}: {argument} must be {requirement}, not {value}")]
    Schedule {
        /// The schedule.
        schedule: &'static str,
        /// The argument.
        argument: &'static str,
        /// The values allowed.
        requirement: &'static str,
        /// The value.
        value: f64,
    },
}
