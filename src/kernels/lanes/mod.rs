//! Registers full of floats as one number: what is written over [`Lanes`] is worked out for several fits, or points, at once.
//!
//! A [`LaneKernel`] is written once, over any [`Register`]. [`run`] calls the copy of it for the widest registers that the
//! processor turns out to have: AVX-512 or AVX2, otherwise arrays, which the compiler puts into the registers that every
//! processor of the kind has (SSE2, NEON).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod number;
mod pair;
mod portable;
mod register;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

pub use number::Lanes;
pub(crate) use portable::Portable;
pub use register::Register;

use crate::Real;

/// Work to be done in the lanes of registers of the float `T`.
pub trait LaneKernel<T: Real> {
    /// What comes out.
    type Output;

    /// Does the work. Implementations, and all that they call in their inner loops, must be `#[inline(always)]`: code that is
    /// not inlined here does not have the wide registers.
    fn run<R: Register<T>>(self) -> Self::Output;
}

/// Floats that fill registers.
pub trait Vectorized: Sized + Copy + Debug {
    /// Runs a kernel in the widest registers there are.
    fn run_in_lanes<K: LaneKernel<Self>>(kernel: K) -> K::Output
    where
        Self: Real;
}

macro_rules! vectorized {
    ($float:ident, $avx512:ident, $avx2:ident, $narrow:literal) => {
        impl Vectorized for $float {
            fn run_in_lanes<K: LaneKernel<$float>>(kernel: K) -> K::Output {
                #[cfg(target_arch = "x86_64")]
                {
                    if avx512::is_available() {
                        return avx512::run::<$float, avx512::$avx512, K>(kernel);
                    }
                    if avx2::is_available() {
                        return avx2::run::<$float, avx2::$avx2, K>(kernel);
                    }
                }
                kernel.run::<Portable<$float, $narrow>>()
            }
        }
    };
}

// Two registers of 128 bits.
vectorized!(f32, Singles, Singles, 8);
vectorized!(f64, Doubles, Doubles, 4);
