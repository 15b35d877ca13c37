//! `x · sigmoid(u)` with the cubic `u = a (x + c x³)`: the approximation of `x Φ(x)` by `tanh`.
//!
//! In the tail, the relative error of the logistic function is the absolute error of `u`: digits that `|u|` has before its point
//! are lost.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use crate::kernels::exponential::{sigmoid, sigmoid_pair};
use crate::real::Real;

/// `a = 2 √(2/π)`.
const SCALE: f64 = FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * 2.0;
/// `c`.
const CUBE: f64 = 0.044715;

/// `x · sigmoid(u)`.
#[inline(always)]
pub(super) fn value<T: Real, const FUSED: bool>(x: T) -> T {
    x * sigmoid::<T, FUSED>(argument(x))
}

/// `u`.
#[inline(always)]
fn argument<T: Real>(x: T) -> T {
    T::from_f64(SCALE) * x * (T::ONE + T::from_f64(CUBE) * x * x)
}

/// The logistic function of `u`, and derivatives of `u`.
pub(super) struct GeluParts<T> {
    /// `sigmoid(u)`.
    pub(super) left: T,
    /// `sigmoid(−u)`.
    pub(super) right: T,
    /// The argument, within bounds beyond which the logistic function is constant, so that no derivative of `u` overflows.
    pub(super) x: T,
    /// `u′`, `u″`, `u‴`.
    pub(super) inner: [T; 3],
}

/// The parts of derivatives of `x · sigmoid(u)`.
#[inline(always)]
pub(super) fn parts<T: Real, const FUSED: bool>(x: T) -> GeluParts<T> {
    let (left, right) = sigmoid_pair::<T, FUSED>(argument(x));
    let x = x.max(-T::from_f64(30.0)).min(T::from_f64(30.0));
    let six = T::from_f64(6.0 * SCALE * CUBE);
    let inner = [T::from_f64(SCALE) * (T::ONE + T::from_f64(3.0 * CUBE) * x * x), six * x, six];
    GeluParts { left, right, x, inner }
}
