//! Errors of `.npy` files.

use std::io;

use thiserror::Error;

/// Error of an `.npy` file. `source_name` is its path, or `input` for bytes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The file cannot be read or written.
    #[error("{source_name}: {source}")]
    Io {
        /// Name of the file.
        source_name: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file does not begin with the magic bytes of `.npy` files, or its header is invalid.
    #[error("{source_name} is not an .npy file: {reason}")]
    NotNpy {
        /// Name of the file.
        source_name: String,
        /// The reason.
        reason: String,
    },
    /// The type of the numbers is not supported, such as complex numbers, records or objects.
    #[error("{source_name} has numbers of the type {descr}; floats of 4 or 8 bytes, integers and booleans can be read")]
    Type {
        /// Name of the file.
        source_name: String,
        /// The type, as NumPy writes it.
        descr: String,
    },
    /// The number of bytes does not match the shape.
    #[error("{source_name} has {found} bytes of numbers, but its shape {shape:?} takes {expected}")]
    Length {
        /// Name of the file.
        source_name: String,
        /// The shape of the array.
        shape: Vec<usize>,
        /// Bytes of such an array.
        expected: usize,
        /// Bytes after the header.
        found: usize,
    },
    /// The array is in column-major order and cannot be read row by row.
    #[error("{source_name} is in column-major order; save it by numpy.ascontiguousarray to read it row by row")]
    ColumnMajor {
        /// Name of the file.
        source_name: String,
    },
    /// The number of dimensions of the array is not the requested one.
    #[error("{source_name} has an array of {found} dimensions, of shape {shape:?}, but {expected} are expected")]
    Dimensions {
        /// Name of the file.
        source_name: String,
        /// The shape of the array.
        shape: Vec<usize>,
        /// Dimensions asked for.
        expected: usize,
        /// Dimensions of the array.
        found: usize,
    },
}
