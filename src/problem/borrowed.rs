//! A problem that is borrowed.

use super::LeastSquares;
use super::forward::forward;
use crate::real::Real;

/// An adaptor takes `&mut problem` where the problem itself is still needed afterwards.
impl<T: Real, P: LeastSquares<T> + ?Sized> LeastSquares<T> for &mut P {
    forward!(self => (**self); parameter_count residual_count row_group residuals linearize domain capabilities parameter_name);
}
