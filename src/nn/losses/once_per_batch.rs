//! A loss of variables alone.

use super::{GaussNewton, Loss, Reduction, Targets};
use crate::real::Real;

/// A loss whose outputs depend on no input, as a regulariser's: each sample has the same one, which counts once for a batch, whatever its rows.
#[derive(Debug)]
pub(crate) struct OncePerBatch<T>(pub(crate) Box<dyn Loss<T>>);

impl<T: Real> Loss<T> for OncePerBatch<T> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn targets(&self) -> Targets {
        self.0.targets()
    }

    fn reduction(&self) -> Reduction {
        Reduction::Mean
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        self.0.values(outputs, width, targets, losses);
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        self.0.gradients(outputs, width, targets, gradients);
    }

    fn values_and_gradients(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T], gradients: &mut [T]) {
        self.0.values_and_gradients(outputs, width, targets, losses, gradients);
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        self.0.least_squares()
    }
}
