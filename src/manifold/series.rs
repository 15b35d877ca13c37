//! Coefficients of exponentials and logarithms, without `0/0` at the identity.
//!
//! All are even functions of the angle `θ`. For `θ < 0.03` they are computed by their Taylor series in `θ²`, whose truncation is
//! below the rounding of `f64`, also after two derivatives; elsewhere by the closed form. The branch is taken by value, so that
//! numbers that carry derivatives carry the right ones on both sides.

use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Square of the angle below which the series are used.
const SMALL: f64 = 1e-3;

/// Returns true if the series are used for this square of an angle.
#[inline]
pub(super) fn is_small<S: Scalar<Real: Real>>(square: S) -> bool {
    square.value() < S::Real::from_f64(SMALL)
}

/// `Σ cₖ xᵏ` by Horner's scheme; at least two coefficients.
#[inline]
fn polynomial<S: Scalar<Real: Real>, const K: usize>(x: S, coefficients: [f64; K]) -> S {
    let mut sum = x * S::Real::from_f64(coefficients[K - 1]) + S::Real::from_f64(coefficients[K - 2]);
    for &coefficient in coefficients[..K - 2].iter().rev() {
        sum = sum * x + S::Real::from_f64(coefficient);
    }
    sum
}

/// `cos(θ/2)` and `sin(θ/2) / (θ/2)`, given `θ²`, and `θ` where the square is not small.
#[inline]
pub(super) fn half_angle<S: Scalar<Real: Real>>(square: S, angle: impl FnOnce() -> S) -> [S; 2] {
    if is_small(square) {
        let s = square * S::Real::from_f64(0.25);
        let cos = polynomial(s, [1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0]);
        let sinc = polynomial(s, [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0]);
        return [cos, sinc];
    }
    let half = angle() * S::Real::from_f64(0.5);
    [half.cos(), half.sin() / half]
}

/// `(1 − sin θ / θ) / θ²`, given `θ²`, and `sin θ / θ` where the square is not small.
#[inline]
pub(super) fn one_minus_sinc<S: Scalar<Real: Real>>(square: S, sinc: impl FnOnce() -> S) -> S {
    if is_small(square) {
        return polynomial(square, [1.0 / 6.0, -1.0 / 120.0, 1.0 / 5040.0, -1.0 / 362_880.0]);
    }
    (-sinc() + S::Real::ONE) / square
}

/// `(1 − ½ θ cot(θ/2)) / θ²`, given `θ²`, and `½ θ cot(θ/2)` where the square is not small.
#[inline]
pub(super) fn one_minus_cot<S: Scalar<Real: Real>>(square: S, cot: impl FnOnce() -> S) -> S {
    if is_small(square) {
        return polynomial(square, [1.0 / 12.0, 1.0 / 720.0, 1.0 / 30_240.0, 1.0 / 1_209_600.0]);
    }
    (-cot() + S::Real::ONE) / square
}

/// `atan2(s, c) / s`, given `s²` and `c`: the factor that stretches a vector of the length of a sine to the length of the angle.
/// The two may have a common factor.
#[inline]
pub(super) fn angle_over_sine<S: Scalar<Real: Real>>(sine_squared: S, cosine: S) -> S {
    let c = cosine.value();
    if c > S::Real::ZERO && sine_squared.value() < c * c * S::Real::from_f64(0.25 * SMALL) {
        let reciprocal = cosine.recip();
        let t = sine_squared * reciprocal * reciprocal;
        return reciprocal * polynomial(t, [1.0, -1.0 / 3.0, 1.0 / 5.0, -1.0 / 7.0, 1.0 / 9.0]);
    }
    let sine = sine_squared.sqrt();
    sine.atan2(cosine) / sine
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autodiff::{Dual, Taylor};

    /// Series and closed forms meet where one takes over from the other, with their first two derivatives.
    #[test]
    fn series_and_closed_forms_meet() {
        fn all<S: Scalar<Real = f64>>(square: S) -> [S; 5] {
            let [cos, sinc] = half_angle(square, || square.sqrt());
            let sine_squared = square * sinc * sinc * 0.25;
            let sinc_whole = one_minus_sinc(square, || sinc * cos);
            let cot = one_minus_cot(square, || cos / sinc);
            [cos, sinc, sinc_whole, cot, angle_over_sine(sine_squared, cos)]
        }
        let (below, above) = (SMALL * (1.0 - 1e-14), SMALL * (1.0 + 1e-14));
        // The closed forms lose digits to cancellation here, which the square of the angle, their factor, makes up for.
        for (below, above) in
            all(Dual::<f64, 1>::variable(below, 0)).into_iter().zip(all(Dual::<f64, 1>::variable(above, 0)))
        {
            assert!((below.value - above.value).abs() < 1e-12, "{below:?} {above:?}");
            assert!((below.gradient[0] - above.gradient[0]).abs() < 1e-9, "{below:?} {above:?}");
        }
        for (below, above) in all(Taylor::along(below, 1.0)).into_iter().zip(all(Taylor::along(above, 1.0))) {
            assert!((below.second - above.second).abs() < 1e-6, "{below:?} {above:?}");
        }
        let tangent_squared = 0.25 * SMALL;
        for scale in [1.0, 7.0] {
            let [below, above] = [1.0 - 1e-14, 1.0 + 1e-14].map(|x| {
                let tangent_squared = Dual::<f64, 1>::variable(tangent_squared * x * scale * scale, 0);
                angle_over_sine(tangent_squared, Dual::constant(scale)) * scale
            });
            assert!((below.value - above.value).abs() < 1e-14, "{below:?} {above:?}");
            assert!((below.gradient[0] - above.gradient[0]).abs() < 1e-11, "{below:?} {above:?}");
        }
    }

    #[test]
    fn limits_at_zero() {
        let zero = Dual::<f64, 1>::variable(0.0, 0);
        let never = || -> Dual<f64, 1> { unreachable!("the series needs no closed form") };
        let [cos, sinc] = half_angle(zero, never);
        assert_eq!((cos.value, cos.gradient, sinc.value, sinc.gradient), (1.0, [-0.125], 1.0, [-1.0 / 24.0]));
        assert_eq!(one_minus_sinc(zero, never).value, 1.0 / 6.0);
        assert_eq!(one_minus_cot(zero, never).value, 1.0 / 12.0);
        assert_eq!(angle_over_sine(zero, Dual::constant(1.0)).value, 1.0);
        // The angle of a vanishing sine and a negative cosine is π, and cannot be a multiple of it.
        assert_eq!(angle_over_sine(0.0, -1.0), f64::INFINITY);
        assert!(angle_over_sine(0.0, 0.0_f64).is_nan());
    }
}
