//! Hyperbolic sine and cosine without branches; the hyperbolic tangent is with the [exponential function](super::exponential).
//!
//! Infinite values are reached where the functions themselves leave the floats, not where `eˣ` does.

use super::elementary::Elementary;
use super::exponential::{polynomial, quarter_exp};
use super::simd::multiply_add;
use crate::number::Number;

/// Constants and operations of a float type for the functions of this file.
#[derive(Debug)]
pub struct HyperbolicCoefficients<T: 'static> {
    /// Argument at which they are infinite, and a quarter of `eˣ` is not.
    reach: T,
    /// `(sinh x / x − 1) / x²` in powers of `x²`, up to `x = 1`.
    sinh: &'static [T],
}

/// Coefficients for [`f64`].
pub(super) const DOUBLE: HyperbolicCoefficients<f64> = HyperbolicCoefficients {
    reach: 710.6,
    sinh: &[
        0.166_666_666_666_666_69,
        0.008_333_333_333_333_139,
        0.000_198_412_698_414_376_76,
        2.755_731_915_533_862e-6,
        2.505_212_339_831_193_7e-8,
        1.605_724_035_803_099e-10,
        7.759_311_751_394_048e-13,
    ],
};

/// Coefficients for [`f32`].
pub(super) const SINGLE: HyperbolicCoefficients<f32> =
    HyperbolicCoefficients { reach: 89.5, sinh: &[0.166_666_67, 0.008_333_350_5, 0.000_198_360_66, 2.817_439_3e-6] };

/// A quarter of `eᵃ`, `a = |x|`, within reach.
#[inline(always)]
fn quarter<T: Number, const FUSED: bool>(a: T) -> T {
    quarter_exp::<T, FUSED>(a.min(T::splat(T::Element::HYPERBOLIC.reach)))
}

/// `sinh x`, within 1.7 units in the last place.
#[inline(always)]
pub(crate) fn sinh<T: Number, const FUSED: bool>(x: T) -> T {
    let (a, one) = (x.abs(), T::from_f64(1.0));
    let quarter = quarter::<T, FUSED>(a);
    let half = quarter - T::from_f64(0.0625) / quarter;
    // Where that cancels, by the series.
    let square = a * a;
    let series = polynomial::<T, FUSED>(T::Element::HYPERBOLIC.sinh, square, square * square);
    let small = multiply_add::<T, FUSED>(a * square, series, a);
    a.select_less(one, small, half + half).copy_sign(x)
}

/// `cosh x`, within 1.7 units in the last place.
#[inline(always)]
pub(crate) fn cosh<T: Number, const FUSED: bool>(x: T) -> T {
    let quarter = quarter::<T, FUSED>(x.abs());
    let half = quarter + T::from_f64(0.0625) / quarter;
    half + half
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ends_agree, keeps_bound};
    use super::*;
    use crate::real::Real;
    use crate::scalar::Scalar;

    #[test]
    fn bounds_are_kept() {
        keeps_bound(
            1.7,
            [sinh::<f64, true>, sinh::<f64, false>],
            [sinh::<f32, true>, sinh::<f32, false>],
            f64::sinh,
            &[
                (1e-300, 1e-300),
                (1e-05, 1.0000000000166668e-05),
                (0.3, 0.3045202934471426),
                (0.99, 1.1598288906636083),
                (1.01, 1.1906910177226966),
                (1.4, 1.9043015014515339),
                (20.0, 242582597.70489514),
                (700.1, 5.604498855366305e+303),
                (710.4, 1.6663642832806496e+308),
            ],
            &[(-2.0, 2.0), (-88.0, 89.0), (-1e-3, 1e-3)],
        );
        keeps_bound(
            1.7,
            [cosh::<f64, true>, cosh::<f64, false>],
            [cosh::<f32, true>, cosh::<f32, false>],
            f64::cosh,
            &[
                (1e-300, 1.0),
                (1e-05, 1.00000000005),
                (0.3, 1.0453385141288605),
                (0.99, 1.531405581685654),
                (1.01, 1.55490999729422),
                (1.4, 2.1508984653931402),
                (20.0, 242582597.70489514),
                (700.1, 5.604498855366305e+303),
                (710.4, 1.6663642832806496e+308),
            ],
            &[(-2.0, 2.0), (-88.0, 89.0), (-1e-3, 1e-3)],
        );
    }

    fn special_values<T: Real>() {
        let at = [0.0, -0.0, 5e-324, -1e-45, 720.0, -720.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        ends_agree([sinh::<T, true>, sinh::<T, false>], Scalar::sinh, &at);
        ends_agree([cosh::<T, true>, cosh::<T, false>], Scalar::cosh, &at);
    }

    #[test]
    fn far_out_they_are_infinite() {
        special_values::<f64>();
        special_values::<f32>();
    }
}
