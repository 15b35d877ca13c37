//! Logarithms without branches.
//!
//! `x = 2ᵉ (1 + f)` with `1 + f` between `√½` and `√2`, and `ln(1 + f) = f − f²/2 + s (f²/2 + R)` with `s = f / (2 + f)` and a
//! polynomial `s² R(s²)` in place of the series of artanh, so that the result keeps the digits of `f` (as in FDLIBM). Coefficients
//! are minimax ones, by the exchange of Remez in 60 digits.
//!
//! Zero gives minus infinity, numbers below zero and NaN give NaN. The bounds hold for subnormal numbers as well.

use super::elementary::Elementary;
use super::exponential::{polynomial, power_of_two};
use super::simd::multiply_add;
use crate::number::Number;

/// Constants and operations of a float type for the functions of this file.
#[derive(Debug)]
pub struct LogarithmCoefficients<T: 'static> {
    /// The smallest normal number.
    smallest: T,
    /// A power of two that makes subnormal numbers normal, and its exponent.
    lift: [T; 2],
    /// The leading bits of `ln 2`, few enough for products with an exponent to be exact, and the rest.
    pub(super) ln_2: [T; 2],
    /// Two parts of `log₁₀ 2`, as those of `ln 2`.
    log10_2: [T; 2],
    /// `1 / ln 2`, and its rounding error.
    log2_e: [T; 2],
    /// `1 / ln 10`, and its rounding error.
    log10_e: [T; 2],
    /// `(2 artanh(s) / s − 2) / s²` in powers of `s²`, up to `s = (√2 − 1) / (√2 + 1)`.
    artanh: &'static [T],
}

/// Coefficients for [`f64`].
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

/// Coefficients for [`f32`].
pub(super) const SINGLE: LogarithmCoefficients<f32> = LogarithmCoefficients {
    smallest: f32::MIN_POSITIVE,
    lift: [33_554_432.0, 25.0],
    ln_2: [355.0 / 512.0, -2.121_944_4e-4],
    log10_2: [0.301_025_4, 4.605_039e-6],
    log2_e: [std::f32::consts::LOG2_E, 1.925_963e-8],
    log10_e: [std::f32::consts::LOG10_E, -1.010_305e-8],
    artanh: &[0.666_667_76, 0.399_775_42, 0.298_717_4],
};

/// Splits a normal positive number `x = 2ᵉ (1 + f)` with `1 + f` between `√½` and `√2`. Returns `e` and `f`.
#[inline(always)]
fn split_normal<T: Number>(x: T) -> (T, T) {
    let (m, one) = (x.significand(), T::from_f64(1.0));
    let root = T::from_f64(std::f64::consts::SQRT_2);
    let more = root.select_less(m, one, T::from_f64(0.0));
    (x.exponent() + more, root.select_less(m, m * T::from_f64(0.5) - one, m - one))
}

/// Splits any positive number.
#[inline(always)]
pub(super) fn split<T: Number>(x: T) -> (T, T) {
    let table = T::Element::LOGARITHM;
    let (smallest, [lift, exponent]) = (T::splat(table.smallest), table.lift.map(T::splat));
    let (e, f) = split_normal(x.select_less(smallest, x * lift, x));
    (e - x.select_less(smallest, exponent, T::from_f64(0.0)), f)
}

/// The difference `f − ln(1 + f)`.
#[inline(always)]
fn defect<T: Number, const FUSED: bool>(f: T, rest: T) -> T {
    let s = f / (f + T::from_f64(2.0));
    let square = s * s;
    let series = polynomial::<T, FUSED>(T::Element::LOGARITHM.artanh, square, square * square);
    let half = f * f * T::from_f64(0.5);
    half - multiply_add::<T, FUSED>(s * square, series, multiply_add::<T, FUSED>(s, half, rest))
}

/// Returns `y`, the logarithm of a positive finite `x`, and the special value for any other `x`.
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
    let (e, f) = split(x);
    let below = defect::<T, FUSED>(f, e * low);
    with_ends(x, multiply_add::<T, FUSED>(e, high, f - below))
}

/// `ln(1 + x)`, within one unit in the last place.
#[inline(always)]
pub(crate) fn ln_1p<T: Number, const FUSED: bool>(x: T) -> T {
    let table = T::Element::LOGARITHM;
    let ([high, low], one) = (table.ln_2.map(T::splat), T::from_f64(1.0));
    // The rounding error of 1 + x is added to f. From 2⁶⁰ on it is negligible.
    let sum = x + one;
    let carried = sum - one;
    let rest = (one - (sum - carried)) + (x - carried);
    let (e, rounded) = split_normal(sum);
    let inverse = power_of_two(-e.min(T::from_f64(60.0)));
    let rest = rest * inverse;
    let f = rounded + rest;
    let rest = (rounded - f) + rest;
    let below = defect::<T, FUSED>(f, multiply_add::<T, FUSED>(e, low, rest));
    let y = multiply_add::<T, FUSED>(e, high, f - below);
    with_ends(sum, y.copy_sign(x))
}

/// Splits `x = 2ᵉ (1 + f)`. Returns `e` and `log_b(1 + f)`; `reciprocal` is `1 / ln b` as a sum of two terms.
#[inline(always)]
fn to_base<T: Number, const FUSED: bool>(x: T, reciprocal: [T::Element; 2]) -> (T, T) {
    let (e, f) = split(x);
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

#[cfg(test)]
#[allow(clippy::approx_constant)]
mod tests {
    use super::super::tests::{ends_agree, keeps_bound};
    use super::*;
    use crate::real::Real;
    use crate::scalar::Scalar;

    #[test]
    fn bounds_are_kept() {
        keeps_bound(
            1.0,
            [ln::<f64, true>, ln::<f64, false>],
            [ln::<f32, true>, ln::<f32, false>],
            f64::ln,
            &[
                (5e-324, -744.4400719213812),
                (1.1e-310, -713.7060686483499),
                (1e-300, -690.7755278982137),
                (0.3, -1.2039728043259361),
                (0.7071067811865475, -0.34657359027997275),
                (0.7071067811865477, -0.3465735902799724),
                (0.99, -0.01005033585350145),
                (0.9999999999999999, -1.1102230246251565e-16),
                (1.0000000000000002, 2.2204460492503128e-16),
                (1.001, 0.0009995003330834232),
                (1.4142135623730951, 0.3465735902799727),
                (1.5718, 0.4522214594499376),
                (2.0, 0.6931471805599453),
                (100000.0, 11.512925464970229),
                (1.7e+308, 709.7268368932282),
            ],
            &[(0.5, 2.0), (0.0, 1e-3), (1.0, 1e30)],
        );
        keeps_bound(
            1.0,
            [ln_1p::<f64, true>, ln_1p::<f64, false>],
            [ln_1p::<f32, true>, ln_1p::<f32, false>],
            f64::ln_1p,
            &[
                (-0.9999999999999999, -36.7368005696771),
                (-0.9, -2.302585092994046),
                (-0.37, -0.4620354595965587),
                (-0.29, -0.3424903089467759),
                (-1e-05, -1.0000050000333337e-05),
                (-1e-17, -1e-17),
                (1e-300, 1e-300),
                (1e-20, 1e-20),
                (1e-09, 9.999999995e-10),
                (0.1, 0.09531017980432487),
                (0.45, 0.37156355643248307),
                (1.0, 0.6931471805599453),
                (3.3, 1.4586150226995167),
                (10000000000.0, 23.025850930040455),
                (1e+17, 39.14394658089878),
                (1.7e+308, 709.7268368932282),
            ],
            &[(-1.0, 1.0), (-1e-6, 1e-6), (0.0, 1e30)],
        );
        keeps_bound(
            2.2,
            [log2::<f64, true>, log2::<f64, false>],
            [log2::<f32, true>, log2::<f32, false>],
            f64::log2,
            &[
                (5e-324, -1074.0),
                (1.1e-310, -1029.6602058913325),
                (0.3, -1.7369655941662063),
                (0.6842, -0.5475099907815495),
                (0.99, -0.014499569695115089),
                (0.9999999999999999, -1.6017132519074588e-16),
                (1.0000000000000002, 3.203426503814917e-16),
                (1.3929, 0.47809168673836844),
                (1.5, 0.5849625007211562),
                (100000.0, 16.609640474436812),
                (1.7e+308, 1023.9193879716706),
            ],
            &[(0.5, 2.0), (0.0, 1e-3), (1.0, 1e30)],
        );
        keeps_bound(
            2.2,
            [log10::<f64, true>, log10::<f64, false>],
            [log10::<f32, true>, log10::<f32, false>],
            f64::log10,
            &[
                (5e-324, -323.3062153431158),
                (1.1e-310, -309.9586073148418),
                (0.3, -0.5228787452803376),
                (0.6842, -0.16481693015095625),
                (0.99, -0.004364805402450088),
                (0.9999999999999999, -4.821637332766436e-17),
                (1.0000000000000002, 9.64327466553287e-17),
                (1.3687, 0.13630826725581308),
                (1.5, 0.17609125905568124),
                (100000.0, 5.0),
                (1.7e+308, 308.2304489213783),
            ],
            &[(0.5, 2.0), (0.0, 1e-3), (1.0, 1e30)],
        );
    }

    fn special_values<T: Real>() {
        let at = [0.0, -0.0, 1.0, -1.0, -1e-310, -2.0, -1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        ends_agree([ln::<T, true>, ln::<T, false>], Scalar::ln, &at);
        ends_agree([log2::<T, true>, log2::<T, false>], Scalar::log2, &at);
        ends_agree([log10::<T, true>, log10::<T, false>], Scalar::log10, &at);
        ends_agree([ln_1p::<T, true>, ln_1p::<T, false>], Scalar::ln_1p, &[&at[..2], &at[3..]].concat());
        for e in [-140, -126, -3, 5, 127] {
            let x = T::from_f64(f64::from(e).exp2());
            assert_eq!([log2::<T, true>(x), log2::<T, false>(x)].map(Real::to_f64), [f64::from(e); 2]);
        }
    }

    #[test]
    fn logarithms_have_ends() {
        special_values::<f64>();
        special_values::<f32>();
    }
}
