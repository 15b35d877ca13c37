//! How a network turns a batch into a loss, residuals, and their derivatives.

mod arithmetic;
mod batch;
mod error;
mod factors;
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
    BinaryCrossentropy, CategoricalCrossentropy, CurvatureRoot, GaussNewton, HalfSumOfSquares, Huber, LogCosh, Loss,
    MeanAbsoluteError, MeanSquaredError, Poisson, Reduction, SparseCategoricalCrossentropy, Targets,
};
pub use network::Network;
pub use sequential::{Model, Sequential};
pub use tape::{Node, Tape};
