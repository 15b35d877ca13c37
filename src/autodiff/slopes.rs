//! Derivatives of the elementary functions in the lanes of registers, given the argument and the value.

use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

use super::derivatives;
use super::functions::for_each_function;
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;
use crate::special::{digamma, j1_slope};

macro_rules! slope {
    ($name:ident ($x:ident, $f:ident, $d:ident, $c:ident): $first:expr, $second:expr) => {
        #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
        #[allow(unused_variables)]
        pub(crate) fn $name<T: Real, R: Register<T>>($x: Lanes<T, R>, $f: Lanes<T, R>) -> Lanes<T, R> {
            let $c = Lanes::<T, R>::from_f64;
            $first
        }
    };
}

for_each_function!(slope);
