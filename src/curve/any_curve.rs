//! A curve of any kind behind a pointer.

use super::models::AnyModel;
use super::{Curve, GlobalCurve};
use crate::problem::EvaluationError;
use crate::real::Real;

/// A curve of any kind. It is called for many rows at once, so that the pointer costs nothing, and all code over it is compiled
/// in this crate.
pub type AnyCurve<'a, T> = Box<dyn Curve<T> + 'a>;

impl<T: Real> Curve<T> for AnyCurve<'_, T> {
    fn parameter_count(&self) -> usize {
        (**self).parameter_count()
    }

    fn parameter_name(&self, index: usize) -> String {
        (**self).parameter_name(index)
    }

    fn response_count(&self) -> usize {
        (**self).response_count()
    }

    fn takes_all_rows(&self) -> bool {
        (**self).takes_all_rows()
    }

    fn data_set_names(&self) -> Vec<String> {
        (**self).data_set_names()
    }

    fn as_global(&self) -> Option<&GlobalCurve<'_, T>> {
        (**self).as_global()
    }

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Result<(), EvaluationError> {
        (**self).responses(x, width, b, y)
    }

    fn linearize(
        &self,
        x: &[T],
        width: usize,
        b: &[T],
        y: &mut [T],
        jacobian: &mut [T],
    ) -> Result<(), EvaluationError> {
        (**self).linearize(x, width, b, y, jacobian)
    }

    fn derivatives_are_cheap(&self) -> bool {
        (**self).derivatives_are_cheap()
    }

    fn keep_within(&mut self, lower: &[T], upper: &[T]) {
        (**self).keep_within(lower, upper);
    }

    fn to_any_model(&self) -> Option<AnyModel> {
        (**self).to_any_model()
    }
}
