//! Errors of a step.

use burn::tensor::{DType, DataError, ExecutionError};
use marquardt::EvaluationError;
use marquardt::nn::ModelError;
use marquardt::optim::OptimizerError;
use marquardt::variables::VariableError;
use thiserror::Error;

/// A step that was not taken. The module is as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainerError {
    /// The module has no parameters that require gradients.
    #[error(
        "no parameter of the module requires gradients; create it on a device with autodiff, as `Device::default().autodiff()`, \
         or unfreeze it"
    )]
    NoParameters,
    /// A parameter of another type of numbers than the trainer's.
    #[error("parameter {name} is of {found:?}, but the trainer of {expected:?}")]
    DType {
        /// Name of the parameter.
        name: String,
        /// The trainer's numbers.
        expected: DType,
        /// The parameter's.
        found: DType,
    },
    /// The module has other parameters than in the steps before.
    #[error("the module's parameter {name} is not the one of the steps before; make a trainer for each module")]
    ChangedModule {
        /// Name of the first parameter that differs, or of the first that is missing.
        name: String,
    },
    /// A layer of batch normalisation that is in training mode.
    #[error(
        "batch normalisation {name} is in training mode, in which the outputs of a sample depend on the others; freeze it, as by \
         `freeze_group`, or use LayerNorm"
    )]
    BatchNormalization {
        /// Name of the layer.
        name: String,
    },
    /// The targets do not fit the outputs, or the outputs or layers are not those of the samples of the batch, each by itself.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The closure goes through other layers than when it was called before in the same step.
    #[error(
        "the model has gone through {before} recorded layers, and now through {now} or others, at the same parameters"
    )]
    ChangingLayers {
        /// Recorded layers before.
        before: usize,
        /// Recorded layers now.
        now: usize,
    },
    /// The outputs do not depend on a parameter.
    #[error("the outputs do not depend on parameter {name}; freeze it, or use it")]
    UnusedParameter {
        /// Name of the parameter.
        name: String,
    },
    /// A tensor does not hold as many numbers as it should.
    #[error("a tensor has the shape {shape:?} where there should be {expected} numbers")]
    Count {
        /// Numbers that there should be.
        expected: usize,
        /// Shape of the tensor.
        shape: Vec<usize>,
    },
    /// A device of burn's could not compute what was asked of it, as when it is out of memory.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// Numbers of a tensor could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The parameters cannot be named as they are.
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

/// The error of this crate or of the model that an evaluation has ended with, or the evaluation's own.
impl From<EvaluationError> for TrainerError {
    fn from(error: EvaluationError) -> Self {
        let error = match error.downcast::<TrainerError>() {
            Ok(own) => return own,
            Err(error) => error,
        };
        let of_model = error.downcast::<ModelError>().map(TrainerError::Model);
        of_model.unwrap_or_else(|error| TrainerError::Optimizer(OptimizerError::Evaluation(error)))
    }
}
