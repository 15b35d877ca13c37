//! A model that another library evaluates and differentiates.

use crate::nn::RecordedLayer;
use crate::problem::Evaluated;
use crate::real::Real;

/// A model of another library, on a batch of samples: its outputs, and products with the transpose of their Jacobian.
///
/// [`External`](super::External) makes an [`Objective`](crate::problem::Objective) of it, for all losses and all optimizers. Numbers are
/// row after row: `width` outputs for each sample. The outputs of a sample must not depend on other samples.
///
/// # Recorded layers
///
/// A model that knows the inputs of its layers, and can be asked for the derivatives with respect to what comes out of them,
/// gets exact steps: the dual form or the normal equations, whichever is cheaper, and no Jacobian is pulled out of the other
/// library row by row. Where layers do not cover all parameters, or a parameter acts outside of its layers as well, which is found
/// out by comparing a gradient, steps are those of
/// [truncated conjugate gradients](crate::linear::LinearForm::TruncatedConjugateGradients).
pub trait ExternalModel<T: Real> {
    /// Number of parameters.
    fn parameter_count(&self) -> usize;

    /// Fills `outputs` at `x`.
    ///
    /// # Errors
    ///
    /// Whatever keeps the other library from it, as for all methods; the step is not taken.
    fn outputs(&mut self, x: &[T], outputs: &mut [T]) -> Evaluated;

    /// Fills `outputs` at `x`, which becomes the point that [`pull`](Self::pull), [`push`](Self::push), [`layers`](Self::layers) and
    /// what belongs to these are of, whatever is evaluated in between.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn linearize(&mut self, x: &[T], outputs: &mut [T]) -> Evaluated;

    /// Fills `gradient` with that of `Σ cotangents · outputs`, by all parameters.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn pull(&mut self, cotangents: &[T], gradient: &mut [T]) -> Evaluated;

    /// Fills `tangents` with the derivative of the outputs along `v`, and returns `true`; `false`, the default, where that is not
    /// known, and a difference of outputs is taken.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn push(&mut self, v: &[T], tangents: &mut [T]) -> Evaluated<bool> {
        let _ = (v, tangents);
        Ok(false)
    }

    /// The recorded layers; none by default.
    fn layers(&self) -> &[RecordedLayer] {
        &[]
    }

    /// Fills `inputs` with the inputs of a recorded layer: for each sample, and each of the layer's positions, its inputs.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn inputs(&mut self, layer: usize, inputs: &mut [T]) -> Evaluated {
        let _ = (layer, inputs);
        Err("no layers are recorded".into())
    }

    /// Calls `keep` with every recorded layer's place among them, and the gradient of `Σ cotangents · outputs` by what came out of
    /// it: for each sample, and each position, an entry for each output.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn sensitivities(&mut self, cotangents: &[T], keep: &mut dyn FnMut(usize, &[T])) -> Evaluated {
        let _ = (cotangents, keep);
        Err("no layers are recorded".into())
    }

    /// Name of parameter `index` in reports.
    fn parameter_name(&self, index: usize) -> String {
        format!("x[{index}]")
    }
}
