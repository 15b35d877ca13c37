//! Layers: parts of a network that bring their own variables.

mod activation;
mod attention;
mod batch_normalization;
mod bidirectional;
mod conv2d;
mod dense;
mod dropout;
mod embedding;
mod error;
mod global_average_pooling1d;
mod gru;
mod layer_normalization;
mod lstm;
mod masking;
mod normalization;
mod pooling;
mod recorder;
mod recurrent;
mod reshape;
mod residual;
mod simple_rnn;

use std::fmt::Debug;

pub use activation::Activation;
pub use attention::MultiHeadAttention;
pub use batch_normalization::BatchNormalization;
pub use bidirectional::Bidirectional;
pub use conv2d::Conv2D;
pub use dense::Dense;
pub use dropout::Dropout;
pub use embedding::Embedding;
pub use error::NetworkError;
pub use global_average_pooling1d::GlobalAveragePooling1D;
pub use gru::{GRU, GRUCell};
pub use layer_normalization::LayerNormalization;
pub use lstm::{LSTM, LSTMCell};
pub use masking::Masking;
pub use normalization::Normalization;
pub use pooling::{AveragePooling2D, GlobalAveragePooling2D, MaxPooling2D, Pooling2D};
pub use recorder::Recorder;
pub use recurrent::{Cell, Recurrent, Step};
pub use reshape::{Flatten, Reshape};
pub use residual::Residual;
pub use simple_rnn::{SimpleRNN, SimpleRNNCell};

use super::Node;
use crate::real::Real;

/// A part of a network that brings its own variables, to be stacked in a [`Sequential`](super::Sequential).
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{Initializer, Layer, NetworkError, Node, Recorder, Sequential};
///
/// /// Every entry has a scale of its own.
/// #[derive(Debug)]
/// struct Scales;
///
/// impl Layer<f64> for Scales {
///     fn kind(&self) -> &'static str {
///         "scales"
///     }
///
///     fn record(&self, recorder: &mut Recorder<'_, f64>, x: Node) -> Result<Node, NetworkError> {
///         let scales = recorder.variable(
///             "scales",
///             &[x.width()],
///             x.width(),
///             x.width(),
///             Initializer::Ones,
///         )?;
///         let scales = recorder.tape().variable(scales);
///         Ok(recorder.tape().mul(x, scales)?)
///     }
/// }
///
/// let mut variables = Variables::new();
/// Sequential::new(3).push(Scales).dense(1).build(&mut variables, 0)?;
/// assert!(variables.find("0.scales").is_some());
/// # Ok::<(), NetworkError>(())
/// ```
pub trait Layer<T: Real>: Debug + Send {
    /// Kind of layer, for messages.
    fn kind(&self) -> &'static str;

    /// Adds its variables, and records its operations on `x`.
    ///
    /// # Errors
    ///
    /// A [`NetworkError`] when it does not fit `x`.
    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError>;
}
