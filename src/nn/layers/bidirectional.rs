//! A sequence taken in both directions.

use super::recurrent::{Cell, Recurrent};
use super::{Layer, NetworkError, Recorder};
use crate::nn::{Node, Shape};
use crate::real::Real;

/// A recurrent layer and its copy for the other direction, Keras' `Bidirectional` with `merge_mode="concat"`: their outputs side
/// by side, at each step if the layer returns sequences.
///
/// The variables are those of the layers `forward` and `backward`. Initial states are those of `forward`, then those of
/// `backward`, and so are the states that are returned.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{Bidirectional, GRU, Sequential};
///
/// let mut variables = Variables::<f64>::new();
/// let layers = Sequential::sequence(10, 3).push(Bidirectional::new(GRU::new(8)));
/// assert_eq!(layers.build(&mut variables, 0)?.output.width(), 16);
/// assert!(variables.find("0.backward.recurrent_weight").is_some());
/// # Ok::<(), marquardt::nn::NetworkError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bidirectional<C, T> {
    layer: Recurrent<C, T>,
}

impl<C, T> Bidirectional<C, T> {
    /// Takes sequences in both directions by copies of `layer`.
    pub fn new(layer: Recurrent<C, T>) -> Self {
        Bidirectional { layer }
    }
}

impl<T: Real, C: Cell<T>> Layer<T> for Bidirectional<C, T> {
    fn kind(&self) -> &'static str {
        "bidirectional"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let (mut forward, mut backward) = (self.layer.clone(), self.layer.clone());
        backward.go_backwards = !backward.go_backwards;
        backward.initial_state = forward.initial_state.split_off(forward.initial_state.len() / 2);
        let one = recorder.layer("forward", &forward, x)?;
        let other = recorder.layer("backward", &backward, x)?;

        let (tape, units) = (recorder.tape(), self.layer.units);
        let states = if self.layer.return_state { C::STATES * units } else { 0 };
        let steps = (one.width() - states) / units;
        let mut parts = Vec::with_capacity(2 * steps + 2);
        for step in 0..steps {
            // The last output of the other direction is that of the first step.
            for (y, step) in [(one, step), (other, steps - 1 - step)] {
                parts.push(tape.slice(y, step * units..(step + 1) * units)?);
            }
        }
        if self.layer.return_state {
            for y in [one, other] {
                parts.push(tape.slice(y, steps * units..y.width())?);
            }
        }
        let row = tape.concat(&parts)?;
        if !self.layer.return_sequences || self.layer.return_state {
            return Ok(row);
        }
        let output = tape.reshape(row, Shape::Sequence { steps, features: 2 * units })?;
        if let Some(mask) = tape.mask(one) {
            tape.set_mask(output, mask)?;
        }
        Ok(output)
    }
}
