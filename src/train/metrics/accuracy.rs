//! Accuracy.

use super::Metric;
use super::mean::Mean;
use crate::nn::{Predictions, Targets};
use crate::real::Real;
use crate::train::Mode;

/// Accuracy: the fraction of samples whose class is predicted correctly, from 0 to 1.
///
/// The comparison depends on the targets, as in Keras. Class indices are compared with the index of the largest output; for rows of several
/// numbers, the indices of the largest entries are compared. Single numbers are rounded at 0.5; outputs of a loss that takes logits are
/// rounded at 0. Samples are weighted by their sample weights. Of several largest outputs, the first counts.
#[derive(Debug, Clone, Default)]
pub struct Accuracy {
    is_binary: bool,
    mean: Mean,
}

impl Accuracy {
    /// Creates the metric: binary for outputs of one number, otherwise categorical.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a binary accuracy for every entry of an output, averaged over the entries, for classes that do not exclude each other.
    pub fn binary() -> Self {
        Accuracy { is_binary: true, mean: Mean::default() }
    }
}

impl<T: Real> Metric<T> for Accuracy {
    fn name(&self) -> &str {
        if self.is_binary { "binary_accuracy" } else { "accuracy" }
    }

    fn mode(&self) -> Mode {
        Mode::Max
    }

    fn check(&self, kind: Targets, _width: usize) -> Result<(), String> {
        match kind {
            Targets::None => Err("this loss compares with no target".to_owned()),
            Targets::Labels if self.is_binary => Err("class numbers are not binary".to_owned()),
            _ => Ok(()),
        }
    }

    fn reset(&mut self) {
        self.mean = Mean::default();
    }

    fn update(&mut self, samples: &Predictions<'_, T>) {
        let Predictions { width, outputs, targets, kind, .. } = *samples;
        let weights = samples.weights.iter().map(|weight| weight.to_f64());
        let rows = outputs.chunks_exact(width);
        if kind == Targets::Labels {
            for ((outputs, &target), weight) in rows.zip(targets).zip(weights) {
                self.mean.add(share(largest(outputs) as f64 == target.to_f64()), weight);
            }
            return;
        }
        let half = T::from_f64(0.5);
        let threshold = if kind == Targets::Probabilities { T::ZERO } else { half };
        for ((outputs, targets), weight) in rows.zip(targets.chunks_exact(width)).zip(weights) {
            let right = if self.is_binary || width == 1 {
                let sides = outputs.iter().zip(targets).map(|(&y, &t)| share((y > threshold) == (t > half)));
                sides.sum::<f64>() / width as f64
            } else {
                share(largest(outputs) == largest(targets))
            };
            self.mean.add(right, weight);
        }
    }

    fn result(&self) -> f64 {
        self.mean.value()
    }

    fn state(&self, numbers: &mut Vec<f64>) {
        self.mean.state(numbers);
    }

    fn restore(&mut self, state: &[f64]) {
        self.mean.restore(state);
    }

    fn merge(&mut self, state: &[f64]) -> bool {
        self.mean.merge(state)
    }
}

/// 1 for yes.
fn share(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// The place of the first of the largest entries.
fn largest<T: Real>(row: &[T]) -> usize {
    (1..row.len()).fold(0, |best, place| if row[place] > row[best] { place } else { best })
}
