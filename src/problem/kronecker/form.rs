//! Form of a factor, by the estimated work of a step with it.

use super::KroneckerBlock;
use crate::problem::{Rate, Work};

/// Rows of a sketch, unless set.
pub(crate) const RANK: usize = 32;

/// Steps from one estimate and inversion to the next, and rows of an estimate, for which work is estimated.
const INTERVAL: f64 = 10.0;
const ROWS: f64 = 64.0;

/// Ratio of the work of a matrix to that of a sketch from which a sketch is taken: it knows less.
const MUCH_MORE: f64 = 2.0;

/// Form of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FactorForm {
    /// The diagonal alone.
    Diagonal,
    /// A symmetric matrix.
    Full,
    /// A matrix `SᵀS`, by as many rows of `S`.
    Sketch(usize),
}

impl FactorForm {
    /// Entries of a factor of this form, or of its inverse: of a sketch, `S`, `(SSᵀ + λ)⁻¹` and `1 / λ`.
    pub(crate) fn len(self, size: usize) -> usize {
        match self {
            FactorForm::Diagonal => size,
            FactorForm::Full => size * size,
            FactorForm::Sketch(rank) => rank * size + rank * rank + 1,
        }
    }

    /// Work of second moments of some rows.
    pub(crate) fn moments(self, size: usize, rows: f64) -> Work {
        match self {
            FactorForm::Full => Work::triangle(size as f64, rows),
            _ => Work::elementwise(rows * size as f64, 2.0, 1.0),
        }
    }

    /// Work of the inverse.
    pub(crate) fn inverse(self, size: usize) -> Work {
        let of_matrix = |n: f64| Work::new(Rate::Product, 2.0 * n * n * n, 4.0 * n * n);
        match self {
            FactorForm::Diagonal => Work::elementwise(size as f64, 2.0, 2.0),
            FactorForm::Full => of_matrix(size as f64),
            FactorForm::Sketch(rank) => Work::triangle(rank as f64, size as f64) + of_matrix(rank as f64),
        }
    }

    /// Work of the inverse times a matrix of so many other rows or columns.
    pub(crate) fn product(self, size: usize, others: f64) -> Work {
        let n = size as f64;
        match self {
            FactorForm::Diagonal => Work::elementwise(others * n, 1.0, 2.0),
            FactorForm::Full => Work::product(others, n, n),
            FactorForm::Sketch(rank) => {
                Work::product(others, n, rank as f64) * 2.0 + Work::product(others, rank as f64, rank as f64)
            }
        }
    }
}

/// Size and form of the input and of the output factor of a block.
pub(crate) fn forms(block: &KroneckerBlock, rank: usize) -> [(usize, FactorForm); 2] {
    let [inputs, outputs] = [block.input_size(), block.output_size()];
    let [of_inputs, of_outputs] = match block {
        KroneckerBlock::Dense { .. } => [cheaper(inputs, outputs, rank), cheaper(outputs, inputs, rank)],
        KroneckerBlock::Embedding { .. } => [FactorForm::Diagonal, cheaper(outputs, block.positions(), rank)],
        KroneckerBlock::Diagonal { .. } => [FactorForm::Diagonal; 2],
    };
    [(inputs, of_inputs), (outputs, of_outputs)]
}

/// A sketch, where that is much cheaper than a matrix.
fn cheaper(size: usize, others: usize, rank: usize) -> FactorForm {
    let work = |form: FactorForm| {
        form.product(size, others as f64).time() + (form.moments(size, ROWS) + form.inverse(size)).time() / INTERVAL
    };
    let sketch = FactorForm::Sketch(rank.max(1));
    if rank < size && work(FactorForm::Full) > MUCH_MORE * work(sketch) { sketch } else { FactorForm::Full }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_factors_are_sketched() {
        let forms = |inputs, outputs| {
            let block = KroneckerBlock::Dense { weight: 0, bias: Some(0), inputs, outputs, positions: 1 };
            forms(&block, RANK).map(|(_, form)| form)
        };
        assert_eq!(forms(64, 64), [FactorForm::Full; 2]);
        assert_eq!(forms(256, 10), [FactorForm::Sketch(RANK), FactorForm::Full]);
        assert_eq!(forms(784, 64), [FactorForm::Sketch(RANK), FactorForm::Full]);
        assert_eq!(forms(2, 1000), [FactorForm::Full, FactorForm::Sketch(RANK)]);
    }
}
