//! Starts by relaxation: rotations are first any matrices, and positions follow from rotations.

mod chordal;
mod linear_system;
mod spectral;

use std::ops::Range;

use super::poses::{Matrix, Poses};
use super::{Edge, PoseGraph, components};
use crate::graph::GraphError;
use linear_system::{LinearSystem, Relation};

/// Norm of a relaxed rotation below which it has no direction. That of a rotation is 1.4 in the plane and 1.7 in space.
const SMALLEST: f64 = 1e-6;

const IDENTITY: Matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// How rotations are relaxed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Relaxation {
    Chordal,
    Spectral,
}

/// Moves all vertices that are not held: rotations by a relaxation, then positions by linear least squares. Where the spectral one is
/// not for the graph, it is the chordal one. `budget` is the most bytes of a matrix.
pub(super) fn relax<P: Poses>(graph: &mut PoseGraph, relaxation: Relaxation, budget: usize) -> Result<(), GraphError> {
    let size = P::DIMENSION.position_size();
    let is_held = components::held(graph);
    let relations = rotation_relations::<P>(graph);
    let spectral = match relaxation {
        Relaxation::Chordal => None,
        Relaxation::Spectral => spectral::relax::<P>(graph, &is_held, &relations, budget)?,
    };
    let (system, relaxed) = match spectral {
        Some(relaxed) => (None, relaxed),
        None => {
            let (system, relaxed) = chordal::relax::<P>(graph, &is_held, &relations, budget)?;
            (Some(system), relaxed)
        }
    };
    for ((vertex, matrix), &is_held) in graph.vertices.iter_mut().zip(&relaxed).zip(&is_held) {
        let norm = matrix.as_flattened().iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(is_held || vertex.is_point) && norm > SMALLEST {
            vertex.coordinates = P::with_rotation(matrix, &vertex.coordinates);
        }
    }
    // bⱼ = aᵢ + Rᵢ m, for each edge.
    let position = |coordinates: &[f64]| std::array::from_fn(|i| if i < size { coordinates[i] } else { 0.0 });
    let offset = |edge: &Edge| -> [f64; 3] {
        let from = &graph.vertices[edge.vertices[0]].coordinates;
        let (seen, from) = (position(&P::transform(from, &edge.measured)), position(from));
        std::array::from_fn(|i| seen[i] - from[i])
    };
    let offsets: Vec<[f64; 3]> = graph.edges.iter().map(offset).collect();
    let relation = |edge: &Edge| Relation {
        vertices: edge.vertices,
        matrix: IDENTITY,
        weight: weight(&edge.information, 0..size),
    };
    let of_positions: Vec<Relation> = graph.edges.iter().map(relation).collect();
    let mut positions: Vec<[f64; 3]> = graph.vertices.iter().map(|vertex| position(&vertex.coordinates)).collect();
    let mut system = match system {
        Some(system) => system.with_relations(&is_held, &of_positions)?,
        None => LinearSystem::new(size, &is_held, &of_positions, 0.0, budget)?,
    };
    system.solve(&mut positions, |relation| offsets[relation]);
    for (vertex, position) in graph.vertices.iter_mut().zip(positions) {
        vertex.coordinates[..size].copy_from_slice(&position[..size]);
    }
    Ok(())
}

/// `Rⱼ = Rᵢ M`, for each edge between poses: a relation between the rows of the two matrices.
fn rotation_relations<P: Poses>(graph: &PoseGraph) -> Vec<Relation> {
    let rotation = P::DIMENSION.position_size()..P::DIMENSION.residual_size(false);
    let between_poses = graph.edges.iter().filter(|edge| !graph.vertices[edge.vertices[1]].is_point);
    let relation = |edge: &Edge| Relation {
        vertices: edge.vertices,
        matrix: P::rotation(&edge.measured),
        weight: weight(&edge.information, rotation.clone()),
    };
    between_poses.map(relation).collect()
}

/// Harmonic mean of some diagonal entries of an information matrix, which is given by the rows of its upper triangle.
fn weight(information: &[f64], directions: Range<usize>) -> f64 {
    let size = (0..).find(|n| n * (n + 1) / 2 >= information.len()).unwrap_or(0);
    let (mut variances, mut place) = (0.0, 0);
    for i in 0..size {
        if directions.contains(&i) {
            variances += information[place].recip();
        }
        place += size - i;
    }
    directions.len() as f64 / variances
}
