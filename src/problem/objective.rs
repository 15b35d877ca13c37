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

    /// The loss as a sum of squares, scaled so that `½‖r(x)‖²` is the loss; or by residuals that stand for its gradient
    /// and its second derivative, as [`Capabilities::cost_of`](crate::problem::Capabilities::cost_of) says.
    ///
    /// # Errors
    ///
    /// [`NotLeastSquares`] when the loss has no such form; optimizers that use gradients alone can still minimise it.
    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<T>, NotLeastSquares>;

    /// The loss with Kronecker factors of its Gauss–Newton matrix, a pair for each layer.
    ///
    /// # Errors
    ///
    /// [`NotKroneckerFactored`] says why there are none; by default, that no layers are known.
    fn kronecker_factored(&mut self) -> Result<&mut dyn KroneckerFactored<T>, NotKroneckerFactored> {
        Err(NotKroneckerFactored::Layers)
    }

    /// Factor of the negative log-likelihood in the loss: `1 / rows` for the mean cross-entropy of the rows. `None`, the default, if the
    /// loss is no such multiple, as squared errors are none before their noise is known.
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
