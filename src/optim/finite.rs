//! Search for NaN and infinity.

use crate::kernels::simd::{self, Kernel};
use crate::real::Real;

/// Sums kept side by side: two of the widest registers in single precision.
const LANES: usize = 32;

/// Returns the index of the first NaN or infinity.
pub(super) fn first_non_finite<T: Real>(x: &[T]) -> Option<usize> {
    let mut sum = T::ZERO;
    simd::run(SumOfZeros { x, sum: &mut sum });
    if sum == T::ZERO { None } else { x.iter().position(|x| !x.is_finite()) }
}

/// `Σ 0·x`, which is zero if all entries are finite, and NaN otherwise.
struct SumOfZeros<'a, T> {
    x: &'a [T],
    sum: &'a mut T,
}

impl<T: Real> Kernel for SumOfZeros<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let (blocks, rest) = self.x.as_chunks::<LANES>();
        let mut lanes = [T::ZERO; LANES];
        for block in blocks {
            for (lane, &x) in lanes.iter_mut().zip(block) {
                *lane += T::ZERO * x;
            }
        }
        let rest = rest.iter().fold(T::ZERO, |sum, &x| sum + T::ZERO * x);
        *self.sum = lanes.into_iter().fold(rest, |sum, lane| sum + lane);
    }
}

#[cfg(test)]
mod tests {
    use super::first_non_finite;

    #[test]
    fn the_first_of_several_is_found() {
        let mut x = vec![f32::MAX; 200];
        assert_eq!(first_non_finite(&x), None);
        for (place, bad) in [(199, f32::NAN), (130, f32::INFINITY), (64, f32::NEG_INFINITY), (0, f32::NAN)] {
            x[place] = bad;
            assert_eq!(first_non_finite(&x), Some(place));
        }
    }
}
