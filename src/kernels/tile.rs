//! Sums of outer products in registers.

use std::array::from_fn;

use super::simd::multiply_add;
use crate::real::Real;

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

    /// Adds a combination of the rows to `wide`.
    #[inline(always)]
    pub(super) fn add_combination<const FUSED: bool>(&self, tall: &[T; TALL], wide: &mut [T; WIDE]) {
        macro_rules! add_rows {
            ($($i:literal)*) => {
                $(
                    if $i < TALL {
                        *wide = from_fn(|k| multiply_add::<T, FUSED>(tall[$i], self.0[$i][k], wide[k]));
                    }
                )*
            };
        }
        add_rows!(0 1 2 3 4 5 6 7);
    }
}

/// Adds to each row of a tile the rows above it, times `factors[above][row]`, and does then what else there is to do for the
/// row. Written out, so that the tile stays in registers.
macro_rules! eliminate {
    ($sums:ident, $factors:ident, |$row:ident| $finish:block) => {
        eliminate!(
            $sums, $factors, $row, $finish,
            0: ; 1: 0; 2: 0 1; 3: 0 1 2; 4: 0 1 2 3; 5: 0 1 2 3 4; 6: 0 1 2 3 4 5; 7: 0 1 2 3 4 5 6;
        )
    };
    ($sums:ident, $factors:ident, $row:ident, $finish:block, $($i:literal: $($k:literal)*;)*) => {
        $(
            if $i < TALL {
                $(
                    let factor = $factors[$k][$i];
                    $sums.0[$i] = std::array::from_fn(|j| $crate::kernels::simd::multiply_add::<T, FUSED>(factor, $sums.0[$k][j], $sums.0[$i][j]));
                )*
                let $row = $i;
                $finish
            }
        )*
    };
}

pub(super) use eliminate;
