//! Random sparse systems for tests.

use nalgebra::DMatrix;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{BlockMatrix, BlockPattern};
use crate::real::Real;

/// Sums of products `JᵀJ` of blocks, plus a diagonal, as a matrix of blocks and as a dense one.
#[derive(Debug, Clone)]
pub(super) struct Sample<T: Real + nalgebra::Scalar = f64> {
    pub(super) pattern: BlockPattern,
    pub(super) matrix: BlockMatrix<T>,
    pub(super) dense: DMatrix<f64>,
}

impl<T: Real + nalgebra::Scalar> Sample<T> {
    /// Entries of the blocks look random, but follow from the arguments.
    pub(super) fn new(sizes: &[usize], pairs: &[(usize, usize)], seed: u64, diagonal: f64) -> Self {
        let pattern = BlockPattern::new(sizes, pairs).unwrap();
        let mut matrix = BlockMatrix::new(pattern.clone());
        let mut dense = DMatrix::zeros(pattern.len(), pattern.len());
        let mut state = seed;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from((state >> 40) as u32) / f64::from(1 << 23) - 1.0
        };
        let mut add = |i: usize, j: usize, entry: &dyn Fn(usize, usize) -> f64| {
            let (rows, columns) = (pattern.range(i), pattern.range(j));
            let mut block = vec![T::ZERO; rows.len() * columns.len()];
            for r in 0..rows.len() {
                for c in 0..columns.len() {
                    let number = entry(r, c);
                    block[r * columns.len() + c] = T::from_f64(number);
                    dense[(rows.start + r, columns.start + c)] += number;
                    if i != j {
                        dense[(columns.start + c, rows.start + r)] += number;
                    }
                }
            }
            matrix.add(pattern.slot(i, j).unwrap(), &block);
        };
        for i in 0..sizes.len() {
            add(i, i, &|r, c| if r == c { diagonal } else { 0.0 });
        }
        for &(i, j) in pairs.iter().filter(|(i, j)| i != j) {
            let (i, j) = (i.max(j), i.min(j));
            // Two rows of a Jacobian.
            let a: Vec<[f64; 2]> = (0..sizes[i]).map(|_| [random(), random()]).collect();
            let b: Vec<[f64; 2]> = (0..sizes[j]).map(|_| [random(), random()]).collect();
            let product = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
            add(i, i, &|r, c| product(a[r], a[c]));
            add(j, j, &|r, c| product(b[r], b[c]));
            add(i, j, &|r, c| product(a[r], b[c]));
        }
        Sample { pattern, matrix, dense }
    }
}

/// Structures of 1 to 20 blocks of 1 to 9 entries.
pub(super) fn structures() -> impl Strategy<Value = (Vec<usize>, Vec<(usize, usize)>)> {
    vec(1..10_usize, 1..20).prop_flat_map(|sizes| {
        let n = sizes.len();
        (Just(sizes), vec((0..n, 0..n), 0..3 * n))
    })
}

/// Positive definite systems.
pub(super) fn samples() -> impl Strategy<Value = Sample> {
    (structures(), any::<u64>()).prop_map(|((sizes, pairs), seed)| Sample::new(&sizes, &pairs, seed, 0.3))
}

/// A chain of blocks, with a loop over `step` of them from every third block.
pub(super) fn chain(n: usize, step: usize) -> Vec<(usize, usize)> {
    let chain = (1..n).map(|i| (i - 1, i));
    chain.chain((step..n).step_by(3).map(|i| (i - step, i))).collect()
}
