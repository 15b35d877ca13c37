//! Rotations by the chordal relaxation.

use super::linear_system::{LinearSystem, Relation};
use super::{Matrix, PoseGraph};
use crate::graph::pose_graph::poses::Poses;
use crate::graph::{GraphError, Vertex};

/// The matrices that minimise `Σ w ‖Rᵢ M − Rⱼ‖²`, with the rotations of some vertices held (Carlone, Tron, Daniilidis & Dellaert 2015), and
/// their linear system. A sparse Cholesky factorisation serves all rows.
pub(super) fn relax<'r, P: Poses>(
    graph: &PoseGraph,
    is_held: &[bool],
    relations: &'r [Relation],
    budget: usize,
) -> Result<(LinearSystem<'r>, Vec<Matrix>), GraphError> {
    let size = P::DIMENSION.position_size();
    let mut system = LinearSystem::new(size, is_held, relations, 0.0, budget)?;
    let rotation = |vertex: &Vertex| match vertex.is_point {
        true => [[0.0; 3]; 3],
        false => P::rotation(&vertex.coordinates),
    };
    let mut relaxed: Vec<Matrix> = graph.vertices.iter().map(rotation).collect();
    for row in 0..size {
        let mut rows: Vec<[f64; 3]> = relaxed.iter().map(|matrix| matrix[row]).collect();
        system.solve(&mut rows, |_| [0.0; 3]);
        relaxed.iter_mut().zip(rows).for_each(|(matrix, solved)| matrix[row] = solved);
    }
    Ok((system, relaxed))
}
