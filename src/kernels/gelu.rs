//! `x Φ(x)`, with the normal distribution function `Φ`, and its derivative.
//!
//! From `Φ(−u) = e^(−u²/2) f(t) / (1 + u)` for `u ≥ 0`, where `t = (u − k) / (u + k)` takes all `u` into one short interval,
//! on which `f` is a polynomial (Shepherd & Laframboise 1981). NaN gives NaN.

use super::elementary::Elementary;
use super::exponential::{exp_of_sum, polynomial};
use crate::number::Number;
use crate::real::Real;

/// Constants and operations of a float type for the functions of this file.
#[derive(Debug)]
pub struct TailCoefficients<T: 'static> {
    /// Adding and subtracting it rounds to digits few enough for an exact square.
    rounder: T,
    /// Argument from which `e^(−u²/2)` is not normal.
    reach: T,
    /// `k`.
    centre: T,
    /// `f` in powers of `t`.
    f: &'static [T],
}

/// Coefficients for [`f64`].
pub(super) const DOUBLE: TailCoefficients<f64> = TailCoefficients {
    rounder: 6_442_450_944.0,
    reach: 37.64,
    centre: 5.0,
    f: &[
        0.461_515_829_850_037_75,
        -0.091_552_281_834_008_85,
        0.031_030_368_425_963_913,
        0.010_002_352_385_208_245,
        -0.026_401_042_966_330_04,
        0.024_536_963_244_358_53,
        -0.015_170_415_401_794_063,
        0.006_522_000_657_795_178,
        -0.001_676_072_355_706_583_8,
        7.791_677_692_089_658e-6,
        0.000_182_334_240_950_762_8,
        -5.360_796_559_207_013e-5,
        -9.896_596_646_259_612e-6,
        9.060_957_396_695_391e-6,
        -6.870_840_793_009_092e-8,
        -1.309_466_377_800_922_2e-6,
        1.244_642_497_223_367_3e-7,
        1.982_314_274_496_345_6e-7,
        -2.190_408_873_100_286_4e-8,
        -3.153_316_613_499_77e-8,
        4.671_460_594_120_754e-10,
        3.858_426_643_961_18e-9,
        6.977_853_529_817_876e-10,
    ],
};

/// Coefficients for [`f32`].
pub(super) const SINGLE: TailCoefficients<f32> = TailCoefficients {
    rounder: 49_152.0,
    reach: 13.216,
    centre: 4.0,
    f: &[
        0.472_053_2,
        -0.096_703_47,
        0.013_999_6,
        0.028_599_968,
        -0.032_197_35,
        0.017_940_226,
        -0.005_003_947,
        -0.000_303_441_3,
        0.000_692_214_47,
        -6.154_243e-5,
        -7.198_2e-5,
    ],
};

/// `u = |x|`, at most the reach, and `e^(−u²/2)`, within 2 units in the last place; zero from the reach on.
#[inline(always)]
pub(crate) fn bell<T: Number, const FUSED: bool>(x: T) -> (T, T) {
    let table = T::Element::TAIL;
    let (u, rounder) = (x.abs().min(T::splat(table.reach)), T::splat(table.rounder));
    // The square of the rounded argument is exact, and the remainder is small.
    let rounded = (u + rounder) - rounder;
    let minus_half = T::from_f64(-0.5);
    let e = exp_of_sum::<T, FUSED>(minus_half * rounded * rounded, minus_half * (u - rounded) * (u + rounded));
    (u, u.select_less(T::splat(table.reach), e, T::from_f64(0.0)))
}

/// `u = |x|` within reach, `Φ(−u)`, and `e^(−u²/2)`.
#[inline(always)]
fn tail<T: Real, const FUSED: bool>(x: T) -> (T, T, T) {
    let table = T::TAIL;
    let (u, e) = bell::<T, FUSED>(x);
    let t = (u - table.centre) / (u + table.centre);
    (u, e * polynomial::<T, FUSED>(table.f, t, t * t) / (T::ONE + u), e)
}

/// `x Φ(x)`, within 6 units in the last place where that is a normal number.
#[inline(always)]
pub(crate) fn gelu<T: Real, const FUSED: bool>(x: T) -> T {
    let (u, tail, _) = tail::<T, FUSED>(x);
    x.max(T::ZERO) - u * tail
}

/// `Φ(x) + x φ(x)`, with the density `φ`; within 6 units in the last place of the larger of the two.
#[inline(always)]
pub(crate) fn gelu_derivative<T: Real, const FUSED: bool>(x: T) -> T {
    let (u, tail, e) = tail::<T, FUSED>(x);
    // For negative x the derivative is Φ(−u) − u φ(u), for positive x it is one less that.
    let below = tail - u * e * T::from_f64(0.398_942_280_401_432_7);
    if x > T::ZERO { T::ONE - below } else { below }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points with the values and derivatives there, computed in forty digits.
    const EXACT: [(f64, f64, f64); 13] = [
        (-37.0, -2.1184613523340935e-298, -7.838298669418516e-297),
        (-20.0, -5.507248237212468e-88, -1.1014360483133464e-86),
        (-8.0, -4.976768459417427e-15, -3.979607261086796e-14),
        (-3.5, -0.0008142017766243376, -0.002821760353624635),
        (-1.25, -0.13206221708356908, -0.12266158306942213),
        (-0.75, -0.16997051428265114, 0.0007742782607648957),
        (-0.0625, -0.029692645685672047, 0.45019708992782237),
        (1e-9, 5.000000003989423e-10, 0.5000000007978845),
        (0.03125, 0.016014528669824286, 0.5249257778067511),
        (0.5, 0.34573123063700656, 0.8674951246561629),
        (1.5, 1.399789198096713, 1.1274691922299795),
        (4.0, 3.9998733150326675, 1.0005036496612265),
        (9.0, 9.0, 1.0),
    ];

    /// Asserts agreement to six units in the last place, except where that is below the normal numbers.
    fn agrees<T: Real, const FUSED: bool>(smallest: f64) {
        let units = 6.0 * T::EPSILON.to_f64();
        for (x, value, derivative) in EXACT {
            let found = gelu::<T, FUSED>(T::from_f64(x)).to_f64();
            assert!((found - value).abs() <= units * value.abs() + smallest, "{x}: {found}");
            // Around its root the derivative is a difference of numbers of this size.
            let size = if x > -1.0 { 0.3 } else { 0.0 };
            let found = gelu_derivative::<T, FUSED>(T::from_f64(x)).to_f64();
            assert!((found - derivative).abs() <= units * derivative.abs().max(size) + smallest, "{x}: {found}");
        }
    }

    #[test]
    fn values_and_derivatives_agree_with_many_digits() {
        agrees::<f64, true>(0.0);
        agrees::<f64, false>(0.0);
        agrees::<f32, true>(1e-37);
        agrees::<f32, false>(1e-37);
    }

    #[test]
    fn far_out_nothing_overflows() {
        for x in [50.0, 1e300, f64::INFINITY] {
            assert_eq!([gelu::<f64, true>(-x), gelu::<f64, true>(x)], [0.0, x]);
            assert_eq!([gelu_derivative::<f64, true>(-x), gelu_derivative::<f64, true>(x)], [0.0, 1.0]);
        }
        assert!(gelu::<f64, true>(f64::NAN).is_nan() && gelu_derivative::<f64, true>(f64::NAN).is_nan());
    }
}
