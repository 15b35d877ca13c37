//! Residual connections.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Node, Sequential};
use crate::real::Real;

/// A residual connection: `x + f(x)`, where `f` are layers that keep the width.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{Residual, Sequential};
///
/// let mut variables = Variables::<f64>::new();
/// let block = || Residual::new(Sequential::new(8).dense(16).tanh().dense(8));
/// Sequential::new(2).dense(8).push(block()).push(block()).dense(1).build(&mut variables, 0)?;
/// assert!(variables.find("1.0.weight").is_some() && variables.find("2.2.bias").is_some());
///
/// let narrower = Residual::new(Sequential::new(8).dense(5));
/// let error =
///     Sequential::<f64>::new(8).push(narrower).build(&mut Variables::new(), 0).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "layer 0 (residual): an output of width 5 cannot be added to an input of width 8"
/// );
/// # Ok::<(), marquardt::nn::NetworkError>(())
/// ```
#[derive(Debug)]
pub struct Residual<T> {
    layers: Sequential<T>,
}

impl<T: Real> Residual<T> {
    /// The connection around these layers.
    pub fn new(layers: Sequential<T>) -> Self {
        Residual { layers }
    }
}

impl<T: Real> Layer<T> for Residual<T> {
    fn kind(&self) -> &'static str {
        "residual"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let change = self.layers.record_as(self, recorder, x)?;
        if change.width() != x.width() {
            let (layer, expected, found) = (recorder.describe(self), x.width(), change.width());
            return Err(NetworkError::ResidualWidth { layer, expected, found });
        }
        Ok(recorder.tape().add(x, change)?)
    }
}
