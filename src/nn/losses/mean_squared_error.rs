//! Mean squared error.

use super::{GaussNewton, Loss, elementwise};
use crate::real::Real;

/// The mean over outputs of the squared error, `(y − t)²`.
///
/// Levenberg–Marquardt sees it exactly: it is a sum of squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeanSquaredError;

impl<T: Real> Loss<T> for MeanSquaredError {
    fn name(&self) -> &'static str {
        "mean squared error"
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        elementwise::means((outputs, width, targets), losses, |y, t| (y - t) * (y - t));
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        let two = T::from_f64(2.0);
        elementwise::gradients((outputs, width, targets), gradients, |y, t| two * (y - t));
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        Some(self)
    }
}

impl<T: Real> GaussNewton<T> for MeanSquaredError {
    fn is_exact(&self) -> bool {
        true
    }

    fn residuals(&self, outputs: &[T], width: usize, targets: &[T], residuals: &mut [T], roots: &mut [T]) {
        elementwise::squares((outputs, width, targets), [residuals, roots], T::from_f64(2.0));
    }
}
