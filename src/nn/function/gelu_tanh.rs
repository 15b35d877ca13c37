//! `x · sigmoid(u)` with the cubic `u = a x + b x³`: the approximation of `x Φ(x)` by `tanh`.

use crate::kernels::exponential::{sigmoid, sigmoid_pair};
use crate::kernels::power::{product, sum};
use crate::real::Real;

/// `a = 2 √(2/π)`, and its rounding error.
const LINEAR: [f64; 2] = [1.595_769_121_605_730_8, -9.969_308_809_110_92e-17];
/// `b / a`.
const CUBE: f64 = 0.044715;
/// `b`, and its rounding error.
const CUBIC: [f64; 2] = [0.071_354_816_272_600_25, -6.175_149_918_155_315e-19];

/// `x · sigmoid(u)`, within `6 + 1.5 |u|` units in the last place: the rounding error of `u` counts.
#[inline(always)]
pub(super) fn value<T: Real, const FUSED: bool>(x: T) -> T {
    let u = T::from_f64(LINEAR[0]) * x * (T::ONE + T::from_f64(CUBE) * x * x);
    x * sigmoid::<T, FUSED>(u)
}

/// The logistic function of `u`, and derivatives of `u`.
pub(super) struct Parts<T> {
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
pub(super) fn parts<T: Real, const FUSED: bool>(x: T) -> Parts<T> {
    let x = x.max(-T::from_f64(30.0)).min(T::from_f64(30.0));
    let ([a, a_low], [b, b_low]) = (in_two::<T>(LINEAR), in_two::<T>(CUBIC));
    // In the tail, the relative error of the logistic function is the absolute error of `u`: that takes more digits than one number has.
    let (square, square_low) = product::<T, FUSED>(x, x);
    let (cubic, low) = product::<T, FUSED>(b, square);
    let cubic_low = low + (b * square_low + b_low * square);
    let (factor, low) = sum(a.max(cubic), a.min(cubic));
    let factor_low = low + (cubic_low + a_low);
    let (u, low) = product::<T, FUSED>(x, factor);
    let (left, right) = sigmoid_pair::<T, FUSED>(u);
    let change = left * right * (low + x * factor_low);
    let [three, six] = [3.0, 6.0].map(T::from_f64);
    let inner = [a + three * cubic, six * b * x, six * b];
    Parts { left: left + change, right: right - change, x, inner }
}

/// A constant in this precision, and its rounding error.
#[inline(always)]
fn in_two<T: Real>([high, low]: [f64; 2]) -> [T; 2] {
    let rounded = T::from_f64(high);
    [rounded, T::from_f64((high - rounded.to_f64()) + low)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values_keep_the_bound<T: Real, const FUSED: bool>() {
        for k in -1000..1000 {
            let x = T::from_f64(f64::from(k) / 100.0);
            let (found, Parts { left, .. }) = (value::<T, FUSED>(x).to_f64(), parts::<T, FUSED>(x));
            let exact = (x * left).to_f64();
            let u = x.to_f64().abs() * (1.6 + 0.072 * x.to_f64().powi(2));
            let units = (found - exact).abs() / (exact.abs() * T::EPSILON.to_f64());
            assert!(x == T::ZERO || units <= 6.0 + 1.5 * u, "{x}: {found:e}, {units} units");
        }
    }

    #[test]
    fn values_keep_the_bound_in_both_precisions() {
        values_keep_the_bound::<f64, true>();
        values_keep_the_bound::<f64, false>();
        values_keep_the_bound::<f32, true>();
        values_keep_the_bound::<f32, false>();
    }
}
