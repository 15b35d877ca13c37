//! Two wide registers as one: two independent instructions at a time keep the arithmetic units busy.
#![allow(unsafe_code)]

use super::{Register, Routine};
use crate::real::Real;

/// Two [single](super::single) registers side by side.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub struct Pair<R>([R; 2]);

impl<T: Real, R: Register<T, Part = R>> Register<T> for Pair<R> {
    type Part = R;
    const LANES: usize = 2 * R::LANES;
    const FUSED: bool = R::FUSED;

    #[inline(always)]
    fn call<F: Routine>(routine: F) -> F::Output {
        R::call(routine)
    }
    #[inline(always)]
    fn parts(&self) -> &[R] {
        &self.0
    }
    #[inline(always)]
    fn parts_mut(&mut self) -> &mut [R] {
        &mut self.0
    }
    #[inline(always)]
    fn splat(value: T) -> Self {
        Pair([R::splat(value); 2])
    }
    #[inline(always)]
    fn as_slice(&self) -> &[T] {
        // SAFETY: in memory, a single register is an array of so many floats, and an array of two of them one of twice as many.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), <Self as Register<T>>::LANES) }
    }
    #[inline(always)]
    fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), <Self as Register<T>>::LANES) }
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (Pair([a, b]), Pair([c, d])) = (self, other);
        Pair([a.add(c), b.add(d)])
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (Pair([a, b]), Pair([c, d])) = (self, other);
        Pair([a.sub(c), b.sub(d)])
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let (Pair([a, b]), Pair([c, d])) = (self, other);
        Pair([a.mul(c), b.mul(d)])
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let (Pair([a, b]), Pair([c, d])) = (self, other);
        Pair([a.div(c), b.div(d)])
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Pair([self.0[0].mul_add(a.0[0], b.0[0]), self.0[1].mul_add(a.0[1], b.0[1])])
    }
    #[inline(always)]
    fn neg(self) -> Self {
        let Pair([a, b]) = self;
        Pair([a.neg(), b.neg()])
    }
    #[inline(always)]
    fn abs(self) -> Self {
        let Pair([a, b]) = self;
        Pair([a.abs(), b.abs()])
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let Pair([a, b]) = self;
        Pair([a.sqrt(), b.sqrt()])
    }
    #[inline(always)]
    fn select_less(self, other: Self, then: Self, otherwise: Self) -> Self {
        let (Pair([a, b]), Pair([c, d])) = (self, other);
        Pair([a.select_less(c, then.0[0], otherwise.0[0]), b.select_less(d, then.0[1], otherwise.0[1])])
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        let (Pair([a, b]), Pair([c, d])) = (self, other);
        Pair([a.max(c), b.max(d)])
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        let (Pair([a, b]), Pair([c, d])) = (self, other);
        Pair([a.min(c), b.min(d)])
    }
    #[inline(always)]
    fn is_at_least(self, other: Self) -> bool {
        let (Pair([a, b]), Pair([c, d])) = (self, other);
        a.is_at_least(c) && b.is_at_least(d)
    }
    #[inline(always)]
    fn copy_sign(self, other: Self) -> Self {
        let (Pair([a, b]), Pair([c, d])) = (self, other);
        Pair([a.copy_sign(c), b.copy_sign(d)])
    }
    #[inline(always)]
    fn power_of_two(self) -> Self {
        let Pair([a, b]) = self;
        Pair([a.power_of_two(), b.power_of_two()])
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        let Pair([a, b]) = self;
        Pair([a.exponent(), b.exponent()])
    }
    #[inline(always)]
    fn significand(self) -> Self {
        let Pair([a, b]) = self;
        Pair([a.significand(), b.significand()])
    }
}
