//! Tests of a series of numbers, such as the residuals of a fit.
//!
//! ```
//! use marquardt::statistics::{durbin_watson, runs_test};
//!
//! // Residuals that wander instead of jumping.
//! let residuals: Vec<f64> = (0..40).map(|i| (0.2 * f64::from(i)).sin()).collect();
//! assert!(runs_test(&residuals).unwrap().p_value < 0.001);
//! assert!(durbin_watson(&residuals).unwrap() < 0.1);
//! ```
//!
//! All tests take a series of numbers and compute in [`f64`]; [`FittedCurve`](crate::FittedCurve) applies them to its residuals. The result
//! is `None` if the series is too short or constant.

mod deviance;
pub(crate) mod distributions;
mod latin_hypercube;
mod moments;
mod normality;
mod quantile;
pub(crate) mod random;
mod root;
mod runs;
mod serial_correlation;
mod shapiro_wilk;

pub(crate) use deviance::{half_deviance, half_deviance_by};
pub(crate) use latin_hypercube::latin_hypercube;
pub(crate) use moments::Moments;
pub use normality::{dagostino_pearson, jarque_bera};
pub(crate) use quantile::sample_quantile;
pub(crate) use root::root;
pub use runs::runs_test;
pub use serial_correlation::durbin_watson;
pub use shapiro_wilk::shapiro_wilk;

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// The test statistic.
    pub statistic: f64,
    /// p-value: probability of a statistic at least as extreme, if the tested hypothesis is true; from 0 to 1.
    pub p_value: f64,
}
