//! Pairs of AVX registers: two independent instructions at a time keep the arithmetic units busy.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::pair::{compiled_for, instructions, pair};
use super::{Register, Routine};

compiled_for!(Avx2, "avx2,fma");

instructions! {
    less_pd(a: __m256d, b: __m256d) -> __m256d = _mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
    less_ps(a: __m256, b: __m256) -> __m256 = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
    at_least_pd(a: __m256d, b: __m256d) -> bool = _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(a, b)) == 0xf;
    at_least_ps(a: __m256, b: __m256) -> bool = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(a, b)) == 0xff;
}

pair! {
    /// Eight doubles.
    Doubles of f64 in __m256d, 8, fused: true;
    _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_fmadd_pd _mm256_sqrt_pd _mm256_and_pd
    _mm256_andnot_pd _mm256_or_pd _mm256_xor_pd less_pd at_least_pd _mm256_max_pd _mm256_min_pd _mm256_blendv_pd _mm256_castpd_si256 _mm256_castsi256_pd
    _mm256_slli_epi64 _mm256_srli_epi64 _mm256_set1_epi64x: i64, shifts of i32
}

pair! {
    /// Sixteen singles.
    Singles of f32 in __m256, 16, fused: true;
    _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_fmadd_ps _mm256_sqrt_ps _mm256_and_ps
    _mm256_andnot_ps _mm256_or_ps _mm256_xor_ps less_ps at_least_ps _mm256_max_ps _mm256_min_ps _mm256_blendv_ps _mm256_castps_si256 _mm256_castsi256_ps
    _mm256_slli_epi32 _mm256_srli_epi32 _mm256_set1_epi32: i32, shifts of i32
}
