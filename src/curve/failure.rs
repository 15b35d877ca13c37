//! Errors of one fit of many.

use thiserror::Error;

use super::CurveError;
use crate::solver::{Report, SolveError, Status};

/// Reasons why one fit of many failed, such as a fit from another start or of resampled data. The other fits are not affected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FitFailure {
    /// The fit did not converge.
    #[error("not converged: {0}")]
    NotConverged(Status),
    /// The fit could not start.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The resampled data cannot be fitted.
    #[error(transparent)]
    Data(#[from] CurveError),
}

impl FitFailure {
    /// The report of a solve that converged.
    pub(super) fn unless_converged<T: crate::real::Real>(
        solved: Result<Report<T>, SolveError>,
    ) -> Result<Report<T>, FitFailure> {
        let report = solved?;
        if report.is_converged() { Ok(report) } else { Err(FitFailure::NotConverged(report.status)) }
    }
}
