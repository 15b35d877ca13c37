//! Linear least squares for vectors of vertices.

use std::ops::Range;

use super::Matrix;
use crate::graph::GraphError;
use crate::linear::{
    BlockMatrix, BlockPattern, IllConditioned, MEMORY_BUDGET, PlanError, SparseCholesky, SymbolicCholesky,
};
use crate::solver::SolveError;

/// Damping, relative to the largest diagonal entry, with which relations that do not determine a vector leave it near zero.
const DAMPING: f64 = 1e-13;

/// `b = Mᵀa + c` for the vectors `a` and `b` of two vertices, an orthogonal `M`, and an offset `c`.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    pub(super) vertices: [usize; 2],
    pub(super) matrix: Matrix,
    /// Weight `w` of the squared error.
    pub(super) weight: f64,
}

/// The factor of the normal equations of `Σ w ‖Mᵀa − b + c‖²`, over the vectors of all vertices that are not known.
pub(super) struct LinearSystem<'r> {
    /// Number of entries of a vector, 2 or 3.
    size: usize,
    relations: &'r [Relation],
    /// Block of each unknown vector.
    blocks: Vec<Option<usize>>,
    factor: SparseCholesky<f64>,
    right: Vec<f64>,
}

impl<'r> LinearSystem<'r> {
    /// Factorises the normal equations plus `shift` times the largest diagonal entry. Vertices without relations count as known.
    pub(super) fn new(
        size: usize,
        is_known: &[bool],
        relations: &'r [Relation],
        shift: f64,
    ) -> Result<Self, GraphError> {
        let mut is_unknown = vec![false; is_known.len()];
        let ends = relations.iter().flat_map(|relation| relation.vertices);
        ends.for_each(|vertex| is_unknown[vertex] = !is_known[vertex]);
        let mut count = 0;
        let block = |&is_unknown: &bool| {
            count += usize::from(is_unknown);
            is_unknown.then(|| count - 1)
        };
        let blocks: Vec<Option<usize>> = is_unknown.iter().map(block).collect();
        let pairs = relations.iter().filter_map(|relation| {
            let [a, b] = relation.vertices.map(|vertex| blocks[vertex]);
            Some((a?, b?))
        });
        let factor = factor_of(size, count, &blocks, relations, &pairs.collect::<Vec<_>>(), shift.max(DAMPING));
        let factor = factor.map_err(|error| SolveError::no_plan(error, MEMORY_BUDGET))?;
        Ok(LinearSystem { size, relations, blocks, factor, right: vec![0.0; count * size] })
    }

    /// Replaces the unknown vectors by the solution, with the offset `c` of each relation.
    pub(super) fn solve(&mut self, vectors: &mut [[f64; 3]], offset: impl Fn(usize) -> [f64; 3]) {
        self.right.fill(0.0);
        for (k, Relation { vertices: [a, b], matrix, weight }) in self.relations.iter().enumerate() {
            let offset = offset(k);
            if let Some(block) = self.blocks[*a] {
                let known = if self.blocks[*b].is_some() { [0.0; 3] } else { vectors[*b] };
                for (i, row) in matrix.iter().enumerate().take(self.size) {
                    let product: f64 = (0..self.size).map(|j| row[j] * (known[j] - offset[j])).sum();
                    self.right[block * self.size + i] += weight * product;
                }
            }
            if let Some(block) = self.blocks[*b] {
                let known = if self.blocks[*a].is_some() { [0.0; 3] } else { vectors[*a] };
                for i in 0..self.size {
                    let product: f64 = (0..self.size).map(|j| matrix[j][i] * known[j]).sum();
                    self.right[block * self.size + i] += weight * (product + offset[i]);
                }
            }
        }
        self.factor.solve_in_place(&mut self.right);
        for (vector, block) in vectors.iter_mut().zip(&self.blocks) {
            if let Some(block) = block {
                vector[..self.size].copy_from_slice(&self.right[block * self.size..][..self.size]);
            }
        }
    }

    /// Number of unknown entries.
    pub(super) fn len(&self) -> usize {
        self.right.len()
    }

    /// Entries of a vertex in the vector of unknowns.
    pub(super) fn entries(&self, vertex: usize) -> Option<Range<usize>> {
        self.blocks[vertex].map(|block| block * self.size..(block + 1) * self.size)
    }

    /// Overwrites a vector with the product of the inverse matrix.
    pub(super) fn apply_inverse(&mut self, vector: &mut [f64]) {
        self.factor.solve_in_place(vector);
    }
}

fn factor_of(
    size: usize,
    count: usize,
    blocks: &[Option<usize>],
    relations: &[Relation],
    pairs: &[(usize, usize)],
    damping: f64,
) -> Result<SparseCholesky<f64>, PlanError> {
    let pattern = BlockPattern::new(&vec![size; count], pairs)?;
    let symbolic = SymbolicCholesky::new(&pattern)?;
    let entries = pattern.entry_count().saturating_add(symbolic.entry_count());
    PlanError::check_budget(entries.saturating_mul(size_of::<f64>()), MEMORY_BUDGET)?;
    let mut matrix = BlockMatrix::new(pattern);
    for Relation { vertices, matrix: rotation, weight } in relations {
        let ends = vertices.map(|vertex| blocks[vertex]);
        for block in ends.into_iter().flatten() {
            let slot = matrix.pattern().diagonal_slot(block);
            (0..size).for_each(|i| matrix.values_mut()[slot + i * (size + 1)] += weight);
        }
        if let [Some(a), Some(b)] = ends
            && let Some(slot) = matrix.pattern().slot(a.max(b), a.min(b))
        {
            let values = &mut matrix.values_mut()[slot..][..size * size];
            for i in 0..size {
                for j in 0..size {
                    // Rows are those of the later block.
                    let entry = if a > b { rotation[i][j] } else { rotation[j][i] };
                    values[i * size + j] -= weight * entry;
                }
            }
        }
    }
    let mut factor = SparseCholesky::new(symbolic, matrix.pattern())?;
    let mut diagonal = vec![0.0; count * size];
    matrix.diagonal(&mut diagonal);
    let largest = diagonal.iter().copied().fold(0.0, f64::max);
    let ones = vec![1.0; count * size];
    match factor.factorize(&matrix, damping * largest, &ones) {
        Ok(()) => {}
        // Rounding has the last word where weights differ by many orders of magnitude.
        Err(IllConditioned) => factor.factorize(&matrix, f64::EPSILON.sqrt() * largest, &ones).unwrap_or(()),
    }
    Ok(factor)
}
