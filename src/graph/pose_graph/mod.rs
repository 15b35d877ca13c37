//! Pose graphs: files of g2o and TORO, starts, and solves.

mod components;
mod file;
mod file_error;
mod line;
#[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
mod picture;
mod poses;
mod problem;
mod relaxation;
mod solve;
mod spanning_tree;
mod start;
#[cfg(test)]
mod tests;
mod warning;
mod written;

use std::sync::Arc;

use super::GraphError;
pub use file_error::{GraphFileError, GraphLineError};
pub use poses::Poses;
pub use problem::PoseGraphProblem;
pub use solve::{PoseGraphReport, PoseGraphSolver};
pub use start::Start;
pub use warning::GraphWarning;

/// Poses and points, and what was measured between them: a map.
///
/// [`read`](Self::read) takes files of g2o and TORO. [`PoseGraphSolver`] finds the poses that the measurements determine best.
///
/// ```
/// use marquardt::graph::{PoseGraph, PoseGraphSolver};
///
/// // A robot drives around a square, and measures its last pose from its first. No line says where it was.
/// let mut graph = PoseGraph::parse(
///     "EDGE_SE2 0 1 1 0 1.5708 1 0 0 1 0 1
///      EDGE_SE2 1 2 1.1 0 1.5708 1 0 0 1 0 1
///      EDGE_SE2 2 3 1 0 1.5708 1 0 0 1 0 1
///      EDGE_SE2 3 0 1 0 1.5708 1 0 0 1 0 1",
/// )?;
/// let solved = PoseGraphSolver::new().solve(&mut graph)?;
/// assert!(solved.report.is_converged() && solved.report.cost < 0.003);
/// assert!((graph.position(2)[1] - 1.05).abs() < 0.03);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PoseGraph {
    dimension: Dimension,
    vertices: Vec<Vertex>,
    /// Shared by the copies of a graph, which differ in its vertices.
    edges: Arc<[Edge]>,
    fixed: Vec<usize>,
    warnings: Vec<GraphWarning>,
}

/// Dimension of the world in which the poses are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Poses are `x, y` and an angle.
    Plane,
    /// Poses are `x, y, z` and a rotation in space.
    Space,
}

/// A pose or a point, with its number in the file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Vertex {
    /// Number in the file.
    pub id: u64,
    /// True for a point (landmark), which has no rotation.
    pub is_point: bool,
    /// `x y angle` in the plane, `x y z` and a unit quaternion `i j k w` in space; a point's `x y` or `x y z`.
    pub coordinates: Vec<f64>,
}

/// A second pose or point, as it was seen from a first pose.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Edge {
    /// Line of the file; the first is 1.
    pub line: usize,
    /// Indices of the two vertices.
    pub vertices: [usize; 2],
    /// The second vertex in the frame of the first, in the form of [`Vertex::coordinates`].
    pub measured: Vec<f64>,
    /// Upper triangle of the information matrix, row by row; rotations come last.
    pub information: Vec<f64>,
    /// True if the information matrix is semi-definite or, by rounding, slightly indefinite.
    pub is_rounded: bool,
}

impl PoseGraph {
    /// Dimension of the world.
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// Poses and points, in the order of the file. Those of which only edges tell come last.
    pub fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// Measurements, in the order of the file.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Indices of the vertices named in `FIX` lines.
    pub fn fixed(&self) -> &[usize] {
        &self.fixed
    }

    /// Findings in the file that its author should know.
    pub fn warnings(&self) -> &[GraphWarning] {
        &self.warnings
    }

    /// Position of a vertex; in the plane, `z` is zero.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    pub fn position(&self, vertex: usize) -> [f64; 3] {
        let coordinates = &self.vertices[vertex].coordinates;
        match self.dimension {
            Dimension::Plane => [coordinates[0], coordinates[1], 0.0],
            Dimension::Space => [coordinates[0], coordinates[1], coordinates[2]],
        }
    }

    /// Line of the file whose edge cannot be evaluated or is not finite: that of the residual block of an error of a solve. Residual blocks
    /// are the edges, in their order.
    pub fn line_of(&self, error: &GraphError) -> Option<usize> {
        match error {
            GraphError::NonFiniteResidual { residual_block, .. } | GraphError::Evaluation { residual_block, .. } => {
                self.edges.get(*residual_block).map(|edge| edge.line)
            }
            _ => None,
        }
    }

    /// Returns true if the edge joins two poses that do not follow each other: a place was seen again.
    pub fn is_loop_closure(&self, edge: &Edge) -> bool {
        let [a, b] = edge.vertices;
        a.abs_diff(b) != 1 && !self.vertices[b].is_point
    }
}

impl Dimension {
    /// Number of coordinates of a position.
    pub(super) fn position_size(self) -> usize {
        match self {
            Dimension::Plane => 2,
            Dimension::Space => 3,
        }
    }

    /// Number of coordinates of a vertex.
    pub(super) fn vertex_size(self, is_point: bool) -> usize {
        match (self, is_point) {
            (Dimension::Plane, true) => 2,
            (Dimension::Space, false) => 7,
            _ => 3,
        }
    }

    /// Number of residuals of a measured vertex.
    pub(super) fn residual_size(self, is_point: bool) -> usize {
        match (self, is_point) {
            (Dimension::Plane, true) => 2,
            (Dimension::Space, false) => 6,
            _ => 3,
        }
    }
}
