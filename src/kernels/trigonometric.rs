//! Sine, cosine and tangent without branches.
//!
//! `x = n π/2 + r` with `|r| ≤ π/4`, where polynomials are enough; `π/2` is subtracted in parts, all of them without rounding errors
//! but the last (Cody & Waite 1980). Coefficients are minimax ones, by the exchange of Remez in 60 digits.
//!
//! Above 10⁸ ([`f64`]) or 10⁴ ([`f32`]) in absolute value, the functions of the float are called instead. Infinity and NaN give NaN.
//! The sine of minus zero is zero.

use super::elementary::Elementary;
use super::exponential::polynomial;
use super::simd::multiply_add;
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Constants and operations of a float type for the functions of this file.
#[derive(Debug)]
pub struct TrigonometricCoefficients<T: 'static> {
    /// Largest argument whose remainder `r` is found.
    reach: T,
    /// Adding it rounds to an integer.
    rounder: T,
    /// Factor that moves the lowest bit of an integer to the highest bit of the exponent, and the next bit to the sign.
    quarters: T,
    /// `π/2` as a sum, for fused instructions.
    whole: [T; 3],
    /// Parts of it with so few bits in each that products with `n` are exact.
    halved: [T; 5],
    /// `(sin r / r − 1) / r²` in powers of `r²`.
    sine: &'static [T],
    /// `(cos r − 1 + r²/2) / r⁴` in powers of `r²`.
    cosine: &'static [T],
}

/// Coefficients for [`f64`].
pub(super) const DOUBLE: TrigonometricCoefficients<f64> = TrigonometricCoefficients {
    reach: 1e8,
    rounder: 6_755_399_441_055_744.0,
    quarters: 1024.0,
    whole: [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33],
    halved: [
        1.570_796_310_901_641_8,
        1.589_325_471_229_585_7e-8,
        6.123_233_932_053_594e-17,
        6.368_317_055_225_283e-25,
        1.082_856_673_921_914e-32,
    ],
    sine: &[
        -0.166_666_666_666_666_32,
        0.008_333_333_333_322_413,
        -0.000_198_412_698_298_073_47,
        2.755_731_369_174_025e-6,
        -2.505_075_808_614_445e-8,
        1.589_679_394_285_789_5e-10,
    ],
    cosine: &[
        0.041_666_666_666_666_6,
        -0.001_388_888_888_887_412_5,
        2.480_158_728_948_250_6e-5,
        -2.755_731_435_241_805_6e-7,
        2.087_572_328_384_189e-9,
        -1.135_964_830_448_232_3e-11,
    ],
};

/// Coefficients for [`f32`].
pub(super) const SINGLE: TrigonometricCoefficients<f32> = TrigonometricCoefficients {
    reach: 1e4,
    rounder: 12_582_912.0,
    quarters: 128.0,
    whole: [std::f32::consts::FRAC_PI_2, -4.371_139e-8, -1.715_124_5e-15],
    halved: [1.570_312_5, 0.000_483_751_3, 7.549_533_6e-8, 2.563_283e-12, 6.123_234e-17],
    sine: &[-0.166_666_55, 0.008_332_178, -0.000_195_172_28],
    cosine: &[0.041_666_646, -0.001_388_736_7, 2.443_838_1e-5],
};

/// `n`, and `r` with its rounding error.
#[inline(always)]
fn reduce<T: Number, const FUSED: bool>(x: T) -> (T, T, T) {
    let table = T::Element::TRIGONOMETRIC;
    let rounder = T::splat(table.rounder);
    let n = multiply_add::<T, FUSED>(x, T::from_f64(std::f64::consts::FRAC_2_PI), rounder) - rounder;
    let minus_n = -n;
    // The first differences are exact, and so is the rounding error of the next one; the last product is small beside it.
    if FUSED && T::FUSED {
        let [first, second, third] = table.whole.map(T::splat);
        let (rough, product) = (minus_n.mul_add(first, x), minus_n * second);
        let r = rough + product;
        let rest = ((rough - r) + product) + minus_n.mul_add(second, -product);
        return (n, r, minus_n.mul_add(third, rest));
    }
    let [parts @ .., last] = table.halved;
    let (mut r, mut rest) = (x, minus_n * T::splat(last));
    for part in parts {
        let product = minus_n * T::splat(part);
        let next = r + product;
        rest += (r - next) + product;
        r = next;
    }
    (n, r, rest)
}

/// Returns ±2 for an odd `n` and ±0 for an even one; negative where `n` modulo 4 is two or three.
#[inline(always)]
fn quadrant<T: Number, const FUSED: bool>(n: T) -> T {
    let table = T::Element::TRIGONOMETRIC;
    multiply_add::<T, FUSED>(n, T::splat(table.quarters), T::splat(table.rounder)).power_of_two()
}

/// `sin(r + rest)`.
#[inline(always)]
fn reduced_sine<T: Number, const FUSED: bool>(r: T, rest: T) -> T {
    let square = r * r;
    let series = polynomial::<T, FUSED>(T::Element::TRIGONOMETRIC.sine, square, square * square);
    r + multiply_add::<T, FUSED>(r * square, series, rest)
}

/// `cos(r + rest)`.
#[inline(always)]
fn reduced_cosine<T: Number, const FUSED: bool>(r: T, rest: T) -> T {
    let (one, square) = (T::from_f64(1.0), r * r);
    let fourth = square * square;
    let half = square * T::from_f64(0.5);
    // The rounding error of 1 − r²/2 is added.
    let above = one - half;
    let series = fourth * polynomial::<T, FUSED>(T::Element::TRIGONOMETRIC.cosine, square, fourth);
    above + (((one - above) - half) + multiply_add::<T, FUSED>(-r, rest, series))
}

/// Returns `y` for `|x|` within the reach, and `f(x)` beyond it.
#[inline(always)]
fn within_reach<T: Number>(x: T, y: T, f: fn(T::Element) -> T::Element) -> T {
    /// Evaluates lane by lane; out of line, as it hardly ever runs.
    #[cold]
    #[inline(never)]
    fn by_lane<T: Number>(x: &T, y: &T, f: fn(T::Element) -> T::Element) -> T {
        let reach = T::Element::TRIGONOMETRIC.reach;
        T::zip_map([*x, *y], |[x, y]| if x.abs() > reach && x.is_finite() { f(x) } else { y })
    }
    let (size, zero) = (x.abs(), T::from_f64(0.0));
    let finite = size.select_less(T::from_f64(f64::INFINITY), size, zero);
    if T::splat(T::Element::TRIGONOMETRIC.reach).is_at_least(finite) { y } else { by_lane(&x, &y, f) }
}

/// The sine of `r + n` quarters of a turn.
#[inline(always)]
fn sine_of<T: Number, const FUSED: bool>(n: T, r: T, rest: T) -> T {
    let (quadrant, one) = (quadrant::<T, FUSED>(n), T::from_f64(1.0));
    let (sine, cosine) = (reduced_sine::<T, FUSED>(r, rest), reduced_cosine::<T, FUSED>(r, rest));
    one.select_less(quadrant.abs(), cosine, sine) * one.copy_sign(quadrant)
}

/// `sin x`, within 1.1 units in the last place.
#[inline(always)]
pub(crate) fn sin<T: Number, const FUSED: bool>(x: T) -> T {
    let (n, r, rest) = reduce::<T, FUSED>(x);
    within_reach(x, sine_of::<T, FUSED>(n, r, rest), Scalar::sin)
}

/// `cos x`, within 1.1 units in the last place.
#[inline(always)]
pub(crate) fn cos<T: Number, const FUSED: bool>(x: T) -> T {
    let (n, r, rest) = reduce::<T, FUSED>(x);
    within_reach(x, sine_of::<T, FUSED>(n + T::from_f64(1.0), r, rest), Scalar::cos)
}

/// `tan x`, within 2.5 units in the last place.
#[inline(always)]
pub(crate) fn tan<T: Number, const FUSED: bool>(x: T) -> T {
    let (n, r, rest) = reduce::<T, FUSED>(x);
    let (odd, one) = (quadrant::<T, FUSED>(n).abs(), T::from_f64(1.0));
    let (sine, cosine) = (reduced_sine::<T, FUSED>(r, rest), reduced_cosine::<T, FUSED>(r, rest));
    let tangent = one.select_less(odd, cosine, sine) / one.select_less(odd, -sine, cosine);
    within_reach(x, tangent, Scalar::tan)
}

#[cfg(test)]
#[allow(clippy::approx_constant)]
mod tests {
    use super::super::tests::{ends_agree, keeps_bound, units};
    use super::*;

    #[test]
    fn bounds_are_kept() {
        keeps_bound(
            1.1,
            [sin::<f64, true>, sin::<f64, false>],
            [sin::<f32, true>, sin::<f32, false>],
            f64::sin,
            &[
                (1e-300, 1e-300),
                (1e-05, 9.999999999833334e-06),
                (0.5, 0.479425538604203),
                (0.7853981633974483, 0.7071067811865475),
                (0.8, 0.7173560908995228),
                (1.5707963267948966, 1.0),
                (3.141592653589793, 1.2246467991473532e-16),
                (4.0, -0.7568024953079282),
                (22.0, -0.008851309290403876),
                (355.0, -3.014435335948845e-05),
                (1000.0, 0.8268795405320025),
                (548163.9357542687, -2.352075296294059e-15),
                (12345678.9, -0.8973068124812599),
                (99999999.5, 0.9918062563530962),
            ],
            &[(-0.8, 0.8), (-10.0, 10.0), (-1e4, 1e4)],
        );
        keeps_bound(
            1.1,
            [cos::<f64, true>, cos::<f64, false>],
            [cos::<f32, true>, cos::<f32, false>],
            f64::cos,
            &[
                (1e-300, 1.0),
                (1e-05, 0.99999999995),
                (0.5, 0.8775825618903728),
                (0.7853981633974483, 0.7071067811865476),
                (0.8, 0.6967067093471654),
                (1.5707963267948966, 6.123233995736766e-17),
                (3.141592653589793, -1.0),
                (4.0, -0.6536436208636119),
                (22.0, -0.9999608263946371),
                (355.0, -0.999999999545659),
                (1000.0, 0.5623790762907029),
                (548163.9357542687, 1.0),
                (12345678.9, 0.44140739037166243),
                (99999999.5, 0.12775112468724714),
            ],
            &[(-0.8, 0.8), (-10.0, 10.0), (-1e4, 1e4)],
        );
        keeps_bound(
            2.5,
            [tan::<f64, true>, tan::<f64, false>],
            [tan::<f32, true>, tan::<f32, false>],
            f64::tan,
            &[
                (1e-300, 1e-300),
                (1e-05, 1.0000000000333334e-05),
                (0.5, 0.5463024898437905),
                (0.7853981633974483, 0.9999999999999999),
                (0.8, 1.0296385570503641),
                (1.5707963267948966, 1.633123935319537e+16),
                (3.141592653589793, -1.2246467991473532e-16),
                (4.0, 1.1578212823495775),
                (22.0, 0.00885165604168446),
                (355.0, 3.0144353373184265e-05),
                (1000.0, 1.4703241557027185),
                (548163.9357542687, -2.352075296294059e-15),
                (12345678.9, -2.0328314207103166),
                (99999999.5, 7.763581407061412),
            ],
            &[(-0.8, 0.8), (-10.0, 10.0), (-1e4, 1e4)],
        );
    }

    #[test]
    fn multiples_of_a_quarter_turn_lose_no_digits() {
        for n in 1..3000 {
            let x = (f64::from(n) * std::f64::consts::FRAC_PI_2) as f32;
            let exact = f64::from(x);
            for (found, exact) in [
                (sin::<f32, true>(x), exact.sin()),
                (sin::<f32, false>(x), exact.sin()),
                (cos::<f32, true>(x), exact.cos()),
                (cos::<f32, false>(x), exact.cos()),
            ] {
                assert!(units(found, exact) <= 1.1, "{found} instead of {exact} at {x}");
            }
        }
    }

    fn special_values<T: Real>() {
        let at = [0.0, 5e-324, -1e-45, 1.1e8, -3e20, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        ends_agree([sin::<T, true>, sin::<T, false>], Scalar::sin, &at);
        ends_agree([cos::<T, true>, cos::<T, false>], Scalar::cos, &at);
        ends_agree([tan::<T, true>, tan::<T, false>], Scalar::tan, &at);
    }

    #[test]
    fn out_of_reach_they_are_those_of_the_float() {
        special_values::<f64>();
        special_values::<f32>();
    }
}
