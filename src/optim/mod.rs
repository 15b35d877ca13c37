//! Optimizers: what updates variables, one minibatch at a time.
//!
//! A training loop takes a `Box<dyn Optimizer<T>>` and does not know which it has.

mod error;
mod hyperparameter;
mod levenberg_marquardt;
mod optimizer;
mod report;
mod schedule;
mod state;

pub use error::OptimizerError;
pub use hyperparameter::Hyperparameter;
pub use optimizer::Optimizer;
pub use report::{DampedStep, StepReport};
pub use schedule::Schedule;
pub use state::OptimizerState;
