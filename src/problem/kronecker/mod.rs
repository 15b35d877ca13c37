//! Losses whose Gauss–Newton matrix is approximated, for each layer, by a Kronecker product of two small matrices.

mod block;
pub(crate) mod cost;
mod factors;
pub(crate) mod form;
pub(crate) mod output_products;
mod sketch;

pub use block::KroneckerBlock;
pub use factors::{KroneckerFactor, KroneckerFactors};
pub use output_products::OutputProducts;

use std::ops::Range;

use thiserror::Error;

use super::{EvaluationError, NotLeastSquares, Work};
use crate::distributed::Communicator;
use crate::real::Real;
use crate::variables::Gradients;

/// A loss whose Gauss–Newton matrix `F = JᵀRᵀRJ` is approximated by one block for each layer, `F ≈ A ⊗ G`.
///
/// `J` is the Jacobian of the outputs and `RᵀR` the loss's second derivative by them. `A` is the second moment of a layer's
/// inputs, `G` that of its output sensitivities `Jᵀ Rᵀ ε` for random signs `ε`, whose expectation is exact (Martens & Grosse,
/// *Optimizing Neural Networks with Kronecker-factored Approximate Curvature*, 2015).
/// [`KroneckerLevenbergMarquardt`](crate::optim::KroneckerLevenbergMarquardt) steps on it.
///
/// Implemented by [`Network`](crate::nn::Network). With several ranks every method but [`kronecker_blocks`](Self::kronecker_blocks) is
/// collective, and all results are those of the rows of all ranks.
pub trait KroneckerFactored<T: Real> {
    /// The blocks: every parameter that the loss depends on is in one of them. The same for all batches.
    fn kronecker_blocks(&self) -> &[KroneckerBlock];

    /// The loss at `x` and its gradient by the parameters in `trainable`, ascending ranges; `gradients` is overwritten. Where
    /// `sample` is given, its factors are filled as well.
    ///
    /// `keep` says that [`curvature`](Self::curvature) will follow at the same point.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] where the loss cannot be evaluated.
    fn linearize_factored(
        &mut self,
        x: &[T],
        trainable: &[Range<usize>],
        gradients: &mut Gradients<T>,
        sample: Option<FactorSample<'_, T>>,
        keep: bool,
    ) -> Result<T, EvaluationError>;

    /// [`linearize_factored`](Self::linearize_factored) without a sample, which may also form what `products` asks for. The default forms
    /// nothing.
    ///
    /// # Errors
    ///
    /// As [`linearize_factored`](Self::linearize_factored).
    fn linearize_with_products(
        &mut self,
        x: &[T],
        trainable: &[Range<usize>],
        gradients: &mut Gradients<T>,
        products: OutputProducts<'_, T>,
        keep: bool,
    ) -> Result<T, EvaluationError> {
        let _ = products;
        self.linearize_factored(x, trainable, gradients, None, keep)
    }

    /// Fills `products` with `uᵢᵀFuⱼ`, a row for each of the directions `u`, which have an entry for every parameter.
    ///
    /// # Errors
    ///
    /// As [`linearize_factored`](Self::linearize_factored).
    fn curvature(&mut self, x: &[T], directions: &[&[T]], products: &mut [T]) -> Result<(), EvaluationError>;

    /// The loss at `x`.
    ///
    /// # Errors
    ///
    /// As [`linearize_factored`](Self::linearize_factored).
    fn loss_at(&mut self, x: &[T]) -> Result<T, EvaluationError>;

    /// Estimated work of an average step with Kronecker factors on the batch; `None`, the default, if there is no estimate.
    fn step_work(&self) -> Option<Work> {
        None
    }

    /// The ranks that share the rows, where there are several.
    fn communicator(&self) -> Option<&Communicator> {
        None
    }
}

/// A request for factors, from a part of the rows.
#[derive(Debug)]
pub struct FactorSample<'a, T> {
    /// Destination of the factors.
    pub factors: &'a mut KroneckerFactors<T>,
    /// Fraction of the rows used for the estimate, in `(0, 1]`.
    pub share: f64,
    /// Source of the random signs: a seed and a count of steps.
    pub signs: [u64; 2],
}

/// An objective that has no Kronecker factors.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotKroneckerFactored {
    /// The objective does not consist of layers.
    #[error(
        "the objective does not consist of layers, of which Kronecker factors are formed: take another optimizer, such as LevenbergMarquardt"
    )]
    Layers,
    /// The batch contains several sets of samples, each with its own losses.
    #[error("a batch of several sets of samples has no Kronecker factors: take another optimizer")]
    SampleSets,
    /// The loss has no Gauss–Newton form.
    #[error(transparent)]
    Loss(#[from] NotLeastSquares),
    /// One variable is used in two ways that no single pair of factors describes.
    #[error("{variable} is used as {first} and as {second}, which no single pair of Kronecker factors describes")]
    TwoUses {
        /// The variable's name.
        variable: String,
        /// One of the uses.
        first: String,
        /// The second use.
        second: String,
    },
}
