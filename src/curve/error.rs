//! What can be wrong with the data of a curve fit.

use thiserror::Error;

use crate::{CovarianceError, SolveError};

/// Why a curve could not be fitted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CurveError {
    /// There are no data.
    #[error("there are no observations")]
    NoObservations,
    /// Predictors and responses do not match.
    #[error("x has {x} rows, but y has {y}")]
    UnequalLengths {
        /// Rows of predictors.
        x: usize,
        /// Responses.
        y: usize,
    },
    /// A datum is NaN or infinite.
    #[error("{variable} is {value} in row {row}")]
    NonFiniteDatum {
        /// Which column: `x`, `x1`, `x2`, … or `y`.
        variable: String,
        /// Which row, from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The curve has more parameters than there are data.
    #[error("{observations} observations cannot determine {parameters} parameters")]
    TooFewObservations {
        /// Number of observations.
        observations: usize,
        /// Number of parameters.
        parameters: usize,
    },
    /// The names do not match the parameters.
    #[error("the curve has {parameters} parameters, but {names} names were given")]
    WrongNameCount {
        /// Number of parameters.
        parameters: usize,
        /// Number of names.
        names: usize,
    },
    /// The solve could not start.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The uncertainties could not be computed.
    #[error("no uncertainties: {0}")]
    Covariance(#[from] CovarianceError),
}
