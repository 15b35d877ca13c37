//! Errors of stored fits.

use thiserror::Error;

/// Reasons why a [`StoredFit`](crate::curve::StoredFit) could not be saved, loaded, or given a curve.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoredFitError {
    /// The text is not a stored fit.
    #[cfg(feature = "json")]
    #[error("it is no stored fit: {0}")]
    Json(#[from] serde_json::Error),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: std::path::PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The curve is not that of the fit.
    #[error("the fit has {expected} {what}, but the curve has {found}")]
    OtherCurve {
        /// Parameters or responses.
        what: &'static str,
        /// Number that the fit has.
        expected: usize,
        /// Number that the curve has.
        found: usize,
    },
}
