//! Cost of a step with Kronecker factors, besides sweeps.

use super::KroneckerBlock;
use super::form::{FactorForm, RANK, forms};
use super::output_products::is_cheaper_by_rows;
use crate::problem::Work;

/// Entries of the factors of all blocks.
pub(crate) fn factor_numbers(blocks: &[KroneckerBlock]) -> usize {
    blocks.iter().flat_map(|block| forms(block, RANK)).map(|(size, form)| form.len(size)).sum()
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
        forms(block, RANK).map(|(size, form)| form.moments(size, rows)).into_iter().sum()
    };
    blocks.iter().map(of_block).sum()
}

/// Inverses of all factors.
pub(crate) fn inverse_work(blocks: &[KroneckerBlock]) -> Work {
    blocks.iter().flat_map(|block| forms(block, RANK)).map(|(size, form)| form.inverse(size)).sum()
}

/// The gradient times all inverses, those of output factors [by rows](is_cheaper_by_rows) where that is cheaper and the number of rows is
/// given.
pub(crate) fn precondition_work(blocks: &[KroneckerBlock], rows: Option<usize>) -> Work {
    let of_block = |block: &KroneckerBlock| {
        let [(n, of_inputs), (m, of_outputs)] = forms(block, RANK);
        let inputs = of_inputs.product(n, m as f64);
        let by_rows = rows.filter(|&rows| of_outputs == FactorForm::Full && is_cheaper_by_rows(block, rows));
        let outputs = by_rows.map_or(of_outputs.product(m, n.max(1) as f64), |rows| {
            let (rows, m) = ((rows * block.positions()) as f64, m as f64);
            Work::product(rows, m, m) + Work::product(m, rows, n as f64)
        });
        inputs + outputs
    };
    blocks.iter().map(of_block).sum()
}
