//! Accuracy.

use super::Metric;
use super::classes::{classes, threshold};
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
        if !self.is_binary {
            classes(samples).for_each(|(target, predicted, weight)| self.mean.add(share(target == predicted), weight));
            return;
        }
        let Predictions { width, outputs, targets, kind, .. } = *samples;
        let (half, threshold) = (T::from_f64(0.5), threshold(kind));
        let rows = outputs.chunks_exact(width).zip(targets.chunks_exact(width)).zip(samples.weights);
        for ((outputs, targets), weight) in rows {
            let sides = outputs.iter().zip(targets).map(|(&y, &t)| share((y > threshold) == (t > half)));
            self.mean.add(sides.sum::<f64>() / width as f64, weight.to_f64());
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
