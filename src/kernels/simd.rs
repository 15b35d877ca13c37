//! Choosing vector instructions at run time: with the [lanes](super::lanes) and the [vectors](super::vectors), the crate's only
//! unsafe code.
//!
//! A [`Kernel`] is written once in plain loops. [`run`] calls the copy of it that is compiled for the [`Registers`] in use.
#![allow(unsafe_code)]

use super::registers::Registers;
use crate::number::Number;

/// Loops worth compiling for every set of vector instructions.
pub(crate) trait Kernel {
    /// Runs the loops. `TALL` is the number of independent sums, each a register wide, that fit the registers; `FUSED` says
    /// that multiplying and adding is one instruction. Implementations must be `#[inline(always)]`.
    fn run<const TALL: usize, const FUSED: bool>(self);
}

/// Half of the sixteen short registers of x86-64 hold two times eight numbers in double precision; others have more.
const PORTABLE_TALL: usize = if cfg!(any(target_arch = "x86_64", target_arch = "wasm32")) { 2 } else { 4 };

/// Multiplying and adding is one instruction in registers that every processor of the kind has.
pub(super) const PORTABLE_FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

/// Runs a kernel in the widest registers in use.
#[inline]
pub(crate) fn run(kernel: impl Kernel) {
    match Registers::of_arrays() {
        // SAFETY: the processor has what is in use: AVX2 and FMA, and AVX-512F and DQ.
        #[cfg(target_arch = "x86_64")]
        Registers::Avx512 => unsafe { run_with_avx512(kernel) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Registers::Avx2 => unsafe { run_with_avx2(kernel) },
        _ => run_portable(kernel),
    }
}

/// Runs a kernel in registers of at most 256 bits.
#[inline]
pub(crate) fn run_in_256_bits(kernel: impl Kernel) {
    match Registers::of_arrays() {
        // SAFETY: the processor has what is in use, and with AVX-512 it has AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        Registers::Avx2 | Registers::Avx512 => unsafe { run_with_avx2(kernel) },
        _ => run_portable(kernel),
    }
}

/// Runs a kernel in registers that every processor of the kind has. It is not inlined, so that it is compiled once for all callers.
#[inline(never)]
pub(crate) fn run_portable(kernel: impl Kernel) {
    kernel.run::<PORTABLE_TALL, PORTABLE_FUSED>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
fn run_with_avx512(kernel: impl Kernel) {
    kernel.run::<8, true>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_with_avx2(kernel: impl Kernel) {
    kernel.run::<4, true>();
}

/// `a · b + c`, in one instruction where there is one.
#[inline(always)]
pub(crate) fn multiply_add<T: Number, const FUSED: bool>(a: T, b: T, c: T) -> T {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Clears the upper halves of the vector registers.
///
/// faer's wide products can leave these halves in use. Scalar code that runs next, such as a user's model, would then merge into
/// them at every instruction.
#[cfg(feature = "faer")]
pub(crate) fn clear_upper_halves() {
    #[cfg(target_arch = "x86_64")]
    if Registers::Avx2.are_available() {
        // SAFETY: the processor has AVX, which the instruction belongs to. No caller relies on upper halves: they are undefined
        // across calls.
        unsafe { clear_with_avx() }
    }
}

#[cfg(all(feature = "faer", target_arch = "x86_64"))]
#[target_feature(enable = "avx")]
fn clear_with_avx() {
    std::arch::x86_64::_mm256_zeroupper();
}
