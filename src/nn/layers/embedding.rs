//! Embedding.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Initializer, Node, Shape, TapeError};
use crate::real::Real;

/// Looks rows of a table up: every entry of the input is a row number, and becomes that row. The output is a sequence with a
/// step for each.
///
/// Only an input holds row numbers, so it comes first in its network. Its variable is `weight`, of the shape
/// `[rows, width]`, as in PyTorch; it starts uniform on ±0.05, as in Keras. Its gradient is sparse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Embedding {
    rows: usize,
    width: usize,
    initializer: Initializer,
    mask_zero: bool,
}

impl Embedding {
    /// Creates a table of `rows` rows of `width` entries.
    pub fn new(rows: usize, width: usize) -> Self {
        Embedding { rows, width, initializer: Initializer::Uniform { limit: 0.05 }, mask_zero: false }
    }

    /// Initializer of the table, with `fan_in = rows` and `fan_out = width`.
    pub fn with_initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = initializer;
        self
    }

    /// Sets whether row number 0 stands for padding: such steps are masked. Default false.
    pub fn with_mask_zero(mut self, mask_zero: bool) -> Self {
        self.mask_zero = mask_zero;
        self
    }
}

impl<T: Real> Layer<T> for Embedding {
    fn kind(&self) -> &'static str {
        "embedding"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let Embedding { rows, width, initializer, mask_zero } = *self;
        if rows == 0 || width == 0 {
            return Err(TapeError::Empty { operation: "embedding" }.into());
        }
        let table = recorder.variable("weight", &[rows, width], rows, width, initializer)?;
        let tape = recorder.tape();
        let y = tape.embedding(x, table)?;
        let y = tape.reshape(y, Shape::Sequence { steps: x.width(), features: width })?;
        if mask_zero {
            let mask = tape.not_equal(x, T::ZERO);
            tape.set_mask(y, mask)?;
        }
        Ok(y)
    }
}
