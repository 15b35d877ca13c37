//! Registers full of floats as one number: code written over [`Lanes`] computes several fits, or points, at once.
//!
//! A [`LaneKernel`] is written once, over any [`Register`]. [`Vectorized::run_in_lanes`] calls the copy of it for the
//! [`Registers`] in use: AVX-512 or AVX2, otherwise those that every processor of the kind has: SSE2, those of WebAssembly, or arrays
//! that the compiler puts into registers (NEON).
//!
//! All that is written over [`Lanes`] must be inlined into the kernel, which alone is compiled for the wide registers:
//! `#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]`. Not so where debug assertions are on, as code
//! that is not optimised keeps all that is inlined into one function in its frame, megabytes for a large model: there the operations
//! on lanes and on numbers with derivatives are calls, and only those on registers are inlined. WebAssembly has one set of registers
//! in a module: what is inlined there is the compiler's choice, but for the operations themselves, and modules are half as large.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod number;
#[cfg(any(target_arch = "x86_64", all(target_feature = "simd128", not(debug_assertions))))]
mod pair;
#[cfg(any(not(any(target_arch = "x86_64", target_feature = "simd128")), debug_assertions, test))]
mod portable;
mod register;
#[cfg(all(target_feature = "simd128", not(debug_assertions)))]
mod simd128;
#[cfg(all(target_arch = "x86_64", any(not(debug_assertions), test)))]
mod sse2;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

pub use number::Lanes;
#[cfg(any(not(any(target_arch = "x86_64", target_feature = "simd128")), debug_assertions, test))]
pub(crate) use portable::Portable;
pub use register::{Register, Routine};

use super::registers::Registers;
use crate::real::Real;

/// Work to be done in the lanes of registers of the float `T`.
pub trait LaneKernel<T: Real> {
    /// The result.
    type Output;

    /// Runs the kernel. Implementations, and all that they call in their inner loops, must be inlined (see the [module](self)):
    /// code that is not inlined here does not have the wide registers.
    fn run<R: Register<T>>(self) -> Self::Output;
}

/// Floats that fill registers.
pub trait Vectorized: Sized + Copy + Debug {
    /// Runs a kernel in these registers, which the processor has.
    fn run_in<K: LaneKernel<Self>>(registers: Registers, kernel: K) -> K::Output
    where
        Self: Real;

    /// Runs a kernel in the registers in use.
    fn run_in_lanes<K: LaneKernel<Self>>(kernel: K) -> K::Output
    where
        Self: Real,
    {
        Self::run_in(Registers::of_lanes(), kernel)
    }
}

/// Lanes of arrays: two registers of 128 bits. Code that is not optimised runs faster and in smaller frames over two lanes, the
/// fewest that leave some of them empty at times.
#[cfg(any(not(any(target_arch = "x86_64", target_feature = "simd128")), debug_assertions))]
const fn portable(optimised: usize) -> usize {
    if cfg!(debug_assertions) { 2 } else { optimised }
}

macro_rules! vectorized {
    ($float:ident, $avx512:ident, $avx2:ident, $sse2:ident, $portable:literal) => {
        impl Vectorized for $float {
            fn run_in<K: LaneKernel<$float>>(registers: Registers, kernel: K) -> K::Output {
                match registers {
                    #[cfg(target_arch = "x86_64")]
                    Registers::Avx512 => avx512::run::<$float, avx512::$avx512, K>(kernel),
                    #[cfg(target_arch = "x86_64")]
                    Registers::Avx2 => avx2::run::<$float, avx2::$avx2, K>(kernel),
                    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
                    _ => kernel.run::<sse2::$sse2>(),
                    #[cfg(all(target_feature = "simd128", not(debug_assertions)))]
                    _ => kernel.run::<simd128::$sse2>(),
                    #[cfg(any(not(any(target_arch = "x86_64", target_feature = "simd128")), debug_assertions))]
                    _ => kernel.run::<Portable<$float, { portable($portable) }>>(),
                }
            }
        }
    };
}

vectorized!(f32, Singles, Singles, Singles, 8);
vectorized!(f64, Doubles, Doubles, Doubles, 4);
