//! Arrays for registers, which the compiler puts into the registers that every processor of the kind has.

use super::Vector;
use crate::kernels::array::array_of;
use crate::kernels::simd::{PORTABLE_FUSED, multiply_add};
use crate::real::Real;

/// Vector of as many floats as 128 bits hold.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernels) struct PortableVector<T, const LANES: usize>([T; LANES]);

impl<T: Real, const LANES: usize> Vector<T> for PortableVector<T, LANES> {
    const LANES: usize = LANES;

    #[inline(always)]
    fn splat(value: T) -> Self {
        PortableVector([value; LANES])
    }
    #[inline(always)]
    fn load(entries: &[T]) -> Self {
        let mut loaded = [T::ZERO; LANES];
        loaded.copy_from_slice(&entries[..LANES]);
        PortableVector(loaded)
    }
    #[inline(always)]
    fn store(self, entries: &mut [T]) {
        entries[..LANES].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn load_few(entries: &[T]) -> Self {
        match entries.first_chunk() {
            Some(&whole) => PortableVector(whole),
            None => PortableVector(array_of(|lane| if lane < entries.len() { entries[lane] } else { T::ZERO })),
        }
    }
    #[inline(always)]
    fn store_few(self, entries: &mut [T]) {
        for (number, lane) in entries.iter_mut().zip(self.0) {
            *number = lane;
        }
    }
    #[inline(always)]
    fn prefetch(_numbers: &[T]) {}
    #[inline(always)]
    fn add(mut self, other: Self) -> Self {
        for l in 0..LANES {
            self.0[l] += other.0[l];
        }
        self
    }
    #[inline(always)]
    fn sub_unless_zero(mut self, other: Self) -> Self {
        for l in 0..LANES {
            self.0[l] = if self.0[l] == T::ZERO { T::ZERO } else { self.0[l] - other.0[l] };
        }
        self
    }
    #[inline(always)]
    fn mul_add(mut self, a: Self, b: Self) -> Self {
        for l in 0..LANES {
            self.0[l] = multiply_add::<T, PORTABLE_FUSED>(self.0[l], a.0[l], b.0[l]);
        }
        self
    }
}
