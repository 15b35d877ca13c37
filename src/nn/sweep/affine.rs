//! Dense layers.

use super::columns::broadcast;
use crate::Real;

/// `y = x Wᵀ + b`, or `y += x Wᵀ + b`, for a weight with so many columns.
pub(super) fn affine<T: Real>(x: &[T], weight: &[T], columns: usize, bias: Option<&[T]>, y: &mut [T], add: bool) {
    let rows = weight.len() / columns;
    let add = match bias {
        Some(bias) if add => {
            for y in y.chunks_exact_mut(rows) {
                y.iter_mut().zip(bias).for_each(|(y, &b)| *y += b);
            }
            true
        }
        Some(bias) => {
            broadcast(bias, y);
            true
        }
        None => add,
    };
    T::multiply_transposed(y, add, x, weight, columns, rows);
}
