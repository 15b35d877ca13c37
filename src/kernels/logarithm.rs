//! Logarithms without branches.
//!
//! `x = 2ᵉ (1 + f)` with `1 + f` between `√½` and `√2`, and `ln(1 + f) = f − f²/2 + s (f²/2 + R)` with `s = f / (2 + f)` and a
//! polynomial `s² R(s²)` in place of the series of artanh, so that `f` itself is what counts (as in FDLIBM). Coefficients are
//! minimax ones, by the exchange of Remez in 60 digits.
//!
//! Zero gives minus infinity, numbers below zero and NaN give NaN. Subnormal numbers are as good as others.

use super::elementary::Elementary;
use super::exponential::{polynomial, power_of_two};
use super::simd::multiply_add;
use crate::Number;

/// What the functions of this file need of a float type.
#[derive(Debug)]
pub struct LogarithmCoefficients<T: 'static> {
    /// The smallest normal number.
    smallest: T,
    /// A power of two that makes subnormal numbers normal, and its exponent.
    lift: [T; 2],
    /// The leading bits of `ln 2`, few enough for products with an exponent to be exact, and the rest.
    pub(super) ln_2: [T; 2],
    /// The same of `log₁₀ 2`.
    log10_2: [T; 2],
    /// `1 / ln 2`, and what rounding it left.
    log2_e: [T; 2],
    /// `1 / ln 10`, and what rounding it left.
    log10_e: [T; 2],
    /// `(2 artanh(s) / s − 2) / s²` in powers of `s²`, up to `s = (√2 − 1) / (√2 + 1)`.
    artanh: &'static [T],
}

/// For [`f64`].
pub(super) const DOUBLE: LogarithmCoefficients<f64> = LogarithmCoefficients {
    smallest: f64::MIN_POSITIVE,
    lift: [18_014_398_509_481_984.0, 54.0],
    ln_2: [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10],
    log10_2: [0.301_029_995_664_066_5, -8.532_344_317_057_107e-14],
    log2_e: [std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17],
    log10_e: [std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17],
    artanh: &[
        0.666_666_666_666_673_4,
        0.399_999_999_994_147_04,
        0.285_714_287_423_861_73,
        0.222_221_985_731_042_4,
        0.181_835_643_382_686_24,
        0.153_140_500_918_395_9,
        0.147_959_554_709_651,
    ],
};

/// For [`f32`].
pub(super) const SINGLE: LogarithmCoefficients<f32> = LogarithmCoefficients {
    smallest: f32::MIN_POSITIVE,
    lift: [33_554_432.0, 25.0],
    ln_2: [355.0 / 512.0, -2.121_944_4e-4],
    log10_2: [0.301_025_4, 4.605_039e-6],
    log2_e: [std::f32::consts::LOG2_E, 1.925_963e-8],
    log10_e: [std::f32::consts::LOG10_E, -1.010_305e-8],
    artanh: &[0.666_667_76, 0.399_775_42, 0.298_717_4],
};

/// `e` and `m`, between `√½` and `√2`, such that `x = 2ᵉ m`, for a normal positive number.
#[inline(always)]
fn split_normal<T: Number>(x: T) -> (T, T) {
    let (m, root) = (x.significand(), T::from_f64(std::f64::consts::SQRT_2));
    let more = root.select_less(m, T::from_f64(1.0), T::from_f64(0.0));
    (x.exponent() + more, root.select_less(m, m * T::from_f64(0.5), m))
}

/// The same for any positive number.
#[inline(always)]
pub(super) fn split<T: Number>(x: T) -> (T, T) {
    let table = T::Element::LOGARITHM;
    let (smallest, [lift, exponent]) = (T::splat(table.smallest), table.lift.map(T::splat));
    let (e, m) = split_normal(x.select_less(smallest, x * lift, x));
    (e - x.select_less(smallest, exponent, T::from_f64(0.0)), m)
}

/// What `ln(1 + f)` is less than `f` by.
#[inline(always)]
fn defect<T: Number, const FUSED: bool>(f: T, rest: T) -> T {
    let s = f / (f + T::from_f64(2.0));
    let square = s * s;
    let series = square * polynomial::<T, FUSED>(T::Element::LOGARITHM.artanh, square, square * square);
    let half = f * f * T::from_f64(0.5);
    half - multiply_add::<T, FUSED>(s, half + series, rest)
}

/// The logarithm `y` of `x`, put right where `x` is not positive, or not finite.
#[inline(always)]
fn with_ends<T: Number>(x: T, y: T) -> T {
    let (zero, infinity) = (T::from_f64(0.0), T::from_f64(f64::INFINITY));
    let below = x.select_less(zero, T::from_f64(f64::NAN), -infinity);
    x.select_less(infinity, zero.select_less(x, y, below), x)
}

/// `ln x`, within one unit in the last place.
#[inline(always)]
pub(crate) fn ln<T: Number, const FUSED: bool>(x: T) -> T {
    let [high, low] = T::Element::LOGARITHM.ln_2.map(T::splat);
    let (e, m) = split(x);
    let f = m - T::from_f64(1.0);
    let below = defect::<T, FUSED>(f, e * low);
    with_ends(x, multiply_add::<T, FUSED>(e, high, f - below))
}

/// `ln(1 + x)`, within one unit in the last place.
#[inline(always)]
pub(crate) fn ln_1p<T: Number, const FUSED: bool>(x: T) -> T {
    let table = T::Element::LOGARITHM;
    let ([high, low], one) = (table.ln_2.map(T::splat), T::from_f64(1.0));
    // What rounding 1 + x left belongs to f, too. From 2⁶⁰ on it is nothing.
    let sum = x + one;
    let carried = sum - one;
    let rest = (one - (sum - carried)) + (x - carried);
    let (e, m) = split_normal(sum);
    let sixty = T::from_f64(60.0);
    let inverse = power_of_two(-e.select_less(sixty, e, sixty));
    let (rounded, rest) = (m - one, rest * inverse);
    let f = rounded + rest;
    let rest = (rounded - f) + rest;
    let below = defect::<T, FUSED>(f, multiply_add::<T, FUSED>(e, low, rest));
    let y = multiply_add::<T, FUSED>(e, high, f - below);
    with_ends(sum, y.copy_sign(x))
}

/// `e` such that `x = 2ᵉ m`, and the logarithm of `m` to the base that the reciprocal logarithm of which is given.
#[inline(always)]
fn to_base<T: Number, const FUSED: bool>(x: T, reciprocal: [T::Element; 2]) -> (T, T) {
    let (e, m) = split(x);
    let f = m - T::from_f64(1.0);
    let below = defect::<T, FUSED>(f, T::from_f64(0.0));
    let [high, low] = reciprocal.map(T::splat);
    let rest = multiply_add::<T, FUSED>(-below, high, f * low);
    (e, multiply_add::<T, FUSED>(f, high, rest))
}

/// `log₂ x`, within 2.2 units in the last place, 1.1 with fused instructions; exact for powers of two.
#[inline(always)]
pub(crate) fn log2<T: Number, const FUSED: bool>(x: T) -> T {
    let (e, y) = to_base::<T, FUSED>(x, T::Element::LOGARITHM.log2_e);
    with_ends(x, e + y)
}

/// `log₁₀ x`, within 2.2 units in the last place, 1.1 with fused instructions.
#[inline(always)]
pub(crate) fn log10<T: Number, const FUSED: bool>(x: T) -> T {
    let table = T::Element::LOGARITHM;
    let (e, y) = to_base::<T, FUSED>(x, table.log10_e);
    let [high, low] = table.log10_2.map(T::splat);
    with_ends(x, multiply_add::<T, FUSED>(e, high, multiply_add::<T, FUSED>(e, low, y)))
}
