//! Pieces of a graph, and the vertices that hold them.

use super::PoseGraph;
use super::warning::GraphWarning;

/// Index of the piece of each vertex, in the order of their first vertices.
fn pieces(graph: &PoseGraph) -> Vec<usize> {
    // Each vertex points to an earlier one of its piece, the first to itself.
    let mut earlier: Vec<usize> = (0..graph.vertices.len()).collect();
    fn first_of(earlier: &mut [usize], mut vertex: usize) -> usize {
        while earlier[vertex] != vertex {
            earlier[vertex] = earlier[earlier[vertex]];
            vertex = earlier[vertex];
        }
        vertex
    }
    for edge in &*graph.edges {
        let [a, b] = edge.vertices.map(|vertex| first_of(&mut earlier, vertex));
        earlier[a.max(b)] = a.min(b);
    }
    let mut count = 0;
    let mut pieces = vec![0; earlier.len()];
    for vertex in 0..earlier.len() {
        let first = first_of(&mut earlier, vertex);
        pieces[vertex] = if first == vertex { count } else { pieces[first] };
        count += usize::from(first == vertex);
    }
    pieces
}

/// Vertices that are held constant: those of `FIX` lines, and the first pose of each piece in which there is no fixed pose.
pub(super) fn anchors(graph: &PoseGraph) -> Vec<usize> {
    let pieces = pieces(graph);
    let mut is_held = vec![false; pieces.len()];
    for &vertex in graph.fixed.iter().filter(|&&vertex| !graph.vertices[vertex].is_point) {
        is_held[pieces[vertex]] = true;
    }
    let mut anchors = graph.fixed.clone();
    for (vertex, &piece) in pieces.iter().enumerate() {
        if !(is_held[piece] || graph.vertices[vertex].is_point) {
            is_held[piece] = true;
            anchors.push(vertex);
        }
    }
    anchors
}

/// True for each vertex that is held constant.
pub(super) fn held(graph: &PoseGraph) -> Vec<bool> {
    let mut is_held = vec![false; graph.vertices.len()];
    anchors(graph).into_iter().for_each(|vertex| is_held[vertex] = true);
    is_held
}

/// Warnings about pieces, and about vertices without edges, which are no pieces.
pub(super) fn warnings(graph: &PoseGraph) -> Vec<GraphWarning> {
    let pieces = pieces(graph);
    let mut has_edges = vec![false; pieces.len()];
    graph.edges.iter().for_each(|edge| edge.vertices.iter().for_each(|&vertex| has_edges[vertex] = true));
    let mut is_piece = vec![false; pieces.len()];
    let mut is_held = vec![false; pieces.len()];
    for (vertex, &piece) in pieces.iter().enumerate() {
        is_piece[piece] |= has_edges[vertex];
    }
    graph.fixed.iter().for_each(|&vertex| is_held[pieces[vertex]] = true);
    let alone: Vec<usize> = (0..pieces.len()).filter(|&vertex| !has_edges[vertex]).collect();
    let count = is_piece.iter().filter(|&&is_piece| is_piece).count();
    let without_fixed = is_piece.iter().zip(&is_held).filter(|&(&is_piece, &is_held)| is_piece && !is_held).count();
    let mut warnings = Vec::new();
    if let Some(&first) = alone.first() {
        warnings.push(GraphWarning::NoEdges { first: graph.vertices[first].id, count: alone.len() });
    }
    if count > 1 {
        warnings.push(GraphWarning::Pieces { count, without_fixed });
    }
    warnings
}
