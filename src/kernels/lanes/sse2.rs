//! Pairs of SSE2 registers, which every processor of this kind has: as vectors they are compiled several times faster than arrays.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::pair::{instructions, pair};
use super::{Register, Routine};

/// Runs a routine as a function of its own.
#[inline(never)]
unsafe fn call<F: Routine>(routine: F) -> F::Output {
    routine.run()
}

instructions! {
    multiply_add_pd(a: __m128d, b: __m128d, c: __m128d) -> __m128d = _mm_add_pd(_mm_mul_pd(a, b), c);
    multiply_add_ps(a: __m128, b: __m128, c: __m128) -> __m128 = _mm_add_ps(_mm_mul_ps(a, b), c);
    at_least_pd(a: __m128d, b: __m128d) -> bool = _mm_movemask_pd(_mm_cmpge_pd(a, b)) == 0x3;
    at_least_ps(a: __m128, b: __m128) -> bool = _mm_movemask_ps(_mm_cmpge_ps(a, b)) == 0xf;
    blend_pd(otherwise: __m128d, then: __m128d, mask: __m128d) -> __m128d = _mm_or_pd(_mm_and_pd(mask, then), _mm_andnot_pd(mask, otherwise));
    blend_ps(otherwise: __m128, then: __m128, mask: __m128) -> __m128 = _mm_or_ps(_mm_and_ps(mask, then), _mm_andnot_ps(mask, otherwise));
}

pair! {
    /// Four doubles.
    Doubles of f64 in __m128d, 4, fused: false;
    _mm_set1_pd _mm_add_pd _mm_sub_pd _mm_mul_pd _mm_div_pd multiply_add_pd _mm_sqrt_pd _mm_and_pd
    _mm_andnot_pd _mm_or_pd _mm_xor_pd _mm_cmplt_pd at_least_pd _mm_max_pd _mm_min_pd blend_pd _mm_castpd_si128 _mm_castsi128_pd
    _mm_slli_epi64 _mm_srli_epi64 _mm_set1_epi64x: i64, shifts of i32
}

pair! {
    /// Eight singles.
    Singles of f32 in __m128, 8, fused: false;
    _mm_set1_ps _mm_add_ps _mm_sub_ps _mm_mul_ps _mm_div_ps multiply_add_ps _mm_sqrt_ps _mm_and_ps
    _mm_andnot_ps _mm_or_ps _mm_xor_ps _mm_cmplt_ps at_least_ps _mm_max_ps _mm_min_ps blend_ps _mm_castps_si128 _mm_castsi128_ps
    _mm_slli_epi32 _mm_srli_epi32 _mm_set1_epi32: i32, shifts of i32
}
