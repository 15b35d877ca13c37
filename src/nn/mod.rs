//! How a network turns a batch into a loss, residuals, and their derivatives.

mod arithmetic;
mod batch;
mod error;
mod function;
mod loss;
mod network;
mod sweep;
mod tape;
mod term;

pub use error::{BatchArray, BatchError, TapeError};
pub use function::Function;
pub use loss::{HalfSumOfSquares, LeastSquaresForm, Loss, MeanSquaredError, Reduction, Targets};
pub use network::Network;
pub use tape::{Node, Tape};
