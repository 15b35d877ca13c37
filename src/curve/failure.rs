//! Errors of one fit of many.

use thiserror::Error;

use super::CurveError;
use crate::solver::{Report, SolveError, Status};

/// Reasons for which one fit of many, from another start or of other data, failed. The others are not concerned.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FitFailure {
    /// The fit did not converge.
    #[error("not converged: {0}")]
    NotConverged(Status),
    /// The fit could not start.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The data drawn for it are none that can be fitted.
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
