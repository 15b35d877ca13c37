//! How a network turns a batch into a loss, residuals, and their derivatives.

mod arithmetic;
mod batch;
mod error;
mod function;
mod initializer;
mod layers;
mod losses;
mod network;
mod pooling;
mod sequential;
mod shape;
mod sweep;
mod tape;
mod term;
mod window;

pub use error::{BatchArray, BatchError, TapeError};
pub use function::Function;
pub use initializer::Initializer;
pub use layers::{
    Activation, AveragePooling2D, BatchNormalization, Conv2D, Dense, Dropout, Embedding, Flatten,
    GlobalAveragePooling2D, Layer, LayerNormalization, MaxPooling2D, NetworkError, Recorder, Reshape, Residual,
};
pub use losses::{
    BinaryCrossentropy, CategoricalCrossentropy, HalfSumOfSquares, Huber, LeastSquaresForm, LogCosh, Loss,
    MeanAbsoluteError, MeanSquaredError, Reduction, SparseCategoricalCrossentropy, Targets,
};
pub use network::Network;
pub use sequential::{Model, Sequential};
pub use shape::Shape;
pub use tape::{Node, Tape};
pub use window::{Padding, Window};
