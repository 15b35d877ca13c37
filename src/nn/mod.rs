//! Networks: layers, losses, the tape that they are recorded on, and the residuals and derivatives of a batch.
//!
//! ```
//! use marquardt::nn::{MeanSquaredError, Sequential};
//! use marquardt::{LevenbergMarquardt, Variables};
//! use ndarray::array;
//!
//! let (x, y) = (array![[0.0], [0.5], [1.0]], array![[0.0], [0.25], [1.0]]);
//! let mut variables = Variables::<f64>::new();
//! let layers = Sequential::new(1).dense(4).tanh().dense(1);
//! let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
//! network.batch(&[x.view()], &[y.view()])?;
//! let report = LevenbergMarquardt::new().minimize_variables(&mut network, &mut variables)?;
//! assert!(report.cost < report.initial_cost);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Sequential`] stacks layers:
//!
//! | layer | output |
//! |---|---|
//! | [`Dense`] | `x Wᵀ + b` |
//! | [`Conv2D`] | convolution of an image |
//! | [`MaxPooling2D`], [`AveragePooling2D`], [`GlobalAveragePooling2D`] | the largest, or the mean, of parts of an image |
//! | [`Flatten`], [`Reshape`] | the same entries in another [`Shape`] |
//! | [`Normalization`] | entries less the means of data, over their standard deviations; also inverted, behind the last layer |
//! | [`LayerNormalization`] | a sample's or a step's entries, less their mean, over their standard deviation |
//! | [`Activation`] | a [`Function`] of every entry |
//! | [`Embedding`] | rows of a table, a sequence |
//! | [`SimpleRNN`], [`LSTM`], [`GRU`], [`Bidirectional`] | the last state of a sequence, or all of them |
//! | [`MultiHeadAttention`] | each step, made of those that it attends to |
//! | [`Masking`] | a sequence some of whose steps do not count |
//! | [`GlobalAveragePooling1D`] | the mean over steps |
//! | [`Dropout`] | some of the entries, at random |
//! | [`Residual`] | `x + f(x)` |
//! | [`BatchNormalization`] | none: it is refused, as its derivatives couple samples |
//! | your own [`Layer`] | any operation that a [`Tape`] can record |
//!
//! All derivatives are exact, of the first and second order, and those of one sample never depend on another.

mod arithmetic;
mod batch;
mod chain_rule;
mod error;
mod external;
mod factor_plan;
mod factors;
mod function;
mod functions;
mod initializer;
mod layer_blocks;
mod layers;
mod losses;
mod network;
mod pooling;
mod recorded_layer;
mod sample_product;
mod sequential;
mod shape;
mod summary;
mod sweep;
mod tape;
mod term;
mod weighted_loss;
mod window;
mod work;

pub(crate) use batch::{SampleArrays, Selection};
pub use error::{BatchArray, BatchError, TapeError};
pub use external::{External, ExternalBatch, ExternalModel, ModelError, OutputShape};
pub use function::Function;
pub use initializer::Initializer;
pub use layers::{
    Activation, AveragePooling2D, BatchNormalization, Bidirectional, Cell, Conv2D, Dense, Dropout, Embedding, Flatten,
    GRU, GRUCell, GlobalAveragePooling1D, GlobalAveragePooling2D, LSTM, LSTMCell, Layer, LayerNormalization, Masking,
    MaxPooling2D, MultiHeadAttention, NetworkError, Normalization, Pooling2D, Recorder, Recurrent, Reshape, Residual,
    SimpleRNN, SimpleRNNCell, Step,
};
pub use losses::{
    BinaryCrossentropy, CategoricalCrossentropy, CurvatureRoot, GaussNewton, HalfSumOfSquares, Huber, LogCosh, Loss,
    MeanAbsoluteError, MeanSquaredError, Poisson, Reduction, SparseCategoricalCrossentropy, Targets,
};
pub use network::{Network, Predictions};
pub use recorded_layer::RecordedLayer;
pub use sequential::{Recording, Sequential};
pub use shape::Shape;
pub use summary::{Cost, LayerSummary, StepCost, Summary};
pub(crate) use sweep::leading_to;
pub(crate) use tape::DerivativeChannel;
pub use tape::{Node, Tape};
pub use window::{Padding, Window};
