//! Reads files of g2o and TORO.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::file_error::{GraphFileError, GraphLineError};
use super::line::Line;
use super::poses::Poses;
use super::warning::GraphWarning;
use super::{Dimension, Edge, PoseGraph, Vertex, components, spanning_tree};
use crate::graph::GraphError;
use crate::manifold::{Pose3, Rotation3, SE2, SE3};

/// Meaning of a line, by its tag.
#[derive(Clone, Copy)]
enum Tag {
    Vertex(Dimension, Kind),
    Edge(Dimension, Kind),
    Fix,
    /// Two vertices are one.
    Equivalence,
    /// Pose of a sensor on the body.
    Offset,
}

/// Form of a pose or a point.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Numbers as they are kept.
    Pose,
    /// As TORO has them: Euler angles, and in the plane another order of the information matrix.
    ToroPose,
    Point,
    /// A point as a sensor with an offset sees it.
    PointFromSensor,
}

const TAGS: [(&str, Tag); 17] = [
    ("VERTEX_SE2", Tag::Vertex(Dimension::Plane, Kind::Pose)),
    ("VERTEX2", Tag::Vertex(Dimension::Plane, Kind::ToroPose)),
    ("VERTEX_XY", Tag::Vertex(Dimension::Plane, Kind::Point)),
    ("EDGE_SE2", Tag::Edge(Dimension::Plane, Kind::Pose)),
    ("EDGE2", Tag::Edge(Dimension::Plane, Kind::ToroPose)),
    ("EDGE_SE2_XY", Tag::Edge(Dimension::Plane, Kind::Point)),
    ("VERTEX_SE3:QUAT", Tag::Vertex(Dimension::Space, Kind::Pose)),
    ("VERTEX3", Tag::Vertex(Dimension::Space, Kind::ToroPose)),
    ("VERTEX_TRACKXYZ", Tag::Vertex(Dimension::Space, Kind::Point)),
    ("VERTEX_POINT_XYZ", Tag::Vertex(Dimension::Space, Kind::Point)),
    ("EDGE_SE3:QUAT", Tag::Edge(Dimension::Space, Kind::Pose)),
    ("EDGE3", Tag::Edge(Dimension::Space, Kind::ToroPose)),
    ("EDGE_SE3_TRACKXYZ", Tag::Edge(Dimension::Space, Kind::PointFromSensor)),
    ("EDGE_SE3_POINT_XYZ", Tag::Edge(Dimension::Space, Kind::PointFromSensor)),
    ("FIX", Tag::Fix),
    ("EQUIV", Tag::Equivalence),
    ("PARAMS_SE3OFFSET", Tag::Offset),
];

/// Places, in the upper triangle by rows, of the entries that TORO writes for poses in the plane.
const TORO_ORDER: [usize; 6] = [0, 1, 3, 5, 2, 4];

impl Kind {
    fn is_point(self) -> bool {
        matches!(self, Kind::Point | Kind::PointFromSensor)
    }

    /// Number of coordinates in a file.
    fn size(self, dimension: Dimension) -> usize {
        match (self, dimension) {
            (Kind::ToroPose, Dimension::Space) => 6,
            _ => dimension.vertex_size(self.is_point()),
        }
    }
}

impl PoseGraph {
    /// Reads a file of g2o or TORO.
    ///
    /// Known are poses and relative poses in the plane (`VERTEX_SE2`, `VERTEX2`, `EDGE_SE2`, `EDGE2`) and in space (`VERTEX_SE3:QUAT`, `VERTEX3`,
    /// `EDGE_SE3:QUAT`, `EDGE3`), points (landmarks) and where they were seen (`VERTEX_XY`, `EDGE_SE2_XY`, `VERTEX_TRACKXYZ`, `VERTEX_POINT_XYZ`,
    /// `EDGE_SE3_TRACKXYZ` and `EDGE_SE3_POINT_XYZ` with `PARAMS_SE3OFFSET`), `FIX` and `EQUIV`. Vertices without a line are placed along the
    /// edges. [`warnings`](Self::warnings) tell what was left out or mended.
    ///
    /// # Errors
    ///
    /// [`GraphFileError`], which names the line.
    pub fn read(file: impl AsRef<Path>) -> Result<PoseGraph, GraphFileError> {
        let file = file.as_ref();
        let bytes = fs::read(file).map_err(|error| GraphFileError::Io { file: file.to_owned(), error })?;
        // Bytes that are no text are no numbers, and are named as such.
        PoseGraph::parse(&String::from_utf8_lossy(&bytes))
    }

    /// Reads the text of a file, as [`read`](Self::read) does.
    ///
    /// # Errors
    ///
    /// [`GraphFileError`], which names the line.
    pub fn parse(text: &str) -> Result<PoseGraph, GraphFileError> {
        let mut reader = Reader::default();
        for (number, text) in (1..).zip(text.lines()) {
            let Some(line) = Line::new(text) else { continue };
            reader.read(number, &line).map_err(|error| GraphFileError::Line { line: number, error })?;
        }
        reader.into_graph()
    }
}

/// Lines read so far. Vertices may follow the edges that name them.
#[derive(Default)]
struct Reader {
    /// Dimension, and the first tag that told it.
    dimension: Option<(Dimension, String)>,
    vertices: Vec<Vertex>,
    /// Index and line of each vertex.
    places: HashMap<u64, (usize, usize)>,
    edges: Vec<ReadEdge>,
    /// Vertices named in `FIX` lines, with the line.
    fixed: Vec<(u64, usize)>,
    /// Vertices that are another one.
    same: HashMap<u64, u64>,
    offsets: HashMap<u64, Pose3<f64>>,
    unknown_tags: Vec<GraphWarning>,
    /// Edges with entries of the information matrix in another order, and those with a rounded one.
    reordered: Tally,
    rounded: Tally,
}

/// An edge with the numbers of its vertices in the file.
struct ReadEdge {
    tag: &'static str,
    ends: [u64; 2],
    is_point: bool,
    edge: Edge,
}

/// Line of the first edge of a kind, and their number.
#[derive(Default)]
struct Tally {
    line: usize,
    count: usize,
}

impl Tally {
    fn add(&mut self, line: usize) {
        if self.count == 0 {
            self.line = line;
        }
        self.count += 1;
    }
}

impl Reader {
    fn read(&mut self, number: usize, line: &Line<'_>) -> Result<(), GraphLineError> {
        let Some(&(name, tag)) = TAGS.iter().find(|(name, _)| *name == line.tag) else {
            self.skip(number, line.tag);
            return Ok(());
        };
        match tag {
            Tag::Vertex(dimension, kind) => self.read_vertex(number, line, dimension, kind),
            Tag::Edge(dimension, kind) => self.read_edge(number, line, name, dimension, kind),
            Tag::Fix => {
                for word in 0..line.words.len() {
                    self.fixed.push((line.id(word)?, number));
                }
                if line.words.is_empty() { Err(GraphLineError::EmptyFix) } else { Ok(()) }
            }
            Tag::Equivalence => {
                if line.words.len() < 2 {
                    line.expect(2)?;
                }
                let (a, b) = (self.representative(line.id(0)?), self.representative(line.id(1)?));
                if a != b {
                    self.same.insert(a.max(b), a.min(b));
                }
                Ok(())
            }
            Tag::Offset => {
                line.expect(8)?;
                let (id, mut pose) = (line.id(0)?, line.numbers(1)?);
                line.normalize(&mut pose[3..])?;
                self.offsets.insert(id, Pose3::from_slice(&pose));
                Ok(())
            }
        }
    }

    fn skip(&mut self, number: usize, name: &str) {
        let known = self.unknown_tags.iter_mut().find_map(|warning| match warning {
            GraphWarning::UnknownTag { tag, count, .. } if tag == name => Some(count),
            _ => None,
        });
        match known {
            Some(count) => *count += 1,
            None => self.unknown_tags.push(GraphWarning::UnknownTag { tag: name.to_owned(), line: number, count: 1 }),
        }
    }

    fn take_dimension(&mut self, line: &Line<'_>, dimension: Dimension) -> Result<(), GraphLineError> {
        let (known, first) = self.dimension.get_or_insert_with(|| (dimension, line.tag.to_owned()));
        if *known == dimension {
            return Ok(());
        }
        Err(GraphLineError::Mixed { tag: line.tag.to_owned(), first: first.clone() })
    }

    fn read_vertex(
        &mut self,
        number: usize,
        line: &Line<'_>,
        dimension: Dimension,
        kind: Kind,
    ) -> Result<(), GraphLineError> {
        self.take_dimension(line, dimension)?;
        line.expect(1 + kind.size(dimension))?;
        let (id, coordinates) = (line.id(0)?, coordinates(line, dimension, kind, line.numbers(1)?)?);
        if let Some((_, first)) = self.places.insert(id, (self.vertices.len(), number)) {
            return Err(GraphLineError::Duplicate { vertex: id, first });
        }
        self.vertices.push(Vertex { id, is_point: kind.is_point(), coordinates });
        Ok(())
    }

    fn read_edge(
        &mut self,
        number: usize,
        line: &Line<'_>,
        tag: &'static str,
        dimension: Dimension,
        kind: Kind,
    ) -> Result<(), GraphLineError> {
        self.take_dimension(line, dimension)?;
        let residuals = dimension.residual_size(kind.is_point());
        let ids = 2 + usize::from(kind == Kind::PointFromSensor);
        let size = kind.size(dimension);
        line.expect(ids + size + residuals * (residuals + 1) / 2)?;
        let ends = [line.id(0)?, line.id(1)?];
        let parameter = if kind == Kind::PointFromSensor { Some(line.id(2)?) } else { None };
        let mut measured = line.numbers(ids)?;
        let mut information = measured.split_off(size);
        measured = coordinates(line, dimension, kind, measured)?;
        if ends[0] == ends[1] {
            return Err(GraphLineError::SelfEdge { vertex: ends[0] });
        }
        if let Some(parameter) = parameter {
            let unknown = || GraphLineError::Parameter { tag: tag.to_owned(), parameter };
            move_to_body(self.offsets.get(&parameter).ok_or_else(unknown)?, &mut measured, &mut information);
        }
        if kind == Kind::ToroPose && dimension == Dimension::Plane {
            information = from_toro(&information);
        }
        let mut edge = Edge { line: number, vertices: [0, 0], measured, information, is_rounded: false };
        let is_point = kind.is_point();
        if check_information(dimension, is_point, &edge).is_err() {
            self.mend_information(dimension, kind, &mut edge).map_err(|error| {
                let row = if let GraphError::InformationNotPositiveDefinite { row } = error { row + 1 } else { 1 };
                GraphLineError::Information { from: ends[0], to: ends[1], row }
            })?;
        }
        self.edges.push(ReadEdge { tag, ends, is_point, edge });
        Ok(())
    }

    /// Takes the information matrix in the other order, or as one that was rounded.
    fn mend_information(&mut self, dimension: Dimension, kind: Kind, edge: &mut Edge) -> Result<(), GraphError> {
        let other = match kind {
            Kind::Pose if dimension == Dimension::Plane => Some(from_toro(&edge.information)),
            Kind::ToroPose if dimension == Dimension::Plane => Some(to_toro(&edge.information)),
            _ => None,
        };
        let own_diagonal = [0, 3, 5].map(|place| edge.information.get(place).copied().unwrap_or(1.0));
        if let Some(information) = other.filter(|_| own_diagonal.iter().any(|&entry| entry <= 0.0)) {
            let other = Edge { information, ..edge.clone() };
            if check_information(dimension, false, &other).is_ok() {
                self.reordered.add(edge.line);
                *edge = other;
                return Ok(());
            }
        }
        edge.is_rounded = true;
        check_information(dimension, kind.is_point(), edge)?;
        self.rounded.add(edge.line);
        Ok(())
    }

    /// The vertex that this one is said to be.
    fn representative(&self, mut id: u64) -> u64 {
        while let Some(&same) = self.same.get(&id) {
            id = same;
        }
        id
    }

    fn into_graph(mut self) -> Result<PoseGraph, GraphFileError> {
        let dimension = match &self.dimension {
            Some((dimension, _)) if !self.edges.is_empty() => *dimension,
            _ => return Err(GraphFileError::NoEdges),
        };
        let defined = self.merge();
        let edges = self.take_edges(dimension)?.into();
        let fixed = self.take_fixed()?;
        let Reader { vertices, unknown_tags: mut warnings, reordered, rounded, .. } = self;
        if let Tally { line, count: count @ 1.. } = reordered {
            warnings.push(GraphWarning::OrderOfInformation { line, count });
        }
        if let Tally { line, count: count @ 1.. } = rounded {
            warnings.push(GraphWarning::RoundedInformation { line, count });
        }
        if let Some(first) = vertices.get(defined) {
            warnings.push(GraphWarning::PlacedVertices { first: first.id, count: vertices.len() - defined });
        }
        let mut is_placed = vec![true; vertices.len()];
        is_placed[defined..].fill(false);
        let mut graph = PoseGraph { dimension, vertices, edges, fixed, warnings };
        spanning_tree::place(&mut graph, is_placed, |_| true);
        graph.warnings.extend(components::warnings(&graph));
        Ok(graph)
    }

    /// Indices of the fixed vertices, each once.
    fn take_fixed(&self) -> Result<Vec<usize>, GraphFileError> {
        let mut fixed = Vec::new();
        let mut seen = HashSet::new();
        for &(id, line) in &self.fixed {
            let Some(&(vertex, _)) = self.places.get(&self.representative(id)) else {
                let error = GraphLineError::UnknownVertex { tag: "FIX".to_owned(), vertex: id };
                return Err(GraphFileError::Line { line, error });
            };
            if seen.insert(vertex) {
                fixed.push(vertex);
            }
        }
        Ok(fixed)
    }

    /// Leaves out vertices that are another one; returns the number of those that are left.
    fn merge(&mut self) -> usize {
        if !self.same.is_empty() {
            let vertices = std::mem::take(&mut self.vertices);
            let lines = std::mem::take(&mut self.places);
            for vertex in vertices {
                let id = self.representative(vertex.id);
                let line = lines[&vertex.id].1;
                if let std::collections::hash_map::Entry::Vacant(place) = self.places.entry(id) {
                    place.insert((self.vertices.len(), line));
                    self.vertices.push(Vertex { id, ..vertex });
                }
            }
        }
        self.vertices.len()
    }

    /// Replaces the numbers of vertices by indices, and appends the vertices that no line defines.
    fn take_edges(&mut self, dimension: Dimension) -> Result<Vec<Edge>, GraphFileError> {
        let mut edges = Vec::with_capacity(self.edges.len());
        for ReadEdge { tag, ends, is_point: second_is_point, mut edge } in std::mem::take(&mut self.edges) {
            let ids = ends.map(|id| self.representative(id));
            let line = edge.line;
            let at_line = |error| GraphFileError::Line { line, error };
            if ids[0] == ids[1] {
                return Err(at_line(GraphLineError::SelfEdge { vertex: ids[0] }));
            }
            for (k, id) in ids.into_iter().enumerate() {
                let is_point = k == 1 && second_is_point;
                let next = self.vertices.len();
                let (vertex, _) = *self.places.entry(id).or_insert((next, line));
                if vertex == next {
                    let coordinates = origin(dimension, is_point);
                    self.vertices.push(Vertex { id, is_point, coordinates });
                }
                if self.vertices[vertex].is_point != is_point {
                    let wanted = if is_point { "point" } else { "pose" };
                    return Err(at_line(GraphLineError::Kind { tag: tag.to_owned(), vertex: id, wanted }));
                }
                edge.vertices[k] = vertex;
            }
            edges.push(edge);
        }
        Ok(edges)
    }
}

/// Coordinates of a vertex at the origin.
fn origin(dimension: Dimension, is_point: bool) -> Vec<f64> {
    let mut coordinates = vec![0.0; dimension.vertex_size(is_point)];
    if coordinates.len() == 7 {
        coordinates[6] = 1.0;
    }
    coordinates
}

/// Coordinates in the form in which they are kept.
fn coordinates(
    line: &Line<'_>,
    dimension: Dimension,
    kind: Kind,
    mut numbers: Vec<f64>,
) -> Result<Vec<f64>, GraphLineError> {
    match (dimension, kind) {
        (Dimension::Space, Kind::Pose) => line.normalize(&mut numbers[3..])?,
        (Dimension::Space, Kind::ToroPose) => {
            // Roll, pitch and yaw: rotations about the first, second and third axis, in that order.
            let turn = |axis: usize| {
                let mut vector = [0.0; 3];
                vector[axis] = numbers[3 + axis];
                Rotation3::exp(vector)
            };
            let rotation = turn(2) * turn(1) * turn(0);
            numbers.truncate(3);
            numbers.extend(rotation.normalize().to_array());
        }
        _ => {}
    }
    Ok(numbers)
}

/// Moves a measured point, and its information matrix, from the frame of a sensor to that of the body.
fn move_to_body(offset: &Pose3<f64>, measured: &mut [f64], information: &mut [f64]) {
    let point = offset.transform([measured[0], measured[1], measured[2]]);
    measured.copy_from_slice(&point);
    let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|k| information[k]);
    let (matrix, turned) = ([[a, b, c], [b, d, e], [c, e, f]], offset.rotation.to_matrix());
    let mut entries = information.iter_mut();
    for i in 0..3 {
        for (j, entry) in (i..3).zip(&mut entries) {
            *entry = (0..3).map(|k| (0..3).map(|l| turned[i][k] * matrix[k][l] * turned[j][l]).sum::<f64>()).sum();
        }
    }
}

/// The upper triangle by rows of entries in TORO's order.
fn from_toro(entries: &[f64]) -> Vec<f64> {
    let mut information = vec![0.0; 6];
    TORO_ORDER.iter().zip(entries).for_each(|(&place, &entry)| information[place] = entry);
    information
}

/// The entries that [`from_toro`] reads as this triangle.
fn to_toro(information: &[f64]) -> Vec<f64> {
    TORO_ORDER.iter().map(|&place| information[place]).collect()
}

fn check_information(dimension: Dimension, is_point: bool, edge: &Edge) -> Result<(), GraphError> {
    match (dimension, is_point) {
        (Dimension::Plane, false) => SE2::relative_pose(edge).map(drop),
        (Dimension::Plane, true) => SE2::relative_point(edge).map(drop),
        (Dimension::Space, false) => SE3::relative_pose(edge).map(drop),
        (Dimension::Space, true) => SE3::relative_point(edge).map(drop),
    }
}
