//! Batch normalisation, which is refused.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Node, TapeError};
use crate::real::Real;

/// Batch normalisation: refused with [`TapeError::MixesSamples`] when the network is built.
///
/// It makes every sample's output depend on the whole batch, and no row of a Jacobian would belong to one sample. Scale
/// the data, and start from an [`Initializer`](crate::nn::Initializer) that fits the activation, instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchNormalization;

impl<T: Real> Layer<T> for BatchNormalization {
    fn kind(&self) -> &'static str {
        "batch normalization"
    }

    fn record(&self, _recorder: &mut Recorder<'_, T>, _x: Node) -> Result<Node, NetworkError> {
        Err(TapeError::MixesSamples { operation: "batch normalization" }.into())
    }
}
