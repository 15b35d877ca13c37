//! Errors of graphs.

use thiserror::Error;

use crate::problem::EvaluationError;
use crate::solver::SolveError;

/// Reasons why a graph cannot be built or solved.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GraphError {
    /// The numbers are not a point of the block's manifold.
    #[error("parameter block {block}: {found:?} is not a point of {manifold}")]
    NotAPoint {
        /// Index that the block has, or would have.
        block: usize,
        /// Name of the manifold.
        manifold: String,
        /// The numbers.
        found: Vec<f64>,
    },
    /// A handle belongs to another problem.
    #[error("a handle of block {index} belongs to another problem")]
    ForeignHandle {
        /// Index of its block there.
        index: usize,
    },
    /// A residual block depends twice on the same parameter block.
    #[error("residual block {residual_block} depends twice on parameter block {parameter_block}")]
    RepeatedBlock {
        /// Index that the residual block would have.
        residual_block: usize,
        /// Index of the parameter block.
        parameter_block: usize,
    },
    /// A residual block has no residuals.
    #[error("residual block {residual_block} has no residuals")]
    NoResiduals {
        /// Index that the residual block would have.
        residual_block: usize,
    },
    /// The scale of a robust loss is not a positive number.
    #[error("residual block {residual_block}: the scale of a loss must be positive and finite, not {scale}")]
    Scale {
        /// Index that the residual block would have.
        residual_block: usize,
        /// The scale.
        scale: f64,
    },
    /// A number of a graduated solve is out of range.
    #[error("the {name} of a graduated solve cannot be {value}")]
    Graduation {
        /// Name of the number.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// An information matrix is not finite.
    #[error("entry ({row}, {column}) of the information matrix is not finite")]
    InformationNotFinite {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
    /// An information matrix is not symmetric.
    #[error("the information matrix is not symmetric: entry ({row}, {column}) is not entry ({column}, {row})")]
    InformationNotSymmetric {
        /// Row of the first entry above the diagonal that differs.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// An information matrix is not positive definite: some direction would have no error, or less than none.
    #[error("the information matrix is not positive definite, seen at row {row}")]
    InformationNotPositiveDefinite {
        /// First row where that is seen: that of the first pivot that is not positive.
        row: usize,
    },
    /// A step of the parameter block has no such direction.
    #[error("parameter block {block} has {tangent_size} directions, and so none with index {direction}")]
    Direction {
        /// Index of the block.
        block: usize,
        /// Number of its directions.
        tangent_size: usize,
        /// The direction asked for.
        direction: usize,
    },
    /// A coordinate of a parameter block cannot have these bounds.
    #[error(
        "coordinate {coordinate} of parameter block {block} cannot have the bounds {lower} and {upper}: no number is between them, or the \
         coordinate is not that of a vector space"
    )]
    Bounds {
        /// Index of the block.
        block: usize,
        /// Index of the coordinate in the block.
        coordinate: usize,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// A coordinate is out of its bounds at the start.
    #[error(
        "coordinate {coordinate} of parameter block {block} is {value} at the start, out of its bounds {lower} to {upper}"
    )]
    OutOfBounds {
        /// Index of the block.
        block: usize,
        /// Index of the coordinate in the block.
        coordinate: usize,
        /// Its value.
        value: f64,
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// A parameter block with bounds cannot be marginalised: the prior would be another on each side of a bound.
    #[error("parameter block {block} has bounds, and cannot be marginalised")]
    MarginalBounds {
        /// Index of the block.
        block: usize,
    },
    /// No residual block depends on a parameter block that is not constant.
    #[error("no residual block depends on parameter block {block}, which is not constant")]
    Untouched {
        /// Index of the block.
        block: usize,
    },
    /// The residuals do not determine all directions of some parameter blocks, as in a graph without a constant pose.
    #[error("the residuals leave {} parameter blocks undetermined, block {} first", blocks.len(), blocks[0])]
    Undetermined {
        /// Indices of the blocks; never empty.
        blocks: Vec<usize>,
    },
    /// A residual is not finite at the start.
    #[error("residual {residual} of residual block {residual_block} is {value} at the start")]
    NonFiniteResidual {
        /// Index of the residual block.
        residual_block: usize,
        /// Index of the residual in it.
        residual: usize,
        /// Its value.
        value: f64,
    },
    /// A derivative is not finite at the start, as that of a length is where the length is zero.
    #[error("a derivative of residual block {residual_block} is not finite at the start")]
    NonFiniteDerivative {
        /// Index of the residual block.
        residual_block: usize,
    },
    /// A derivative that a cost function brings differs from central differences.
    #[error(
        "residual {residual} of residual block {residual_block}: its derivative with respect to direction {direction} of parameter block \
         {parameter_block} is {given:e}, by differences {difference:e}"
    )]
    WrongDerivative {
        /// Index of the residual block.
        residual_block: usize,
        /// Index of the residual in it.
        residual: usize,
        /// Index of the parameter block.
        parameter_block: usize,
        /// Direction of a step of the parameter block.
        direction: usize,
        /// The derivative that the cost function brings.
        given: f64,
        /// The derivative by central differences.
        difference: f64,
    },
    /// A cost function failed at the start.
    #[error("residual block {residual_block} failed: {error}")]
    Evaluation {
        /// Index of the residual block.
        residual_block: usize,
        /// Its error.
        error: EvaluationError,
    },
    /// There is no solve.
    #[error(transparent)]
    Solve(#[from] SolveError),
}
