//! Layers that change nothing but the shape.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Node, Shape};
use crate::real::Real;

/// Makes a row of an image: one channel after the other, each row by row, as in PyTorch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flatten;

impl<T: Real> Layer<T> for Flatten {
    fn kind(&self) -> &'static str {
        "flatten"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        Ok(recorder.tape().flatten(x))
    }
}

/// Arranges the same entries in another shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reshape(pub Shape);

impl<T: Real> Layer<T> for Reshape {
    fn kind(&self) -> &'static str {
        "reshape"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        Ok(recorder.tape().reshape(x, self.0)?)
    }
}
