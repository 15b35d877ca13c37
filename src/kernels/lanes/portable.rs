//! Arrays for registers, for processors whose only wide registers are those that all of their kind have.

use super::{Register, Routine};
use crate::kernels::simd::{PORTABLE_FUSED, multiply_add};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// `LANES` floats, which the compiler puts into registers of 128 bits.
#[derive(Debug, Clone, Copy)]
pub struct Portable<T, const LANES: usize>([T; LANES]);

impl<T: Real, const LANES: usize> Portable<T, LANES> {
    #[inline(always)]
    fn each(mut self, f: impl Fn(T) -> T) -> Self {
        for lane in &mut self.0 {
            *lane = f(*lane);
        }
        self
    }

    #[inline(always)]
    fn pairs(mut self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        for l in 0..LANES {
            self.0[l] = f(self.0[l], other.0[l]);
        }
        self
    }
}

/// Functions of each lane by itself, and of pairs of lanes.
macro_rules! lane_by_lane {
    (each: $($function:ident = $operation:expr;)*) => {
        $(
            #[inline(always)]
            fn $function(self) -> Self {
                self.each($operation)
            }
        )*
    };
    (pairs: $($function:ident = $operation:expr;)*) => {
        $(
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                self.pairs(other, $operation)
            }
        )*
    };
}

impl<T: Real, const LANES: usize> Register<T> for Portable<T, LANES> {
    const LANES: usize = LANES;
    const FUSED: bool = PORTABLE_FUSED;

    #[inline(never)]
    fn call<F: Routine>(routine: F) -> F::Output {
        routine.run()
    }
    #[inline(always)]
    fn splat(value: T) -> Self {
        Portable([value; LANES])
    }
    #[inline(always)]
    fn as_slice(&self) -> &[T] {
        &self.0
    }
    #[inline(always)]
    fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }

    lane_by_lane! {
        pairs:
        add = |a, b| a + b;
        sub = |a, b| a - b;
        mul = |a, b| a * b;
        div = |a, b| a / b;
        max = |a, b| if a < b { b } else { a };
        min = |a, b| if b < a { b } else { a };
        copy_sign = Number::copy_sign;
    }
    lane_by_lane! {
        each:
        neg = |x| -x;
        abs = Scalar::abs;
        sqrt = Scalar::sqrt;
        power_of_two = Number::power_of_two;
        exponent = Number::exponent;
        significand = Number::significand;
    }

    #[inline(always)]
    fn mul_add(mut self, a: Self, b: Self) -> Self {
        for l in 0..LANES {
            self.0[l] = multiply_add::<T, PORTABLE_FUSED>(self.0[l], a.0[l], b.0[l]);
        }
        self
    }
    #[inline(always)]
    fn select_less(mut self, other: Self, then: Self, otherwise: Self) -> Self {
        for l in 0..LANES {
            self.0[l] = if self.0[l] < other.0[l] { then.0[l] } else { otherwise.0[l] };
        }
        self
    }
    #[inline(always)]
    fn is_at_least(self, other: Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a >= b)
    }
}
