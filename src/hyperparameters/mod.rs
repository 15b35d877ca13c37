//! Hyperparameters of optimizers, and schedules by which they change from step to step.

mod error;
mod hyperparameter;
mod schedule;

pub use error::HyperparameterError;
pub use hyperparameter::{Hyperparameter, HyperparameterDomain, HyperparameterSpec};
pub use schedule::{
    CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay, LinearWarmup, PiecewiseConstantDecay,
    PolynomialDecay, Schedule, TimeDecay,
};
