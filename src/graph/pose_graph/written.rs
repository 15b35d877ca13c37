//! Writes files of g2o.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::{Dimension, Edge, GraphFileError, PoseGraph, Vertex};

impl Dimension {
    fn vertex_tag(self, is_point: bool) -> &'static str {
        match (self, is_point) {
            (Dimension::Plane, false) => "VERTEX_SE2",
            (Dimension::Plane, true) => "VERTEX_XY",
            (Dimension::Space, false) => "VERTEX_SE3:QUAT",
            (Dimension::Space, true) => "VERTEX_TRACKXYZ",
        }
    }

    fn edge_tag(self, is_point: bool) -> &'static str {
        match (self, is_point) {
            (Dimension::Plane, false) => "EDGE_SE2",
            (Dimension::Plane, true) => "EDGE_SE2_XY",
            (Dimension::Space, false) => "EDGE_SE3:QUAT",
            (Dimension::Space, true) => "EDGE_SE3_TRACKXYZ",
        }
    }
}

impl PoseGraph {
    /// The graph as the text of a g2o file. The same numbers are read back from it, to the last digit.
    pub fn to_g2o(&self) -> String {
        let mut text = String::new();
        let mut write = |tag: &str, ids: &[u64], numbers: &[&[f64]]| {
            text.push_str(tag);
            // Strings can be written to.
            let _ = ids.iter().try_for_each(|id| write!(text, " {id}"));
            let _ = numbers.iter().copied().flatten().try_for_each(|number| write!(text, " {number:?}"));
            text.push('\n');
        };
        let is_point_from_space =
            |edge: &Edge| self.dimension == Dimension::Space && self.vertices[edge.vertices[1]].is_point;
        if self.edges.iter().any(is_point_from_space) {
            write("PARAMS_SE3OFFSET", &[0], &[&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]);
        }
        for Vertex { id, is_point, coordinates } in &self.vertices {
            write(self.dimension.vertex_tag(*is_point), &[*id], &[coordinates]);
        }
        for &vertex in &self.fixed {
            write("FIX", &[self.vertices[vertex].id], &[]);
        }
        for edge in &*self.edges {
            let [a, b] = edge.vertices.map(|vertex| self.vertices[vertex].id);
            let ids: &[u64] = if is_point_from_space(edge) { &[a, b, 0] } else { &[a, b] };
            let is_point = self.vertices[edge.vertices[1]].is_point;
            write(self.dimension.edge_tag(is_point), ids, &[&edge.measured, &edge.information]);
        }
        text
    }

    /// Writes a g2o file.
    ///
    /// # Errors
    ///
    /// [`GraphFileError::Io`].
    pub fn save_g2o(&self, file: impl AsRef<Path>) -> Result<(), GraphFileError> {
        let file = file.as_ref();
        fs::write(file, self.to_g2o()).map_err(|error| GraphFileError::Io { file: file.to_owned(), error })
    }
}
