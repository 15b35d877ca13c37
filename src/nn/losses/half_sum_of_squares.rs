//! Half the sum of squares.

use super::{GaussNewton, Loss, Reduction, Targets};
use crate::real::Real;

/// `½‖r‖²` over all samples, where the outputs are the residuals themselves: for residuals written on the tape.
///
/// Of variables alone, as a regulariser, it counts once for a batch, however many rows that has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HalfSumOfSquares;

impl<T: Real> Loss<T> for HalfSumOfSquares {
    fn name(&self) -> &'static str {
        "half the sum of squares"
    }

    fn targets(&self) -> Targets {
        Targets::None
    }

    fn reduction(&self) -> Reduction {
        Reduction::Sum
    }

    fn values(&self, outputs: &[T], width: usize, _targets: &[T], losses: &mut [T]) {
        for (loss, outputs) in losses.iter_mut().zip(outputs.chunks_exact(width)) {
            *loss = T::from_f64(0.5) * outputs.iter().map(|&r| r * r).sum::<T>();
        }
    }

    fn gradients(&self, outputs: &[T], _width: usize, _targets: &[T], gradients: &mut [T]) {
        gradients.copy_from_slice(outputs);
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        Some(self)
    }
}

impl<T: Real> GaussNewton<T> for HalfSumOfSquares {
    fn is_exact(&self) -> bool {
        true
    }

    fn residuals(&self, outputs: &[T], _width: usize, _targets: &[T], residuals: &mut [T], roots: &mut [T]) {
        residuals.copy_from_slice(outputs);
        roots.fill(T::ONE);
    }
}
