//! Errors of a solve that could not start.

use thiserror::Error;

use crate::distributed::{CommunicatorError, RankError};
use crate::hyperparameters::HyperparameterError;
use crate::linear::{LinearForm, PlanError};
use crate::problem::EvaluationError;

/// Errors that prevent the start of a solve: there is no point to report.
///
/// A failure later is not an error but a [`Status`](crate::solver::Status), and the best point is in the report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The problem has no parameters.
    #[error("the problem has no parameters")]
    NoParameters,
    /// The problem has no residuals.
    #[error("the problem has no residuals")]
    NoResiduals,
    /// The start has the wrong number of parameters.
    #[error("the problem has {expected} parameters, but the start has {found}")]
    WrongStartLength {
        /// Parameters of the problem.
        expected: usize,
        /// Numbers in the start.
        found: usize,
    },
    /// The number of residuals is not a multiple of the row group.
    #[error("{residuals} residuals cannot be split into groups of {group} rows")]
    UnevenGroups {
        /// Residuals of the problem.
        residuals: usize,
        /// Its row group.
        group: usize,
    },
    /// A start value is NaN or infinite.
    #[error("the start value of {name:?} is {value}")]
    NonFiniteStart {
        /// The parameter's name.
        name: String,
        /// Its value.
        value: f64,
    },
    /// A start value is not within the bounds.
    #[error("the start value of {name:?} is {value}, outside its bounds {lower} and {upper}")]
    StartOutOfBounds {
        /// The parameter's name.
        name: String,
        /// Its value.
        value: f64,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The start is not a point of the manifold.
    #[error("the start is not a point of {manifold}: its numbers are not finite, or a norm that should be 1 is not")]
    StartOffManifold {
        /// The manifold's name.
        manifold: String,
    },
    /// The blocks of columns of a [`BlockJacobian`](crate::problem::BlockJacobian) are not as wide as the Jacobian, or one is empty.
    #[error("the blocks of columns do not make up the columns of the Jacobian, or one of them is empty")]
    ColumnBlocks,
    /// A residual block of a [`BlockJacobian`](crate::problem::BlockJacobian) names a block of columns that does not exist, or one twice.
    #[error("residual block {residual_block} names a block of columns that does not exist, or one twice")]
    ResidualBlock {
        /// Index of the residual block.
        residual_block: usize,
    },
    /// A feature is not available for problems on a manifold.
    #[error("a problem on a manifold has no {what}")]
    OnManifold {
        /// Name of the feature.
        what: &'static str,
    },
    /// The problem's bounds are of another number of parameters.
    #[error("the problem has {expected} parameters, but bounds of {found}")]
    WrongBoundsLength {
        /// Parameters of the problem.
        expected: usize,
        /// Parameters that the bounds are for.
        found: usize,
    },
    /// Steps on minibatches do not support bounds.
    #[error("steps on minibatches do not support bounds; use a full solve, or remove the bounds")]
    BoundedMinibatch,
    /// A residual is NaN or infinite at the start, or their squares overflow.
    #[error("residual {index} is {value} at the start")]
    NonFiniteResidual {
        /// Index of the residual.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A derivative is NaN or infinite at the start, or their squares overflow.
    #[error("the derivative with respect to {name:?} is not finite at the start (residual {residual}: {value})")]
    NonFiniteDerivative {
        /// The parameter's name.
        name: String,
        /// Index of the residual.
        residual: usize,
        /// The derivative.
        value: f64,
    },
    /// The residuals or derivatives at the start are so large that their squares overflow.
    #[error("the sum of squares overflows at the start; rescale the residuals")]
    Overflow,
    /// The residuals or derivatives at the start are so small that their squares underflow.
    #[error("the squares of {what} underflow at the start; rescale the residuals or the parameters")]
    Underflow {
        /// The residuals, or the derivatives with respect to a parameter.
        what: String,
    },
    /// The residual function refused the start.
    #[error("the residuals could not be evaluated at the start: {0}")]
    Evaluation(#[source] EvaluationError),
    /// A setting has an invalid value.
    #[error("{setting} must be {requirement}, not {value}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// The values allowed.
        requirement: &'static str,
        /// Its value.
        value: f64,
    },
    /// A time limit was set on a target whose standard library has no clock, as on `wasm32-unknown-unknown`.
    #[error("a time limit needs a clock, which this target lacks; limit the evaluations")]
    NoClock,
    /// A hyperparameter of training has an invalid value.
    #[error(transparent)]
    Hyperparameter(#[from] HyperparameterError),
    /// The workspace exceeds the memory budget.
    #[error(
        "the solve needs {needed} bytes of memory, but the memory budget is {budget}{}",
        if *rows_that_fit > 0 { format!(": {rows_that_fit} residuals would fit") } else { String::new() }
    )]
    MemoryBudget {
        /// Bytes of the form that needs the least memory.
        needed: usize,
        /// Bytes allowed.
        budget: usize,
        /// Residuals that would fit, in whole groups; 0 where that is not counted.
        rows_that_fit: usize,
    },
    /// The chosen form of the linear systems does not support bounds, and the problem has bounds.
    #[error(
        "{form} cannot keep bounds; {}, {} and {} can",
        LinearForm::Cholesky,
        LinearForm::Qr,
        LinearForm::SparseCholesky
    )]
    BoundedForm {
        /// The form.
        form: LinearForm,
    },
    /// A rank that the rows are spread over has failed.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// The ranks cannot exchange messages.
    #[error(transparent)]
    Communicator(#[from] CommunicatorError),
    /// Ranks do not solve the same problem.
    #[error("{what} of rank {rank} is not that of rank 0")]
    Unequal {
        /// The setting that has to be the same on all ranks.
        what: &'static str,
        /// The first rank where it is not.
        rank: usize,
    },
    /// An operation that needs all rows on one rank was asked of a problem whose rows are spread over several.
    #[error("{what} needs all rows on one rank, but they are spread over {ranks}")]
    SpreadOut {
        /// The operation.
        what: String,
        /// Number of ranks.
        ranks: usize,
    },
    /// The problem does not support the chosen form of the linear systems.
    #[error("{form} needs {}", form.requirement())]
    LinearForm {
        /// The form.
        form: LinearForm,
    },
}

impl SolveError {
    /// Returns the error for a problem that has no plan of its linear system.
    pub(crate) fn no_plan(error: PlanError, budget: usize) -> Self {
        match error {
            PlanError::Memory { needed, rows_that_fit } => SolveError::MemoryBudget { needed, budget, rows_that_fit },
            PlanError::Bounded(form) => SolveError::BoundedForm { form },
            PlanError::Form(form) => SolveError::LinearForm { form },
            PlanError::Blocks { residual_block: None } => SolveError::ColumnBlocks,
            PlanError::Blocks { residual_block: Some(residual_block) } => SolveError::ResidualBlock { residual_block },
        }
    }
}
