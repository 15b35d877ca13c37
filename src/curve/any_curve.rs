//! A curve of any kind behind a pointer.

use super::Curve;
use super::model_sums::{ModelRows, ModelSums, Summand};
use crate::pass_on::pass_on;
use crate::problem::Evaluated;
use crate::real::Real;

/// Any curve, behind a pointer. Each call evaluates many rows, so the pointer costs nothing. All code over this type is compiled in this
/// crate.
pub type AnyCurve<'a, T> = Box<dyn Curve<T> + 'a>;

/// Calls a method of the curve in a box.
macro_rules! inside {
    ($self:ident, $method:ident($($argument:ident),*)) => {
        (**$self).$method($($argument),*)
    };
}

/// Methods by which a curve is described, as those of another curve.
macro_rules! pass_on_description {
    ($inside:ident) => {
        $crate::pass_on::pass_on! { $inside
            ref parameter_count() -> usize;
            ref parameter_name(index: usize) -> String;
            ref response_count() -> usize;
            ref takes_all_rows() -> bool;
            ref data_set_names() -> Vec<String>;
            ref as_global() -> Option<&$crate::curve::GlobalCurve<'_, T>>;
            ref derivatives_are_cheap() -> bool;
            ref derivatives_are_rough() -> bool;
            ref to_any_model() -> Option<$crate::curve::models::AnyModel>;
        }
    };
}

pub(super) use pass_on_description;

impl<T: Real> Curve<T> for AnyCurve<'_, T> {
    pass_on_description!(inside);
    pass_on! { inside
        ref responses(x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated;
        ref linearize(x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated;
        ref differentiate(x: &[T], width: usize, b: &[T], y: &[T], jacobian: &mut [T]) -> Evaluated<bool>;
        ref fitted_predictors(x: &[T], width: usize, b: &[T], fitted: &mut [T]) -> Evaluated<bool>;
        ref add_sums(rows: ModelRows<'_, T>, summand: Summand<'_, T>, sums: &mut ModelSums<'_, T>) -> bool;
        mut keep_within(lower: &[T], upper: &[T]) -> ();
        mut note_start(start: &[T]) -> ();
    }
}
