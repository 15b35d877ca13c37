//! Dropout.

use super::{Layer, NetworkError, Recorder};
use crate::nn::Node;
use crate::real::Real;

/// Drops entries with the probability `rate`, and scales the others by `1 / (1 − rate)`.
///
/// The same entries stay dropped throughout a step: its loss, gradient, Jacobian and trial points see one network. See
/// [`Tape::dropout`](crate::nn::Tape::dropout).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout<T> {
    rate: T,
}

impl<T: Real> Dropout<T> {
    /// A layer that drops this share of all entries, at least 0 and less than 1.
    pub fn new(rate: T) -> Self {
        Dropout { rate }
    }
}

impl<T: Real> Layer<T> for Dropout<T> {
    fn kind(&self) -> &'static str {
        "dropout"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        Ok(recorder.tape().dropout(x, self.rate)?)
    }
}
