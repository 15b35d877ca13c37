//! Sparse Cholesky factorisation of a symmetric matrix of blocks.

use super::assembly::{Assembly, Orientation, Scatter};
use super::elimination::{FactorPart, MultifrontalElimination, TaskWorkspace};
use super::matrix::BlockMatrix;
use super::pattern::{BlockPattern, StoredBlock, TooLarge};
use super::substitution::{Panels, Substitution};
use super::symbolic::SymbolicCholesky;
use crate::kernels::front::{IndexRun, padded};
use crate::kernels::vector::dot;
use crate::linear::IllConditioned;
use crate::lists::{Lists, prefix_sums};
use crate::parallel;
use crate::real::Real;

/// Supernodal multifrontal factorisation `P(H + λD²)Pᵀ = UᵀU` (Duff & Reid 1983; Liu 1992).
///
/// The order `P` and the structure of `U` are found once; factorisations and solutions allocate nothing.
#[derive(Debug, Clone)]
pub(crate) struct SparseCholesky<T> {
    pub(super) symbolic: SymbolicCholesky,
    /// Panels of the supernodes, one behind the other.
    pub(super) panels: Vec<T>,
    /// First entry of each panel.
    pub(super) starts: Vec<usize>,
    /// Inverse diagonal of `U`.
    pub(super) inverses: Vec<T>,
    /// Copies of the blocks of `H` to the panels.
    scatter: Lists<Scatter>,
    /// Children of each supernode.
    pub(super) children: Lists<u32>,
    /// Positions of the rows below each child in its parent's front, in the order of the lists of children.
    pub(super) runs: Lists<IndexRun>,
    /// Rows below each supernode, as ranges of a vector: first entry, and number of entries.
    spans: Lists<(usize, usize)>,
    /// Workspace of each task.
    workspaces: Vec<TaskWorkspace<T>>,
    substitution: Substitution<T>,
    /// A vector in the order of elimination.
    pub(super) permuted: Vec<T>,
}

impl<T: Real> SparseCholesky<T> {
    /// Creates the workspace of a factorisation. `pattern` is the one that `symbolic` was made for.
    ///
    /// It takes [`SymbolicCholesky::entry_count`] entries, and some indices for each block of the matrix and of the factor.
    pub(crate) fn new(symbolic: SymbolicCholesky, pattern: &BlockPattern) -> Result<Self, TooLarge> {
        let nodes = &symbolic.supernodes;
        let n = symbolic.offsets[symbolic.order.len()];
        let starts = prefix_sums(nodes.iter().map(|node| node.pivots * padded(node.size)));
        let children = Lists::children(nodes.iter().map(|node| node.parent));
        let (scatter, runs, spans) = front_lists(&symbolic, pattern, &children);
        let workspaces = symbolic.tasks.updates.iter().map(|updates| TaskWorkspace {
            stacks: updates.waiting.map(|numbers| vec![T::ZERO; numbers]),
            leaf_update: vec![T::ZERO; updates.leaf],
        });
        let substitution = Substitution::new(&symbolic, &starts, &spans);
        Ok(SparseCholesky {
            panels: vec![T::ZERO; symbolic.panels],
            starts,
            inverses: vec![T::ZERO; n],
            scatter,
            children,
            runs,
            spans,
            workspaces: workspaces.collect(),
            substitution,
            permuted: vec![T::ZERO; n],
            symbolic,
        })
    }

    /// Floating-point operations of a factorisation.
    pub(crate) fn flops(&self) -> f64 {
        self.symbolic.flops()
    }

    /// The structure of the factor.
    #[cfg(test)]
    pub(crate) fn symbolic(&self) -> &SymbolicCholesky {
        &self.symbolic
    }

    /// Factorises `H + λD²`, where `d` is the diagonal of `D`; without `d`, `H`. On all cores: their number does not change a bit.
    pub(crate) fn factorize(&mut self, h: &BlockMatrix<T>, lambda: T, d: &[T]) -> Result<(), IllConditioned> {
        let SparseCholesky { symbolic, panels, starts, inverses, scatter, children, runs, workspaces, .. } = self;
        let assembly = Assembly { symbolic, scatter, h, lambda, d };
        let (count, factor) = (workspaces.len(), FactorPart { first: 0, panels, inverses });
        if count == 1 {
            return MultifrontalElimination { assembly, starts, children, runs, parts: 1 }.tasks(
                0..count,
                factor,
                workspaces,
            );
        }
        let parts = 2 * parallel::threads();
        let elimination = MultifrontalElimination { assembly, starts, children, runs, parts };
        parallel::in_pool(|| elimination.tasks(0..count, factor, workspaces))
    }

    /// Overwrites `b` with `(H + λD²)⁻¹b`, by the last factorisation.
    pub(crate) fn solve_in_place(&mut self, b: &mut [T]) {
        self.permute(b);
        self.forward();
        self.backward();
        self.permute_back(b);
    }

    /// Squares of the pivots of the last factorisation, in the order of the columns of `H`.
    pub(crate) fn squared_pivots(&mut self) -> Vec<T> {
        self.permuted.copy_from_slice(&self.inverses);
        let mut pivots = vec![T::ZERO; self.inverses.len()];
        self.permute_back(&mut pivots);
        pivots.iter_mut().for_each(|pivot| *pivot = T::ONE / (*pivot * *pivot));
        pivots
    }

    /// `bᵀ(H + λD²)⁻¹b`, by the last factorisation.
    pub(crate) fn inverse_form(&mut self, b: &[T]) -> T {
        self.permute(b);
        self.forward();
        dot(&self.permuted, &self.permuted)
    }

    /// Copies a vector into the order of elimination.
    fn permute(&mut self, b: &[T]) {
        for (label, ends) in self.symbolic.offsets.windows(2).enumerate() {
            self.permuted[ends[0]..ends[1]].copy_from_slice(&b[self.symbolic.natural_range(label)]);
        }
    }

    /// Copies a vector out of the order of elimination.
    pub(super) fn permute_back(&self, b: &mut [T]) {
        for (label, ends) in self.symbolic.offsets.windows(2).enumerate() {
            b[self.symbolic.natural_range(label)].copy_from_slice(&self.permuted[ends[0]..ends[1]]);
        }
    }

    /// Solves `Uᵀx = b` in the order of elimination.
    fn forward(&mut self) {
        let (factor, substitution, x) = self.parts();
        substitution.forward(factor, x);
    }

    /// Solves `Ux = b` in the order of elimination.
    pub(super) fn backward(&mut self) {
        let (factor, substitution, x) = self.parts();
        substitution.backward(factor, x);
    }

    /// The factor, and what substitution changes.
    fn parts(&mut self) -> (Panels<'_, T>, &mut Substitution<T>, &mut [T]) {
        let SparseCholesky { symbolic, panels, starts, inverses, spans, substitution, permuted, .. } = self;
        (Panels { symbolic, panels, starts, inverses, spans }, substitution, permuted)
    }

    /// The factor, as substitution takes it.
    #[cfg(test)]
    pub(super) fn panels(&self) -> Panels<'_, T> {
        let SparseCholesky { symbolic, panels, starts, inverses, spans, .. } = self;
        Panels { symbolic, panels, starts, inverses, spans }
    }
}

/// Finds the copies of the blocks of the matrix to each front, the runs of each child's rows in its parent's front, and the rows below each
/// supernode as ranges of a vector.
fn front_lists(
    symbolic: &SymbolicCholesky,
    pattern: &BlockPattern,
    children: &Lists<u32>,
) -> (Lists<Scatter>, Lists<IndexRun>, Lists<(usize, usize)>) {
    let SymbolicCholesky { supernodes: nodes, offsets, label, .. } = symbolic;
    let supernode_of = symbolic.supernode_of_all();
    let owner = |block: &StoredBlock| supernode_of[label[block.i].min(label[block.j]) as usize];
    let blocks = Lists::sorted(nodes.len(), pattern.stored().map(|block| (owner(&block), block)));
    let size = |row: usize| symbolic.size(row);

    let (mut scatter, mut runs, mut spans) = (Lists::new(), Lists::new(), Lists::new());
    // Position of a block's first entry in the current front.
    let mut position = vec![0_usize; symbolic.order.len()];
    for (s, node) in nodes.iter().enumerate() {
        symbolic.find_positions(node, &mut position);
        for row in symbolic.rows_below(node) {
            match spans.last_mut() {
                Some((start, len)) if *start + *len == offsets[row] => *len += size(row),
                _ => spans.items.push((offsets[row], size(row))),
            }
        }
        spans.end();
        let stride = padded(node.size);
        for &StoredBlock { i, j, at } in blocks.of(s) {
            let (row, column) = (label[i] as usize, label[j] as usize);
            let (pivot, other) = (row.min(column), row.max(column));
            let to = position[pivot] * stride + stride - node.size + position[other];
            let orientation = match row.cmp(&column) {
                std::cmp::Ordering::Less => Orientation::Plain,
                std::cmp::Ordering::Greater => Orientation::Transposed,
                std::cmp::Ordering::Equal => Orientation::Diagonal,
            };
            let (rows, columns) = (pattern.size(i) as u32, pattern.size(j) as u32);
            scatter.items.push(Scatter { from: at, to, rows, columns, orientation });
        }
        scatter.end();
        for &child in children.of(s) {
            let mut from = 0;
            for row in symbolic.rows_below(&nodes[child as usize]) {
                let (to, size) = (position[row] as u32, size(row) as u32);
                match runs.last_mut() {
                    Some(IndexRun { to: start, len, .. }) if *start + *len == to => *len += size,
                    _ => runs.items.push(IndexRun { from, to, len: size }),
                }
                from += size;
            }
            runs.end();
        }
    }
    (scatter, runs, spans)
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;
    use proptest::prelude::*;

    use super::super::tests::{Sample, chain, samples, structures};
    use super::*;
    use crate::kernels::registers::tests::in_all;

    fn cholesky<T: Real>(pattern: &BlockPattern) -> SparseCholesky<T> {
        SparseCholesky::new(SymbolicCholesky::new(pattern).unwrap(), pattern).unwrap()
    }

    fn numbers(n: usize) -> Vec<f64> {
        (0..n).map(|k| ((k * k) as f64 * 0.7 + k as f64).sin()).collect()
    }

    proptest! {
        #[test]
        fn solutions_are_those_of_the_dense_system(sample in samples(), lambda in 0.0..2.0_f64) {
            let n = sample.pattern.len();
            let d: Vec<f64> = numbers(n).iter().map(|d| 1.0 + d * d).collect();
            let b = numbers(n);
            let mut dense = sample.dense.clone();
            (0..n).for_each(|i| dense[(i, i)] += lambda * d[i] * d[i]);
            let expected = dense.clone().cholesky().unwrap().solve(&DVector::from_column_slice(&b));
            let largest = expected.amax();
            in_all(|| {
                let mut factor = cholesky(&sample.pattern);
                factor.factorize(&sample.matrix, lambda, &d).unwrap();
                let mut x = b.clone();
                factor.solve_in_place(&mut x);
                assert!(x.iter().zip(&expected).all(|(x, e)| (x - e).abs() <= 1e-10 * largest), "{x:?} {expected:?}");
                let form = factor.inverse_form(&b);
                let by_solution = dot(&b, &x);
                assert!((form - by_solution).abs() <= 1e-10 * by_solution, "{form} {by_solution}");
                // Again, with the entries of the first factorisation in memory.
                let first: Vec<u64> = x.iter().map(|x| x.to_bits()).collect();
                factor.factorize(&sample.matrix, lambda + 1.0, &d).unwrap();
                factor.factorize(&sample.matrix, lambda, &d).unwrap();
                let mut x = b.clone();
                factor.solve_in_place(&mut x);
                assert_eq!(first, x.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
            });
        }

        #[test]
        fn single_precision_solves((sizes, pairs) in structures(), seed: u64) {
            let sample = Sample::<f32>::new(&sizes, &pairs, seed, 1.0);
            let n = sample.pattern.len();
            let b = numbers(n);
            let expected = sample.dense.cholesky().unwrap().solve(&DVector::from_column_slice(&b));
            let mut factor = cholesky(&sample.pattern);
            factor.factorize(&sample.matrix, 0.0, &[]).unwrap();
            let mut x: Vec<f32> = b.iter().map(|&b| b as f32).collect();
            factor.solve_in_place(&mut x);
            for (x, expected) in x.iter().zip(&expected) {
                prop_assert!((f64::from(*x) - expected).abs() <= 1e-3, "{x}, not {expected}");
            }
        }

        /// The names of blocks do not matter.
        #[test]
        fn permuted_blocks_have_the_same_solution((sizes, pairs) in structures(), seed: u64, turn in 0..20_usize) {
            let n = sizes.len();
            let renamed = |i: usize| (n - 1 - i + turn) % n;
            let mut renamed_sizes = sizes.clone();
            (0..n).for_each(|i| renamed_sizes[renamed(i)] = sizes[i]);
            let renamed_pairs: Vec<_> = pairs.iter().map(|&(i, j)| (renamed(i), renamed(j))).collect();
            let one = Sample::<f64>::new(&sizes, &pairs, seed, 0.3);
            let pattern = BlockPattern::new(&renamed_sizes, &renamed_pairs).unwrap();
            let mut matrix = BlockMatrix::new(pattern.clone());
            let (mut b, mut x) = (vec![0.0; pattern.len()], numbers(pattern.len()));
            for StoredBlock { i, j, at } in one.pattern.stored() {
                let (rows, columns) = (sizes[i], sizes[j]);
                let block = &one.matrix.values()[at..][..rows * columns];
                let (to_i, to_j) = (renamed(i), renamed(j));
                if to_i >= to_j {
                    matrix.add(pattern.slot(to_i, to_j).unwrap(), block);
                } else {
                    let transposed: Vec<f64> =
                        (0..rows * columns).map(|k| block[k % rows * columns + k / rows]).collect();
                    matrix.add(pattern.slot(to_j, to_i).unwrap(), &transposed);
                }
            }
            (0..n).for_each(|i| b[pattern.range(renamed(i))].copy_from_slice(&x[one.pattern.range(i)]));
            for (pattern, matrix, x) in [(&one.pattern, &one.matrix, &mut x), (&pattern, &matrix, &mut b)] {
                let mut factor = cholesky(pattern);
                factor.factorize(matrix, 0.0, &[]).unwrap();
                factor.solve_in_place(x);
            }
            let largest = x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            for i in 0..n {
                for (x, b) in x[one.pattern.range(i)].iter().zip(&b[pattern.range(renamed(i))]) {
                    prop_assert!((x - b).abs() <= 1e-10 * largest, "{x}, not {b}");
                }
            }
        }

        #[test]
        fn indefinite_and_singular_matrices_are_refused(sample in samples(), which: usize, singular: bool) {
            let Sample { pattern, mut matrix, .. } = sample;
            let mut factor = cholesky(&pattern);
            prop_assert!(factor.factorize(&matrix, 0.0, &[]).is_ok());
            let block = which % pattern.blocks();
            if singular {
                // Neither the block nor its neighbours know of its first entry.
                for StoredBlock { i, j, at } in pattern.stored() {
                    let (rows, columns) = (pattern.size(i), pattern.size(j));
                    let values = &mut matrix.values_mut()[at..][..rows * columns];
                    if i == block {
                        values[..columns].fill(0.0);
                    }
                    if j == block {
                        values.iter_mut().step_by(columns).for_each(|value| *value = 0.0);
                    }
                }
            } else {
                let n = pattern.size(block);
                matrix.values_mut()[pattern.diagonal_slot(block) + n * n - 1] = -1.0;
            }
            prop_assert_eq!(factor.factorize(&matrix, 0.0, &[]), Err(IllConditioned));
        }
    }

    /// The last of the poses is free to move: pivots are what rounding leaves.
    #[test]
    fn a_chain_without_an_anchor_is_refused() {
        let n = 40;
        let pairs: Vec<_> = (1..n).map(|i| (i - 1, i)).collect();
        let pattern = BlockPattern::new(&vec![1; n], &pairs).unwrap();
        let mut matrix = BlockMatrix::new(pattern.clone());
        for (i, j) in pairs {
            let weight = 1.0 / (1.0 + i as f64);
            for (slot, value) in [((i, i), weight), ((j, j), weight), ((j, i), -weight)] {
                matrix.add(pattern.slot(slot.0, slot.1).unwrap(), &[value]);
            }
        }
        let mut factor = cholesky(&pattern);
        assert_eq!(factor.factorize(&matrix, 0.0, &[]), Err(IllConditioned));
        assert!(factor.factorize(&matrix, 1e-3, &vec![1.0; n]).is_ok());
        let nan = vec![f64::NAN; n];
        assert_eq!(factor.factorize(&matrix, 1e-3, &nan), Err(IllConditioned));
    }

    #[test]
    fn the_upper_triangle_of_diagonal_blocks_is_not_read() {
        let sample = Sample::<f64>::new(&[3, 2, 4, 3], &[(0, 1), (2, 1), (3, 0), (2, 3)], 5, 0.5);
        let mut spoilt = sample.matrix.clone();
        for j in 0..4 {
            let (at, n) = (sample.pattern.diagonal_slot(j), sample.pattern.size(j));
            (0..n).for_each(|i| spoilt.values_mut()[at + i * n + i + 1..at + (i + 1) * n].fill(f64::NAN));
        }
        let solutions = [&sample.matrix, &spoilt].map(|matrix| {
            let mut factor = cholesky(&sample.pattern);
            factor.factorize(matrix, 0.0, &[]).unwrap();
            let mut x = numbers(sample.pattern.len());
            factor.solve_in_place(&mut x);
            let mut product = vec![0.0; x.len()];
            matrix.times(&x, &mut product);
            (x.clone(), product, matrix.quadratic_form(&x))
        });
        assert_eq!(solutions[0], solutions[1]);
    }

    /// Large fronts: all columns of the kernels' tiles, and more pivots than are summed at once.
    #[test]
    fn full_matrices_are_solved() {
        for sizes in [vec![15; 20], vec![7; 9], vec![1; 17]] {
            let n = sizes.len();
            let pairs: Vec<_> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
            let sample = Sample::<f64>::new(&sizes, &pairs, 3, 0.5);
            let mut factor = cholesky(&sample.pattern);
            assert_eq!(factor.symbolic().supernodes.len(), 1);
            factor.factorize(&sample.matrix, 0.0, &[]).unwrap();
            let b = numbers(sample.pattern.len());
            let (mut x, mut product) = (b.clone(), b.clone());
            factor.solve_in_place(&mut x);
            sample.matrix.times(&x, &mut product);
            assert!(product.iter().zip(&b).all(|(product, b)| (product - b).abs() < 1e-10));
        }
    }

    #[test]
    fn a_chain_with_local_loops_takes_linear_work() {
        let of = |n: usize| {
            let pattern = BlockPattern::new(&vec![3; n], &chain(n, 7)).unwrap();
            let symbolic = SymbolicCholesky::new(&pattern).unwrap();
            [symbolic.flops(), symbolic.nonzeros(), symbolic.entry_count() as f64].map(|work| work / n as f64)
        };
        let thousand = of(1_000);
        for n in [10_000, 100_000] {
            for (work, of_thousand) in of(n).into_iter().zip(thousand) {
                assert!(work < 1.2 * of_thousand, "{n}: {work} a block, not {of_thousand}");
            }
        }
    }

    /// Points, each seen by some of a few cameras: the points are eliminated first, the cameras last.
    #[test]
    fn blocks_with_many_neighbours_come_last() {
        let (points, cameras) = (600, 5);
        let sizes: Vec<usize> = (0..cameras).map(|_| 6).chain((0..points).map(|_| 3)).collect();
        let seen = |point: usize| (0..cameras).filter(move |camera| (point + camera) % 5 < 3);
        let pairs: Vec<_> =
            (0..points).flat_map(|point| seen(point).map(move |camera| (cameras + point, camera))).collect();
        let sample = Sample::<f64>::new(&sizes, &pairs, 9, 0.5);
        let mut factor = cholesky(&sample.pattern);
        assert!(factor.symbolic().order[points..].iter().all(|&block| (block as usize) < cameras));
        assert!(factor.symbolic().nonzeros() < (points * (3 * 18 + 6) + 30 * 31 / 2 + 2000) as f64);
        factor.factorize(&sample.matrix, 0.0, &[]).unwrap();
        let b = numbers(sample.pattern.len());
        let (mut x, mut product) = (b.clone(), b.clone());
        factor.solve_in_place(&mut x);
        sample.matrix.times(&x, &mut product);
        assert!(product.iter().zip(&b).all(|(product, b)| (product - b).abs() < 1e-9));
    }

    /// Tasks, and parts of large fronts, change nothing.
    #[cfg(feature = "rayon")]
    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let (side, points) = (24, 700);
        let grid = (0..side * side).flat_map(|k| {
            let across = (k % side > 0).then(|| (k, k - 1));
            across.into_iter().chain((k >= side).then(|| (k, k - side)))
        });
        let spread: Vec<usize> = (0..points).map(|k| side * side + k).collect();
        let seen = spread.iter().flat_map(|&k| (0..3).map(move |c| (k, (k * 5 + 7 * c) % 40 + side * c)));
        let pairs: Vec<_> = grid.chain(seen).collect();
        let sizes: Vec<usize> = (0..side * side + points).map(|k| [3, 6, 5][k % 3]).collect();
        let sample = Sample::<f64>::new(&sizes, &pairs, 3, 0.5);
        let factors = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut factor = cholesky(&sample.pattern);
                assert_eq!(factor.workspaces.len() > 1, threads > 1);
                assert!(factor.substitution.branches() > 1);
                factor.factorize(&sample.matrix, 0.0, &[]).unwrap();
                // Again, with the entries of the first factorisation in memory.
                factor.factorize(&sample.matrix, 0.0, &[]).unwrap();
                let mut x = numbers(sample.pattern.len());
                factor.solve_in_place(&mut x);
                let mut indefinite = sample.matrix.clone();
                indefinite.values_mut()[sample.pattern.diagonal_slot(5)] = -1.0;
                assert_eq!(factor.factorize(&indefinite, 0.0, &[]), Err(IllConditioned));
                x
            })
        });
        assert!(factors[0] == factors[1] && factors[0] == factors[2]);
        let mut product = vec![0.0; sample.pattern.len()];
        sample.matrix.times(&factors[0], &mut product);
        assert!(product.iter().zip(numbers(sample.pattern.len())).all(|(product, b)| (product - b).abs() < 1e-9));
    }

    /// Poses on a grid in space: nested dissection takes fewer operations than the minimum degree.
    #[test]
    fn large_maps_are_dissected() {
        let side = 13_usize;
        let steps = [1, side, side * side];
        let before = |k: usize| {
            steps.into_iter().filter(move |step| !(k / step).is_multiple_of(side)).map(move |step| (k, k - step))
        };
        let pairs: Vec<_> = (0..side.pow(3)).flat_map(before).collect();
        let sample = |size: usize| BlockPattern::new(&vec![size; side.pow(3)], &pairs).unwrap();
        let pattern = sample(6);
        let by_degree = SymbolicCholesky::with_last(&pattern, |_| false).unwrap();
        let dissected = SymbolicCholesky::new(&pattern).unwrap();
        assert!(dissected.flops() < 0.75 * by_degree.flops(), "{:e}, {:e}", dissected.flops(), by_degree.flops());
        // A factorisation of few operations does not repay a longer search.
        let pattern = sample(1);
        let [plain, by_degree] = [SymbolicCholesky::new(&pattern), SymbolicCholesky::with_last(&pattern, |_| false)];
        assert_eq!(plain.unwrap().order, by_degree.unwrap().order);
    }

    #[test]
    fn the_order_is_always_the_same() {
        let pattern = BlockPattern::new(&vec![3; 500], &chain(500, 11)).unwrap();
        let [one, other] = [0, 1].map(|_| SymbolicCholesky::new(&pattern).unwrap());
        assert_eq!(one.order, other.order);
        let mut sorted = one.order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().enumerate().all(|(i, &block)| i == block as usize));
    }
}
