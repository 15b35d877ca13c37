//! How a network turns a batch into a loss, residuals, and their derivatives.

mod arithmetic;
mod batch;
mod error;
mod function;
mod initializer;
mod layers;
mod losses;
mod network;
mod sequential;
mod sweep;
mod tape;
mod term;

pub use error::{BatchArray, BatchError, TapeError};
pub use function::Function;
pub use initializer::Initializer;
pub use layers::{Activation, BatchNormalization, Dense, Dropout, Embedding, Layer, NetworkError, Recorder, Residual};
pub use losses::{
    BinaryCrossentropy, CategoricalCrossentropy, HalfSumOfSquares, Huber, LeastSquaresForm, LogCosh, Loss,
    MeanAbsoluteError, MeanSquaredError, Reduction, SparseCategoricalCrossentropy, Targets,
};
pub use network::{Network, Predictions};
pub use sequential::{Model, Sequential};
pub use tape::{Node, Tape};
