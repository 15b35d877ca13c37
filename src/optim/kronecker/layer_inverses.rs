//! The direction of a dense layer, from its gradient.

use std::ops::Range;

use crate::kernels::Factor;
use crate::kernels::vector::{add_scaled, dot};
use crate::real::Real;

/// Damped inverses of a layer's factors. The last input is the one of the bias, where there is one.
pub(super) struct LayerInverses<'a, T> {
    pub(super) a: &'a [T],
    pub(super) full_inputs: bool,
    pub(super) g: &'a [T],
    pub(super) full_outputs: bool,
    /// Inputs without that of the bias.
    pub(super) inputs: usize,
}

impl<T: Real> LayerInverses<'_, T> {
    /// Fills the layer's ranges of `direction` with `G⁻¹ [W b] A⁻¹`, for the gradients of its weight and bias. Both are used where they
    /// are, without the matrix that has the bias for its last column: that has a column more than registers are wide. Where `is_formed`,
    /// the weight's part holds `G⁻¹ W` already. Without a bias, its gradient and range are empty.
    pub(super) fn direct(
        &self,
        [weights, offsets]: [&[T]; 2],
        is_formed: bool,
        scratch: &mut [T],
        direction: &mut [T],
        [weight, bias]: &[Range<usize>; 2],
    ) {
        let inputs = self.inputs;
        let (product, rest) = scratch.split_at_mut(weights.len());
        let offset_product = &mut rest[..offsets.len()];
        if self.full_inputs && !is_formed {
            self.times_inputs(weights, offsets, product, offset_product);
            self.outputs_times(product, inputs, &mut direction[weight.clone()]);
            self.outputs_times(offset_product, 1, &mut direction[bias.clone()]);
            return;
        }
        if !is_formed {
            self.outputs_times(weights, inputs, &mut direction[weight.clone()]);
        }
        self.outputs_times(offsets, 1, &mut direction[bias.clone()]);
        if self.full_inputs {
            self.times_inputs(&direction[weight.clone()], &direction[bias.clone()], product, offset_product);
            direction[weight.clone()].copy_from_slice(product);
            direction[bias.clone()].copy_from_slice(offset_product);
        } else {
            // A diagonal comes last, where the numbers are to be.
            for row in direction[weight.clone()].chunks_exact_mut(inputs) {
                row.iter_mut().zip(self.a).for_each(|(number, &a)| *number *= a);
            }
            direction[bias.clone()].iter_mut().for_each(|number| *number *= self.a[inputs]);
        }
    }

    /// `[W b] A⁻¹`, for a full `A`.
    fn times_inputs(&self, weights: &[T], offsets: &[T], product: &mut [T], offset_product: &mut [T]) {
        let inputs = self.inputs;
        let size = if offsets.is_empty() { inputs } else { inputs + 1 };
        T::multiply_by_part(product, weights, self.a, size, inputs, inputs);
        let rows = product.chunks_exact_mut(inputs).zip(weights.chunks_exact(inputs));
        for ((row, weights), (&offset, of_bias)) in rows.zip(offsets.iter().zip(offset_product)) {
            let (last, corner) = self.a[size * inputs..].split_at(inputs);
            add_scaled(row, offset, last);
            *of_bias = dot(weights, last) + offset * corner[0];
        }
    }

    /// `G⁻¹` times a matrix with rows of `columns` entries.
    fn outputs_times(&self, matrix: &[T], columns: usize, to: &mut [T]) {
        if self.full_outputs && !matrix.is_empty() {
            return T::multiply(to, false, Factor::Plain(self.g), matrix, matrix.len() / columns, columns);
        }
        for ((to, row), &g) in to.chunks_exact_mut(columns).zip(matrix.chunks_exact(columns)).zip(self.g) {
            to.iter_mut().zip(row).for_each(|(to, &number)| *to = g * number);
        }
    }
}
