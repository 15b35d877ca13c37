//! Values that jump at given steps.

use super::{require, require_finite};
use crate::hyperparameters::HyperparameterError;

/// `values[i]` for `boundaries[i − 1] < step ≤ boundaries[i]`: a boundary belongs to the value before it.
///
/// ```
/// use marquardt::optim::PiecewiseConstantDecay;
///
/// let rate = PiecewiseConstantDecay::new([10, 50], [0.1, 0.05, 0.01]);
/// assert_eq!((rate.at(10), rate.at(11), rate.at(51)), (0.1, 0.05, 0.01));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PiecewiseConstantDecay {
    boundaries: Vec<u64>,
    values: Vec<f64>,
}

impl PiecewiseConstantDecay {
    /// Creates a schedule of ascending boundaries, with one value more than boundaries.
    pub fn new(boundaries: impl Into<Vec<u64>>, values: impl Into<Vec<f64>>) -> Self {
        PiecewiseConstantDecay { boundaries: boundaries.into(), values: values.into() }
    }

    /// The value for the step after `step` others.
    ///
    /// # Panics
    ///
    /// If there are too few values; optimizers refuse such a schedule.
    pub fn at(&self, step: u64) -> f64 {
        self.values[self.boundaries.partition_point(|&boundary| boundary < step)]
    }

    pub(super) fn check(&self) -> Result<(), HyperparameterError> {
        let (name, count) = ("PiecewiseConstantDecay", self.values.len());
        let fits = count == self.boundaries.len() + 1;
        require(name, "values", count as f64, fits, "one more than the boundaries")?;
        for pair in self.boundaries.windows(2) {
            require(name, "boundaries", pair[1] as f64, pair[0] < pair[1], "ascending")?;
        }
        self.values.iter().try_for_each(|&value| require_finite(name, "values", value))
    }
}
