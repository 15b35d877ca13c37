//! Pose graphs in files of g2o: vertices, edges, and `FIX` lines.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use marquardt::graph::{CostFunction, GraphError, RelativePose2, RelativePose3};
use marquardt::manifold::{Manifold, Pose2, Pose3, SE2, SE3};
use thiserror::Error;

/// Poses, and measured relative poses of pairs of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    pub dimension: Dimension,
    pub vertices: Vec<Vertex>,
    pub edges: Vec<Edge>,
    /// Indices of the vertices named in `FIX` lines.
    pub fixed: Vec<usize>,
    /// Unknown tags, whose lines are left out.
    pub skipped: Vec<Skipped>,
}

/// Dimension of the world in which the poses are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// `VERTEX_SE2` and `EDGE_SE2`.
    Plane,
    /// `VERTEX_SE3:QUAT` and `EDGE_SE3:QUAT`.
    Space,
}

/// Pose with its number in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Vertex {
    pub id: u64,
    /// `x y angle`, or `x y z` and a quaternion `i j k w`, as in the file.
    pub pose: Vec<f64>,
}

/// Measured pose of a second vertex, seen from a first.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// Line of the file; the first is 1.
    pub line: usize,
    /// Indices of the two vertices.
    pub vertices: [usize; 2],
    /// Measured pose, in the form of [`Vertex::pose`].
    pub measured: Vec<f64>,
    /// Upper triangle of the information matrix, row by row.
    pub information: Vec<f64>,
}

/// Unknown tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub tag: String,
    /// First line with the tag.
    pub line: usize,
    /// Number of lines with the tag.
    pub count: usize,
}

/// Failure to read a graph.
#[derive(Debug, Error)]
pub enum ReadError {
    #[error("{}: {error}", file.display())]
    Io { file: PathBuf, error: io::Error },
    #[error("{}:{line}: {error}", file.display())]
    Line { file: PathBuf, line: usize, error: LineError },
    #[error("{}: no line is an edge, EDGE_SE2 or EDGE_SE3:QUAT", file.display())]
    NoEdges { file: PathBuf },
}

/// Error in one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LineError {
    #[error("{tag} takes {expected} numbers, not {found}")]
    Count { tag: String, expected: usize, found: usize },
    #[error("number {place} of {tag} is {text:?}, and not a finite number")]
    Number { tag: String, place: usize, text: String },
    #[error("{text:?} is not a vertex: {tag} names vertices by integers from 0")]
    Id { tag: String, text: String },
    #[error("FIX names no vertex")]
    EmptyFix,
    #[error("{tag} in a graph that began with {first}; all must be in the plane, or all in space")]
    Mixed { tag: String, first: String },
    #[error("vertex {vertex} is in line {first} already")]
    Duplicate { vertex: u64, first: usize },
    #[error("{tag} names vertex {vertex}, and no line {vertex_tag} defines it")]
    UnknownVertex { tag: String, vertex: u64, vertex_tag: &'static str },
    #[error("the edge leads from vertex {vertex} to itself")]
    SelfEdge { vertex: u64 },
    #[error("the quaternion of {tag} cannot be normalised: its norm is {norm}")]
    Quaternion { tag: String, norm: String },
    #[error("the information matrix of the edge from vertex {from} to vertex {to} is not positive definite: row {row}")]
    Information { from: u64, to: u64, row: usize },
    #[error("vertex {vertex} has no edges, and no FIX line")]
    NoEdges { vertex: u64 },
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
        let mut point = pose.to_vec();
        SE3.normalize(&mut point);
        point
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

impl Dimension {
    pub fn vertex_tag(self) -> &'static str {
        match self {
            Dimension::Plane => "VERTEX_SE2",
            Dimension::Space => "VERTEX_SE3:QUAT",
        }
    }

    pub fn edge_tag(self) -> &'static str {
        match self {
            Dimension::Plane => "EDGE_SE2",
            Dimension::Space => "EDGE_SE3:QUAT",
        }
    }

    /// Number of numbers of a pose, and of the upper triangle of an information matrix.
    fn sizes(self) -> (usize, usize) {
        match self {
            Dimension::Plane => (3, 6),
            Dimension::Space => (7, 21),
        }
    }

    /// Whether the tag is that of a vertex or an edge, and of which dimension.
    fn of_tag(tag: &str) -> Option<Self> {
        [Dimension::Plane, Dimension::Space]
            .into_iter()
            .find(|dimension| tag == dimension.vertex_tag() || tag == dimension.edge_tag())
    }

    fn check_information(self, edge: &Edge) -> Result<(), GraphError> {
        match self {
            Dimension::Plane => SE2::edge(&edge.measured, &edge.information).map(drop),
            Dimension::Space => SE3::edge(&edge.measured, &edge.information).map(drop),
        }
    }
}

impl Edge {
    /// Whether the vertices do not follow each other in the file: a place is seen again.
    pub fn is_loop_closure(&self) -> bool {
        self.vertices[0].abs_diff(self.vertices[1]) != 1
    }
}

/// Words of a line after its tag.
struct Words<'t> {
    tag: &'t str,
    words: Vec<&'t str>,
}

impl Words<'_> {
    fn expect(&self, expected: usize) -> Result<(), LineError> {
        let found = self.words.len();
        if found == expected { Ok(()) } else { Err(LineError::Count { tag: self.tag.to_owned(), expected, found }) }
    }

    fn id(&self, index: usize) -> Result<u64, LineError> {
        let text = self.words[index];
        text.parse().map_err(|_| LineError::Id { tag: self.tag.to_owned(), text: text.to_owned() })
    }

    /// Numbers from this word on.
    fn numbers(&self, first: usize) -> Result<Vec<f64>, LineError> {
        let number = |(place, text): (usize, &&str)| match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(LineError::Number { tag: self.tag.to_owned(), place: place + 1, text: (*text).to_owned() }),
        };
        self.words.iter().enumerate().skip(first).map(number).collect()
    }

    /// A pose that can be made a point of its manifold.
    fn check_pose(&self, pose: &[f64]) -> Result<(), LineError> {
        let norm = pose[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
        if pose.len() == 3 || (norm.is_normal() && pose[3..].iter().all(|x| (x / norm).abs() <= 1.0)) {
            return Ok(());
        }
        Err(LineError::Quaternion { tag: self.tag.to_owned(), norm: norm.to_string() })
    }
}

impl Graph {
    pub fn read(file: &Path) -> Result<Graph, ReadError> {
        let text = fs::read_to_string(file).map_err(|error| ReadError::Io { file: file.to_owned(), error })?;
        Graph::parse(&text, file)
    }

    /// The graph of a text, which errors call `file`.
    pub fn parse(text: &str, file: &Path) -> Result<Graph, ReadError> {
        let mut reader = Reader::default();
        let at_line = |line, error| ReadError::Line { file: file.to_owned(), line, error };
        for (line, text) in (1..).zip(text.lines()) {
            reader.read_line(line, text).map_err(|error| at_line(line, error))?;
        }
        let no_edges = || ReadError::NoEdges { file: file.to_owned() };
        let dimension = reader.dimension.filter(|_| !reader.edges.is_empty()).ok_or_else(no_edges)?;
        reader.resolve(dimension).map_err(|(line, error)| at_line(line, error))
    }

    /// The graph as a text that reads as the same numbers to the last digit.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut write = |tag: &str, ids: &[u64], numbers: &[&[f64]]| {
            text.push_str(tag);
            ids.iter().for_each(|id| write!(text, " {id}").expect("strings can be written to"));
            let numbers = numbers.iter().copied().flatten();
            numbers.for_each(|number| write!(text, " {number:?}").expect("strings can be written to"));
            text.push('\n');
        };
        for Vertex { id, pose } in &self.vertices {
            write(self.dimension.vertex_tag(), &[*id], &[pose]);
        }
        for &vertex in &self.fixed {
            write("FIX", &[self.vertices[vertex].id], &[]);
        }
        for Edge { vertices, measured, information, .. } in &self.edges {
            let ids = vertices.map(|vertex| self.vertices[vertex].id);
            write(self.dimension.edge_tag(), &ids, &[measured, information]);
        }
        text
    }

    /// Indices of the vertices that are held constant: those named in `FIX` lines, or else the first.
    pub fn constant(&self) -> &[usize] {
        if self.fixed.is_empty() { &[0] } else { &self.fixed }
    }

    /// Translation of a vertex; in the plane, `z` is zero.
    pub fn position(&self, vertex: usize) -> [f64; 3] {
        let pose = &self.vertices[vertex].pose;
        match self.dimension {
            Dimension::Plane => [pose[0], pose[1], 0.0],
            Dimension::Space => [pose[0], pose[1], pose[2]],
        }
    }
}

/// Lines read so far. Vertices may follow the edges that name them.
#[derive(Default)]
struct Reader<'t> {
    dimension: Option<Dimension>,
    /// First tag of a vertex or an edge.
    first_tag: &'t str,
    vertices: Vec<Vertex>,
    /// Index and line of each vertex.
    places: HashMap<u64, (usize, usize)>,
    /// Edges, with the numbers of their vertices in the file.
    edges: Vec<([u64; 2], Edge)>,
    /// Vertices named in `FIX` lines, with the line.
    fixed: Vec<(u64, usize)>,
    skipped: Vec<Skipped>,
}

impl<'t> Reader<'t> {
    fn read_line(&mut self, line: usize, text: &'t str) -> Result<(), LineError> {
        let mut words = text.split('#').next().unwrap_or_default().split_whitespace();
        let Some(tag) = words.next() else { return Ok(()) };
        let words = Words { tag, words: words.collect() };
        if tag == "FIX" {
            for index in 0..words.words.len() {
                self.fixed.push((words.id(index)?, line));
            }
            return if words.words.is_empty() { Err(LineError::EmptyFix) } else { Ok(()) };
        }
        let Some(dimension) = Dimension::of_tag(tag) else {
            self.skip(tag, line);
            return Ok(());
        };
        if *self.dimension.get_or_insert(dimension) != dimension {
            return Err(LineError::Mixed { tag: tag.to_owned(), first: self.first_tag.to_owned() });
        }
        if self.first_tag.is_empty() {
            self.first_tag = tag;
        }
        let (pose_size, triangle_size) = dimension.sizes();
        if tag == dimension.vertex_tag() {
            words.expect(1 + pose_size)?;
            let (id, pose) = (words.id(0)?, words.numbers(1)?);
            words.check_pose(&pose)?;
            if let Some((_, first)) = self.places.insert(id, (self.vertices.len(), line)) {
                return Err(LineError::Duplicate { vertex: id, first });
            }
            self.vertices.push(Vertex { id, pose });
        } else {
            words.expect(2 + pose_size + triangle_size)?;
            let (ids, mut measured) = ([words.id(0)?, words.id(1)?], words.numbers(2)?);
            let information = measured.split_off(pose_size);
            words.check_pose(&measured)?;
            if ids[0] == ids[1] {
                return Err(LineError::SelfEdge { vertex: ids[0] });
            }
            let edge = Edge { line, vertices: [0, 0], measured, information };
            match dimension.check_information(&edge) {
                Ok(()) => self.edges.push((ids, edge)),
                Err(error) => return Err(information_error(ids, &error)),
            }
        }
        Ok(())
    }

    fn skip(&mut self, tag: &str, line: usize) {
        match self.skipped.iter_mut().find(|skipped| skipped.tag == tag) {
            Some(skipped) => skipped.count += 1,
            None => self.skipped.push(Skipped { tag: tag.to_owned(), line, count: 1 }),
        }
    }

    /// Replaces the numbers of vertices by indices; an error comes with its line.
    fn resolve(self, dimension: Dimension) -> Result<Graph, (usize, LineError)> {
        let Reader { vertices, places, mut edges, mut fixed, skipped, .. } = self;
        let index = |tag: &str, vertex: u64, line: usize| {
            let unknown =
                || LineError::UnknownVertex { tag: tag.to_owned(), vertex, vertex_tag: dimension.vertex_tag() };
            places.get(&vertex).map(|&(index, _)| index).ok_or_else(|| (line, unknown()))
        };
        for (ids, edge) in &mut edges {
            for (vertex, id) in edge.vertices.iter_mut().zip(ids) {
                *vertex = index(dimension.edge_tag(), *id, edge.line)?;
            }
        }
        let edges: Vec<Edge> = edges.into_iter().map(|(_, edge)| edge).collect();
        let mut seen = HashSet::new();
        fixed.retain(|&(vertex, _)| seen.insert(vertex));
        let fixed =
            fixed.into_iter().map(|(vertex, line)| index("FIX", vertex, line)).collect::<Result<Vec<usize>, _>>()?;
        let held_or_seen: HashSet<usize> = edges.iter().flat_map(|edge| edge.vertices).chain(fixed.clone()).collect();
        if let Some(vertex) = (0..vertices.len()).find(|vertex| !held_or_seen.contains(vertex)) {
            let vertex = vertices[vertex].id;
            return Err((places[&vertex].1, LineError::NoEdges { vertex }));
        }
        Ok(Graph { dimension, vertices, edges, fixed, skipped })
    }
}

fn information_error([from, to]: [u64; 2], error: &GraphError) -> LineError {
    let row = if let GraphError::InformationNotPositiveDefinite { row } = error { row + 1 } else { 1 };
    LineError::Information { from, to, row }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: &str = "1 0 0 1 0 1";

    fn parse(text: &str) -> Result<Graph, ReadError> {
        Graph::parse(text, Path::new("map.g2o"))
    }

    fn message(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn graphs_are_read() {
        let text = format!(
            "# a map\n\nEDGE_SE2 3 7 1 0 0.5 {IDENTITY} # measured\nVERTEX_SE2 7 1.5 -2e-1 .25\nVERTEX_XY 9 0 0\n\
             FIX 7 3\nVERTEX_SE2 3 0 0 0\r\nVERTEX_XY 10 0 0\nFIX 7"
        );
        let graph = parse(&text).unwrap();
        assert_eq!(graph.dimension, Dimension::Plane);
        assert_eq!(graph.vertices[0], Vertex { id: 7, pose: vec![1.5, -0.2, 0.25] });
        let edge = Edge {
            line: 3,
            vertices: [1, 0],
            measured: vec![1.0, 0.0, 0.5],
            information: vec![1.0, 0.0, 0.0, 1.0, 0.0, 1.0],
        };
        assert_eq!((graph.edges.as_slice(), graph.fixed.as_slice()), ([edge].as_slice(), [0, 1].as_slice()));
        assert_eq!(graph.skipped, [Skipped { tag: "VERTEX_XY".into(), line: 5, count: 2 }]);
        assert_eq!((graph.constant(), graph.position(0)), ([0, 1].as_slice(), [1.5, -0.2, 0.0]));
    }

    #[test]
    fn the_text_reads_as_the_same_graph() {
        let plane = format!(
            "VERTEX_SE2 0 0.1 1e-300 -3\nVERTEX_SE2 8 1e300 {} 0\nFIX 8\nEDGE_SE2 0 8 1 0 0 2 0.1 0 2 0 3\n",
            1.0 / 3.0
        );
        for (text, file) in [(crate::TINY_GRID, crate::TINY_GRID_FILE), (&plane, "plane.g2o")] {
            let mut graph = Graph::parse(text, Path::new(file)).unwrap();
            let mut again = parse(&graph.to_text()).unwrap();
            // The FIX line is now after the vertices, as are the edges.
            for edge in graph.edges.iter_mut().chain(&mut again.edges) {
                edge.line = 0;
            }
            assert_eq!(graph, again);
        }
    }

    #[test]
    fn triangles_are_by_rows() {
        let expected = [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]];
        assert_eq!(symmetric::<3>(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), expected);
    }

    #[test]
    fn quaternions_are_normalised() {
        let point = SE3::point(&[1.0, 2.0, 3.0, 0.0, 1.2, 0.0, 1.6]);
        assert!(point.iter().zip([1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8]).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn malformed_lines_are_named() {
        assert_eq!(message("# none\nVERTEX_SE2 1 0 0"), "map.g2o:2: VERTEX_SE2 takes 4 numbers, not 3");
        assert_eq!(message("EDGE_SE2 1 2 0 0 0 1 0 0 1 0 1 7"), "map.g2o:1: EDGE_SE2 takes 11 numbers, not 12");
        assert_eq!(message("FIX"), "map.g2o:1: FIX names no vertex");
        for (text, place) in [("NaN 0 0", 2), ("0 inf 0", 3), ("0 0 1e999", 4), ("0 1,5 0", 3)] {
            let word = text.split_whitespace().nth(place - 2).unwrap();
            let expected = format!("map.g2o:1: number {place} of VERTEX_SE2 is {word:?}, and not a finite number");
            assert_eq!(message(&format!("VERTEX_SE2 1 {text}")), expected);
        }
        let id = "is not a vertex: VERTEX_SE2 names vertices by integers from 0";
        assert_eq!(message("VERTEX_SE2 -1 0 0 0"), format!("map.g2o:1: \"-1\" {id}"));
        assert_eq!(message("VERTEX_SE2 1.5 0 0 0"), format!("map.g2o:1: \"1.5\" {id}"));
        assert!(message("FIX one").starts_with("map.g2o:1: \"one\" is not a vertex"));
        let quaternion = "the quaternion of VERTEX_SE3:QUAT cannot be normalised: its norm is";
        assert_eq!(message("VERTEX_SE3:QUAT 1 0 0 0 0 0 0 0"), format!("map.g2o:1: {quaternion} 0"));
        assert_eq!(message("VERTEX_SE3:QUAT 1 0 0 0 1e200 0 0 0"), format!("map.g2o:1: {quaternion} inf"));
    }

    #[test]
    fn contradictions_are_named() {
        let vertices = "VERTEX_SE2 1 0 0 0\nVERTEX_SE2 2 1 0 0\n";
        let edge = format!("EDGE_SE2 1 2 1 0 0 {IDENTITY}\n");
        assert_eq!(message(&format!("{vertices}VERTEX_SE2 1 5 0 0")), "map.g2o:3: vertex 1 is in line 1 already");
        assert_eq!(
            message(&format!("{vertices}{edge}EDGE_SE2 2 5 1 0 0 {IDENTITY}")),
            "map.g2o:4: EDGE_SE2 names vertex 5, and no line VERTEX_SE2 defines it"
        );
        assert_eq!(
            message(&format!("{vertices}{edge}FIX 9")),
            "map.g2o:4: FIX names vertex 9, and no line VERTEX_SE2 defines it"
        );
        assert_eq!(
            message(&format!("{vertices}EDGE_SE2 2 2 1 0 0 {IDENTITY}")),
            "map.g2o:3: the edge leads from vertex 2 to itself"
        );
        let information = "the information matrix of the edge from vertex 1 to vertex 2 is not positive definite";
        for (triangle, row) in [("0 0 0 0 0 0", 1), ("1 0 0 -1 0 1", 2), ("1 0 2 1 0 1", 3)] {
            assert_eq!(
                message(&format!("{vertices}EDGE_SE2 1 2 1 0 0 {triangle}")),
                format!("map.g2o:3: {information}: row {row}")
            );
        }
        assert_eq!(
            message(&format!("{vertices}{edge}VERTEX_SE2 3 0 0 0")),
            "map.g2o:4: vertex 3 has no edges, and no FIX line"
        );
        assert!(parse(&format!("{vertices}{edge}VERTEX_SE2 3 0 0 0\nFIX 1 3")).is_ok());
        assert_eq!(
            message(&format!("{vertices}VERTEX_SE3:QUAT 3 0 0 0 0 0 0 1")),
            "map.g2o:3: VERTEX_SE3:QUAT in a graph that began with VERTEX_SE2; all must be in the plane, or all in space"
        );
    }

    #[test]
    fn files_without_a_graph_are_named() {
        let expected = "map.g2o: no line is an edge, EDGE_SE2 or EDGE_SE3:QUAT";
        assert_eq!(message(""), expected);
        assert_eq!(message("VERTEX_SE2 1 0 0 0"), expected);
        assert!(Graph::read(Path::new("no/such.g2o")).unwrap_err().to_string().starts_with("no/such.g2o: "));
    }
}
