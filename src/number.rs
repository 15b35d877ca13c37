//! Numbers that a formula is computed in: a float, or registers of floats.

use std::ops::{Add, Div, Mul, Sub};

use crate::real::Real;
use crate::scalar::Scalar;

/// A number without derivatives: [`f32`], [`f64`], or registers of them, with a fit or a point in each lane. Sealed.
///
/// A [`Model`](crate::Model) is written over any of these, so that the library evaluates it for several fits at once.
pub trait Number: Scalar<Real = Self> {
    /// The float that it consists of.
    type Element: Real;

    /// [`mul_add`](Self::mul_add) rounds once.
    const FUSED: bool;

    /// The same value everywhere.
    fn splat(value: Self::Element) -> Self;

    /// The nearest float to `value`, everywhere.
    fn from_f64(value: f64) -> Self {
        Self::splat(Self::Element::from_f64(value))
    }

    /// `self · a + b`, rounded once where the processor does that in one instruction.
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// Applies a function to each float.
    fn map(self, f: fn(Self::Element) -> Self::Element) -> Self;

    /// Applies a function to the corresponding floats of several numbers.
    fn zip_map<const K: usize>(numbers: [Self; K], f: impl Fn([Self::Element; K]) -> Self::Element) -> Self;

    /// Returns true if every float is at least the corresponding one of `other`; false for NaN.
    fn is_at_least(self, other: Self) -> bool;

    /// The value with the sign of another.
    fn copy_sign(self, sign: Self) -> Self;

    /// The power of two whose biased exponent is in the lowest bits; the next higher bit is the sign. Zero where all bits of the exponent
    /// are zero.
    fn power_of_two(self) -> Self;

    /// The exponent of the largest power of two up to the absolute value, which must be normal.
    fn exponent(self) -> Self;

    /// The positive significand, from one to below two, of a normal value.
    fn significand(self) -> Self;
}

/// A [`Scalar`] that mixes with constants of the float `T`: the number type that a [`Model<T>`](crate::Model) is generic over.
///
/// `S` is a float, registers of floats, or either of them with derivatives. Its predictors are of the type `S::Real`, and mix
/// with it and with constants.
pub trait ScalarOf<T: Real>: Scalar<Real: Number<Element = T> + Constants<T>> + Constants<T> {}

impl<T: Real, S> ScalarOf<T> for S where S: Scalar<Real: Number<Element = T> + Constants<T>> + Constants<T> {}

/// Constants of the float `T` on the right of each operator.
pub trait Constants<T>:
    Add<T, Output = Self> + Sub<T, Output = Self> + Mul<T, Output = Self> + Div<T, Output = Self> + Sized
{
}

impl<T, S> Constants<T> for S where S: Add<T, Output = S> + Sub<T, Output = S> + Mul<T, Output = S> + Div<T, Output = S> {}

macro_rules! float_is_number {
    ($float:ident, $bits:ident, $bias:literal) => {
        impl Number for $float {
            type Element = $float;
            const FUSED: bool = true;

            #[inline(always)]
            fn splat(value: $float) -> $float {
                value
            }
            #[inline(always)]
            fn from_f64(value: f64) -> $float {
                value as $float
            }
            #[inline(always)]
            fn mul_add(self, a: $float, b: $float) -> $float {
                $float::mul_add(self, a, b)
            }
            #[inline(always)]
            fn map(self, f: fn($float) -> $float) -> $float {
                f(self)
            }
            #[inline(always)]
            fn zip_map<const K: usize>(numbers: [$float; K], f: impl Fn([$float; K]) -> $float) -> $float {
                f(numbers)
            }
            #[inline(always)]
            fn is_at_least(self, other: $float) -> bool {
                self >= other
            }
            #[inline(always)]
            fn copy_sign(self, sign: $float) -> $float {
                self.copysign(sign)
            }
            #[inline(always)]
            fn power_of_two(self) -> $float {
                $float::from_bits(self.to_bits() << ($float::MANTISSA_DIGITS - 1))
            }
            #[inline(always)]
            fn exponent(self) -> $float {
                // Beside the bits of 2^(digits − 1), an integer is itself.
                let biased = (self.to_bits() << 1) >> $float::MANTISSA_DIGITS;
                let shift =
                    $float::from_bits(($bias + $float::MANTISSA_DIGITS as $bits - 1) << ($float::MANTISSA_DIGITS - 1));
                $float::from_bits(shift.to_bits() | biased) - (shift + $bias as $float)
            }
            #[inline(always)]
            fn significand(self) -> $float {
                let fraction = (1 << ($float::MANTISSA_DIGITS - 1)) - 1;
                $float::from_bits(self.to_bits() & fraction | (1.0 as $float).to_bits())
            }
        }
    };
}

float_is_number!(f32, u32, 127);
float_is_number!(f64, u64, 1023);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_significand_times_the_power_of_its_exponent() {
        for x in [1.0, 1.5, 2.0, 0.1, -3.7, 1e300, 2.3e-308, f64::MAX] {
            assert!((1.0..2.0).contains(&x.significand()));
            assert_eq!(x.significand() * x.exponent().exp2(), x.abs());
        }
        for x in [1.0, 0.3, -6e37, 1.2e-38_f32] {
            assert!((1.0..2.0).contains(&x.significand()));
            assert_eq!(x.significand() * x.exponent().exp2(), x.abs());
        }
    }
}
