//! Rotations by the spectral relaxation.

use super::linear_system::{LinearSystem, Relation};
use super::{Matrix, PoseGraph};
use crate::graph::GraphError;
use crate::graph::pose_graph::poses::Poses;
use crate::kernels::vector::{add_scaled, dot};

/// Shift of the matrix, relative to its largest diagonal entry: it is singular where measurements agree.
const SHIFT: f64 = 1e-9;

/// Most rounds of inverse iteration, and the relative change of the eigenvalues' sum at which it ends.
const MAX_ROUNDS: usize = 100;
const TOLERANCE: f64 = 1e-4;

/// The matrices that minimise `Σ w ‖Rᵢ M − Rⱼ‖²` among all whose rows, over all vertices, are orthonormal: eigenvectors of the smallest
/// eigenvalues, by inverse iteration. No vertex is held, so that noise does not add up on the way from one. `None` for a graph of
/// several pieces or with several fixed vertices.
pub(super) fn relax<P: Poses>(
    graph: &PoseGraph,
    is_held: &[bool],
    relations: &[Relation],
    budget: usize,
) -> Result<Option<Vec<Matrix>>, GraphError> {
    let mut held = (0..is_held.len()).filter(|&vertex| is_held[vertex]);
    let (Some(anchor), None) = (held.next(), held.next()) else { return Ok(None) };
    let size = P::DIMENSION.position_size();
    let mut system = LinearSystem::new(size, &vec![false; is_held.len()], relations, SHIFT, budget)?;
    let mut rows = starts::<P>(graph, &system, size);
    let mut before = f64::INFINITY;
    for _ in 0..MAX_ROUNDS {
        rows.iter_mut().for_each(|row| system.apply_inverse(row));
        let lengths = orthonormalize(&mut rows);
        let sum: f64 = lengths.iter().map(|length| length.recip()).sum();
        if !sum.is_finite() {
            return Ok(None);
        }
        if (before - sum).abs() <= TOLERANCE * sum {
            break;
        }
        before = sum;
    }
    let mut relaxed: Vec<Matrix> = (0..is_held.len()).map(|vertex| matrix_at(&system, &rows, vertex, size)).collect();
    let sign: f64 = relaxed.iter().map(|matrix| determinant(matrix).signum()).sum();
    if sign < 0.0 {
        relaxed.iter_mut().for_each(|matrix| matrix[0] = matrix[0].map(|x| -x));
    }
    // The whole is turned so that the anchor keeps its rotation.
    let fixed = &graph.vertices[anchor].coordinates;
    let (given, found) = (P::rotation(fixed), P::rotation(&P::with_rotation(&relaxed[anchor], fixed)));
    let turn: Matrix = product(&given, &transposed(&found));
    relaxed.iter_mut().for_each(|matrix| *matrix = product(&turn, matrix));
    Ok(Some(relaxed))
}

/// The rows of the rotations as they are, of the vertices that the system has.
fn starts<P: Poses>(graph: &PoseGraph, system: &LinearSystem<'_>, size: usize) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; system.len()]; size];
    for (vertex, of_vertex) in graph.vertices.iter().enumerate() {
        if let Some(entries) = system.entries(vertex) {
            let rotation = P::rotation(&of_vertex.coordinates);
            rows.iter_mut().zip(rotation).for_each(|(row, r)| row[entries.clone()].copy_from_slice(&r[..size]));
        }
    }
    rows
}

/// Matrix of a vertex, of which the vectors have the rows.
fn matrix_at(system: &LinearSystem<'_>, rows: &[Vec<f64>], vertex: usize, size: usize) -> Matrix {
    let mut matrix = [[0.0; 3]; 3];
    if let Some(entries) = system.entries(vertex) {
        matrix.iter_mut().zip(rows).for_each(|(entry, row)| entry[..size].copy_from_slice(&row[entries.clone()]));
        matrix.iter_mut().enumerate().skip(size).for_each(|(i, row)| row[i] = 1.0);
    }
    matrix
}

/// Makes vectors orthonormal, one after the other (modified Gram–Schmidt); returns their lengths before.
fn orthonormalize(vectors: &mut [Vec<f64>]) -> Vec<f64> {
    let mut lengths = Vec::with_capacity(vectors.len());
    for k in 0..vectors.len() {
        let (before, rest) = vectors.split_at_mut(k);
        let Some(vector) = rest.first_mut() else { break };
        for other in &*before {
            let product = dot(other, vector);
            add_scaled(vector, -product, other);
        }
        let length = dot(vector, vector).sqrt();
        vector.iter_mut().for_each(|x| *x /= length);
        lengths.push(length);
    }
    lengths
}

fn determinant([a, b, c]: &Matrix) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

fn transposed(a: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}
