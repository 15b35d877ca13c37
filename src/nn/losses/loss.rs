//! The trait of losses.

use std::fmt::Debug;

use super::GaussNewton;
use crate::real::Real;

/// A loss of each sample, given a network's outputs for it and, mostly, a target.
///
/// All methods work on blocks of rows: `outputs` has rows of `width` entries, and there are as many rows of targets: of
/// one entry for [`Targets::Labels`], of none for [`Targets::None`], and of `width` for all others.
///
/// A network minimises the sum over its loss terms of `weight · Σᵢ wᵢ lᵢ / rows`, with the sample weights `wᵢ`; the number
/// of rows divides only what is a [`Reduction::Mean`].
///
/// First-order optimizers need the losses and their gradients, Levenberg–Marquardt the [`GaussNewton`] form as well:
///
/// ```
/// use marquardt::{LevenbergMarquardt, Variables};
/// use marquardt::nn::{GaussNewton, Loss, Sequential};
/// use ndarray::{Array2, array};
///
/// /// `√(1 + e²) − 1` for every error `e`.
/// #[derive(Debug)]
/// struct Charbonnier;
///
/// impl Loss<f64> for Charbonnier {
///     fn name(&self) -> &'static str { "charbonnier" }
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
///     fn least_squares(&self) -> Option<&dyn GaussNewton<f64>> { Some(self) }
/// }
///
/// impl GaussNewton<f64> for Charbonnier {
///     /// Reweighted: `s² = 1/√(1 + e²)`, and `r = s e`.
///     fn residuals(
///         &self,
///         outputs: &[f64],
///         _: usize,
///         targets: &[f64],
///         residuals: &mut [f64],
///         roots: &mut [f64],
///     ) {
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

    /// Kind of its targets; [`Targets::Values`], the default, are compared with the outputs.
    fn targets(&self) -> Targets {
        Targets::Values
    }

    /// Reduction of the samples' losses to one.
    fn reduction(&self) -> Reduction {
        Reduction::Mean
    }

    /// The samples' losses `l`.
    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]);

    /// Writes the gradients of the samples' losses with respect to the outputs, in the shape of the outputs.
    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]);

    /// The samples' losses and their gradients, where both are cheaper at once. The same as one after the other, which is the
    /// default.
    fn values_and_gradients(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T], gradients: &mut [T]) {
        self.values(outputs, width, targets, losses);
        self.gradients(outputs, width, targets, gradients);
    }

    /// Gauss–Newton form for Levenberg–Marquardt; `None`, the default, if the loss has none.
    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        None
    }
}

/// Targets of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Targets {
    /// No reduction.
    None,
    /// An entry for each output.
    Values,
    /// A number from 0 to 1 for each output.
    Probabilities,
    /// An entry for each output, such as a count, that is not negative.
    NonNegative,
    /// One class number for each sample; there are as many classes as outputs.
    Labels,
}

/// Reduction of the samples' losses to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// Mean: the sum of the losses, divided by the number of rows; Keras' `sum_over_batch_size`.
    Mean,
    /// Sum of the losses.
    Sum,
}
