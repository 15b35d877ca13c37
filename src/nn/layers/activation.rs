//! Functions of every entry, as layers.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Function, Node};
use crate::real::Real;

/// A [`Function`] of every entry.
///
/// [`Sequential`](crate::nn::Sequential) has a method for each of the usual ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Activation<T>(pub Function<T>);

impl<T: Real> Layer<T> for Activation<T> {
    fn kind(&self) -> &'static str {
        self.0.name()
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        Ok(recorder.tape().apply(self.0, x))
    }
}
