//! A problem that is borrowed.

use std::ops::Range;

use super::{Bounds, EvaluationError, JacobianProducts, LeastSquares};
use crate::Real;

/// An adaptor takes `&mut problem` where the problem itself is still needed afterwards.
impl<T: Real, P: LeastSquares<T> + ?Sized> LeastSquares<T> for &mut P {
    fn parameter_count(&self) -> usize {
        (**self).parameter_count()
    }

    fn residual_count(&self) -> usize {
        (**self).residual_count()
    }

    fn row_group(&self) -> usize {
        (**self).row_group()
    }

    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        (**self).residuals(x, first, r)
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        (**self).linearize(x, first, r, jacobian)
    }

    fn linearize_columns(
        &mut self,
        x: &[T],
        first: usize,
        r: &mut [T],
        columns: &[Range<usize>],
        jacobian: &mut [T],
    ) -> Result<bool, EvaluationError> {
        (**self).linearize_columns(x, first, r, columns, jacobian)
    }

    fn cost_of(&mut self, first: usize, r: &[T]) -> T {
        (**self).cost_of(first, r)
    }

    fn second_directional_derivative(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Result<bool, EvaluationError> {
        (**self).second_directional_derivative(x, v, first, second)
    }

    fn second_derivative_product(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
        product: &mut [T],
    ) -> Result<bool, EvaluationError> {
        (**self).second_derivative_product(x, v, first, second, product)
    }

    fn derivatives_are_cheap(&self) -> bool {
        (**self).derivatives_are_cheap()
    }

    fn bounds(&self) -> Option<&Bounds<T>> {
        (**self).bounds()
    }

    fn products(&mut self) -> Option<&mut dyn JacobianProducts<T>> {
        (**self).products()
    }

    fn parameter_name(&self, index: usize) -> String {
        (**self).parameter_name(index)
    }
}
