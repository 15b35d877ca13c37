//! The mean over steps.

use super::masking::masked;
use super::{Layer, NetworkError, Recorder};
use crate::nn::pooling::Pooling;
use crate::nn::tape::steps_and_features;
use crate::nn::{Node, Shape};
use crate::real::Real;

/// The mean of a sequence over its steps, Keras' `GlobalAveragePooling1D`: a row with an entry for each feature. Masked steps do
/// not count; if all are masked, the mean is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GlobalAveragePooling1D;

impl<T: Real> Layer<T> for GlobalAveragePooling1D {
    fn kind(&self) -> &'static str {
        "global average pooling"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let [steps, features] = steps_and_features("global average pooling", x)?;
        let tape = recorder.tape();
        let mask = tape.mask(x);
        let counted = mask.map_or(Ok(x), |mask| masked(tape, x, mask))?;
        let places = (0..steps * features).map(|place| place % steps * features + place / steps);
        let mean = tape.reduce(Pooling::Average, counted, places, steps, Shape::Row { width: features })?;
        let Some(mask) = mask else { return Ok(mean) };
        let count = tape.row_sum(mask);
        let share = tape.scale(count, T::from_f64(steps as f64).recip());
        // Without steps, over one.
        let any = tape.not_equal(count, T::ZERO);
        let negative = tape.negate(any);
        let none = tape.shift(negative, T::ONE);
        let share = tape.add(share, none)?;
        Ok(tape.div(mean, share)?)
    }
}
