//! The direction of a dense layer, from its gradient.

use std::ops::Range;

use super::factor_inverse::FactorInverse;
use crate::problem::kronecker::form::FactorForm;
use crate::real::Real;

/// Damped inverses of a layer's factors. The last input is the one of the bias, where there is one.
pub(super) struct LayerInverses<'a, T> {
    pub(super) a: FactorInverse<'a, T>,
    pub(super) g: FactorInverse<'a, T>,
    /// Inputs without that of the bias.
    pub(super) inputs: usize,
}

impl<T: Real> LayerInverses<'_, T> {
    /// Fills the layer's ranges of `direction` with `G⁻¹ [W b] A⁻¹`, for the gradients of its weight and bias. Where `is_formed`,
    /// the weight's part holds `G⁻¹ W` already. Without a bias, its gradient and range are empty.
    pub(super) fn direct(
        &self,
        [weights, offsets]: [&[T]; 2],
        is_formed: bool,
        [scratch, memory]: [&mut [T]; 2],
        direction: &mut [T],
        [weight, bias]: &[Range<usize>; 2],
    ) {
        let LayerInverses { a, g, inputs } = self;
        let (product, rest) = scratch.split_at_mut(weights.len());
        let offset_product = &mut rest[..offsets.len()];
        let is_diagonal = a.form == FactorForm::Diagonal;
        if !is_diagonal && !is_formed {
            a.multiply_right([weights, offsets], *inputs, [&mut *product, &mut *offset_product], memory);
            g.times(product, *inputs, &mut direction[weight.clone()], memory);
            g.times(offset_product, 1, &mut direction[bias.clone()], memory);
            return;
        }
        if !is_formed {
            g.times(weights, *inputs, &mut direction[weight.clone()], memory);
        }
        g.times(offsets, 1, &mut direction[bias.clone()], memory);
        if !is_diagonal {
            let gradients = [&direction[weight.clone()], &direction[bias.clone()]];
            a.multiply_right(gradients, *inputs, [&mut *product, &mut *offset_product], memory);
            direction[weight.clone()].copy_from_slice(product);
            direction[bias.clone()].copy_from_slice(offset_product);
        } else {
            // A diagonal comes last, where the numbers are to be.
            for row in direction[weight.clone()].chunks_exact_mut(*inputs) {
                row.iter_mut().zip(a.numbers).for_each(|(number, &a)| *number *= a);
            }
            direction[bias.clone()].iter_mut().for_each(|number| *number *= a.numbers[*inputs]);
        }
    }
}
