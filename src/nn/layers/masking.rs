//! Masks of steps.

use super::{Layer, NetworkError, Recorder};
use crate::nn::pooling::Pooling;
use crate::nn::tape::steps_and_features;
use crate::nn::{Node, Shape, Tape, TapeError};
use crate::real::Real;

/// Masks the steps of a sequence all of whose entries are `mask_value`, Keras' `Masking`: the layers that follow skip them. Their
/// entries become zeros.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{LSTM, Masking, Recording, Network, Sequential};
/// use ndarray::array;
///
/// let layers = Sequential::sequence(3, 1).push(Masking::new(-1.0)).push(LSTM::new(2));
/// let mut variables = Variables::<f64>::new();
/// let Recording { tape, output, .. } = layers.build(&mut variables, 0)?;
/// let mut network = Network::new(tape, &variables)?;
/// let padded = array![[0.5, 0.7, -1.0], [-1.0, 0.5, 0.7]];
/// let outputs = network.predict(&variables, &[padded.view()], output)?;
/// assert_eq!(outputs.row(0), outputs.row(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Masking<T> {
    mask_value: T,
}

impl<T: Real> Masking<T> {
    /// Masks steps of this value; Keras' default is 0.
    pub fn new(mask_value: T) -> Self {
        Masking { mask_value }
    }
}

impl<T: Real> Layer<T> for Masking<T> {
    fn kind(&self) -> &'static str {
        "masking"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let [steps, features] = steps_and_features("masking", x)?;
        let tape = recorder.tape();
        let differs = tape.not_equal(x, self.mask_value);
        let share =
            tape.reduce(Pooling::Average, differs, 0..steps * features, features, Shape::Row { width: steps })?;
        let mask = tape.not_equal(share, T::ZERO);
        let y = masked(tape, x, mask)?;
        tape.set_mask(y, mask)?;
        Ok(y)
    }
}

/// A sequence with zeros at the steps that are masked.
pub(super) fn masked<T: Real>(tape: &mut Tape<T>, x: Node, mask: Node) -> Result<Node, TapeError> {
    let [steps, features] = steps_and_features("masking", x)?;
    let each = tape.take(mask, (0..steps * features).map(|place| place / features), x.shape())?;
    tape.mul(x, each)
}
