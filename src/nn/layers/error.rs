//! Errors of networks made of layers.

use thiserror::Error;

use crate::nn::{Shape, TapeError};
use crate::variables::VariableError;

/// A network that cannot be built.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A layer cannot be recorded.
    #[error("layer {layer}: {source}")]
    Layer {
        /// Its place in the network, and its kind.
        layer: String,
        /// The reason.
        source: TapeError,
    },
    /// Layers that were made for another width.
    #[error("layer {layer}: made for an input of width {expected}, not {found}")]
    InputWidth {
        /// Place of the layer in the network, and its kind.
        layer: String,
        /// The width that they were made for.
        expected: usize,
        /// Width of the output before them.
        found: usize,
    },
    /// Layers that were made for another shape.
    #[error("layer {layer}: made for {expected}, not for {found}")]
    InputShape {
        /// Place of the layer in the network, and its kind.
        layer: String,
        /// The shape that they were made for.
        expected: Shape,
        /// Shape of the output before them.
        found: Shape,
    },
    /// The layers of a residual connection change the width.
    #[error("layer {layer}: an output of width {found} cannot be added to an input of width {expected}")]
    ResidualWidth {
        /// Its place in the network, and its kind.
        layer: String,
        /// Width of the input.
        expected: usize,
        /// Width of the output of its layers.
        found: usize,
    },
    /// An operation outside of any layer cannot be recorded.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// A variable cannot be added.
    #[error(transparent)]
    Variable(#[from] VariableError),
}
