//! Pairs of AVX-512 registers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::pair::{compiled_for, instructions, pair};
use super::{Register, Routine};

compiled_for!(Avx512, "avx512f,avx512dq,avx2,fma");

instructions! {
    less_pd(a: __m512d, b: __m512d) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
    less_ps(a: __m512, b: __m512) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
    at_least_pd(a: __m512d, b: __m512d) -> bool = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(a, b) == __mmask8::MAX;
    at_least_ps(a: __m512, b: __m512) -> bool = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, b) == __mmask16::MAX;
    blend_pd(otherwise: __m512d, then: __m512d, mask: __mmask8) -> __m512d = _mm512_mask_blend_pd(mask, otherwise, then);
    blend_ps(otherwise: __m512, then: __m512, mask: __mmask16) -> __m512 = _mm512_mask_blend_ps(mask, otherwise, then);
}

pair! {
    /// Sixteen doubles.
    Doubles of f64 in __m512d, 16, fused: true;
    _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_fmadd_pd _mm512_sqrt_pd _mm512_and_pd
    _mm512_andnot_pd _mm512_or_pd _mm512_xor_pd less_pd at_least_pd _mm512_max_pd _mm512_min_pd blend_pd _mm512_castpd_si512 _mm512_castsi512_pd
    _mm512_slli_epi64 _mm512_srli_epi64 _mm512_set1_epi64: i64, shifts of u32
}

pair! {
    /// Thirty-two singles.
    Singles of f32 in __m512, 32, fused: true;
    _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_fmadd_ps _mm512_sqrt_ps _mm512_and_ps
    _mm512_andnot_ps _mm512_or_ps _mm512_xor_ps less_ps at_least_ps _mm512_max_ps _mm512_min_ps blend_ps _mm512_castps_si512 _mm512_castsi512_ps
    _mm512_slli_epi32 _mm512_srli_epi32 _mm512_set1_epi32: i32, shifts of u32
}
