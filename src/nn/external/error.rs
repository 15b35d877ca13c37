//! Models that a batch cannot be bound to.

use thiserror::Error;

use crate::nn::BatchError;

/// A model of another library whose outputs or layers are not those of the samples of a batch, each by itself.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The targets, or the weights of the samples, are not ones of the loss and of the model's outputs.
    #[error(transparent)]
    Targets(#[from] BatchError),
    /// The outputs are not of the samples that the targets are of.
    #[error("the targets are of {targets} samples, but the model's outputs have the shape {outputs:?}")]
    Batch {
        /// Samples of the targets.
        targets: usize,
        /// Shape of the outputs.
        outputs: Vec<usize>,
    },
    /// The outputs have another shape than in an earlier pass of the same step.
    #[error("the model's outputs had the shape {before:?}, and now have {now:?}, in the same step")]
    ChangingOutputs {
        /// Shape of the outputs before.
        before: Vec<usize>,
        /// Their shape now.
        now: Vec<usize>,
    },
    /// An output is NaN or infinite before the step.
    #[error("output {output} of sample {sample} is {value} before the step")]
    NonFiniteOutput {
        /// The sample, counted from 0.
        sample: usize,
        /// The output among those of the sample, counted from 0.
        output: usize,
        /// The output.
        value: f64,
    },
    /// A recorded layer was applied to an array that is not of the samples of the batch.
    #[error("a recorded layer was applied to a tensor of the shape {shape:?}, which is not made of {samples} samples")]
    LayerInput {
        /// Shape of the array.
        shape: Vec<usize>,
        /// Samples of the batch.
        samples: usize,
    },
    /// The outputs of a sample depend on other samples.
    #[error(
        "the outputs of some samples depend on the others, through the layer of {parameter}: something after it mixes samples, as batch \
         normalisation in training mode does"
    )]
    MixedSamples {
        /// Name of the first parameter of a recorded layer before it.
        parameter: String,
    },
}

/// Shape of a model's outputs, which is the same in all passes of a step: samples first.
#[derive(Debug, Clone)]
pub struct OutputShape {
    samples: usize,
    /// Empty before the first pass.
    shape: Vec<usize>,
}

impl OutputShape {
    /// Shape for a batch of `samples` samples, before the first pass.
    pub fn new(samples: usize) -> Self {
        OutputShape { samples, shape: Vec::new() }
    }

    /// Samples of the batch.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Outputs of each sample; 0 before the first pass.
    pub fn width(&self) -> usize {
        if self.shape.is_empty() { 0 } else { self.shape[1..].iter().product() }
    }

    /// Compares the shape of a pass with that of the passes before.
    ///
    /// # Errors
    ///
    /// [`ModelError::Batch`] where the first dimension is not that of the samples, or there are no outputs;
    /// [`ModelError::ChangingOutputs`] where the shape was another.
    pub fn check(&mut self, shape: &[usize]) -> Result<(), ModelError> {
        if shape.first() != Some(&self.samples) || shape.contains(&0) {
            return Err(ModelError::Batch { targets: self.samples, outputs: shape.to_vec() });
        }
        if self.shape.is_empty() {
            self.shape.extend_from_slice(shape);
        }
        if self.shape != shape {
            return Err(ModelError::ChangingOutputs { before: self.shape.clone(), now: shape.to_vec() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_keep_their_shape_during_a_step() {
        let mut outputs = OutputShape::new(4);
        assert_eq!(outputs.width(), 0);
        let error = outputs.check(&[3, 2]).unwrap_err();
        assert_eq!(error, ModelError::Batch { targets: 4, outputs: vec![3, 2] });
        assert!(outputs.check(&[]).is_err() && outputs.check(&[4, 0]).is_err());
        outputs.check(&[4, 2, 3]).unwrap();
        assert_eq!(outputs.width(), 6);
        let error = outputs.check(&[4, 3, 2]).unwrap_err();
        assert_eq!(error, ModelError::ChangingOutputs { before: vec![4, 2, 3], now: vec![4, 3, 2] });
        outputs.check(&[4, 2, 3]).unwrap();
    }
}
