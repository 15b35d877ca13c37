//! Arrays for registers, for processors whose only wide registers are those that all of their kind have.

use super::{Register, Routine};
use crate::kernels::simd::multiply_add;
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// `LANES` floats, which the compiler puts into registers of 128 bits.
#[derive(Debug, Clone, Copy)]
pub struct Portable<T, const LANES: usize>([T; LANES]);

/// Multiplying and adding is one instruction.
const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

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

impl<T: Real, const LANES: usize> Register<T> for Portable<T, LANES> {
    const LANES: usize = LANES;
    const FUSED: bool = FUSED;

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
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.pairs(other, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.pairs(other, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.pairs(other, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.pairs(other, |a, b| a / b)
    }
    #[inline(always)]
    fn mul_add(mut self, a: Self, b: Self) -> Self {
        for l in 0..LANES {
            self.0[l] = multiply_add::<T, FUSED>(self.0[l], a.0[l], b.0[l]);
        }
        self
    }
    #[inline(always)]
    fn neg(self) -> Self {
        self.each(|x| -x)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.each(Scalar::abs)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.each(Scalar::sqrt)
    }
    #[inline(always)]
    fn select_less(mut self, other: Self, then: Self, otherwise: Self) -> Self {
        for l in 0..LANES {
            self.0[l] = if self.0[l] < other.0[l] { then.0[l] } else { otherwise.0[l] };
        }
        self
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.pairs(other, |a, b| if a < b { b } else { a })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.pairs(other, |a, b| if b < a { b } else { a })
    }
    #[inline(always)]
    fn is_at_least(self, other: Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a >= b)
    }
    #[inline(always)]
    fn copy_sign(self, sign: Self) -> Self {
        self.pairs(sign, Number::copy_sign)
    }
    #[inline(always)]
    fn power_of_two(self) -> Self {
        self.each(Number::power_of_two)
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        self.each(Number::exponent)
    }
    #[inline(always)]
    fn significand(self) -> Self {
        self.each(Number::significand)
    }
}
