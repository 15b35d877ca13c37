//! Errors in files of bundles.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Failure to read or write a bundle.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BundleFileError {
    /// A file cannot be read or written.
    #[error("{}: {error}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// A line is wrong.
    #[error("{}line {line}: {error}", if file.is_empty() { String::new() } else { format!("{file}, ") })]
    Line {
        /// File of the directory; empty for a file of BAL, which is the only one.
        file: &'static str,
        /// Number of the line; the first is 1.
        line: usize,
        /// Its error.
        error: BundleLineError,
    },
    /// A camera or an image has no place in a file of BAL.
    #[error(
        "image {image} has no place in a file of BAL: each image there has a camera of its own, with the model SNAVELY"
    )]
    NotBal {
        /// Number of the image.
        image: u64,
    },
}

/// Error in one line of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BundleLineError {
    /// The file or the line ends too early.
    #[error("{name} is missing")]
    Missing {
        /// The missing number.
        name: String,
    },
    /// A word is not a number of the kind that is needed.
    #[error("{name} is {text:?}, and not {wanted}")]
    Word {
        /// The number.
        name: String,
        /// The word, or its beginning.
        text: String,
        /// Kind of number: `"a count"`, `"a finite number"` and others.
        wanted: &'static str,
    },
    /// An index is too large.
    #[error("{name} is {index}, but there are only {count}")]
    OutOfRange {
        /// The index.
        name: String,
        /// Its value.
        index: usize,
        /// Number of those that there are.
        count: usize,
    },
    /// Something follows the end.
    #[error("{text:?} follows {name}, which is the last")]
    Trailing {
        /// The word, or its beginning.
        text: String,
        /// The last number.
        name: String,
    },
    /// No point is seen in any image.
    #[error("there is no observation of a point")]
    NoObservation,
    /// A number is given twice.
    #[error("{name} {id} is in line {first} already")]
    Duplicate {
        /// `"camera"`, `"image"` or `"point"`.
        name: &'static str,
        /// Its number.
        id: u64,
        /// Its first line.
        first: usize,
    },
    /// Another file does not have what the line names.
    #[error("{owner} names {name} {id}, which is not in {file}")]
    Unknown {
        /// Owner of the line.
        owner: String,
        /// `"camera"`, `"image"` or `"point"`.
        name: &'static str,
        /// Its number.
        id: u64,
        /// File that would have it.
        file: &'static str,
    },
    /// A model of cameras is not known.
    #[error("the camera model {name:?} is not known; known are {known}")]
    Model {
        /// Name of the model.
        name: String,
        /// Names of known models.
        known: String,
    },
    /// The quaternion of an image has no direction.
    #[error("the quaternion of image {image} cannot be normalised: its norm is {norm}")]
    Quaternion {
        /// Number of the image.
        image: u64,
        /// Norm of the quaternion.
        norm: String,
    },
    /// The track of a point names a feature of another point.
    #[error("the track of point {point} names feature {feature} of image {image}, which is not of this point")]
    Track {
        /// Number of the point.
        point: u64,
        /// Number of the image.
        image: u64,
        /// Index of the feature in the image.
        feature: usize,
    },
}
