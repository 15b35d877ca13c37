//! Pose graphs as all crates are given them.

use std::error::Error;
use std::path::Path;

use marquardt::graph::{CostFunction, GraphError, PoseGraph, RelativePose2, RelativePose3};
pub use marquardt::graph::{Dimension, Edge};
use marquardt::manifold::{Manifold, Pose2, Pose3, SE2, SE3};

/// Poses, and measured relative poses of pairs of them.
#[derive(Debug, Clone)]
pub struct Graph {
    pub dimension: Dimension,
    pub vertices: Vec<Vertex>,
    pub edges: Vec<Edge>,
    fixed: Vec<usize>,
}

/// Pose of a vertex: `x y angle`, or `x y z` and a quaternion `i j k w`.
#[derive(Debug, Clone)]
pub struct Vertex {
    pub pose: Vec<f64>,
}

impl Graph {
    /// Reads a graph of poses alone.
    pub fn read(file: &Path) -> Result<Graph, Box<dyn Error>> {
        let graph = PoseGraph::read(file)?;
        if graph.vertices().iter().any(|vertex| vertex.is_point) {
            return Err(format!("{}: points are for no other crate", file.display()).into());
        }
        let vertices = graph.vertices().iter().map(|vertex| Vertex { pose: vertex.coordinates.clone() });
        Ok(Graph {
            dimension: graph.dimension(),
            vertices: vertices.collect(),
            edges: graph.edges().to_vec(),
            fixed: graph.fixed().to_vec(),
        })
    }

    /// Indices of the vertices that are held constant: those named in `FIX` lines, or else the first.
    pub fn constant(&self) -> &[usize] {
        if self.fixed.is_empty() { &[0] } else { &self.fixed }
    }
}

/// Manifold of the poses of a graph, with the numbers that files have for its points.
pub trait Poses: Manifold<f64> + Default + 'static {
    type Edge: CostFunction<f64, Blocks = (Self, Self)>;

    /// Cost function of an edge.
    fn edge(measured: &[f64], information: &[f64]) -> Result<Self::Edge, GraphError>;

    /// Point of the manifold with these numbers in a file.
    fn point(pose: &[f64]) -> Vec<f64>;

    /// Numbers of a point in a file.
    fn pose(point: &[f64]) -> Vec<f64>;
}

impl Poses for SE2 {
    type Edge = RelativePose2<f64>;

    fn edge(measured: &[f64], information: &[f64]) -> Result<Self::Edge, GraphError> {
        RelativePose2::new(Pose2::from_slice(&Self::point(measured)), symmetric(information))
    }

    fn point(pose: &[f64]) -> Vec<f64> {
        Pose2::new(pose[0], pose[1], pose[2]).to_array().to_vec()
    }

    fn pose(point: &[f64]) -> Vec<f64> {
        let pose = Pose2::from_slice(point);
        vec![pose.translation[0], pose.translation[1], pose.rotation.log()]
    }
}

impl Poses for SE3 {
    type Edge = RelativePose3<f64>;

    fn edge(measured: &[f64], information: &[f64]) -> Result<Self::Edge, GraphError> {
        RelativePose3::new(Pose3::from_slice(&Self::point(measured)), symmetric(information))
    }

    fn point(pose: &[f64]) -> Vec<f64> {
        pose.to_vec()
    }

    fn pose(point: &[f64]) -> Vec<f64> {
        point.to_vec()
    }
}

/// Symmetric matrix of an upper triangle, row by row.
fn symmetric<const N: usize>(triangle: &[f64]) -> [[f64; N]; N] {
    let mut matrix = [[0.0; N]; N];
    let places = (0..N).flat_map(|i| (i..N).map(move |j| (i, j)));
    for ((i, j), &entry) in places.zip(triangle) {
        matrix[i][j] = entry;
        matrix[j][i] = entry;
    }
    matrix
}
