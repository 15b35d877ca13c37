//! AVX2 and AVX-512 registers.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Vector, VectorKernel};
use crate::kernels::registers::Registers;
use crate::real::Real;

/// Runs a kernel in AVX-512 registers, where they are [available](Registers::are_available).
#[inline]
pub(super) fn run_with_avx512<T: Real, V: Vector<T>>(kernel: impl VectorKernel<T>) {
    #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
    fn compiled<T: Real, V: Vector<T>>(kernel: impl VectorKernel<T>) {
        kernel.run::<V, 8, 4, 3>();
    }
    assert!(Registers::Avx512.are_available());
    // SAFETY: the processor has the instructions.
    unsafe { compiled::<T, V>(kernel) }
}

/// Runs a kernel in AVX registers, where they are [available](Registers::are_available).
#[inline]
pub(super) fn run_with_avx2<T: Real, V: Vector<T>>(kernel: impl VectorKernel<T>) {
    #[target_feature(enable = "avx2,fma")]
    fn compiled<T: Real, V: Vector<T>>(kernel: impl VectorKernel<T>) {
        // Four rows of three registers would need all sixteen, and compilers then keep a sum in memory.
        kernel.run::<V, 6, 3, 2>();
    }
    assert!(Registers::Avx2.are_available());
    // SAFETY: the processor has the instructions.
    unsafe { compiled::<T, V>(kernel) }
}

macro_rules! register {
    (
        $(#[$doc:meta])* $name:ident of $lanes:literal $float:ident in $raw:ident;
        $splat:ident $load:ident $store:ident $add:ident $sub:ident $fma:ident, $mask:ident $load_few:ident $store_few:ident
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(super) struct $name($raw);

        // SAFETY, for all of it: kernels run over these only where the processor has the instructions, and what is read and
        // written lies in the slices.
        impl Vector<$float> for $name {
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(value: $float) -> Self {
                unsafe { $name($splat(value)) }
            }
            #[inline(always)]
            fn load(entries: &[$float]) -> Self {
                unsafe { $name($load(entries[..$lanes].as_ptr())) }
            }
            #[inline(always)]
            fn store(self, entries: &mut [$float]) {
                unsafe { $store(entries[..$lanes].as_mut_ptr(), self.0) }
            }
            #[inline(always)]
            fn load_few(entries: &[$float]) -> Self {
                assert!(entries.len() <= $lanes);
                unsafe { $name($load_few($mask(entries.len()), entries.as_ptr())) }
            }
            #[inline(always)]
            fn store_few(self, entries: &mut [$float]) {
                assert!(entries.len() <= $lanes);
                unsafe { $store_few(entries.as_mut_ptr(), $mask(entries.len()), self.0) }
            }
            #[inline(always)]
            fn prefetch(entries: &[$float]) {
                unsafe { _mm_prefetch::<_MM_HINT_T0>(entries.as_ptr().cast()) }
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                unsafe { $name($add(self.0, other.0)) }
            }
            #[inline(always)]
            fn sub_unless_zero(self, other: Self) -> Self {
                unsafe { $name($sub(self.0, other.0)) }
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                unsafe { $name($fma(self.0, a.0, b.0)) }
            }
        }
    };
}

#[inline(always)]
fn first_of_8(count: usize) -> __mmask8 {
    ((1_u32 << count) - 1) as __mmask8
}

#[inline(always)]
fn first_of_16(count: usize) -> __mmask16 {
    ((1_u32 << count) - 1) as __mmask16
}

#[inline(always)]
unsafe fn first_of_4_doubles(count: usize) -> __m256i {
    unsafe { _mm256_cmpgt_epi64(_mm256_set1_epi64x(count as i64), _mm256_setr_epi64x(0, 1, 2, 3)) }
}

#[inline(always)]
unsafe fn first_of_8_singles(count: usize) -> __m256i {
    unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
}

#[inline(always)]
unsafe fn load_few_256_pd(mask: __m256i, entries: *const f64) -> __m256d {
    unsafe { _mm256_maskload_pd(entries, mask) }
}

#[inline(always)]
unsafe fn load_few_256_ps(mask: __m256i, entries: *const f32) -> __m256 {
    unsafe { _mm256_maskload_ps(entries, mask) }
}

#[inline(always)]
unsafe fn sub_512_pd(a: __m512d, b: __m512d) -> __m512d {
    unsafe { _mm512_maskz_sub_pd(_mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(a, _mm512_setzero_pd()), a, b) }
}

#[inline(always)]
unsafe fn sub_512_ps(a: __m512, b: __m512) -> __m512 {
    unsafe { _mm512_maskz_sub_ps(_mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(a, _mm512_setzero_ps()), a, b) }
}

#[inline(always)]
unsafe fn sub_256_pd(a: __m256d, b: __m256d) -> __m256d {
    unsafe { _mm256_and_pd(_mm256_cmp_pd::<_CMP_NEQ_UQ>(a, _mm256_setzero_pd()), _mm256_sub_pd(a, b)) }
}

#[inline(always)]
unsafe fn sub_256_ps(a: __m256, b: __m256) -> __m256 {
    unsafe { _mm256_and_ps(_mm256_cmp_ps::<_CMP_NEQ_UQ>(a, _mm256_setzero_ps()), _mm256_sub_ps(a, b)) }
}

register! {
    /// Eight doubles.
    Doubles512 of 8 f64 in __m512d;
    _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd sub_512_pd _mm512_fmadd_pd,
    first_of_8 _mm512_maskz_loadu_pd _mm512_mask_storeu_pd
}

register! {
    /// Sixteen singles.
    Singles512 of 16 f32 in __m512;
    _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps sub_512_ps _mm512_fmadd_ps,
    first_of_16 _mm512_maskz_loadu_ps _mm512_mask_storeu_ps
}

register! {
    /// Four doubles.
    Doubles256 of 4 f64 in __m256d;
    _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd sub_256_pd _mm256_fmadd_pd,
    first_of_4_doubles load_few_256_pd _mm256_maskstore_pd
}

register! {
    /// Eight singles.
    Singles256 of 8 f32 in __m256;
    _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps sub_256_ps _mm256_fmadd_ps,
    first_of_8_singles load_few_256_ps _mm256_maskstore_ps
}
