//! What a loss is.

use std::fmt::Debug;

use crate::Real;

/// A loss of each sample, given a network's outputs for it and, mostly, a target.
///
/// All methods work on blocks of rows: `outputs` has rows of `width` numbers, and there are as many rows of targets: of
/// `width` numbers for [`Targets::Values`] and [`Targets::Probabilities`], of one for [`Targets::Labels`], of none for
/// [`Targets::None`].
///
/// A network minimises the sum over its loss terms of `weight · Σᵢ wᵢ lᵢ / rows`, with the sample weights `wᵢ`; the number
/// of rows divides only what is a [`Reduction::Mean`].
///
/// First-order optimizers need the losses and their gradients, Levenberg–Marquardt the residuals as well:
///
/// ```
/// use marquardt::nn::{LeastSquaresForm, Loss, Sequential, Targets};
/// use marquardt::{LevenbergMarquardt, Variables};
/// use ndarray::{Array2, array};
///
/// /// `√(1 + e²) − 1` for every error `e`.
/// #[derive(Debug)]
/// struct Charbonnier;
///
/// impl Loss<f64> for Charbonnier {
///     fn name(&self) -> &'static str { "charbonnier" }
///     fn targets(&self) -> Targets { Targets::Values }
///
///     fn values(&self, outputs: &[f64], width: usize, targets: &[f64], losses: &mut [f64]) {
///         let samples = outputs.chunks_exact(width).zip(targets.chunks_exact(width));
///         for (loss, (outputs, targets)) in losses.iter_mut().zip(samples) {
///             *loss = outputs.iter().zip(targets).map(|(y, t)| (y - t).hypot(1.0) - 1.0).sum();
///         }
///     }
///
///     fn gradients(&self, outputs: &[f64], _: usize, targets: &[f64], gradients: &mut [f64]) {
///         for ((gradient, y), t) in gradients.iter_mut().zip(outputs).zip(targets) {
///             *gradient = (y - t) / (y - t).hypot(1.0);
///         }
///     }
///
///     fn least_squares(&self) -> LeastSquaresForm { LeastSquaresForm::Approximate }
///
///     /// Reweighted: `s² = 1/√(1 + e²)`, and `r = s e`.
///     fn residuals(&self, outputs: &[f64], _: usize, targets: &[f64], residuals: &mut [f64], roots: &mut [f64]) {
///         for (i, (y, t)) in outputs.iter().zip(targets).enumerate() {
///             roots[i] = (y - t).hypot(1.0).sqrt().recip();
///             residuals[i] = roots[i] * (y - t);
///         }
///     }
/// }
///
/// // A line through points of which the last is wrong.
/// let x = Array2::from_shape_fn((20, 1), |(i, _)| i as f64 / 10.0);
/// let mut y = x.mapv(|x| 2.0 * x - 1.0);
/// y[[19, 0]] = 100.0;
/// let mut variables = Variables::new();
/// let mut line = Sequential::new(1).dense(1).compile(&mut variables, 0, Charbonnier)?;
/// line.batch(&[x.view()], &[y.view()])?;
/// LevenbergMarquardt::new().minimize_variables(&mut line, &mut variables)?;
/// let at_one = line.predict(&variables, &[array![[1.0]].view()], line.outputs()[0])?;
/// assert!((at_one[[0, 0]] - 1.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
