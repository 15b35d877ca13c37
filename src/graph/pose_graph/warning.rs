//! Warnings about the file of a graph.

use std::fmt;

/// A finding in the file of a pose graph which does not prevent a solve.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphWarning {
    /// Lines with a tag that is not known were left out.
    UnknownTag {
        /// The tag.
        tag: String,
        /// Its first line.
        line: usize,
        /// Number of its lines.
        count: usize,
    },
    /// Edges name vertices that no line defines. They were placed along the edges of a spanning tree.
    PlacedVertices {
        /// Number of the first of them in the file.
        first: u64,
        /// Their number.
        count: usize,
    },
    /// Information matrices are semi-definite, or slightly indefinite by rounding. Eigenvalues below zero count as zero.
    RoundedInformation {
        /// Line of the first of them.
        line: usize,
        /// Their number.
        count: usize,
    },
    /// Entries of information matrices are in the other order of the two that are in use, that of TORO or that of g2o.
    OrderOfInformation {
        /// Line of the first of them.
        line: usize,
        /// Their number.
        count: usize,
    },
    /// Vertices have no edges, and stay where they are.
    NoEdges {
        /// Number of the first of them in the file.
        first: u64,
        /// Their number.
        count: usize,
    },
    /// The graph consists of separate pieces. In pieces without a fixed vertex, the first pose is held constant.
    Pieces {
        /// Number of pieces.
        count: usize,
        /// Number of pieces without a fixed vertex.
        without_fixed: usize,
    },
}

impl fmt::Display for GraphWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GraphWarning::UnknownTag { tag, line, count } => {
                write!(f, "line {line}: the tag {tag} is unknown; lines left out: {count}")
            }
            GraphWarning::PlacedVertices { first, count } => {
                write!(f, "{count} vertices have no line, vertex {first} first; they start along the measured edges")
            }
            GraphWarning::RoundedInformation { line, count } => write!(
                f,
                "line {line}: the information matrix is not positive definite, by rounding; its negative eigenvalues count as zero; such \
                 edges: {count}"
            ),
            GraphWarning::OrderOfInformation { line, count } => write!(
                f,
                "line {line}: the information matrix is positive definite only if its entries are in the other order of the two that g2o \
                 and TORO use; such edges: {count}"
            ),
            GraphWarning::NoEdges { first, count } => {
                write!(f, "{count} vertices have no edges, vertex {first} first; they stay where they are")
            }
            GraphWarning::Pieces { count, without_fixed } => write!(
                f,
                "the graph consists of {count} separate pieces; {without_fixed} of them have no fixed vertex, and their first poses are \
                 held constant"
            ),
        }
    }
}
