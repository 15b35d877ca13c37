//! Errors of plots.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::problem::EvaluationError;

/// Reasons why a plot could not be made or saved.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// A fitted curve has no predictor, or more predictors than a plot can show.
    #[error(
        "curves of one predictor are drawn, and of a single data set those of two with one response; this one has {predictors} predictors"
    )]
    NotOnePredictor {
        /// Its predictors.
        predictors: usize,
    },
    /// A curve is not complex: it does not have two responses to a row.
    #[error("Nyquist and Bode plots need a complex curve, with two responses to a row, but this curve has {responses}")]
    NotComplex {
        /// Its responses.
        responses: usize,
    },
    /// No parameter has this name.
    #[error("there is no parameter {name:?}; the parameters are {}", names.join(", "))]
    NoSuchParameter {
        /// The name.
        name: String,
        /// Names of the parameters.
        names: Vec<String>,
    },
    /// The number of fits is not the number of pixels of the image.
    #[error("an image of {rows} × {columns} pixels needs one fit for each pixel, but there are {fits} fits")]
    NotAnImage {
        /// Rows of the image.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// Number of fits.
        fits: usize,
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
