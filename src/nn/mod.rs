//! How a network turns a batch into a loss, residuals, and their derivatives.

mod error;
mod function;
mod initializer;
mod loss;
mod tape;

pub use error::{BatchArray, BatchError, TapeError};
pub use function::Function;
pub use initializer::Initializer;
pub use loss::{HalfSumOfSquares, LeastSquaresForm, Loss, MeanSquaredError, Reduction, Targets};
pub use tape::{Node, Tape};
