//! Errors of many fits as a whole.

use thiserror::Error;

use crate::curve::CurveError;
use crate::curve::counted::counted;

/// Reasons why no fit was started. Errors of single fits are in their [`FitStatus`](crate::solver::FitStatus).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FitManyError {
    /// Predictors and responses do not match.
    #[error("x has {} to a fit, but y has {y}", counted(*x, "point"))]
    UnequalPoints {
        /// Points of the predictors.
        x: usize,
        /// Points of the responses.
        y: usize,
    },
    /// An array has rows for another number of fits than the responses.
    #[error("{what} has rows for {}, but y for {expected}", counted(*found, "fit"))]
    UnequalFits {
        /// Its name: `x`, `start` or `sigma`.
        what: &'static str,
        /// Rows of `y`.
        expected: usize,
        /// Its rows.
        found: usize,
    },
    /// Neither a start nor `guess` was given.
    #[error("there is no start: give one, or let the model guess")]
    NoStart,
    /// The start is for another number of parameters.
    #[error("the model has {}, but the start {}", counted(*parameters, "parameter"), counted(*found, "number"))]
    StartLength {
        /// Parameters of the model.
        parameters: usize,
        /// Numbers of the start.
        found: usize,
    },
    /// Standard deviations do not match the responses.
    #[error("sigma has {} for {}", counted(*sigma, "standard deviation"), counted(*points, "point"))]
    SigmaLength {
        /// Standard deviations of a fit.
        sigma: usize,
        /// Points of a fit.
        points: usize,
    },
    /// An option is invalid, or excludes another option.
    #[error(transparent)]
    Options(Box<CurveError>),
    /// The points have no predictors.
    #[error("x has no predictors: its rows are empty")]
    NoPredictors,
    /// The model has no parameters.
    #[error("the model has no parameters")]
    NoParameters,
    /// The responses of the model are complex.
    #[error("the model has complex responses, which `CurveFit` fits one by one")]
    ComplexModel,
    /// The tolerance is negative or NaN.
    #[error("ftol must be zero or positive, not {0}")]
    Tolerance(f64),
}

impl From<CurveError> for FitManyError {
    fn from(error: CurveError) -> Self {
        FitManyError::Options(Box::new(error))
    }
}
