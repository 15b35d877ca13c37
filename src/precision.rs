//! Generic code that runs in the crate that it stands in.
//!
//! A function that is generic over the float is compiled in each crate that calls it; one of `f64` alone is compiled here, once.
//! [`compile_once`] hands the arguments of the former to the latter.

use crate::Real;

/// A call that is compiled for each float.
pub trait Compiled {
    /// Its arguments.
    type Call<T: Real>;
    /// Its result.
    type Output<T: Real>;

    /// Runs it in [`f32`].
    fn in_single(call: Self::Call<f32>) -> Self::Output<f32>;

    /// Runs it in [`f64`].
    fn in_double(call: Self::Call<f64>) -> Self::Output<f64>;
}

/// Defines a function that runs a call, a struct of arguments with a method `run`, by code that is compiled in this crate, once for
/// each float, whoever calls it. The struct's parameters are a lifetime and the float.
macro_rules! compile_once {
    ($name:ident($call:ident) -> $output:ident<$result:ident, $error:ty>) => {
        fn $name<T: $crate::Real>(call: $call<'_, T>) -> $output<$result<T>, $error> {
            struct Calls<'a>(std::marker::PhantomData<&'a ()>);

            impl<'a> $crate::precision::Compiled for Calls<'a> {
                type Call<T: $crate::Real> = $call<'a, T>;
                type Output<T: $crate::Real> = $output<$result<T>, $error>;

                fn in_single(call: $call<'a, f32>) -> Self::Output<f32> {
                    call.run()
                }

                fn in_double(call: $call<'a, f64>) -> Self::Output<f64> {
                    call.run()
                }
            }

            T::run_compiled::<Calls<'_>>(call)
        }
    };
}

pub(crate) use compile_once;
