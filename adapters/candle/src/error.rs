//! Errors of a step.

use marquardt::optim::OptimizerError;
use marquardt::{EvaluationError, VariableError};
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
        match error.into_inner().downcast::<TrainerError>() {
            Ok(own) => *own,
            Err(other) => TrainerError::Optimizer(OptimizerError::Evaluation(EvaluationError::new(other))),
        }
    }
}
