//! Generic code that is compiled in this crate, once for each float.
//!
//! A function that is generic over the float is compiled in each crate that calls it; one of `f64` alone is compiled here, once.
//! [`compile_once`] hands the arguments of the former to the latter.

use crate::real::Real;

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

/// Defines a function by code that is compiled in this crate, once for each float `T`, whoever calls it. Its argument is mostly a struct
/// of arguments with a method `run`, whose parameters are lifetimes, one unless they are listed, and the float.
macro_rules! compile_once {
    ($name:ident($call:ident) -> $output:ident<$result:ident, $error:ty>) => {
        $crate::precision::compile_once!($name($call<'a>) -> $output<$result, $error>);
    };
    ($name:ident($call:ident<$($life:lifetime),+>) -> $output:ident<$result:ident, $error:ty>) => {
        $crate::precision::compile_once!($name<$($life),+>(call: $call<$($life,)+ T>) -> $output<$result<T>, $error> = call.run());
    };
    ($name:ident<$($life:lifetime),+>($argument:ident: $call:ty) -> $output:ty = $value:expr) => {
        fn $name<$($life,)+ T: $crate::Real>($argument: $call) -> $output {
            struct Calls<$($life),+>(std::marker::PhantomData<($(&$life (),)+)>);

            impl<$($life),+> $crate::precision::Compiled for Calls<$($life),+> {
                type Call<T: $crate::Real> = $call;
                type Output<T: $crate::Real> = $output;

                fn in_single($argument: Self::Call<f32>) -> Self::Output<f32> {
                    $value
                }

                fn in_double($argument: Self::Call<f64>) -> Self::Output<f64> {
                    $value
                }
            }

            T::run_compiled::<Calls<$($life),+>>($argument)
        }
    };
}

pub(crate) use compile_once;
