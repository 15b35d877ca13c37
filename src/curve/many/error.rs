//! What can be wrong with many fits as a whole.

use thiserror::Error;

/// Why none of the fits was begun. What is wrong with one of them is in its [`FitStatus`](crate::FitStatus).
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FitManyError {
    /// Predictors and responses do not match.
    #[error("x has {x} points to a fit, but y has {y}")]
    UnequalPoints {
        /// Points of the predictors.
        x: usize,
        /// Points of the responses.
        y: usize,
    },
    /// Something has rows for another number of fits than the responses.
    #[error("{what} has rows for {found} fits, but y for {expected}")]
    UnequalFits {
        /// What it is: `x`, `start` or `sigma`.
        what: &'static str,
        /// Rows of `y`.
        expected: usize,
        /// Its rows.
        found: usize,
    },
    /// Neither a start nor the wish for guesses was given.
    #[error("there is no start: give one, or let the model guess")]
    NoStart,
    /// The start is for another number of parameters.
    #[error("the model has {parameters} parameters, but the start {found} numbers")]
    StartLength {
        /// Parameters of the model.
        parameters: usize,
        /// Numbers of the start.
        found: usize,
    },
    /// Standard deviations do not match the responses.
    #[error("there are {sigma} standard deviations for {points} points")]
    SigmaLength {
        /// Standard deviations of a fit.
        sigma: usize,
        /// Points of a fit.
        points: usize,
    },
    /// Bounds of another number of parameters.
    #[error("the model has {parameters} parameters, but there are bounds for {found}")]
    BoundsLength {
        /// Parameters of the model.
        parameters: usize,
        /// Parameters that the bounds are for.
        found: usize,
    },
    /// The points have no predictors.
    #[error("x has no predictors: its rows are empty")]
    NoPredictors,
    /// The model has no parameters.
    #[error("the model has no parameters")]
    NoParameters,
    /// The tolerance is negative or NaN.
    #[error("ftol must be zero or positive, not {0}")]
    Tolerance(f64),
}
