//! Operations of registers that lanes need.

use std::fmt::Debug;

use crate::real::Real;

/// Work over registers of one kind that is compiled once for them, as a function of its own.
pub trait Routine {
    /// Result of the work.
    type Output;

    /// Runs the kernel. As in a [`LaneKernel`](super::LaneKernel), inner loops must be inlined here.
    fn run(self) -> Self::Output;
}

/// Floats side by side, worked on by one instruction or a few independent ones. Every function but [`call`](Self::call) is
/// `#[inline(always)]`.
pub trait Register<T: Real>: Copy + Debug + Send + Sync + 'static {
    /// Number of lanes.
    const LANES: usize;
    /// [`mul_add`](Self::mul_add) rounds once.
    const FUSED: bool;

    /// Runs a routine as a function that has these registers and is not inlined into its caller: callers that differ in their
    /// types share it.
    fn call<F: Routine>(routine: F) -> F::Output;

    /// The same value in all lanes.
    fn splat(value: T) -> Self;
    /// The lanes.
    fn as_slice(&self) -> &[T];
    /// The lanes, to be changed one by one.
    fn as_mut_slice(&mut self) -> &mut [T];

    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self − other`.
    fn sub(self, other: Self) -> Self;
    /// `self · other`.
    fn mul(self, other: Self) -> Self;
    /// `self / other`.
    fn div(self, other: Self) -> Self;
    /// `self · a + b`, rounded once where there is an instruction for it.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// `−self`.
    fn neg(self) -> Self;
    /// `|self|`.
    fn abs(self) -> Self;
    /// `√self`.
    fn sqrt(self) -> Self;
    /// `then` where `self < other`, otherwise `otherwise`.
    fn select_less(self, other: Self, then: Self, otherwise: Self) -> Self;
    /// `other` where `self < other`, otherwise `self`.
    fn max(self, other: Self) -> Self;
    /// `other` where `other < self`, otherwise `self`.
    fn min(self, other: Self) -> Self;
    /// `self ≥ other` in all lanes.
    fn is_at_least(self, other: Self) -> bool;

    /// See [`Number::copy_sign`](crate::number::Number::copy_sign).
    fn copy_sign(self, sign: Self) -> Self;
    /// See [`Number::power_of_two`](crate::number::Number::power_of_two).
    fn power_of_two(self) -> Self;
    /// See [`Number::exponent`](crate::number::Number::exponent).
    fn exponent(self) -> Self;
    /// See [`Number::significand`](crate::number::Number::significand).
    fn significand(self) -> Self;
}
