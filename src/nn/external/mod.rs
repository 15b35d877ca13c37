//! Losses and optimizers for models that another library evaluates and differentiates.

mod batch;
mod error;
mod kronecker;
mod memory;
mod model;
mod products;

use ndarray::ArrayView2;

pub use batch::ExternalBatch;
pub use error::{ModelError, OutputShape};
use memory::ModelMemory;
pub use model::ExternalModel;

use super::batch::{Batch, SampleArrays, Schema, Selection, TargetRule, TargetValues, check_weights};
use super::error::BatchError;
use super::losses::Loss;
use super::weighted_loss::WeightedLoss;
use crate::problem::{Evaluated, EvaluationError};
use crate::real::Real;

/// A loss for [models of another library](ExternalModel), and the memory that steps on them take.
///
/// Bound to a model and a batch of targets, it is what optimizers step on. The memory is used again from batch to batch.
///
/// ```
/// use marquardt::{EvaluationError, LevenbergMarquardt, Variables};
/// use marquardt::nn::{External, ExternalModel, MeanSquaredError, RecordedLayer};
/// use marquardt::optim::Optimizer;
/// use ndarray::array;
///
/// /// A line, at three places.
/// struct Line {
///     at: [f64; 2],
/// }
///
/// const PLACES: [f64; 3] = [0.0, 1.0, 2.0];
///
/// impl ExternalModel<f64> for Line {
///     fn parameter_count(&self) -> usize { 2 }
///
///     fn outputs(&mut self, x: &[f64], outputs: &mut [f64]) -> Result<(), EvaluationError> {
///         outputs.iter_mut().zip(PLACES).for_each(|(y, place)| *y = x[0] * place + x[1]);
///         Ok(())
///     }
///
///     fn linearize(&mut self, x: &[f64], outputs: &mut [f64]) -> Result<(), EvaluationError> {
///         self.at.copy_from_slice(x);
///         self.outputs(x, outputs)
///     }
///
///     fn pull(
///         &mut self,
///         cotangents: &[f64],
///         gradient: &mut [f64],
///     ) -> Result<(), EvaluationError> {
///         gradient[0] = cotangents.iter().zip(PLACES).map(|(u, place)| u * place).sum();
///         gradient[1] = cotangents.iter().sum();
///         Ok(())
///     }
/// }
///
/// let mut variables = Variables::new();
/// variables.add("slope", array![0.0].view())?;
/// variables.add("offset", array![0.0].view())?;
/// let mut optimizer = LevenbergMarquardt::new();
/// let mut loss = External::new(MeanSquaredError);
/// let (mut line, targets) = (Line { at: [0.0; 2] }, array![[1.0], [3.0], [5.0]]);
/// for _ in 0..10 {
///     let x = variables.values().to_vec();
///     optimizer.step(&mut loss.bind(&mut line, (&x, 1), targets.view(), None)?, &mut variables)?;
/// }
/// assert!(
///     (variables.values()[0] - 2.0).abs() < 1e-6 && (variables.values()[1] - 1.0).abs() < 1e-6
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct External<T> {
    loss: Box<dyn Loss<T>>,
    batch: Batch<T>,
    memory: ModelMemory<T>,
}

impl<T: Real> External<T> {
    /// The loss, of a model's outputs.
    pub fn new(loss: impl Loss<T> + 'static) -> Self {
        External { loss: Box::new(loss), batch: Batch::default(), memory: ModelMemory::default() }
    }

    /// Binds a model, which is linearised at `x`, to targets, which have a row for each sample, and to weights of the samples; the
    /// model has `width` outputs for each.
    ///
    /// # Errors
    ///
    /// [`EvaluationError`] from a [`ModelError`] for targets or weights that do not fit, for outputs that are not finite and for layers
    /// that mix samples; or from the model.
    pub fn bind<'a>(
        &'a mut self,
        model: &'a mut dyn ExternalModel<T>,
        (x, width): (&[T], usize),
        targets: ArrayView2<'_, T>,
        weights: Option<&[T]>,
    ) -> Evaluated<ExternalBatch<'a, T>> {
        let (width, samples) = (width.max(1), targets.nrows());
        let any = TargetRule { width: targets.ncols(), values: TargetValues::Any };
        let rule = TargetRule::of(self.loss.targets(), width).unwrap_or(any);
        let refuse = |error: BatchError| EvaluationError::new(ModelError::from(error));
        let schema = Schema { inputs: Vec::new(), targets: vec![rule], may_be_empty: false };
        let selection = Selection::Range(0..samples);
        if samples == 0 {
            return Err(refuse(BatchError::Empty));
        }
        let checked = schema.check_targets(&[targets], &selection, samples);
        let checked =
            checked.and_then(|()| weights.map_or(Ok(()), |weights| check_weights(weights, &selection, samples)));
        checked.map_err(refuse)?;
        self.batch.fill(SampleArrays { inputs: &[], targets: &[targets], weights }, &selection);
        let loss = WeightedLoss { loss: &*self.loss, reduction: self.loss.reduction(), weight: T::ONE };
        self.memory.bind(&loss, samples, width);
        let mut batch = ExternalBatch { model, loss, batch: &self.batch, memory: &mut self.memory };
        batch.linearize_at(x)?;
        batch.check_finite()?;
        Ok(batch)
    }
}
