//! Embedding.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Initializer, Node, TapeError};
use crate::real::Real;

/// Looks rows of a table up: every entry of the input is a row number, and becomes that row.
///
/// Only an input holds row numbers, so it comes first in its network. Its variable is `weight`, of the shape
/// `[rows, width]`, as in PyTorch; it starts uniform on ±0.05, as in Keras. Its gradient is sparse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Embedding {
    rows: usize,
    width: usize,
    initializer: Initializer,
}

impl Embedding {
    /// Creates a table of `rows` rows of `width` entries.
    pub fn new(rows: usize, width: usize) -> Self {
        Embedding { rows, width, initializer: Initializer::Uniform { limit: 0.05 } }
    }

    /// Initializer of the table, with `fan_in = rows` and `fan_out = width`.
    pub fn with_initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = initializer;
        self
    }
}

impl<T: Real> Layer<T> for Embedding {
    fn kind(&self) -> &'static str {
        "embedding"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let Embedding { rows, width, initializer } = *self;
        if rows == 0 || width == 0 {
            return Err(TapeError::Empty { operation: "embedding" }.into());
        }
        let table = recorder.variable("weight", &[rows, width], rows, width, initializer)?;
        Ok(recorder.tape().embedding(x, table)?)
    }
}
