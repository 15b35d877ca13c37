//! Cost of a step with Kronecker factors, besides sweeps.

use super::KroneckerBlock;
use super::output_products::is_cheaper_by_rows;
use crate::problem::{Rate, Work};

/// Most entries of a full input factor, and of a full output factor, unless set.
pub(crate) const WIDEST: [usize; 2] = [300, 1024];

/// Entries of the factors of all blocks.
pub(crate) fn factor_numbers(blocks: &[KroneckerBlock]) -> usize {
    blocks.iter().flat_map(sizes).map(|(size, is_full)| if is_full { size * size } else { size }).sum()
}

/// Entries that the optimizer keeps for its parameters: a sample of the factors, averages and inverses in two versions;
/// gradient, direction, last step, next step and next values; and two matrices of a layer as scratch.
pub(crate) fn kept_numbers(blocks: &[KroneckerBlock], parameters: usize) -> usize {
    let largest = blocks.iter().map(|block| block.input_size() * block.output_size()).max().unwrap_or(0);
    let vectors_and_factors = factor_numbers(blocks).saturating_add(parameters).saturating_mul(5);
    vectors_and_factors.saturating_add(largest.saturating_mul(2))
}

/// Work of the second moments of the samples.
pub(crate) fn moments_work(blocks: &[KroneckerBlock], samples: f64) -> Work {
    let of_block = |block: &KroneckerBlock| {
        let rows = samples * block.positions() as f64;
        sizes(block)
            .map(|(size, is_full)| {
                let size = size as f64;
                if is_full { Work::triangle(size, rows) } else { Work::elementwise(rows * size, 2.0, 1.0) }
            })
            .into_iter()
            .sum()
    };
    blocks.iter().map(of_block).sum()
}

/// Inverses of all factors.
pub(crate) fn inverse_work(blocks: &[KroneckerBlock]) -> Work {
    let of_factor = |(size, is_full): (usize, bool)| {
        let n = size as f64;
        if is_full { Work::new(Rate::Product, 2.0 * n * n * n, 4.0 * n * n) } else { Work::elementwise(n, 2.0, 2.0) }
    };
    blocks.iter().flat_map(sizes).map(of_factor).sum()
}

/// The gradient times all inverses, those of output factors [by rows](is_cheaper_by_rows) where that is cheaper and the number of rows is
/// given.
pub(crate) fn precondition_work(blocks: &[KroneckerBlock], rows: Option<usize>) -> Work {
    let of_block = |block: &KroneckerBlock| {
        let [(n, full_inputs), (m, full_outputs)] = sizes(block);
        let (n, m) = (n.max(1) as f64, m as f64);
        let inputs = if full_inputs { Work::product(m, n, n) } else { Work::elementwise(m * n, 1.0, 2.0) };
        let outputs = if !full_outputs {
            Work::elementwise(m * n, 1.0, 2.0)
        } else if let Some(rows) = rows.filter(|&rows| is_cheaper_by_rows(block, rows)) {
            let rows = (rows * block.positions()) as f64;
            Work::product(rows, m, m) + Work::product(m, rows, n)
        } else {
            Work::product(m, m, n)
        };
        inputs + outputs
    };
    blocks.iter().map(of_block).sum()
}

/// Size of the input and of the output factor, and whether they are full.
fn sizes(block: &KroneckerBlock) -> [(usize, bool); 2] {
    let [inputs, outputs] = [block.input_size(), block.output_size()];
    let is_dense = matches!(block, KroneckerBlock::Dense { .. });
    let is_diagonal = matches!(block, KroneckerBlock::Diagonal { .. });
    [(inputs, is_dense && inputs <= WIDEST[0]), (outputs, !is_diagonal && outputs <= WIDEST[1])]
}
