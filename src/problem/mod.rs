//! What is minimised: the least-squares trait and the ways into it, and the objective that optimizers step on.

mod autodiff;
mod bounded;
mod bounds;
mod closure;
mod jacobian_products;
mod least_squares;
mod objective;
pub(crate) mod selected;
mod sum_of_squares;
mod work;

pub use autodiff::{AutoDiff, FixedAutoDiff, Residuals};
pub use bounded::Bounded;
pub use bounds::{BoundSide, Bounds, BoundsError};
pub use closure::{Analytic, FiniteDifference};
pub use jacobian_products::{JacobianProducts, ProductWork};
pub use least_squares::{EvaluationError, LeastSquares};
pub use objective::{NotLeastSquares, Objective};
pub use sum_of_squares::SumOfSquares;
pub use work::{Rate, Work};
