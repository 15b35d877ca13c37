//! Gradients of layers times the inverses of their output factors, summed over samples.

use super::form::FactorForm;
use super::{KroneckerBlock, KroneckerFactors};
use crate::kernels::Factor;
use crate::real::Real;

/// Returns true if a block's gradient times the inverse of a full output factor costs less as `(Δ G⁻¹)ᵀ X` than as `G⁻¹ (Δᵀ X)`, for
/// this many rows of a batch: two products with few rows instead of one with many.
pub(crate) fn is_cheaper_by_rows(block: &KroneckerBlock, rows: usize) -> bool {
    match *block {
        KroneckerBlock::Dense { bias: Some(_), inputs, outputs, positions, .. } => {
            rows.saturating_mul(positions).saturating_mul(inputs + outputs) < inputs * outputs
        }
        _ => false,
    }
}

/// A request for the gradients of layers' weights times the inverses of their output factors, `G⁻¹ (∂L/∂W)`.
///
/// For output sensitivities `Δ` and inputs `X`, with a row for each sample and position, that is `(Δ G⁻¹)ᵀ X`. For few rows of
/// a wide layer this is cheaper than from the gradient. The optimizer forms the products that are missing.
#[derive(Debug)]
pub struct OutputProducts<'a, T> {
    /// Positions of the factors of the blocks.
    pub(crate) factors: &'a KroneckerFactors<T>,
    /// Damped inverses, at the positions of the factors.
    pub(crate) inverses: &'a [T],
    /// Blocks all of whose parameters are adjusted.
    pub(crate) whole: &'a [bool],
    /// The products of all blocks, an entry for each parameter.
    pub(crate) sums: &'a mut [T],
    /// Marks the blocks whose products have been begun.
    pub(crate) formed: &'a mut [bool],
    /// Scratch for the largest block.
    pub(crate) scratch: &'a mut [T],
}

impl<T: Real> OutputProducts<'_, T> {
    /// Returns true if the product of this block is to be formed from a batch of `samples` samples.
    pub fn is_wanted(&self, block: usize, samples: usize) -> bool {
        let [_, (_, _, form)] = self.factors.places(block);
        self.whole[block] && form == FactorForm::Full && is_cheaper_by_rows(&self.factors.blocks()[block], samples)
    }

    /// Adds rows of the batch to the product of a block that is [wanted](Self::is_wanted): output sensitivities by the loss, and inputs, a
    /// row of each for each sample and position.
    ///
    /// # Panics
    ///
    /// For a block that is not wanted for as many rows.
    pub fn add(&mut self, block: usize, delta: &[T], x: &[T]) {
        let KroneckerBlock::Dense { weight, inputs, outputs, .. } = self.factors.blocks()[block] else {
            panic!("block {block} is not of a dense layer");
        };
        let [_, (place, _, form)] = self.factors.places(block);
        assert_eq!(form, FactorForm::Full, "the output factor of block {block} is no matrix");
        let product = &mut self.scratch[..delta.len()];
        T::multiply(product, false, Factor::Plain(delta), &self.inverses[place], outputs, outputs);
        let is_begun = std::mem::replace(&mut self.formed[block], true);
        let sums = &mut self.sums[weight..weight + inputs * outputs];
        T::multiply(sums, is_begun, Factor::Transposed(product), x, delta.len() / outputs, inputs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(inputs: usize, outputs: usize, positions: usize) -> KroneckerBlock {
        KroneckerBlock::Dense { weight: 0, bias: Some(inputs * outputs), inputs, outputs, positions }
    }

    #[test]
    fn wide_layers_of_few_rows_are_cheaper_by_rows() {
        assert!(is_cheaper_by_rows(&dense(784, 700, 1), 128));
        assert!(!is_cheaper_by_rows(&dense(784, 700, 1), 1024));
        assert!(!is_cheaper_by_rows(&dense(784, 64, 1), 128));
        assert!(!is_cheaper_by_rows(&dense(784, 700, 16), 128), "every position is a row");
        let without_bias = KroneckerBlock::Dense { weight: 0, bias: None, inputs: 784, outputs: 700, positions: 1 };
        assert!(!is_cheaper_by_rows(&without_bias, 1));
        assert!(!is_cheaper_by_rows(&KroneckerBlock::Diagonal { first: 0, count: 9 }, 1));
    }

    #[test]
    fn rows_come_to_the_gradient_times_the_inverse() {
        let (inputs, outputs) = (5, 4);
        let factors = KroneckerFactors::<f64>::new(&[dense(inputs, outputs, 1)], 128);
        let inverses: Vec<f64> = {
            let [_, (place, ..)] = factors.places(0);
            let symmetric = |i: usize, j: usize| 1.0 / (1.0 + i as f64 + j as f64);
            let matrix = (0..outputs * outputs).map(|k| symmetric(k / outputs, k % outputs));
            std::iter::repeat_n(f64::NAN, place.start).chain(matrix).collect()
        };
        let [mut sums, mut scratch] = [inputs * (outputs + 1), inputs * outputs].map(|count| vec![f64::NAN; count]);
        let mut formed = [false];
        let mut products = OutputProducts {
            factors: &factors,
            inverses: &inverses,
            whole: &[true],
            sums: &mut sums,
            formed: &mut formed,
            scratch: &mut scratch,
        };
        assert!(products.is_wanted(0, 2) && !products.is_wanted(0, 3));
        let delta: Vec<f64> = (0..2 * outputs).map(|k| (k as f64).sin()).collect();
        let x: Vec<f64> = (0..2 * inputs).map(|k| (k as f64).cos()).collect();
        for row in 0..2 {
            products.add(0, &delta[row * outputs..(row + 1) * outputs], &x[row * inputs..(row + 1) * inputs]);
        }
        assert_eq!(formed, [true]);
        let inverse = &inverses[inverses.len() - outputs * outputs..];
        for (place, &sum) in sums[..inputs * outputs].iter().enumerate() {
            let (i, j) = (place / inputs, place % inputs);
            let gradient = |k: usize| delta[k] * x[j] + delta[outputs + k] * x[inputs + j];
            let expected: f64 = (0..outputs).map(|k| inverse[i * outputs + k] * gradient(k)).sum();
            assert!((sum - expected).abs() <= 1e-14, "{sum} {expected}");
        }
        assert!(sums[inputs * outputs..].iter().all(|number| number.is_nan()), "the bias is left alone");
    }
}
