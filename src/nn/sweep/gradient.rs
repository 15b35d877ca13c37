//! Adjoints summed over samples: the gradient.

use super::forward::row_number;
use super::reverse::Sink;
use crate::Real;
use crate::kernels::Factor;
use crate::variables::{Gradients, Variable};

/// Adds to the gradients of all variables.
pub(crate) struct GradientSums<'a, T>(pub(crate) &'a mut Gradients<T>);

impl<T: Real> Sink<T> for GradientSums<'_, T> {
    fn wants(&self, _variable: Variable) -> bool {
        true
    }

    fn product(&mut self, weight: Variable, delta: &[T], x: &[T]) {
        let count = delta.len() / weight.rows();
        T::multiply(self.0.dense_mut(weight), true, Factor::Transposed(delta), x, count, weight.columns());
    }

    fn row(&mut self, variable: Variable, delta: &[T]) {
        let sums = self.0.dense_mut(variable);
        for delta in delta.chunks_exact(sums.len()) {
            for (sum, &delta) in sums.iter_mut().zip(delta) {
                *sum += delta;
            }
        }
    }

    fn look_up(&mut self, table: Variable, numbers: &[T], delta: &[T]) {
        for (&number, delta) in numbers.iter().zip(delta.chunks_exact(table.columns())) {
            self.0.add_row(table, row_number(number), delta);
        }
    }
}
