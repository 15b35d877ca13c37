//! The Levenberg–Marquardt engine: settings, damping, the iteration, termination, report.

mod acceleration;
mod bounded;
mod covariance;
#[cfg(feature = "serde")]
mod covariance_record;
mod curvature;
pub mod damping;
mod derivative_check;
mod engine;
mod error;
mod first_order;
mod iteration;
mod journal;
mod levenberg_marquardt;
pub(crate) mod lockstep;
mod manifold;
mod mixing;
mod observer;
mod polish;
mod products;
mod propagation;
mod report;
mod scaling;
mod separable;
mod settings;
mod shards;
mod start;
mod step_rule;
mod system;
mod termination;
mod training;

pub use acceleration::Acceleration;
pub use bounded::ActiveBound;
pub use covariance::{Covariance, CovarianceError};
pub use error::SolveError;
pub use levenberg_marquardt::LevenbergMarquardt;
pub use lockstep::FitStatus;
pub use observer::{CancelToken, IterationRecord, Observer};
pub use report::{Evaluations, Report};
pub use scaling::Scaling;
pub(crate) use settings::Settings;
pub use termination::Status;
pub(crate) use training::{HYPERPARAMETERS, Training};
