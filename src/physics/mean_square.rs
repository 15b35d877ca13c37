//! The loss of residuals.

use crate::nn::{GaussNewton, Loss, Targets};
use crate::real::Real;

/// The sum of squares of a sample's residuals, and the mean of that over samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeanSquare;

impl<T: Real> Loss<T> for MeanSquare {
    fn name(&self) -> &'static str {
        "mean square of residuals"
    }

    fn targets(&self) -> Targets {
        Targets::None
    }

    fn values(&self, outputs: &[T], width: usize, _targets: &[T], losses: &mut [T]) {
        for (loss, outputs) in losses.iter_mut().zip(outputs.chunks_exact(width)) {
            *loss = outputs.iter().map(|&r| r * r).sum();
        }
    }

    fn gradients(&self, outputs: &[T], _width: usize, _targets: &[T], gradients: &mut [T]) {
        for (gradient, &r) in gradients.iter_mut().zip(outputs) {
            *gradient = r + r;
        }
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        Some(self)
    }
}

impl<T: Real> GaussNewton<T> for MeanSquare {
    fn is_exact(&self) -> bool {
        true
    }

    fn residuals(&self, outputs: &[T], _width: usize, _targets: &[T], residuals: &mut [T], roots: &mut [T]) {
        let root = T::from_f64(2.0).sqrt();
        roots.fill(root);
        for (residual, &r) in residuals.iter_mut().zip(outputs) {
            *residual = root * r;
        }
    }
}
