//! The arctangent without branches.
//!
//! A polynomial up to one, and `atan x = π/2 − atan(1/x)` above. Coefficients are minimax ones, by the exchange of Remez in 60
//! digits.

use super::elementary::Elementary;
use super::exponential::polynomial;
use super::simd::multiply_add;
use crate::number::Number;

/// Constants and operations of a float type for the functions of this file.
#[derive(Debug)]
pub struct ArctangentCoefficients<T: 'static> {
    /// `π/2`, and its rounding error.
    half_pi: [T; 2],
    /// `(atan x / x − 1) / x²` in powers of `x²`, up to `x = 1`.
    series: &'static [T],
}

/// Coefficients for [`f64`].
pub(super) const DOUBLE: ArctangentCoefficients<f64> = ArctangentCoefficients {
    half_pi: [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17],
    series: &[
        -0.333_333_333_333_330_93,
        0.199_999_999_999_554_37,
        -0.142_857_142_828_023_98,
        0.111_111_110_136_558_18,
        -0.090_909_071_193_359_84,
        0.076_922_811_875_740_95,
        -0.066_664_150_031_657_46,
        0.058_805_925_837_743_946,
        -0.052_538_056_687_644_205,
        0.047_232_937_126_056_98,
        -0.042_217_186_250_845_9,
        0.036_693_540_556_939_08,
        -0.029_985_585_766_192_435,
        0.022_085_163_493_140_83,
        -0.013_994_995_765_802_107,
        0.007_263_363_866_768_93,
        -0.002_919_345_853_193_233,
        0.000_843_486_439_946_641_8,
        -0.000_154_797_569_143_472_45,
        1.348_934_419_195_040_4e-5,
    ],
};

/// Coefficients for [`f32`].
pub(super) const SINGLE: ArctangentCoefficients<f32> = ArctangentCoefficients {
    half_pi: [std::f32::consts::FRAC_PI_2, -4.371_139e-8],
    series: &[
        -0.333_333_28,
        0.199_996_93,
        -0.142_801_31,
        0.110_602_446,
        -0.088_188_5,
        0.067_595_77,
        -0.044_946_533,
        0.022_760_423,
        -0.007_422_68,
        0.001_134_887_5,
    ],
};

/// `atan x`, within 1.8 units in the last place.
#[inline(always)]
pub(crate) fn atan<T: Number, const FUSED: bool>(x: T) -> T {
    let table = T::Element::ARCTANGENT;
    let ([high, low], one) = (table.half_pi.map(T::splat), T::from_f64(1.0));
    let a = x.abs();
    let q = one.select_less(a, a.recip(), a);
    let correction = one.select_less(a, -low, T::from_f64(0.0));
    let square = q * q;
    let series = polynomial::<T, FUSED>(table.series, square, square * square);
    let y = q + multiply_add::<T, FUSED>(q * square, series, correction);
    one.select_less(a, high - y, y).copy_sign(x)
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
            1.8,
            [atan::<f64, true>, atan::<f64, false>],
            [atan::<f32, true>, atan::<f32, false>],
            f64::atan,
            &[
                (1e-300, 1e-300),
                (1e-09, 1e-09),
                (0.1, 0.09966865249116204),
                (0.41, 0.3890972310552784),
                (0.7, 0.6107259643892086),
                (0.95, 0.7597627548757708),
                (0.9999999999999999, 0.7853981633974483),
                (1.0000000000000002, 0.7853981633974484),
                (1.1, 0.8329812666744317),
                (1.7, 1.039072259536091),
                (2.5, 1.1902899496825317),
                (12.0, 1.4876550949064553),
                (1000000000.0, 1.5707963257948967),
                (1e+300, 1.5707963267948966),
            ],
            &[(-1.0, 1.0), (-1e-3, 1e-3), (0.9, 3.0), (-100.0, 100.0), (0.0, 1e30)],
        );
    }

    fn special_values<T: Real>() {
        let at = [0.0, -0.0, 5e-324, -1e-45, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        ends_agree([atan::<T, true>, atan::<T, false>], Scalar::atan, &at);
    }

    #[test]
    fn far_out_it_is_a_quarter_of_a_turn() {
        special_values::<f64>();
        special_values::<f32>();
    }
}
