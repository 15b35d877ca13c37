//! Errors of a step.

use marquardt::EvaluationError;
use marquardt::nn::ModelError;
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
        /// Device of the first variable.
        expected: candle_core::DeviceLocation,
        /// Device of this one.
        found: candle_core::DeviceLocation,
    },
    /// The targets do not fit the outputs, or the outputs or layers are not those of the samples of the batch, each by itself.
    #[error(transparent)]
    Model(#[from] ModelError),
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
    /// The closure makes a step itself.
    #[error("a step was made within the closure of a step")]
    Nested,
    /// The outputs do not depend on a variable.
    #[error("the outputs do not depend on variable {name}; leave it out of the VarMap, or use it")]
    UnusedVariable {
        /// Name of the variable.
        name: String,
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
