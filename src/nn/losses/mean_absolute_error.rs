//! Mean absolute error.

use super::{Loss, elementwise};
use crate::real::Real;

/// The mean over outputs of `|y − t|`.
///
/// First-order optimizers minimise it, with the derivative at zero taken as zero. Levenberg–Marquardt refuses it, since
/// its second derivative is zero wherever it has one: take [`Huber`](super::Huber) with a small `delta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeanAbsoluteError;

impl<T: Real> Loss<T> for MeanAbsoluteError {
    fn name(&self) -> &'static str {
        "mean absolute error"
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        elementwise::means((outputs, width, targets), losses, |y, t| (y - t).abs());
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        elementwise::gradients((outputs, width, targets), gradients, |y, t| {
            if y > t {
                T::ONE
            } else if y < t {
                -T::ONE
            } else {
                T::ZERO
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check_gradients;
    use super::*;

    #[test]
    fn derivatives_belong_to_the_values() {
        check_gradients(&MeanAbsoluteError, &[0.2, -3.0, 5.0, 0.0], 2, &[0.1, 0.5, -4.0, 0.0]);
    }
}
