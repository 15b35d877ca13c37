//! The floats the engine computes in: [`f32`] and [`f64`].

use std::fmt::{Display, LowerExp};

use crate::kernels::{Elementary, Kernels, Vectorized};
use crate::number::Number;
use crate::precision::Compiled;

/// A float the engine can compute in. Implemented for [`f32`] and [`f64`], and sealed: the dense kernels beneath
/// exist for these two.
pub trait Real:
    Number<Element = Self>
    + PartialOrd
    + Kernels
    + Elementary
    + Vectorized
    + Default
    + Display
    + LowerExp
    + Send
    + Sync
    + 'static
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Distance from one to the next larger float.
    const EPSILON: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;

    /// The value as [`f64`], exactly.
    fn to_f64(self) -> f64;
    /// Returns true if the value is neither infinite nor NaN.
    fn is_finite(self) -> bool;

    /// Appends the bytes of numbers, in the order of the machine.
    #[doc(hidden)]
    fn write_bytes(numbers: &[Self], bytes: &mut Vec<u8>);
    /// Appends the numbers of [bytes](Self::write_bytes).
    #[doc(hidden)]
    fn read_bytes(bytes: &[u8], numbers: &mut Vec<Self>);

    /// Runs a call by the code that is compiled for this float.
    #[doc(hidden)]
    fn run_compiled<C: Compiled>(call: C::Call<Self>) -> C::Output<Self>;
}

macro_rules! float_is_real {
    ($float:ident, $run:ident) => {
        impl Real for $float {
            const ZERO: $float = 0.0;
            const ONE: $float = 1.0;
            const EPSILON: $float = $float::EPSILON;
            const INFINITY: $float = $float::INFINITY;
            const MIN_POSITIVE: $float = $float::MIN_POSITIVE;

            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline]
            fn is_finite(self) -> bool {
                $float::is_finite(self)
            }
            fn write_bytes(numbers: &[$float], bytes: &mut Vec<u8>) {
                bytes.reserve(size_of_val(numbers));
                numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_ne_bytes()));
            }
            fn read_bytes(bytes: &[u8], numbers: &mut Vec<$float>) {
                numbers.extend(bytes.as_chunks().0.iter().map(|&bytes| $float::from_ne_bytes(bytes)));
            }
            #[inline]
            fn run_compiled<C: Compiled>(call: C::Call<$float>) -> C::Output<$float> {
                C::$run(call)
            }
        }
    };
}

float_is_real!(f32, in_single);
float_is_real!(f64, in_double);
