//! Errors of plots.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::problem::EvaluationError;

/// Reasons for which a plot could not be made or saved.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// A fitted curve has several predictors, or none.
    #[error("only curves of one predictor are drawn, and this one has {predictors}")]
    NotOnePredictor {
        /// Its predictors.
        predictors: usize,
    },
    /// A curve is not complex: it does not have two responses to a row.
    #[error("only complex curves are drawn so, which have two responses to a row, and this one has {responses}")]
    NotComplex {
        /// Its responses.
        responses: usize,
    },
    /// A fit was stored without its data.
    #[error("the fit was stored without its data, which are to be drawn")]
    NoData,
    /// A fitted curve could not be evaluated between the data.
    #[error("the curve could not be evaluated: {0}")]
    Evaluation(#[source] EvaluationError),
    /// The name of the file ends neither in `.svg` nor in `.png`.
    #[error("{}: a plot is saved as .svg or .png", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}
