//! What a loss is.

use std::fmt::Debug;

use crate::Real;

/// A loss of each sample, given a network's outputs for it and, mostly, a target.
///
/// All methods work on blocks of rows: `outputs` has rows of `width` numbers, and there are as many rows of targets: of
/// `width` numbers for [`Targets::Values`] and [`Targets::Probabilities`], of one for [`Targets::Labels`], of none for [`Targets::None`].
///
/// A network minimises the sum over its loss terms of `weight · Σᵢ wᵢ lᵢ / rows`, with the sample weights `wᵢ`; the number
/// of rows divides only what is a [`Reduction::Mean`].
pub trait Loss<T: Real>: Debug + Send {
    /// Its name, for messages.
    fn name(&self) -> &'static str;

    /// What it compares the outputs with.
    fn targets(&self) -> Targets;

    /// How the samples' losses become one.
    fn reduction(&self) -> Reduction {
        Reduction::Mean
    }

    /// The samples' losses `l`.
    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]);

    /// Their gradients with respect to the outputs, in the shape of the outputs.
    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]);

    /// How Levenberg–Marquardt sees it.
    fn least_squares(&self) -> LeastSquaresForm {
        LeastSquaresForm::None
    }

    /// A residual `r` for each output, and the root `s` of the second derivative, both in the shape of the outputs.
    ///
    /// The rows of the Jacobian are `s · ∂output/∂x`, and `s · r` is the gradient with respect to the output. Where the
    /// form is [`LeastSquaresForm::Exact`], `½‖r‖²` is the loss. Called unless the form is [`LeastSquaresForm::None`].
    fn residuals(&self, outputs: &[T], width: usize, targets: &[T], residuals: &mut [T], roots: &mut [T]) {
        let _ = (outputs, width, targets, residuals, roots);
    }
}

/// What a loss compares the outputs with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Targets {
    /// Nothing.
    None,
    /// A number for each output.
    Values,
    /// A number from 0 to 1 for each output.
    Probabilities,
    /// One class number for each sample; there are as many classes as outputs.
    Labels,
}

/// How the samples' losses become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum is divided by the number of rows: Keras' `sum_over_batch_size`.
    Mean,
    /// Their sum.
    Sum,
}

/// How Levenberg–Marquardt sees a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeastSquaresForm {
    /// Not at all.
    None,
    /// The loss is a sum of squares.
    Exact,
    /// Residuals stand for the gradient and the second derivative; steps are judged by the loss itself.
    Approximate,
}
