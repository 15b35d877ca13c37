//! Errors of a step.

use marquardt::EvaluationError;
use marquardt::nn::BatchError;
use marquardt::optim::OptimizerError;
use marquardt::variables::VariableError;
use thiserror::Error;

/// A step that was not taken, or a trainer that was not made. The variables are as they were.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainerError {
    /// The map holds no variables.
    #[error("the VarMap holds no variables; create the model before the trainer")]
    NoVariables,
    /// A variable of another type of numbers than the trainer's.
    #[error("variable {name} is of {found:?}, but the trainer of {expected:?}")]
    DType {
        /// Name of the variable.
        name: String,
        /// The trainer's numbers.
        expected: candle_core::DType,
        /// The variable's.
        found: candle_core::DType,
    },
    /// The variables are on several devices.
    #[error("variable {name} is on {found:?}, but others on {expected:?}; a trainer takes variables of one device")]
    Device {
        /// Name of the variable.
        name: String,
        /// Where the first variable is.
        expected: candle_core::DeviceLocation,
        /// Where this one is.
        found: candle_core::DeviceLocation,
    },
    /// The targets or their numbers are not ones of the loss and of the model's outputs.
    #[error(transparent)]
    Targets(BatchError),
    /// The outputs of the model are not of the batch that the targets are of.
    #[error("the targets are of {targets} samples, but the model's outputs have the shape {outputs:?}")]
    Batch {
        /// Samples of the targets.
        targets: usize,
        /// Shape of the outputs.
        outputs: Vec<usize>,
    },
    /// The closure gives outputs of another shape than when it was called before in the same step.
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
    /// The closure draws anew what is random.
    #[error(
        "the closure gives other outputs when it is called again with the same weights; draw before the step what is random, or take the \
         Dropout of this crate, which holds its masks during a step"
    )]
    RandomOutputs,
    /// Dropout is applied to something of another shape than when the closure was called before in the same step.
    #[error("dropout was applied to the shape {before:?}, and now to {now:?}, in the same step")]
    ChangingDropout {
        /// Shape before.
        before: Vec<usize>,
        /// Shape now.
        now: Vec<usize>,
    },
    /// A batch normalisation in training mode.
    #[error(
        "batch normalisation `{name}` is in training mode, in which the outputs of each sample depend on all others; set it to \
         evaluation, or take layer normalisation"
    )]
    BatchNormalization {
        /// The layer.
        name: String,
    },
    /// The outputs of a sample depend on other samples.
    #[error(
        "the outputs of some samples depend on what layer `{layer}` computes for others: something after it mixes samples"
    )]
    MixedSamples {
        /// The layer before it.
        layer: String,
    },
    /// The closure makes a step itself.
    #[error("a step was made within the closure of a step")]
    Nested,
    /// The outputs do not depend on a variable.
    #[error("the outputs do not depend on variable {name}; leave it out of the VarMap, or use it")]
    UnusedVariable {
        /// Name of the variable.
        name: String,
    },
    /// A recorded layer was applied to something that is not of the samples of the batch.
    #[error("a recorded layer was applied to a tensor of the shape {shape:?}, which is not made of {samples} samples")]
    LayerInput {
        /// Shape of the tensor.
        shape: Vec<usize>,
        /// Samples of the batch.
        samples: usize,
    },
    /// candle could not evaluate or differentiate the model.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
    /// A file does not hold this training.
    #[error("{path} is not a file of this training: {difference}")]
    File {
        /// The file.
        path: String,
        /// The part that is missing or differs.
        difference: String,
    },
    /// The variables cannot be named as they are.
    #[error(transparent)]
    Variables(#[from] VariableError),
    /// The optimizer refuses the batch, or its settings.
    #[error(transparent)]
    Optimizer(OptimizerError),
}

impl From<OptimizerError> for TrainerError {
    fn from(error: OptimizerError) -> Self {
        match error {
            OptimizerError::Evaluation(error) => error.into(),
            error => TrainerError::Optimizer(error),
        }
    }
}

/// The error of this crate that an evaluation has ended with, or the evaluation's own.
impl From<EvaluationError> for TrainerError {
    fn from(error: EvaluationError) -> Self {
        let other = match error.into_inner().downcast::<TrainerError>() {
            Ok(own) => return *own,
            Err(other) => other,
        };
        match other.downcast::<BatchError>() {
            Ok(batch) => TrainerError::Targets(*batch),
            Err(other) => TrainerError::Optimizer(OptimizerError::Evaluation(EvaluationError::new(other))),
        }
    }
}
