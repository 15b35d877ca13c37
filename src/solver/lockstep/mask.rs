//! Masks of lanes: one for true, zero for false.

use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// `a < b`; false for NaN.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn is_less<T: Real, R: Register<T>>(a: Lanes<T, R>, b: Lanes<T, R>) -> Lanes<T, R> {
    a.select_less(b, Lanes::splat(T::ONE), Lanes::splat(T::ZERO))
}

/// Returns the complement of a mask.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn not<T: Real, R: Register<T>>(mask: Lanes<T, R>) -> Lanes<T, R> {
    Lanes::splat(T::ONE) - mask
}

/// Returns the intersection of two masks.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn and<T: Real, R: Register<T>>(a: Lanes<T, R>, b: Lanes<T, R>) -> Lanes<T, R> {
    a.min(b)
}

/// Returns the union of two masks.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn or<T: Real, R: Register<T>>(a: Lanes<T, R>, b: Lanes<T, R>) -> Lanes<T, R> {
    a.max(b)
}

/// Selects the first value where the mask is true, the second where it is not.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn choose<T: Real, R: Register<T>>(
    mask: Lanes<T, R>,
    then: Lanes<T, R>,
    otherwise: Lanes<T, R>,
) -> Lanes<T, R> {
    Lanes::splat(T::ZERO).select_less(mask, then, otherwise)
}

/// Returns true if the mask is true in some lane.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn any<T: Real, R: Register<T>>(mask: Lanes<T, R>) -> bool {
    !Lanes::splat(T::ZERO).is_at_least(mask)
}
