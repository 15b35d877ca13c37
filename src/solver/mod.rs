//! The Levenberg–Marquardt solver: [settings](LevenbergMarquardt), [damping], [scaling](Scaling), [acceleration](Acceleration), the
//! [status](Status) and [report](Report) of a solve, and the [covariance](Covariance) where it ended.
//!
//! ```
//! use marquardt::problem::FiniteDifference;
//! use marquardt::{Covariance, LevenbergMarquardt};
//!
//! // Rosenbrock's valley.
//! let mut valley = FiniteDifference::new(2, 2, |x: &[f64], r: &mut [f64]| {
//!     r.copy_from_slice(&[10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]);
//!     Ok(())
//! });
//! let report =
//!     LevenbergMarquardt::new().with_max_iterations(100).minimize(&mut valley, &[-1.2, 1.0])?;
//! println!("{report}");
//! assert!(report.is_converged() && (report.x[0] - 1.0).abs() < 1e-9);
//! let covariance = Covariance::at(&mut valley, &report.x)?;
//! assert_eq!(covariance.unscaled().dim(), (2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod active_bounds;
mod anderson_mixing;
mod covariance;
#[cfg(feature = "serde")]
mod covariance_record;
mod curvature;
pub mod damping;
mod derivative_check;
mod descent;
mod ends;
mod engine;
mod error;
mod first_order;
mod hyperparameters;
mod levenberg_marquardt;
pub(crate) mod lockstep;
mod observer;
#[cfg(test)]
mod own_parts;
mod plain_model;
mod polish;
mod propagation;
mod pseudo_inverse;
mod refinement;
mod report;
mod scale;
mod scaling;
mod second_look;
mod separable;
mod settings;
mod solve;
mod space;
mod start;
mod status;
mod system;
mod training;
mod triangle;

pub use active_bounds::ActiveBound;
pub use covariance::{Covariance, CovarianceError};
pub use curvature::Curvature;
pub use error::SolveError;
pub(crate) use hyperparameters::HYPERPARAMETERS;
pub use levenberg_marquardt::LevenbergMarquardt;
pub use lockstep::FitStatus;
pub use observer::{CancelToken, IterationRecord, Observer, Refusal};
pub use refinement::Acceleration;
pub use report::{Evaluations, Report};
pub use scaling::Scaling;
pub(crate) use settings::Settings;
pub use status::Status;
pub(crate) use training::{BatchRule, Training, TrainingStep};
pub(crate) use triangle::Triangle;
