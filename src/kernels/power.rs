//! Powers without branches.
//!
//! `xᵖ = e^(p ln x)`, with the logarithm and the product as sums of two numbers each: the exponential function turns the
//! absolute error of its argument, which may be in the hundreds, into a relative one. `ln(1 + f) = 2 artanh s` with
//! `s = f / (2 + f)` (see [logarithms](super::logarithm)); the series' first two terms are taken to twice the digits. Its other
//! coefficients are minimax ones, by the exchange of Remez in 60 digits.

use super::elementary::Elementary;
use super::exponential::{exp_of_any_sum, polynomial};
use super::logarithm::split;
use super::simd::multiply_add;
use crate::number::Number;

/// Constants and operations of a float type for the functions of this file.
#[derive(Debug)]
pub struct PowerCoefficients<T: 'static> {
    /// Factor `2ᵏ + 1` that splits a number into halves of its digits (Dekker 1971).
    splitter: T,
    /// `1/3`, and its rounding error.
    third: [T; 2],
    /// `(artanh(s) / s − 1 − s²/3) / s⁴` in powers of `s²`, up to `s = (√2 − 1) / (√2 + 1)`.
    artanh: &'static [T],
    /// Exponent from which every power of a number other than ±1 is zero or infinite.
    largest: T,
    /// Magnitude from which all numbers are even.
    even: T,
    /// Adding and subtracting it rounds to an integer, for numbers below half of it.
    rounder: T,
}

/// Coefficients for [`f64`].
pub(super) const DOUBLE: PowerCoefficients<f64> = PowerCoefficients {
    splitter: 134_217_729.0,
    third: [0.333_333_333_333_333_3, 1.850_371_707_708_594e-17],
    artanh: &[
        0.199_999_999_999_999_9,
        0.142_857_142_857_225_5,
        0.111_111_111_087_697_56,
        0.090_909_094_349_714_92,
        0.076_922_784_481_233_5,
        0.066_681_582_253_494_98,
        0.058_374_190_588_507_15,
        0.059_944_250_614_682_16,
    ],
    largest: 1e22,
    even: 9_007_199_254_740_992.0,
    rounder: 4_503_599_627_370_496.0,
};

/// Coefficients for [`f32`].
pub(super) const SINGLE: PowerCoefficients<f32> = PowerCoefficients {
    splitter: 4097.0,
    third: [0.333_333_34, -9.934_108e-9],
    artanh: &[0.200_000_76, 0.142_735_66, 0.117_092_9],
    largest: 1e12,
    even: 16_777_216.0,
    rounder: 8_388_608.0,
};

/// `x` as the sum of two numbers of half as many digits.
#[inline(always)]
fn halves<T: Number>(x: T) -> (T, T) {
    let large = x * T::splat(T::Element::POWER.splitter);
    let high = large - (large - x);
    (high, x - high)
}

/// `a b`, and its rounding error.
#[inline(always)]
fn product<T: Number, const FUSED: bool>(a: T, b: T) -> (T, T) {
    let product = a * b;
    if FUSED && T::FUSED {
        return (product, a.mul_add(b, -product));
    }
    let ((a, a_low), (b, b_low)) = (halves(a), halves(b));
    (product, a_low * b_low - (((product - a * b) - a_low * b) - a * b_low))
}

/// `a + b`, and its rounding error, where `a` is the larger one or zero.
#[inline(always)]
fn sum<T: Number>(a: T, b: T) -> (T, T) {
    let sum = a + b;
    (sum, (a - sum) + b)
}

/// The logarithm of a positive number as a sum of two terms, which has ten bits more than the float.
#[inline(always)]
fn ln<T: Number, const FUSED: bool>(x: T) -> (T, T) {
    let table = T::Element::POWER;
    let (e, f) = split(x);
    // s, and the remainder of the division.
    let (below, below_low) = sum(T::from_f64(2.0), f);
    let inverse = below.recip();
    let s = f * inverse;
    let remainder = if FUSED && T::FUSED {
        (-s).mul_add(below, f)
    } else {
        let (product, low) = product::<T, FUSED>(s, below);
        (f - product) - low
    };
    let s_low = multiply_add::<T, FUSED>(-s, below_low, remainder) * inverse;
    let (s2, s2_low) = (s + s, s_low + s_low);
    let (square, low) = product::<T, FUSED>(s, s);
    let square_low = multiply_add::<T, FUSED>(s2, s_low, low);
    // s²/3 and the rest of the series.
    let [third, third_low] = table.third.map(T::splat);
    let (first, low) = product::<T, FUSED>(square, third);
    let first_low = multiply_add::<T, FUSED>(square, third_low, multiply_add::<T, FUSED>(square_low, third, low));
    let fourth = square * square;
    let (series, low) = sum(first, fourth * polynomial::<T, FUSED>(table.artanh, square, fourth));
    let series_low = low + first_low;
    let (above, low) = product::<T, FUSED>(s2, series);
    let above_low = multiply_add::<T, FUSED>(s2, series_low, multiply_add::<T, FUSED>(s2_low, series, low)) + s2_low;
    // e ln 2 + 2 s + 2 s (s²/3 + …), in the order of size.
    let [high, low] = T::Element::LOGARITHM.ln_2.map(T::splat);
    let (first, first_low) = sum(e * high, s2);
    let (second, second_low) = sum(first, above);
    (second, multiply_add::<T, FUSED>(e, low, (first_low + second_low) + above_low))
}

/// `xᵖ`, within 1.6 units in the last place, and zero where the result would be subnormal; the same for special values as the
/// function of the float: one for `p = 0` and for `x = 1`, NaN for a negative number unless the exponent is an integer.
#[inline(always)]
pub(crate) fn powf<T: Number, const FUSED: bool>(x: T, p: T) -> T {
    let table = T::Element::POWER;
    let (zero, one, infinity) = (T::from_f64(0.0), T::from_f64(1.0), T::from_f64(f64::INFINITY));
    let (a, size, largest) = (x.abs(), p.abs(), T::splat(table.largest));
    let (high, low) = ln::<T, FUSED>(a);
    let high = a.select_less(infinity, zero.select_less(a, high, -infinity), a);
    let exponent = p.max(-largest).min(largest);
    let (argument, rest) = product::<T, FUSED>(exponent, high);
    let y = exp_of_any_sum::<T, FUSED>(argument, multiply_add::<T, FUSED>(exponent, low, rest));
    // The distance from twice the integer nearest to p/2 is zero for an even p, one for an odd p, and a fraction for others.
    let (even, rounder) = (T::splat(table.even), T::splat(table.rounder));
    let size = size.min(even);
    let half = (size * T::from_f64(0.5) + rounder) - rounder;
    let away = (size - (half + half)).abs();
    let y = y.copy_sign(away.select_less(one, one, x));
    let fraction = (-infinity).select_less(x, x.select_less(zero, away * (one - away), zero), zero);
    let y = zero.select_less(fraction, T::from_f64(f64::NAN), y);
    // 1ᵖ and x⁰ are one, even for NaN.
    let special = (x - one).abs().select_less(T::from_f64(1e-30), one, p + one);
    zero.select_less(p.abs(), y, special)
}

/// `xⁿ`, within `|n|` units in the last place, where no intermediate power overflows or is subnormal.
#[inline(always)]
pub(crate) fn powi<T: Number>(x: T, n: i32) -> T {
    let (mut power, mut y, mut rest) = (x, T::from_f64(1.0), n.unsigned_abs());
    while rest != 0 {
        if rest % 2 == 1 {
            y *= power;
        }
        power *= power;
        rest /= 2;
    }
    if n < 0 { y.recip() } else { y }
}

#[cfg(test)]
#[allow(clippy::approx_constant)]
mod tests {
    use chacha20::ChaCha8Rng;
    use chacha20::rand_core::SeedableRng;
    use rand_distr::{Distribution, Uniform};

    use super::super::tests::units;
    use super::*;
    use crate::real::Real;

    /// Bases, exponents and powers computed in sixty digits; zero for those that are subnormal.
    const EXACT: &[(f64, f64, f64)] = &[
        (2.0, 0.5, 1.4142135623730951),
        (10.0, -308.2, 0.0),
        (2.0, -1022.0, f64::MIN_POSITIVE),
        (1.0000001, 1000000000.0, 2.6881038582144647e+43),
        (0.9999999, 3000000000.0, 5.148123812906238e-131),
        (1.0000000000000002, 3e+18, 1.98719262165461e+289),
        (1.5, 1750.0, 1.4444527745742028e+308),
        (1.3985898497596556, -1734.5455529825836, 1.9652286217451725e-253),
        (0.7, -1900.25, 2.2513834171229487e+294),
        (5e-324, 0.9, 1.0578064022210135e-291),
        (1.7e+308, -1.04, 0.0),
        (7.0, -381.0, 0.0),
        (123.456, 1e-08, 1.0000000481588494),
        (0.1, 300.0, 1.0000000000000166e-300),
        (9.9, 2.5, 308.3812656274697),
    ];

    #[test]
    fn bounds_are_kept() {
        for &(x, p, exact) in EXACT {
            for found in [powf::<f64, true>(x, p), powf::<f64, false>(x, p)] {
                assert!(units(found, exact) <= 2.1, "{found} instead of {exact}: {x} to the power of {p}");
            }
        }
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let (base, size) = (Uniform::new(-149.0_f64, 128.0).unwrap(), Uniform::new(-103.0, 88.0).unwrap());
        for k in 0..4000 {
            // Any number, and numbers near one, to powers that reach across all numbers.
            let x = base.sample(&mut random) * if k % 2 == 0 { 1.0 } else { 1e-3 };
            let x = x.exp2() as f32;
            let p = (size.sample(&mut random) / f64::from(x).ln()) as f32;
            let exact = f64::from(x).powf(f64::from(p));
            let exact = if exact < f64::from(f32::MIN_POSITIVE) { 0.0 } else { exact };
            for found in [powf::<f32, true>(x, p), powf::<f32, false>(x, p)] {
                assert!(units(found, exact) <= 1.6, "{found} instead of {exact}: {x} to the power of {p}");
            }
        }
    }

    fn special_values<T: Real, const FUSED: bool>() {
        let inf = f64::INFINITY;
        let sizes = [0.0, 1e-300, 0.5, 1.0, 1.5, 2.0, 3.0, 1e9 + 1.0, 9_007_199_254_740_991.0, 1e16, 1e300, inf];
        let mut values = sizes.to_vec();
        values.extend(sizes.map(|x| -x));
        values.push(f64::NAN);
        for x in values.iter().map(|&x| T::from_f64(x)) {
            for p in values.iter().map(|&p| T::from_f64(p)) {
                let (found, expected) = (powf::<T, FUSED>(x, p).to_f64(), x.powf(p));
                assert!(units(T::from_f64(found), expected.to_f64()) <= 2.6, "{found}: {x} to the power of {p}");
                assert_eq!(
                    found.is_nan() || found.is_sign_negative(),
                    found.is_nan() || expected.to_f64() < 0.0 || expected.to_f64().is_sign_negative()
                );
            }
        }
    }

    #[test]
    fn special_values_are_those_of_the_float() {
        special_values::<f64, true>();
        special_values::<f64, false>();
        special_values::<f32, true>();
        special_values::<f32, false>();
    }

    #[test]
    fn integer_powers_keep_their_bound() {
        for n in -40..=40_i32 {
            for k in 0..60 {
                let x = 0.3 + 0.05 * k as f32;
                for x in [x, -x] {
                    let found = units(powi(x, n), f64::from(x).powi(n));
                    assert!(found <= f64::from(n.abs()), "{found} units: {x} to the power of {n}");
                }
            }
        }
        assert_eq!(
            [powi(0.0, 0), powi(0.0, -1), powi(2.0, -1022), powi(1.0, i32::MIN)],
            [1.0, f64::INFINITY, f64::MIN_POSITIVE, 1.0]
        );
        assert_eq!([powi(-1.0, i32::MAX), powi(-1.0, i32::MIN)], [-1.0, 1.0]);
    }
}
