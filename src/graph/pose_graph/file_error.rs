//! Errors in files of pose graphs.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Failure to read or write a pose graph.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GraphFileError {
    /// The file cannot be read or written.
    #[error("{}: {error}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// A line is wrong.
    #[error("line {line}: {error}")]
    Line {
        /// Number of the line; the first is 1.
        line: usize,
        /// Its error.
        error: GraphLineError,
    },
    /// Nothing was measured.
    #[error("no line is an edge, as EDGE_SE2 or EDGE_SE3:QUAT")]
    NoEdges,
}

/// Error in one line of a pose graph.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GraphLineError {
    /// The line has too many or too few numbers.
    #[error("{tag} takes {expected} numbers, not {found}")]
    Count {
        /// Tag of the line.
        tag: String,
        /// Number of numbers that it takes.
        expected: usize,
        /// Number of words found.
        found: usize,
    },
    /// A word is not a finite number.
    #[error("number {place} of {tag} is {text:?}, and not a finite number")]
    Number {
        /// Tag of the line.
        tag: String,
        /// Place of the word after the tag; the first is 1.
        place: usize,
        /// The word.
        text: String,
    },
    /// A word is not the number of a vertex.
    #[error("{text:?} is not a vertex: {tag} names vertices by integers from 0")]
    Id {
        /// Tag of the line.
        tag: String,
        /// The word.
        text: String,
    },
    /// `FIX` without a vertex.
    #[error("FIX names no vertex")]
    EmptyFix,
    /// Poses in the plane and poses in space.
    #[error("{tag} in a graph that began with {first}; all must be in the plane, or all in space")]
    Mixed {
        /// Tag of the line.
        tag: String,
        /// First tag of the file.
        first: String,
    },
    /// A vertex is defined twice.
    #[error("vertex {vertex} is in line {first} already")]
    Duplicate {
        /// Number of the vertex.
        vertex: u64,
        /// Its first line.
        first: usize,
    },
    /// `FIX` names a vertex that nothing else names.
    #[error("{tag} names vertex {vertex}, which no other line names")]
    UnknownVertex {
        /// Tag of the line.
        tag: String,
        /// Number of the vertex.
        vertex: u64,
    },
    /// A pose is needed where a point is named, or a point where a pose is.
    #[error("{tag} names vertex {vertex} as a {wanted}, which it is not")]
    Kind {
        /// Tag of the line.
        tag: String,
        /// Number of the vertex.
        vertex: u64,
        /// `"pose"` or `"point"`.
        wanted: &'static str,
    },
    /// An edge joins a vertex with itself.
    #[error("the edge leads from vertex {vertex} to itself")]
    SelfEdge {
        /// Number of the vertex.
        vertex: u64,
    },
    /// A quaternion has no direction.
    #[error("the quaternion of {tag} cannot be normalised: its norm is {norm}")]
    Quaternion {
        /// Tag of the line.
        tag: String,
        /// Its norm.
        norm: String,
    },
    /// The offset of a sensor is used before a line defines it.
    #[error("{tag} names the parameter {parameter}, and no line PARAMS_SE3OFFSET before it defines it")]
    Parameter {
        /// Tag of the line.
        tag: String,
        /// Number of the parameter.
        parameter: u64,
    },
    /// An information matrix is indefinite by more than rounding.
    #[error("the information matrix of the edge from vertex {from} to vertex {to} is not positive definite: row {row}")]
    Information {
        /// Number of the first vertex.
        from: u64,
        /// Number of the second vertex.
        to: u64,
        /// First row where that is seen; the first is 1.
        row: usize,
    },
}
