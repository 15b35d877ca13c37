//! What is minimised: the least-squares trait and the ways into it, and the objective that optimizers step on.

mod autodiff;
mod borrowed;
mod bounded;
mod bounds;
mod closure;
mod forward;
mod jacobian_products;
mod least_squares;
mod mad_scale;
mod objective;
mod probe;
mod robust;
mod robust_loss;
mod robust_row;
pub(crate) mod selected;
mod separable;
mod sum_of_squares;
mod work;

pub(crate) use autodiff::room_for;
pub use autodiff::{AutoDiff, FixedAutoDiff, Residuals};
pub use bounded::Bounded;
pub use bounds::{BoundSide, Bounds, BoundsError};
pub use closure::{Analytic, FiniteDifference};
pub use jacobian_products::{JacobianProducts, ProductWork};
pub use least_squares::{EvaluationError, LeastSquares};
pub use mad_scale::mad_scale;
pub use objective::{NotLeastSquares, Objective};
pub(crate) use probe::Probe;
pub use robust::{Robust, RobustScaleError};
pub use robust_loss::{Loss, RobustLoss};
pub(crate) use robust_row::{RobustRow, loss_at};
pub(crate) use separable::linear_parameters;
pub use separable::{Separable, SeparableError};
pub use sum_of_squares::SumOfSquares;
pub use work::{Rate, Work};
