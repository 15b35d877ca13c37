//! The direction of a layer with a bias, from its gradient.

use crate::kernels::Factor;
use crate::kernels::vector::{add_scaled, dot};
use crate::real::Real;
use crate::variables::Variable;

/// Damped inverses of a layer's factors, whose last input is the one of the bias.
pub(super) struct LayerInverses<'a, T> {
    pub(super) a: &'a [T],
    pub(super) full_inputs: bool,
    pub(super) g: &'a [T],
    pub(super) full_outputs: bool,
}

impl<T: Real> LayerInverses<'_, T> {
    /// Fills the layer's part of `direction` with `G⁻¹ [W b] A⁻¹`, for the gradients of its weight and bias. Both are used where they
    /// are, without the matrix that has the bias for its last column: that has a column more than registers are wide. Where `is_formed`,
    /// the weight's part holds `G⁻¹ W` already.
    pub(super) fn direct_layer(
        &self,
        (weights, weight): (&[T], Variable),
        (offsets, bias): (&[T], Variable),
        inputs: usize,
        is_formed: bool,
        room: &mut [T],
        direction: &mut [T],
    ) {
        let outputs = offsets.len();
        let (product, rest) = room.split_at_mut(outputs * inputs);
        let offset_product = &mut rest[..outputs];
        if self.full_inputs && !is_formed {
            self.times_inputs(weights, offsets, inputs, product, offset_product);
            self.outputs_times(product, inputs, &mut direction[weight.range()]);
            self.outputs_times(offset_product, 1, &mut direction[bias.range()]);
            return;
        }
        if !is_formed {
            self.outputs_times(weights, inputs, &mut direction[weight.range()]);
        }
        self.outputs_times(offsets, 1, &mut direction[bias.range()]);
        if self.full_inputs {
            self.times_inputs(&direction[weight.range()], &direction[bias.range()], inputs, product, offset_product);
            direction[weight.range()].copy_from_slice(product);
            direction[bias.range()].copy_from_slice(offset_product);
        } else {
            // A diagonal comes last, where the numbers are to be.
            for row in direction[weight.range()].chunks_exact_mut(inputs) {
                row.iter_mut().zip(self.a).for_each(|(number, &a)| *number *= a);
            }
            direction[bias.range()].iter_mut().for_each(|number| *number *= self.a[inputs]);
        }
    }

    /// `[W b] A⁻¹`, for a full `A`.
    fn times_inputs(&self, weights: &[T], offsets: &[T], inputs: usize, product: &mut [T], offset_product: &mut [T]) {
        T::multiply_by_part(product, weights, self.a, inputs + 1, inputs, inputs);
        let (last, corner) = self.a[(inputs + 1) * inputs..].split_at(inputs);
        let rows = product.chunks_exact_mut(inputs).zip(weights.chunks_exact(inputs));
        for ((row, weights), (&offset, of_bias)) in rows.zip(offsets.iter().zip(offset_product)) {
            add_scaled(row, offset, last);
            *of_bias = dot(weights, last) + offset * corner[0];
        }
    }

    /// `G⁻¹` times a matrix with rows of `columns` numbers.
    fn outputs_times(&self, matrix: &[T], columns: usize, to: &mut [T]) {
        if self.full_outputs {
            return T::multiply(to, false, Factor::Plain(self.g), matrix, matrix.len() / columns, columns);
        }
        for ((to, row), &g) in to.chunks_exact_mut(columns).zip(matrix.chunks_exact(columns)).zip(self.g) {
            to.iter_mut().zip(row).for_each(|(to, &number)| *to = g * number);
        }
    }
}
