//! Sums of outer products in registers.

use std::array::from_fn;

use super::simd::multiply_add;
use crate::Real;

/// `TALL × WIDE` sums, which stay in registers while products are added to them; `TALL` is at most eight.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile<T, const TALL: usize, const WIDE: usize>(pub(super) [[T; WIDE]; TALL]);

impl<T: Real, const TALL: usize, const WIDE: usize> Tile<T, TALL, WIDE> {
    /// Zero sums.
    #[inline(always)]
    pub(super) fn zero() -> Self {
        Tile([[T::ZERO; WIDE]; TALL])
    }

    /// Adds the outer product of two columns.
    #[inline(always)]
    pub(super) fn add_product<const FUSED: bool>(&mut self, tall: &[T; TALL], wide: &[T; WIDE]) {
        // Written out, as LLVM does not unroll a loop over 8 × 16 sums: it then gathers and scatters them in memory.
        macro_rules! add_to_rows {
            ($($i:literal)*) => {
                $(
                    if $i < TALL {
                        self.0[$i] = from_fn(|k| multiply_add::<T, FUSED>(tall[$i], wide[k], self.0[$i][k]));
                    }
                )*
            };
        }
        add_to_rows!(0 1 2 3 4 5 6 7);
    }
}
