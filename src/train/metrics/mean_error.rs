//! Mean absolute and squared errors.

use super::Metric;
use super::mean::Mean;
use crate::nn::{Predictions, Targets};
use crate::real::Real;

/// Mean absolute or squared error over samples and outputs.
///
/// Samples are weighted by their sample weights. Only for losses with [`Targets::Values`]; the outputs of other losses are logits.
#[derive(Debug, Clone)]
pub struct MeanError {
    kind: MeanErrorKind,
    mean: Mean,
}

#[derive(Debug, Clone, Copy)]
enum MeanErrorKind {
    Absolute,
    Squared,
    RootSquared,
}

impl MeanError {
    /// The mean absolute error, `mae`.
    pub fn absolute() -> Self {
        MeanError { kind: MeanErrorKind::Absolute, mean: Mean::default() }
    }

    /// The mean squared error, `mse`.
    pub fn squared() -> Self {
        MeanError { kind: MeanErrorKind::Squared, mean: Mean::default() }
    }

    /// The root of the mean squared error, `rmse`.
    pub fn root_squared() -> Self {
        MeanError { kind: MeanErrorKind::RootSquared, mean: Mean::default() }
    }
}

impl<T: Real> Metric<T> for MeanError {
    fn name(&self) -> &str {
        match self.kind {
            MeanErrorKind::Absolute => "mae",
            MeanErrorKind::Squared => "mse",
            MeanErrorKind::RootSquared => "rmse",
        }
    }

    fn check(&self, kind: Targets, _width: usize) -> Result<(), String> {
        needs_values(kind)
    }

    fn reset(&mut self) {
        self.mean = Mean::default();
    }

    fn update(&mut self, samples: &Predictions<'_, T>) {
        let rows = samples.outputs.chunks_exact(samples.width).zip(samples.targets.chunks_exact(samples.width));
        for ((outputs, targets), weight) in rows.zip(samples.weights) {
            let errors = outputs.iter().zip(targets).map(|(y, t)| y.to_f64() - t.to_f64());
            let total: f64 = match self.kind {
                MeanErrorKind::Absolute => errors.map(f64::abs).sum(),
                MeanErrorKind::Squared | MeanErrorKind::RootSquared => errors.map(|error| error * error).sum(),
            };
            self.mean.add(total / samples.width as f64, weight.to_f64());
        }
    }

    fn result(&self) -> f64 {
        match self.kind {
            MeanErrorKind::RootSquared => self.mean.value().sqrt(),
            _ => self.mean.value(),
        }
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

/// Refuses outputs that are no predictions of the targets.
pub(super) fn needs_values(kind: Targets) -> Result<(), String> {
    match kind {
        Targets::Values => Ok(()),
        Targets::Probabilities | Targets::Labels => {
            Err("the outputs of this loss are logits, not predictions".to_owned())
        }
        Targets::NonNegative => Err("the outputs of this loss are logarithms, not predictions".to_owned()),
        Targets::None => Err("this loss compares with no target".to_owned()),
    }
}
