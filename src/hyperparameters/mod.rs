//! Hyperparameters: numbers that optimizers have, and how they change with the steps.

mod error;
mod hyperparameter;
mod schedule;

pub use error::HyperparameterError;
pub use hyperparameter::{Hyperparameter, HyperparameterDomain, HyperparameterSpec};
pub use schedule::{
    CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay, LinearWarmup, PiecewiseConstantDecay,
    PolynomialDecay, Schedule, TimeDecay,
};
