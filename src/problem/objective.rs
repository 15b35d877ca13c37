//! Objectives of optimizers: the loss, gradient or residuals of a minibatch.

use thiserror::Error;

use super::{EvaluationError, KroneckerFactored, LeastSquares, NotKroneckerFactored};
use crate::real::Real;
use crate::variables::Gradients;

/// Objective of an optimizer step, usually one minibatch. It provides the loss, the gradient, or the residuals with their Jacobian.
///
/// First-order optimizers use the gradient, and Levenberg–Marquardt uses the [`least_squares`](Self::least_squares) form, so that one
/// training loop serves both. `x` is always the flat vector of all [`Variables`](crate::Variables), frozen ones included.
pub trait Objective<T: Real> {
    /// The loss at `x`.
    fn loss(&mut self, x: &[T]) -> Result<T, EvaluationError>;

    /// Computes the loss at `x`, and its gradient, which overwrites `gradients`.
    fn loss_and_gradient(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Result<T, EvaluationError>;

    /// The loss as a least-squares problem, scaled so that `½‖r(x)‖²` is the loss; or with residuals that represent its gradient and second
    /// derivative, see [`Capabilities::cost_of`](crate::problem::Capabilities::cost_of).
    ///
    /// # Errors
    ///
    /// [`NotLeastSquares`] when the loss has no such form; optimizers that use gradients alone can still minimise it.
    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<T>, NotLeastSquares>;

    /// The loss with Kronecker factors of its Gauss–Newton matrix, a pair for each layer.
    ///
    /// # Errors
    ///
    /// [`NotKroneckerFactored`] if the loss has no Kronecker factors. The default implementation returns it.
    fn kronecker_factored(&mut self) -> Result<&mut dyn KroneckerFactored<T>, NotKroneckerFactored> {
        Err(NotKroneckerFactored::Layers)
    }

    /// Factor of the negative log-likelihood in the loss: `1 / rows` for the mean cross-entropy of the rows. `None`, the default, if the
    /// loss is not a multiple of it; for example, squared errors with unknown noise.
    fn dispersion(&self) -> Option<T> {
        None
    }
}

/// A loss that is not a sum of squares, and has no Gauss–Newton form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{loss} is not a sum of squares: take a first-order optimizer, or another loss")]
pub struct NotLeastSquares {
    /// The name of the loss.
    pub loss: String,
}
