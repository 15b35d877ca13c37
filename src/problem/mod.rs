//! What is minimised: the least-squares trait and the ways into it.

mod autodiff;
mod closure;
mod least_squares;

pub use autodiff::{AutoDiff, FixedAutoDiff, Residuals};
pub use closure::{Analytic, FiniteDifference};
pub use least_squares::{EvaluationError, LeastSquares};
