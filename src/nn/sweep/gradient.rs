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
        add_product(self.0.dense_mut(weight), weight, delta, x);
    }

    fn row(&mut self, variable: Variable, delta: &[T]) {
        add_rows(self.0.dense_mut(variable), delta);
    }

    fn look_up(&mut self, table: Variable, numbers: &[T], delta: &[T]) {
        for (&number, delta) in numbers.iter().zip(delta.chunks_exact(table.columns())) {
            self.0.add_row(table, row_number(number), delta);
        }
    }
}

/// Adds to as many numbers as all variables have.
pub(crate) struct FlatSums<'a, T>(pub(crate) &'a mut [T]);

impl<T: Real> Sink<T> for FlatSums<'_, T> {
    fn wants(&self, _variable: Variable) -> bool {
        true
    }

    fn product(&mut self, weight: Variable, delta: &[T], x: &[T]) {
        add_product(&mut self.0[weight.range()], weight, delta, x);
    }

    fn row(&mut self, variable: Variable, delta: &[T]) {
        add_rows(&mut self.0[variable.range()], delta);
    }

    fn look_up(&mut self, table: Variable, numbers: &[T], delta: &[T]) {
        let columns = table.columns();
        let sums = &mut self.0[table.range()];
        for (&number, delta) in numbers.iter().zip(delta.chunks_exact(columns)) {
            add_rows(&mut sums[row_number(number) * columns..][..columns], delta);
        }
    }
}

/// `sums += δᵀ x`.
fn add_product<T: Real>(sums: &mut [T], weight: Variable, delta: &[T], x: &[T]) {
    let count = delta.len() / weight.rows();
    T::multiply(sums, true, Factor::Transposed(delta), x, count, weight.columns());
}

/// Adds all rows of `delta` to `sums`.
fn add_rows<T: Real>(sums: &mut [T], delta: &[T]) {
    for delta in delta.chunks_exact(sums.len()) {
        for (sum, &delta) in sums.iter_mut().zip(delta) {
            *sum += delta;
        }
    }
}
