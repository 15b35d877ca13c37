//! Places vertices along the edges of a spanning tree.

use std::collections::VecDeque;

use super::poses::Poses;
use super::{Dimension, PoseGraph};
use crate::lists::Lists;
use crate::manifold::{SE2, SE3};

/// Places all vertices that are not placed yet, along as few edges as possible from those that are; in pieces without a placed vertex,
/// from the first one, which stays where it is. Edges for which `is_first` holds are gone along before the others.
pub(super) fn place(graph: &mut PoseGraph, is_placed: Vec<bool>, is_first: impl Fn(usize) -> bool) {
    if is_placed.iter().all(|&is_placed| is_placed) {
        return;
    }
    match graph.dimension {
        Dimension::Plane => grow::<SE2>(graph, is_placed, is_first),
        Dimension::Space => grow::<SE3>(graph, is_placed, is_first),
    }
}

fn grow<P: Poses>(graph: &mut PoseGraph, mut is_placed: Vec<bool>, is_first: impl Fn(usize) -> bool) {
    let PoseGraph { vertices, edges, .. } = graph;
    let ends = edges.iter().enumerate().flat_map(|(index, edge)| edge.vertices.map(|vertex| (vertex, index)));
    let neighbours = Lists::sorted(vertices.len(), ends);
    let mut queue: VecDeque<usize> = (0..vertices.len()).filter(|&vertex| is_placed[vertex]).collect();
    // Vertices from which only the other edges have yet to be followed.
    let mut later = VecDeque::new();
    let mut next_root = 0;
    loop {
        let (vertex, follows_all) = if let Some(vertex) = queue.pop_front() {
            later.push_back(vertex);
            (vertex, false)
        } else if let Some(vertex) = later.pop_front() {
            (vertex, true)
        } else {
            // A point alone cannot be gone on from.
            let is_root = |vertex: &usize| !is_placed[*vertex] && !vertices[*vertex].is_point;
            let Some(root) = (next_root..vertices.len()).find(is_root) else { break };
            next_root = root + 1;
            is_placed[root] = true;
            queue.push_back(root);
            continue;
        };
        if vertices[vertex].is_point {
            continue;
        }
        for &edge in neighbours.of(vertex) {
            let [from, to] = edges[edge].vertices;
            let (other, measured) = (if from == vertex { to } else { from }, &edges[edge].measured);
            if is_placed[other] || !(follows_all || is_first(edge)) {
                continue;
            }
            let start = &vertices[vertex].coordinates;
            let coordinates = match (from == vertex, vertices[other].is_point) {
                (true, true) => P::transform(start, measured),
                (true, false) => P::compose(start, measured),
                (false, _) => P::compose(start, &P::inverse(measured)),
            };
            vertices[other].coordinates = coordinates;
            is_placed[other] = true;
            queue.push_back(other);
        }
    }
}
