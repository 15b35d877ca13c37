//! The crate's only unsafe code: clearing the upper halves of the vector registers.
//!
//! faer's wide products can return with the upper halves of the x86 vector registers in use. Scalar SSE code that runs
//! next (the user's model) then pays for merging into them at every instruction, and was measured two to three times
//! slower. `vzeroupper` ends that state. Clearing is always sound: the calling convention leaves those halves
//! undefined across calls.
#![allow(unsafe_code)]

/// Ends the state in which SSE instructions merge into dirty upper register halves.
#[inline]
pub(super) fn clear() {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx") {
        // SAFETY: the processor has AVX, which `_mm256_zeroupper` belongs to.
        unsafe { clear_with_avx() }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
fn clear_with_avx() {
    std::arch::x86_64::_mm256_zeroupper();
}
