//! Why a plot could not be saved.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a plot could not be saved.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
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
        /// Why not.
        source: io::Error,
    },
}
