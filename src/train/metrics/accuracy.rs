//! Accuracy.

use super::Metric;
use super::classes::{classes, threshold};
use super::mean::Mean;
use crate::nn::{Predictions, Targets};
use crate::real::Real;
use crate::train::Mode;

/// The fraction of samples whose class is predicted.
///
/// Chosen by the targets, as in Keras: class numbers are compared with the largest output, rows of several numbers by their
/// largest, and single numbers by the side of 0.5 that they are on; the output of a loss that takes logits by its side of
/// zero. Samples count by their weights. Of several outputs that are equally large the first counts.
#[derive(Debug, Clone, Default)]
pub struct Accuracy {
    is_binary: bool,
    mean: Mean,
}

impl Accuracy {
    /// Binary for outputs of one number, else categorical.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binary for every entry of an output, for classes that do not exclude each other. The mean over outputs counts.
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
