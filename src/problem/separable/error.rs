//! Errors of the elimination of linear parameters.

use thiserror::Error;

use crate::problem::EvaluationError;

/// Reasons why parameters cannot be eliminated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SeparableError {
    /// There is no such parameter.
    #[error("there is no parameter {index}: the problem has {parameters}")]
    Index {
        /// The parameter asked for.
        index: usize,
        /// Parameters of the problem.
        parameters: usize,
    },
    /// A parameter was named twice.
    #[error("{name:?} is to be eliminated twice")]
    Repeated {
        /// Its name.
        name: String,
    },
    /// The problem is on a manifold, where residuals are not linear.
    #[error("a problem on a manifold has no linear parameters")]
    OnManifold,
    /// A parameter has bounds; its optimal value may lie outside of them.
    #[error("{name:?} has the bounds {lower} and {upper}, and so cannot be eliminated")]
    Bounded {
        /// Its name.
        name: String,
        /// Its lower bound, `-∞` if there is none.
        lower: f64,
        /// Its upper bound, `∞` if there is none.
        upper: f64,
    },
    /// The residuals are affine in no parameter, or none was named.
    #[error("there is no linear parameter to eliminate")]
    NoLinearParameters,
    /// The residuals are affine in all parameters: there is no nonlinear parameter.
    #[error("all parameters are linear; `LevenbergMarquardt::minimize_separable` solves for them directly")]
    AllLinear,
    /// The point to look at has the wrong number of parameters.
    #[error("the problem has {expected} parameters, but the point has {found}")]
    WrongLength {
        /// Parameters of the problem.
        expected: usize,
        /// Entries in the point.
        found: usize,
    },
    /// A residual or derivative is NaN or infinite at the point to look at.
    #[error("a residual or derivative is not finite at this point")]
    NonFinite,
    /// The rows are distributed over ranks; parameters can be eliminated only if all rows are on one rank.
    #[error("parameters are eliminated where all rows are on one rank, but they are spread over {ranks}")]
    SpreadOut {
        /// Number of ranks.
        ranks: usize,
    },
    /// The residual function returned an error.
    #[error("the residuals could not be evaluated: {0}")]
    Evaluation(#[source] EvaluationError),
}
