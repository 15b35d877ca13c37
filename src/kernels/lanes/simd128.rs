//! Pairs of registers of WebAssembly, which modules with the feature `simd128` have.
// These instructions are safe; those of other processors, of the same macros, are not.
#![allow(unsafe_code, unused_unsafe)]

use std::arch::wasm32::*;
use std::convert::identity;

use super::pair::{instructions, pair};
use super::{Register, Routine};

/// Runs a routine as a function of its own.
#[inline(never)]
unsafe fn call<F: Routine>(routine: F) -> F::Output {
    routine.run()
}

instructions! {
    multiply_add_pd(a: v128, b: v128, c: v128) -> v128 = f64x2_add(f64x2_mul(a, b), c);
    multiply_add_ps(a: v128, b: v128, c: v128) -> v128 = f32x4_add(f32x4_mul(a, b), c);
    at_least_pd(a: v128, b: v128) -> bool = i64x2_all_true(f64x2_ge(a, b));
    at_least_ps(a: v128, b: v128) -> bool = i32x4_all_true(f32x4_ge(a, b));
    blend(otherwise: v128, then: v128, mask: v128) -> v128 = v128_bitselect(then, otherwise, mask);
    not_and(a: v128, b: v128) -> v128 = v128_andnot(b, a);
    max_pd(a: v128, b: v128) -> v128 = f64x2_pmax(b, a);
    max_ps(a: v128, b: v128) -> v128 = f32x4_pmax(b, a);
    min_pd(a: v128, b: v128) -> v128 = f64x2_pmin(b, a);
    min_ps(a: v128, b: v128) -> v128 = f32x4_pmin(b, a);
}

/// Shifts of all lanes by a constant.
macro_rules! shifts {
    ($($name:ident = $instruction:ident;)*) => {
        $(
            #[inline(always)]
            unsafe fn $name<const BITS: u32>(a: v128) -> v128 {
                $instruction(a, BITS)
            }
        )*
    };
}

shifts! {
    left_of_64 = i64x2_shl;
    right_of_64 = u64x2_shr;
    left_of_32 = i32x4_shl;
    right_of_32 = u32x4_shr;
}

pair! {
    /// Four doubles.
    Doubles of f64 in v128, 4, fused: false;
    f64x2_splat f64x2_add f64x2_sub f64x2_mul f64x2_div multiply_add_pd f64x2_sqrt v128_and
    not_and v128_or v128_xor f64x2_lt at_least_pd max_pd min_pd blend identity identity
    left_of_64 right_of_64 i64x2_splat: i64, shifts of u32
}

pair! {
    /// Eight singles.
    Singles of f32 in v128, 8, fused: false;
    f32x4_splat f32x4_add f32x4_sub f32x4_mul f32x4_div multiply_add_ps f32x4_sqrt v128_and
    not_and v128_or v128_xor f32x4_lt at_least_ps max_ps min_ps blend identity identity
    left_of_32 right_of_32 i32x4_splat: i32, shifts of u32
}
