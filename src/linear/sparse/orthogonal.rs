//! Orthogonal elimination: the factor from the rows of `J`, without their products.

use super::SymbolicCholesky;
use super::cholesky::SparseCholesky;
use crate::kernels::front::padded;
use crate::kernels::triangular::absorb_rows;
use crate::linear::IllConditioned;
use crate::linear::block_rows::BlockStructure;
use crate::lists::Lists;
use crate::real::Real;

/// Rows that are absorbed together, at least.
const FEWEST_ROWS: usize = 64;

/// A pivot that is smaller than its column by this many `ε` is rounding error.
const LOST: f64 = 64.0;

/// Multifrontal QR factorisation of the rows `J` and `√λ D` (Matstoms 1994).
///
/// The triangle takes the place of the factor of a [`SparseCholesky`], in the same fronts: rows join the front of the first of their
/// columns, the front's own columns are eliminated by Householder reflections, and the remaining rows join the parent's front. The
/// error grows with the condition number of `J` and not with its square. Columns that many rows share take far more work than in a Cholesky
/// factorisation, since a front has the rows of all fronts below it.
#[derive(Debug, Clone)]
pub(crate) struct OrthogonalElimination<T> {
    /// Residual blocks of each supernode.
    own: Lists<u32>,
    /// First column of each block in the current front, by the block's position in the order.
    positions: Vec<usize>,
    /// The current front.
    front: TriangularFront<T>,
    /// Rows that wait for a parent, each with its residual behind it.
    waiting: Vec<T>,
    /// Numbers of rows of the supernodes that wait.
    counts: Vec<usize>,
}

impl<T: Real> OrthogonalElimination<T> {
    /// Creates the workspace of factorisations in the fronts of a factor.
    pub(crate) fn new(factor: &SparseCholesky<T>, structure: &BlockStructure) -> Self {
        let symbolic = &factor.symbolic;
        let supernode_of = symbolic.supernode_of_all();
        let first = |k: usize| structure.touched(k).iter().map(|&block| symbolic.label[block as usize]).min();
        let blocks = (0..structure.residual_blocks())
            .filter_map(|k| Some((supernode_of[first(k)? as usize], k as u32)))
            .collect::<Vec<_>>();
        OrthogonalElimination {
            own: Lists::sorted(symbolic.supernodes.len(), blocks.iter().copied()),
            positions: vec![0; symbolic.order.len()],
            front: TriangularFront::default(),
            waiting: Vec::new(),
            counts: Vec::new(),
        }
    }

    /// Floating-point operations of a factorisation. `rows_of` returns the rows of each residual block.
    pub(crate) fn flops(&self, factor: &SparseCholesky<T>, rows_of: impl Fn(usize) -> usize) -> f64 {
        let nodes = &factor.symbolic.supernodes;
        let mut left = vec![0; nodes.len()];
        let mut flops = 0.0;
        for (s, node) in nodes.iter().enumerate() {
            let own: usize = self.own.of(s).iter().map(|&k| rows_of(k as usize)).sum();
            let of_children: usize = factor.children.of(s).iter().map(|&child| left[child as usize]).sum();
            let rows = own + node.pivots + of_children;
            left[s] = rows.saturating_sub(node.pivots).min(node.size - node.pivots);
            flops += 2.0 * rows as f64 * (node.size * node.size) as f64;
        }
        flops
    }

    /// Replaces the factor by that of `JᵀJ + λD²`, and fills `solution` with the `δ` that is least in `‖r + Jδ‖² + λ‖Dδ‖²`. `rows`
    /// returns the residuals and the rows of each residual block, and `squares` are those of the columns, with damping.
    pub(crate) fn solve<'a>(
        &mut self,
        factor: &mut SparseCholesky<T>,
        structure: &BlockStructure,
        rows: impl Fn(usize) -> (&'a [T], &'a [T]),
        (lambda, d): (T, &[T]),
        squares: &[T],
        solution: &mut [T],
    ) -> Result<(), IllConditioned>
    where
        T: 'a,
    {
        self.waiting.clear();
        self.counts.clear();
        for s in 0..factor.symbolic.supernodes.len() {
            self.begin_front(factor, s);
            for &k in self.own.of(s) {
                let (r, jacobian) = rows(k as usize);
                let width = jacobian.len() / r.len().max(1);
                for (row, &r) in jacobian.chunks_exact(width.max(1)).zip(r) {
                    let own = self.front.push_row(r);
                    for (block, columns) in structure.parts(k as usize) {
                        let at = self.positions[factor.symbolic.label[block] as usize];
                        own[at..at + columns.len()].copy_from_slice(&row[columns]);
                    }
                }
                self.front.absorb(FEWEST_ROWS);
            }
            self.add_damping(factor, s, lambda, d);
            self.add_children(factor, s);
            self.end_front(factor, s, squares)?;
        }
        factor.backward();
        factor.permute_back(solution);
        solution.iter_mut().for_each(|step| *step = -*step);
        Ok(())
    }

    /// Resets the triangle to zero, with the columns of a supernode's front.
    fn begin_front(&mut self, factor: &SparseCholesky<T>, s: usize) {
        let node = &factor.symbolic.supernodes[s];
        factor.symbolic.find_positions(node, &mut self.positions);
        self.front.clear(node.size);
    }

    /// Adds the rows `√λ D` of a supernode's own columns.
    fn add_damping(&mut self, factor: &SparseCholesky<T>, s: usize, lambda: T, d: &[T]) {
        if !(lambda > T::ZERO) {
            return;
        }
        for (at, place) in naturals(&factor.symbolic, s).enumerate() {
            self.front.push_row(T::ZERO)[at] = lambda.sqrt() * d[place];
        }
    }

    /// Adds the rows that the supernode's children have left, and absorbs all.
    fn add_children(&mut self, factor: &SparseCholesky<T>, s: usize) {
        let nodes = &factor.symbolic.supernodes;
        // The last child is the last that waits.
        for k in (factor.children.starts[s]..factor.children.starts[s + 1]).rev() {
            let child = factor.children.items[k] as usize;
            let others = nodes[child].size - nodes[child].pivots;
            let count = self.counts.pop().unwrap_or(0);
            let first = self.waiting.len() - count * (others + 1);
            for row in self.waiting[first..].chunks_exact(others + 1) {
                let own = self.front.push_row(row[others]);
                for run in factor.runs.of(k) {
                    let (from, to, len) = (run.from as usize, run.to as usize, run.len as usize);
                    own[to..to + len].copy_from_slice(&row[from..from + len]);
                }
            }
            self.waiting.truncate(first);
            self.front.absorb(FEWEST_ROWS);
        }
        self.front.absorb(1);
    }

    /// Copies the rows of the pivots into the factor, and lets the others wait.
    fn end_front(&mut self, factor: &mut SparseCholesky<T>, s: usize, squares: &[T]) -> Result<(), IllConditioned> {
        let SparseCholesky { symbolic, panels, starts, inverses, permuted, .. } = factor;
        let node = &symbolic.supernodes[s];
        let (size, stride, first) = (node.size, padded(node.size), symbolic.offsets[node.first]);
        let tolerance = T::from_f64(LOST) * T::EPSILON;
        let panel = panels[starts[s]..].chunks_exact_mut(stride);
        let mut rows = self.front.triangle.chunks_exact(size).zip(&self.front.rotated).enumerate();
        for ((natural, panel), (p, (row, &rotated))) in naturals(symbolic, s).zip(panel).zip(&mut rows) {
            let pivot = row[p];
            if !(pivot.abs() > tolerance * squares[natural].sqrt() && pivot.is_finite()) {
                return Err(IllConditioned);
            }
            panel[..stride - size + p].fill(T::ZERO);
            panel[stride - size + p..].copy_from_slice(&row[p..]);
            inverses[first + p] = pivot.recip();
            permuted[first + p] = rotated;
        }
        let mut count = 0;
        for (i, (row, &rotated)) in rows {
            // Zero rows need not wait.
            if row[i..].iter().any(|&entry| entry != T::ZERO) {
                self.waiting.extend_from_slice(&row[node.pivots..]);
                self.waiting.push(rotated);
                count += 1;
            }
        }
        self.counts.push(count);
        Ok(())
    }
}

/// Entries of a supernode's own columns in the order of the problem.
fn naturals(symbolic: &SymbolicCholesky, s: usize) -> impl Iterator<Item = usize> {
    let node = &symbolic.supernodes[s];
    (node.first..node.first + node.columns).flat_map(|label| symbolic.natural_range(label))
}

/// The triangle of a front with its right-hand side, and rows that it will absorb.
#[derive(Debug, Clone, Default)]
struct TriangularFront<T> {
    triangle: Vec<T>,
    rotated: Vec<T>,
    rows: Vec<T>,
    residuals: Vec<T>,
    scratch: Vec<T>,
}

impl<T: Real> TriangularFront<T> {
    /// Resets the triangle to zeros of this number of columns.
    fn clear(&mut self, columns: usize) {
        for (entries, count) in
            [(&mut self.triangle, columns * columns), (&mut self.rotated, columns), (&mut self.scratch, columns)]
        {
            entries.clear();
            entries.resize(count, T::ZERO);
        }
    }

    /// Appends a row of zeros with a residual, and returns it.
    fn push_row(&mut self, r: T) -> &mut [T] {
        let start = self.rows.len();
        self.rows.resize(start + self.rotated.len(), T::ZERO);
        self.residuals.push(r);
        &mut self.rows[start..]
    }

    /// Absorbs the rows into the triangle if there are at least `fewest`.
    fn absorb(&mut self, fewest: usize) {
        if self.residuals.len() >= fewest {
            let TriangularFront { triangle, rotated, rows, residuals, scratch } = self;
            absorb_rows(triangle, rotated, rows, residuals, scratch);
            rows.clear();
            residuals.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    use super::super::tests::structures;
    use super::super::{BlockPattern, SymbolicCholesky};
    use super::*;
    use crate::linear::independent_set::tests::structure;

    /// Rows of residual blocks, each of two rows with the columns of a pair of blocks, and one block for each block of columns.
    struct Sample<T> {
        structure: BlockStructure,
        factor: SparseCholesky<T>,
        rows: Vec<(Vec<T>, Vec<T>)>,
        jacobian: DMatrix<f64>,
        residuals: DVector<f64>,
    }

    impl<T: Real> Sample<T> {
        /// The single blocks of columns have rows of this size.
        fn new(sizes: &[usize], pairs: &[(usize, usize)], size: f64) -> Self {
            let pairs: Vec<_> = pairs.iter().copied().filter(|(i, j)| i != j).collect();
            let pattern = BlockPattern::new(sizes, &pairs).unwrap();
            let mut touched: Vec<Vec<usize>> = pairs.iter().map(|&(i, j)| vec![i, j]).collect();
            touched.extend((0..sizes.len()).map(|i| vec![i]));
            let mut state = 1_u64;
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                f64::from((state >> 40) as u32) / f64::from(1 << 23) - 1.0
            };
            let count = |own: &[usize]| if own.len() == 1 { sizes[own[0]] } else { 2 };
            let m = touched.iter().map(|own| count(own)).sum();
            let (mut jacobian, mut residuals) = (DMatrix::zeros(m, pattern.len()), DVector::zeros(m));
            let (mut rows, mut first) = (Vec::new(), 0);
            for own in &touched {
                let (mut r, mut entries) = (Vec::new(), Vec::new());
                for i in first..first + count(own) {
                    residuals[i] = random();
                    r.push(T::from_f64(residuals[i]));
                    for j in own.iter().flat_map(|&block| pattern.range(block)) {
                        jacobian[(i, j)] = random() * if own.len() == 1 { size } else { 1.0 };
                        entries.push(T::from_f64(jacobian[(i, j)]));
                    }
                }
                first += r.len();
                rows.push((r, entries));
            }
            let factor = SparseCholesky::new(SymbolicCholesky::new(&pattern).unwrap(), &pattern).unwrap();
            Sample { structure: structure(sizes.to_vec(), touched), factor, rows, jacobian, residuals }
        }

        fn solve(&mut self, lambda: f64, d: &[f64]) -> Result<Vec<f64>, IllConditioned> {
            let n = self.jacobian.ncols();
            let squares = (0..n).map(|j| T::from_f64(self.jacobian.column(j).norm_squared() + lambda * d[j] * d[j]));
            let (squares, d): (Vec<_>, Vec<_>) = (squares.collect(), d.iter().map(|&d| T::from_f64(d)).collect());
            let mut elimination = OrthogonalElimination::new(&self.factor, &self.structure);
            let (rows, mut step) = (|k: usize| (&self.rows[k].0[..], &self.rows[k].1[..]), vec![T::ZERO; n]);
            let damping = (T::from_f64(lambda), &d[..]);
            elimination.solve(&mut self.factor, &self.structure, rows, damping, &squares, &mut step)?;
            Ok(step.iter().map(|step| step.to_f64()).collect())
        }

        /// `‖r + Jδ‖² + λ‖Dδ‖²`.
        fn cost(&self, step: &DVector<f64>, lambda: f64, d: &[f64]) -> f64 {
            let damping: f64 = step.iter().zip(d).map(|(step, d)| lambda * (d * step).powi(2)).sum();
            (&self.jacobian * step + &self.residuals).norm_squared() + damping
        }

        /// The least-squares solution by singular values.
        fn expected(&self, lambda: f64, d: &[f64]) -> DVector<f64> {
            let (m, n) = self.jacobian.shape();
            let mut rows = self.jacobian.clone().insert_rows(m, n, 0.0);
            (0..n).for_each(|j| rows[(m + j, j)] = lambda.sqrt() * d[j]);
            let residuals = self.residuals.clone().insert_rows(m, n, 0.0);
            rows.svd(true, true).solve(&-residuals, 0.0).unwrap()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Down to conditions that the products of the columns have no digits for.
        #[test]
        fn solutions_are_those_of_the_dense_rows(
            (sizes, pairs) in structures(),
            lambda in prop::sample::select(vec![0.0, 1e-3, 2.0]),
            size in prop::sample::select(vec![1.0, 1e-9]),
        ) {
            let mut sample = Sample::<f64>::new(&sizes, &pairs, size);
            let d: Vec<f64> = (0..sample.jacobian.ncols()).map(|j| 1.0 + (j as f64).sin().abs()).collect();
            let found = DVector::from_vec(sample.solve(lambda, &d).unwrap());
            let (reached, least) = (sample.cost(&found, lambda, &d), sample.cost(&sample.expected(lambda, &d), lambda, &d));
            let all = sample.residuals.norm_squared();
            prop_assert!(reached <= least + 1e-10 * all, "{reached} {least}");
        }

        #[test]
        fn single_precision_solves((sizes, pairs) in structures()) {
            let mut sample = Sample::<f32>::new(&sizes, &pairs, 1.0);
            let d = vec![1.0; sample.jacobian.ncols()];
            let expected = sample.expected(0.5, &d);
            let found = sample.solve(0.5, &d).unwrap();
            prop_assert!(found.iter().zip(&expected).all(|(x, e)| (x - e).abs() <= 1e-4 * (1.0 + expected.amax())));
        }
    }

    /// Differences alone do not determine a level; damping does.
    #[test]
    fn singular_rows_are_refused_and_damped() {
        let n = 12;
        let pairs: Vec<_> = (1..n).map(|i| (i, i - 1)).collect();
        let mut sample = Sample::<f64>::new(&vec![1; n], &pairs, 0.0);
        for (k, (_, entries)) in sample.rows.iter_mut().enumerate().take(n - 1) {
            entries.copy_from_slice(&[1.0, -1.0, 2.0, -2.0]);
            for (at, entry) in entries.iter().enumerate() {
                sample.jacobian[(2 * k + at / 2, k + 1 - at % 2)] = *entry;
            }
        }
        let d = vec![1.0; n];
        assert_eq!(sample.solve(0.0, &d), Err(IllConditioned));
        let (found, expected) = (sample.solve(1e-6, &d).unwrap(), sample.expected(1e-6, &d));
        assert!(found.iter().zip(&expected).all(|(x, e)| (x - e).abs() <= 1e-6), "{found:?} {expected}");
    }
}
