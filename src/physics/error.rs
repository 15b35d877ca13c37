//! Errors of equations and their points.

use thiserror::Error;

use crate::nn::{BatchError, NetworkError, TapeError};
use crate::optim::OptimizerError;
use crate::problem::EvaluationError;
use crate::solver::CovarianceError;
use crate::variables::VariableError;

/// Equations that cannot be stated, or not be solved.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PhysicsError {
    /// No coordinates.
    #[error("there are no coordinates")]
    NoCoordinates,
    /// Two coordinates of one name.
    #[error("there are two coordinates {name}")]
    DuplicateCoordinate {
        /// The name.
        name: String,
    },
    /// An interval that is none.
    #[error("coordinate {axis} cannot go from {lower} to {upper}")]
    Interval {
        /// The coordinate, counted from 0.
        axis: usize,
        /// The lower end.
        lower: f64,
        /// The upper end.
        upper: f64,
    },
    /// A coordinate that a box does not have.
    #[error("there is no coordinate {axis}: a point has {dimensions}")]
    Axis {
        /// The coordinate, counted from 0.
        axis: usize,
        /// Number of coordinates of the domain.
        dimensions: usize,
    },
    /// Points with another number of coordinates.
    #[error("{term}: points with {found} coordinates, where there are {expected}")]
    Dimensions {
        /// The term.
        term: String,
        /// Coordinates of the problem.
        expected: usize,
        /// Coordinates of the points.
        found: usize,
    },
    /// A term without points.
    #[error("{term}: there are no points")]
    NoPoints {
        /// The term.
        term: String,
    },
    /// A term without a residual.
    #[error("{term}: there is no residual")]
    NoResiduals {
        /// The term.
        term: String,
    },
    /// A derivative of known numbers, which are given at points alone.
    #[error(
        "{term}: the values {name} are known at the points alone and have no derivatives; write them as an expression of the coordinates"
    )]
    ValueDerivative {
        /// The term.
        term: String,
        /// Name of the values.
        name: String,
    },
    /// There are no terms.
    #[error("there are no terms")]
    NoTerms,
    /// Two terms of one name.
    #[error("there are two terms {term}")]
    DuplicateTerm {
        /// The name.
        term: String,
    },
    /// A weight that is negative or not finite.
    #[error("{term}: the weight must be finite and not negative, not {weight}")]
    Weight {
        /// The term.
        term: String,
        /// The weight.
        weight: f64,
    },
    /// Another number of known values than points.
    #[error("{found} values of {name} for {expected} points")]
    ValueCount {
        /// Name of the values.
        name: String,
        /// Points.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// A known value or a coordinate that is NaN or infinite.
    #[error("{name} is {value} at point {point}")]
    NonFinite {
        /// Name of the values.
        name: String,
        /// The point, counted from 0.
        point: usize,
        /// The value.
        value: f64,
    },
    /// A coordinate of this name does not exist.
    #[error("{term}: there is no coordinate {name}; there are {}", known.join(", "))]
    UnknownCoordinate {
        /// The term.
        term: String,
        /// The name that was asked for.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// Values that the points of a term do not have.
    #[error("{term}: the points have no values {name}")]
    UnknownValue {
        /// The term.
        term: String,
        /// The name that was asked for.
        name: String,
    },
    /// An output that a network does not have.
    #[error("{term}: {network} has {width} outputs, and none with the number {output}")]
    UnknownOutput {
        /// The term.
        term: String,
        /// The network.
        network: String,
        /// Its outputs.
        width: usize,
        /// The number that was asked for, counted from 0.
        output: usize,
    },
    /// A network or a coefficient of other equations.
    #[error("{term}: a network or a coefficient of other equations")]
    Foreign {
        /// The term.
        term: String,
    },
    /// A residual that cannot be recorded.
    #[error("{term}: {source}")]
    Expression {
        /// The term.
        term: String,
        /// The reason.
        source: TapeError,
    },
    /// A residual is NaN or infinite at the start.
    #[error("{term}: residual {residual} is {value} at point {point}, {coordinates:?}")]
    NonFiniteResidual {
        /// The term.
        term: String,
        /// Index of the term's residual, from 0.
        residual: usize,
        /// The point, counted from 0.
        point: usize,
        /// Its coordinates.
        coordinates: Vec<f64>,
        /// The residual.
        value: f64,
    },
    /// A network that cannot be built.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Residuals that cannot be put together.
    #[error(transparent)]
    Tape(#[from] TapeError),
    /// A coefficient that cannot be added.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// Data that a network cannot be evaluated on.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The solve did not begin.
    #[error(transparent)]
    Optimizer(#[from] OptimizerError),
    /// There is no covariance.
    #[error(transparent)]
    Covariance(#[from] CovarianceError),
    /// Rows that cannot be evaluated.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
}
