//! Linear least squares for vectors of vertices.

use std::ops::Range;

use super::Matrix;
use crate::graph::GraphError;
use crate::linear::{BlockMatrix, BlockPattern, PlanError, SparseCholesky, SymbolicCholesky};
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
    /// Most bytes of the matrices.
    budget: usize,
    /// Block of each unknown vector.
    blocks: Vec<Option<usize>>,
    matrix: BlockMatrix<f64>,
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
        budget: usize,
    ) -> Result<Self, GraphError> {
        let no_plan = |error| GraphError::from(SolveError::no_plan(error, budget));
        let (blocks, pattern) = structure(size, is_known, relations)?;
        let symbolic = SymbolicCholesky::new(&pattern).map_err(|error| no_plan(error.into()))?;
        let entries = pattern.entry_count().saturating_add(symbolic.entry_count());
        PlanError::check_budget(entries.saturating_mul(size_of::<f64>()), budget).map_err(no_plan)?;
        let factor = SparseCholesky::new(symbolic, &pattern).map_err(|error| no_plan(error.into()))?;
        let right = vec![0.0; pattern.len()];
        let mut system =
            LinearSystem { size, relations, budget, blocks, matrix: BlockMatrix::new(pattern), factor, right };
        system.factorize(shift);
        Ok(system)
    }

    /// The system of other relations. The order of elimination, and its memory, serve again where both have the same structure.
    pub(super) fn with_relations<'s>(
        self,
        is_known: &[bool],
        relations: &'s [Relation],
    ) -> Result<LinearSystem<'s>, GraphError> {
        let LinearSystem { size, budget, blocks, mut matrix, factor, right, .. } = self;
        let (new_blocks, pattern) = structure(size, is_known, relations)?;
        if new_blocks != blocks || pattern != *matrix.pattern() {
            drop((matrix, factor));
            return LinearSystem::new(size, is_known, relations, 0.0, budget);
        }
        matrix.values_mut().fill(0.0);
        let mut system = LinearSystem { size, relations, budget, blocks, matrix, factor, right };
        system.factorize(0.0);
        Ok(system)
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

    /// Adds the relations up, and factorises the sum plus `shift` times its largest diagonal entry.
    fn factorize(&mut self, shift: f64) {
        let LinearSystem { size, relations, blocks, matrix, factor, .. } = self;
        let size = *size;
        for Relation { vertices, matrix: rotation, weight } in *relations {
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
        let mut diagonal = vec![0.0; matrix.pattern().len()];
        matrix.diagonal(&mut diagonal);
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        diagonal.fill(1.0);
        // Rounding has the last word where weights differ by many orders of magnitude.
        for damping in [shift.max(DAMPING), f64::EPSILON.sqrt()] {
            if factor.factorize(matrix, damping * largest, &diagonal).is_ok() {
                break;
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

/// Block of each unknown vector, and the pattern of the normal equations.
fn structure(
    size: usize,
    is_known: &[bool],
    relations: &[Relation],
) -> Result<(Vec<Option<usize>>, BlockPattern), GraphError> {
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
    let pattern = BlockPattern::new(&vec![size; count], &pairs.collect::<Vec<_>>())
        .map_err(|error| SolveError::no_plan(error.into(), usize::MAX))?;
    Ok((blocks, pattern))
}
