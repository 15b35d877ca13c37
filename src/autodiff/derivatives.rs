//! Derivatives that take more than a line: of floats, and of the lanes of registers.

use std::f64::consts::FRAC_2_SQRT_PI;

use crate::kernels::exponential::tanh_slope;
use crate::kernels::gelu::bell;
use crate::number::Number;

/// The sign of `x`, zero for zero, so that `|x|` has the derivative 0 at its kink.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn sign<N: Number>(x: N) -> N {
    let [zero, one] = [0.0, 1.0].map(N::from_f64);
    zero.select_less(x, one, x.select_less(zero, -one, zero))
}

/// `atan′ = 1 / (1 + x²)`, with both terms scaled by the same power of two: where the square overflows, the result is zero.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn atan<N: Number>(x: N) -> N {
    const SCALE: f64 = 1.0 / (1_u64 << 30) as f64;
    let (scaled, one) = (x * N::from_f64(SCALE), N::from_f64(SCALE * SCALE));
    one / (scaled * scaled + one)
}

/// `asinh′ = 1 / √(1 + x²)`; the root is `|x|` where the one does not count.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn asinh<N: Number>(x: N) -> N {
    let [one, large] = [1.0, 1e10].map(N::from_f64);
    let size = x.abs();
    large.select_less(size, size, (x * x + one).sqrt()).recip()
}

/// `tanh′`, given `tanh x`: from three quarters on, `1 − tanh²` cancels.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(crate) fn tanh<N: Number>(x: N, value: N) -> N {
    let is_float = size_of::<N>() == size_of::<N::Element>();
    if !is_float {
        // In lanes, the compiler shares the exponential with the value.
        return tanh_slope::<N, true>(x);
    }
    let one = N::from_f64(1.0);
    if N::from_f64(0.75).is_at_least(value.abs()) {
        return (one - value) * (one + value);
    }
    let e = (x.abs() * N::from_f64(-2.0)).exp();
    e * N::from_f64(4.0) / ((e + one) * (e + one))
}

/// `erf′ = 2/√π exp(−x²)`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn erf<N: Number>(x: N) -> N {
    // The root of the exponential is a normal number, whatever the result is.
    let (_, root) = bell::<N, false>(x);
    root * N::from_f64(FRAC_2_SQRT_PI) * root
}

/// `erf″ = −4/√π x exp(−x²)`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn erf_second<N: Number>(x: N) -> N {
    let (size, root) = bell::<N, false>(x);
    size.copy_sign(x) * root * N::from_f64(-2.0 * FRAC_2_SQRT_PI) * root
}

/// Returns `c x^(p − 1)`, given `power = c x^p`, and `lower`, where the exponent is the rounded `p − 1`.
///
/// The rounding error of the exponent is multiplied by `ln x`. `p − 1` is exact for exponents from one half to a million; for others,
/// `x^p` is a normal number wherever the derivative is, so that it can be divided by `x`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(crate) fn power_below<N: Number>(x: N, p: N, power: N, lower: N) -> N {
    let [zero, half, million] = [0.0, 0.5, 1e6].map(N::from_f64);
    let quotient = zero.select_less(x.abs(), power / x, lower);
    p.select_less(half, quotient, million.select_less(p, quotient, lower))
}

/// Derivatives of the angle of the point `(x, y)` by `y` and by `x`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(crate) fn atan2<N: Number>(y: N, x: N) -> [N; 2] {
    let steep = |then: N, otherwise: N| x.abs().select_less(y.abs(), then, otherwise);
    // With the larger leg as the unit, no square overflows.
    let large = steep(y, x);
    let ratio = steep(x, y) / large;
    let of_small = large.recip() / (ratio * ratio + N::from_f64(1.0));
    let of_large = ratio * of_small;
    [steep(of_large, of_small), -steep(of_small, of_large)]
}
