//! The scalar a residual function is written over: a plain float, or a number that carries derivatives.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::number::Number;
use crate::special;
use crate::special::function::Special;

/// A number that a residual function can be written over.
///
/// Write the function once, generic over `S: Scalar<Real = f64>`, and the library evaluates it with plain floats
/// ([`f32`], [`f64`]), with [`Dual`](crate::Dual) numbers for an exact Jacobian, or with [`Taylor`](crate::autodiff::Taylor)
/// numbers for an exact second directional derivative. Functions carry the names they have on [`f64`].
///
/// Constants mix in from the right (`p * 2.0`, `p - 1.0`). For constants anywhere, write the line in
/// [`formula!`](crate::formula!), or make them scalars by [`Scalar::constant`]. [Writing the
/// model](crate::guide::writing_the_model) has the compile errors that people meet, and their cures.
///
/// ```
/// use marquardt::{Dual, Scalar, formula};
///
/// fn saturation<S: Scalar<Real = f64>>(rate: S) -> S {
///     formula!(1.0 - exp(-2.0 * rate))
/// }
///
/// let rate = Dual::<f64, 1>::variable(0.5, 0);
/// assert_eq!(saturation(0.5), saturation(rate).value);
/// assert!((saturation(rate).gradient[0] - 2.0 * (-1.0_f64).exp()).abs() < 1e-15);
/// ```
pub trait Scalar:
    Copy
    + Debug
    + PartialEq
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<Self::Real, Output = Self>
    + Sub<Self::Real, Output = Self>
    + Mul<Self::Real, Output = Self>
    + Div<Self::Real, Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
{
    /// The type of predictors and constants, without derivatives: for a float, the float itself.
    type Real: Number;

    /// A number whose derivatives are all zero.
    fn constant(value: Self::Real) -> Self;
    /// The value without its derivatives.
    fn value(self) -> Self::Real;

    /// `self^n`.
    fn powi(self, n: i32) -> Self;
    /// `self^p` for a constant exponent.
    fn powf(self, p: Self::Real) -> Self;
    /// `self^p` for an exponent that carries derivatives too.
    fn pow(self, p: Self) -> Self;
    /// The angle of the point (`x`, `self`), in radians.
    fn atan2(self, x: Self) -> Self;
    /// `√(self² + other²)`, without overflow or underflow of the squares.
    fn hypot(self, other: Self) -> Self;

    /// `1 / self`.
    fn recip(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Cube root.
    fn cbrt(self) -> Self;
    /// `e^self`.
    fn exp(self) -> Self;
    /// `2^self`.
    fn exp2(self) -> Self;
    /// `e^self - 1`, accurate near zero.
    fn exp_m1(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// `ln(1 + self)`, accurate near zero.
    fn ln_1p(self) -> Self;
    /// Base-2 logarithm.
    fn log2(self) -> Self;
    /// Base-10 logarithm.
    fn log10(self) -> Self;
    /// Sine, radians.
    fn sin(self) -> Self;
    /// Cosine, radians.
    fn cos(self) -> Self;
    /// Tangent, radians.
    fn tan(self) -> Self;
    /// Arcsine.
    fn asin(self) -> Self;
    /// Arccosine.
    fn acos(self) -> Self;
    /// Arctangent.
    fn atan(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// Inverse hyperbolic tangent.
    fn atanh(self) -> Self;
    /// Absolute value; the derivative at zero is taken as zero.
    fn abs(self) -> Self;
    /// The largest integer not greater than `self`; the derivative is zero everywhere.
    fn floor(self) -> Self;
    /// The smallest integer not less than `self`; the derivative is zero everywhere.
    fn ceil(self) -> Self;

    /// The error function, `2/√π ∫₀ˣ exp(−t²) dt`.
    fn erf(self) -> Self;
    /// The complementary error function, `1 - erf(self)`, accurate where that is small.
    fn erfc(self) -> Self;
    /// The gamma function, `(self - 1)!`; NaN at the negative integers.
    fn gamma(self) -> Self;
    /// The logarithm of the absolute value of the gamma function.
    fn lgamma(self) -> Self;
    /// The Bessel function of the first kind and order 0.
    fn j0(self) -> Self;
    /// The Bessel function of the first kind and order 1.
    fn j1(self) -> Self;

    /// `then` where `self < other` by value, `otherwise` elsewhere; both are computed, and the one that is not
    /// chosen may be NaN. A formula that branches this way can be evaluated for several fits at once.
    fn select_less(self, other: Self, then: Self, otherwise: Self) -> Self;

    /// A function with an order, or with several arguments; those that do not vary are constants.
    #[doc(hidden)]
    #[inline(always)]
    fn special(function: Special, arguments: [Self; 3], varies: [bool; 3]) -> Self {
        function.with_slopes(arguments, varies)
    }

    /// The larger of the two, compared by value. NaN in `self` gives NaN; NaN in `other` is ignored.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.select_less(other, other, self)
    }

    /// The smaller of the two, compared by value. NaN in `self` gives NaN; NaN in `other` is ignored.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        other.select_less(self, other, self)
    }

    /// The beta function of two positive numbers, by the logarithms of gamma functions; NaN where one is not positive.
    #[inline(always)]
    fn beta(self, other: Self) -> Self {
        let zero = Self::constant(Self::Real::from_f64(0.0));
        let undefined = Self::constant(Self::Real::from_f64(f64::NAN));
        let value = (Scalar::lgamma(self) + Scalar::lgamma(other) - Scalar::lgamma(self + other)).exp();
        zero.select_less(Scalar::min(self, other), value, undefined)
    }
}

macro_rules! float_is_scalar {
    ($float:ident) => {
        impl Scalar for $float {
            type Real = $float;

            #[inline]
            fn constant(value: $float) -> $float {
                value
            }
            #[inline]
            fn value(self) -> $float {
                self
            }
            #[inline]
            fn powi(self, n: i32) -> $float {
                $float::powi(self, n)
            }
            #[inline]
            fn powf(self, p: $float) -> $float {
                $float::powf(self, p)
            }
            #[inline]
            fn pow(self, p: $float) -> $float {
                $float::powf(self, p)
            }
            #[inline]
            fn atan2(self, x: $float) -> $float {
                $float::atan2(self, x)
            }
            #[inline]
            fn select_less(self, other: $float, then: $float, otherwise: $float) -> $float {
                if self < other { then } else { otherwise }
            }
            #[inline]
            fn hypot(self, other: $float) -> $float {
                $float::hypot(self, other)
            }
            float_is_scalar!(@forward $float: recip sqrt cbrt exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan asin acos
                atan sinh cosh tanh asinh acosh atanh abs floor ceil);
            float_is_scalar!(@special $float: erf erfc gamma lgamma j0 j1);
        }
    };
    (@forward $float:ident: $($function:ident)*) => {
        $(
            #[inline]
            fn $function(self) -> $float {
                $float::$function(self)
            }
        )*
    };
    (@special $float:ident: $($function:ident)*) => {
        $(
            #[inline]
            fn $function(self) -> $float {
                special::$function(self)
            }
        )*
    };
}

float_is_scalar!(f32);
float_is_scalar!(f64);
