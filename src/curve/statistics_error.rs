//! Errors of a fit's statistics.

use thiserror::Error;

use super::counted::counted;
use super::quoted::quoted;

use crate::problem::EvaluationError;

/// Reasons why a statistic of a fit is not available.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StatisticsError {
    /// A confidence level is not between 0 and 1.
    #[error("the confidence level must be between 0 and 1, not {level}")]
    Level {
        /// The level asked for.
        level: f64,
    },
    /// No parameter has this name.
    #[error("there is no parameter {name:?}; there are {}", quoted(known))]
    NoSuchParameter {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The curve has another number of predictors.
    #[error("the curve has {expected} predictors, not {found}")]
    PredictorCount {
        /// Predictors of the curve.
        expected: usize,
        /// Numbers in a row.
        found: usize,
    },
    /// The curve could not be evaluated.
    #[error("the curve could not be evaluated: {0}")]
    Evaluation(#[from] EvaluationError),
    /// The curve or its derivative is NaN or infinite.
    #[error("the curve or its derivative is not finite in row {}", row + 1)]
    NonFiniteCurve {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
    },
    /// A quantity computed from parameters, or its derivative, is NaN or infinite.
    #[error("the quantity of {}, or its derivative, is not finite", .of.join(", "))]
    NonFiniteQuantity {
        /// The parameters that it is computed from.
        of: Vec<String>,
    },
    /// The noise of new responses is unknown, because sigma differs from row to row.
    #[error("sigma differs from row to row: set that of the new responses by prediction_band_with_sigma")]
    UnknownSigma,
    /// Counts have no standard deviations of their own.
    #[error("counts have no sigma: their variance is their mean")]
    SigmaOfCounts,
    /// Standard deviations do not match the responses.
    #[error("sigma has {} for {}", counted(*sigma, "standard deviation"), counted(*responses, "response"))]
    SigmaLength {
        /// Standard deviations.
        sigma: usize,
        /// Responses.
        responses: usize,
    },
    /// A standard deviation is not positive.
    #[error("sigma is {value} in row {}: standard deviations must be positive", row + 1)]
    NonPositiveSigma {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The mean of a count would be negative.
    #[error("the curve is {value} in row {}: the mean of a count must not be negative", row + 1)]
    NegativeMean {
        /// Index of the row, from 0; messages count from 1.
        row: usize,
        /// The value.
        value: f64,
    },
    /// The size of the noise is not known.
    #[error("the size of the noise is not known, and there are no degrees of freedom to estimate it from")]
    NoDegreesOfFreedom,
    /// The fit is robust: leverage and influence are defined for least squares only.
    #[error("leverage and Cook's distance are those of least squares, and this fit is robust")]
    RobustFit,
    /// The statistic needs all rows on one rank.
    #[error("this needs all rows on one rank, but {ranks} ranks share them")]
    SharedRows {
        /// Number of ranks that share the rows.
        ranks: usize,
    },
}
