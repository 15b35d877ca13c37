//! Errors of optimizer steps.

use thiserror::Error;

use crate::hyperparameters::HyperparameterError;
use crate::problem::{EvaluationError, NotKroneckerFactored, NotLeastSquares};
use crate::solver::SolveError;

/// Result of a step, or of what belongs to one.
pub type OptimizerResult<V> = Result<V, OptimizerError>;

/// A step that was not made: variables and slots are what they were before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OptimizerError {
    /// The optimizer was asked for something that needs [`build`](super::Optimizer::build) first.
    #[error("{optimizer} has not been built: call build with the variables first")]
    NotBuilt {
        /// The optimizer's name.
        optimizer: &'static str,
    },
    /// No optimizer has this name.
    #[error("there is no optimizer {name:?}; known are {}", known.join(", "))]
    UnknownOptimizer {
        /// The name.
        name: String,
        /// Names of optimizers.
        known: Vec<&'static str>,
    },
    /// The variables are not those that the optimizer was built for.
    #[error("{optimizer} was built for other variables: {difference}")]
    OtherVariables {
        /// The optimizer's name.
        optimizer: &'static str,
        /// The first difference.
        difference: String,
    },
    /// No variable is trainable.
    #[error("there is nothing to train: all variables are frozen")]
    NothingToTrain,
    /// No variable has a gradient.
    #[error("the loss depends on none of the trainable variables")]
    NoGradients,
    /// The loss is NaN or infinite.
    #[error("the loss is {value}")]
    NonFiniteLoss {
        /// The loss.
        value: f64,
    },
    /// A gradient is NaN or infinite.
    #[error("the gradient of {variable}[{index}] is {value}")]
    NonFiniteGradient {
        /// The variable's name.
        variable: String,
        /// Index of the number in it, in row-major order.
        index: usize,
        /// The gradient.
        value: f64,
    },
    /// The update would make a variable NaN or infinite.
    #[error("the step would make {variable}[{index}] {value}")]
    NonFiniteStep {
        /// The variable's name.
        variable: String,
        /// Index of the number in it, in row-major order.
        index: usize,
        /// The value that it would have taken.
        value: f64,
    },
    /// Gradients were given to an optimizer that needs residuals and their derivatives.
    #[error(
        "{optimizer} makes no step from gradients alone: call step with the minibatch, or apply the gradients by a first-order optimizer such as \
         Adam"
    )]
    NeedsObjective {
        /// The optimizer's name.
        optimizer: &'static str,
    },
    /// The evidence for weight decay does not exist, or is not implemented.
    #[error("weight decay has no evidence: {reason}")]
    NoEvidence {
        /// The reason.
        reason: String,
    },
    /// A row of a sparse gradient is outside its variable.
    #[error("the gradient of {variable} has a row {row}, but the variable has {rows}")]
    RowOutOfRange {
        /// The variable's name.
        variable: String,
        /// The row.
        row: usize,
        /// Rows of the variable.
        rows: usize,
    },
    /// There is no hyperparameter of this name.
    #[error("{optimizer} has no hyperparameter {name}; it has {}", known.join(", "))]
    UnknownHyperparameter {
        /// The optimizer's name.
        optimizer: &'static str,
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A hyperparameter or a schedule makes no sense.
    #[error(transparent)]
    Hyperparameter(#[from] HyperparameterError),
    /// There is no slot of this name.
    #[error("{optimizer} has no slot {name}; it has {}", known.join(", "))]
    UnknownSlot {
        /// The optimizer's name.
        optimizer: &'static str,
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A saved state belongs to another optimizer, or to other variables.
    #[error("the saved state does not fit: {difference}")]
    State {
        /// The first difference.
        difference: String,
    },
    /// A variable belongs to no group, or to more than one.
    #[error("{0}")]
    Groups(String),
    /// The variables hold the averaged weights.
    #[error("the variables hold the averaged weights: swap them out before the next step")]
    AveragesSwappedIn,
    /// The loss is not a sum of squares, and has no Gauss–Newton form.
    #[error(transparent)]
    NotLeastSquares(#[from] NotLeastSquares),
    /// The objective has no Kronecker factors.
    #[error(transparent)]
    NotKroneckerFactored(#[from] NotKroneckerFactored),
    /// The layers are not those of the first step.
    #[error("the objective has other layers than that of the first step: build the optimizer anew")]
    OtherLayers,
    /// No Kronecker factors are known for some parameters.
    #[error(
        "no Kronecker factors are known for {parameters}, which is no weight, bias, table or scale of a layer: freeze it, or train it by \
         another optimizer in Groups"
    )]
    NoCurvature {
        /// A variable's name, or a range of the flat vector.
        parameters: String,
    },
    /// A Kronecker factor is not positive definite, whatever the damping.
    #[error("a Kronecker factor of {variable} could not be inverted")]
    SingularFactor {
        /// The name of the layer's first variable.
        variable: String,
    },
    /// A Kronecker factor is NaN or infinite.
    #[error("a Kronecker factor of {variable} is not finite")]
    NonFiniteFactor {
        /// The name of the layer's first variable.
        variable: String,
    },
    /// The curvature along the step is NaN, infinite or not positive.
    #[error("the curvature along the step is {value}")]
    NonFiniteCurvature {
        /// The curvature.
        value: f64,
    },
    /// The loss could not be evaluated.
    #[error("the loss could not be evaluated: {0}")]
    Evaluation(#[from] EvaluationError),
    /// The settings or the problem do not allow a damped step.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

impl OptimizerError {
    /// Returns true if a number of the step was NaN or infinite.
    pub(crate) fn is_non_finite(&self) -> bool {
        use OptimizerError::{NonFiniteCurvature, NonFiniteFactor, NonFiniteGradient, NonFiniteLoss, NonFiniteStep};
        matches!(self, NonFiniteLoss { .. } | NonFiniteGradient { .. } | NonFiniteStep { .. })
            || matches!(self, NonFiniteFactor { .. } | NonFiniteCurvature { .. })
    }
}
