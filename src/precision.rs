//! Generic code that finds out in which precision it computes.
//!
//! What is generic over the float is compiled in each crate that calls it. A function of `f64` alone is compiled here, once; generic
//! code hands its values to such a function by [`Real::precision`].

use crate::Real;

/// A family of types, one for each float.
pub trait PerFloat {
    /// The one for `T`.
    type Of<T: Real>;
}

/// A value of a family, whose float is known.
pub enum Precision<F: PerFloat> {
    /// In [`f32`].
    Single(F::Of<f32>),
    /// In [`f64`].
    Double(F::Of<f64>),
}

/// Defines a function that runs a call, a struct of arguments with a method `run`, by code that is compiled in this crate, once for
/// each float, whoever calls it. The call's lifetime comes first, its float second.
macro_rules! compile_once {
    ($(#[$documentation:meta])* $name:ident($call:ident)) => {
        $(#[$documentation])*
        fn $name<T: $crate::Real>(call: $call<'_, T>) {
            struct Calls<'a>(std::marker::PhantomData<&'a ()>);

            impl<'a> $crate::precision::PerFloat for Calls<'a> {
                type Of<T: $crate::Real> = $call<'a, T>;
            }

            fn in_single(call: $call<'_, f32>) {
                call.run();
            }

            fn in_double(call: $call<'_, f64>) {
                call.run();
            }

            match T::precision::<Calls<'_>>(call) {
                $crate::precision::Precision::Single(call) => in_single(call),
                $crate::precision::Precision::Double(call) => in_double(call),
            }
        }
    };
}

pub(crate) use compile_once;
