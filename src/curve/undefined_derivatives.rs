//! Derivatives that the chain rule leaves undefined.

use super::Curve;
use crate::autodiff::Difference;
use crate::kernels::vector::all_finite;
use crate::problem::EvaluationError;
use crate::real::Real;

/// Fills `y` and `jacobian` as [`Curve::linearize`] does, and derivatives that are NaN by differences of the responses.
///
/// The chain rule multiplies zero by infinity where an intermediate result overflows, as in `1 / (1 + exp(−z))` for `z < −710`, and where
/// one has an infinite slope, as `(x / c)ᵖ` for `p < 1` at `x = 0`. The response is smooth in the parameters there.
pub(super) fn linearize<T: Real>(
    curve: &dyn Curve<T>,
    (x, width): (&[T], usize),
    b: &[T],
    bounds: impl Fn(usize) -> (T, T),
    y: &mut [T],
    jacobian: &mut [T],
) -> Result<(), EvaluationError> {
    curve.linearize(x, width, b, y, jacobian)?;
    if all_finite(jacobian) || !all_finite(y) {
        return Ok(());
    }
    let mut moved = b.to_vec();
    let mut sides = [vec![T::ZERO; y.len()], vec![T::ZERO; y.len()]];
    for (j, &center) in b.iter().enumerate() {
        let is_undefined = |derivative: &T| derivative.to_f64().is_nan();
        if !jacobian.iter().skip(j).step_by(b.len()).any(is_undefined) {
            continue;
        }
        let (lower, upper) = bounds(j);
        let stencil = Difference::Central.stencil(center, lower, upper);
        for (side, point) in sides.iter_mut().zip(stencil.points()) {
            let Some(point) = point else { continue };
            moved[j] = point;
            curve.responses(x, width, &moved, side)?;
        }
        moved[j] = center;
        let [first, second] = &sides;
        let column = jacobian.iter_mut().skip(j).step_by(b.len());
        for (((derivative, &here), &first), &second) in column.zip(&*y).zip(first).zip(second) {
            if is_undefined(derivative) {
                *derivative = stencil.slope(center, here, first, second);
            }
        }
    }
    Ok(())
}
