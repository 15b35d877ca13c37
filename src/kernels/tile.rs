//! Sums of outer products in registers.

use super::simd::multiply_add;
use crate::number::Number;
use crate::real::Real;

/// `TALL × WIDE` sums, which stay in registers while products are added to them; `TALL` is at most eight.
#[derive(Debug, Clone, Copy)]
pub(super) struct RegisterTile<T, const TALL: usize, const WIDE: usize>(pub(super) [[T; WIDE]; TALL]);

impl<T: Real, const TALL: usize, const WIDE: usize> RegisterTile<T, TALL, WIDE> {
    /// Zero sums.
    #[inline(always)]
    pub(super) fn zero() -> Self {
        RegisterTile([[T::ZERO; WIDE]; TALL])
    }

    /// Sums of products, none of which is [subnormal](underflow_guard) before [`totals`](Self::totals) are taken.
    #[inline(always)]
    pub(super) fn guarded() -> Self {
        RegisterTile([[underflow_guard(); WIDE]; TALL])
    }

    /// The sums that began [guarded](Self::guarded).
    #[inline(always)]
    pub(super) fn totals(mut self) -> [[T; WIDE]; TALL] {
        for i in 0..TALL {
            for j in 0..WIDE {
                self.0[i][j] = without_guard(self.0[i][j]);
            }
        }
        self.0
    }

    /// Adds the outer product of two columns.
    #[inline(always)]
    pub(super) fn add_product<const FUSED: bool>(&mut self, tall: &[T; TALL], wide: &[T; WIDE]) {
        // Written out, as LLVM does not unroll a loop over 8 × 16 sums: it then gathers and scatters them in memory.
        macro_rules! add_to_rows {
            ($($i:literal)*) => {
                $(
                    if $i < TALL {
                        self.0[$i] = plus_multiple::<T, WIDE, FUSED>(&self.0[$i], tall[$i], wide);
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
                        *wide = plus_multiple::<T, WIDE, FUSED>(wide, tall[$i], &self.0[$i]);
                    }
                )*
            };
        }
        add_rows!(0 1 2 3 4 5 6 7);
    }
}

/// Number from which sums of products begin that may be tiny, and which is subtracted at the end: no sum on the way is subnormal, for which
/// some processors take a hundred times as long. It changes sums below `MIN_POSITIVE / ε` alone, by a few units of the smallest number.
#[inline(always)]
pub(crate) fn underflow_guard<T: Number>() -> T {
    T::splat(T::Element::MIN_POSITIVE * T::Element::from_f64(4.0))
}

/// A sum that began from the guard, without it. Where larger terms have absorbed it, and cancelled, the sum is zero.
#[inline(always)]
pub(crate) fn without_guard<T: Number>(sum: T) -> T {
    sum.abs().select_less(T::splat(T::Element::MIN_POSITIVE), T::from_f64(0.0), sum - underflow_guard::<T>())
}

/// `row + factor · other`. A function of its own with a plain loop: `std::array::from_fn` would be compiled anew for each of the
/// thousands of places that call this.
#[inline(always)]
pub(super) fn plus_multiple<T: Real, const WIDE: usize, const FUSED: bool>(
    row: &[T; WIDE],
    factor: T,
    other: &[T; WIDE],
) -> [T; WIDE] {
    let mut sums = *row;
    for k in 0..WIDE {
        sums[k] = multiply_add::<T, FUSED>(factor, other[k], sums[k]);
    }
    sums
}

/// `row · factor`, by a plain loop as in [`plus_multiple`].
#[inline(always)]
pub(super) fn scaled<T: Real, const WIDE: usize>(row: &[T; WIDE], factor: T) -> [T; WIDE] {
    let mut products = *row;
    for product in &mut products {
        *product *= factor;
    }
    products
}

/// `row − other`, by a plain loop as in [`plus_multiple`].
#[inline(always)]
pub(super) fn difference<T: Real, const WIDE: usize>(row: &[T; WIDE], other: &[T; WIDE]) -> [T; WIDE] {
    let mut rest = *row;
    for k in 0..WIDE {
        rest[k] -= other[k];
    }
    rest
}

/// Adds the rows above to each row of a tile, times `factors[above][row]`, and then applies an operation to the row. The loops are
/// unrolled, so that the tile stays in registers.
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
                    $sums.0[$i] = $crate::kernels::tile::plus_multiple::<T, _, FUSED>(&$sums.0[$i], $factors[$k][$i], &$sums.0[$k]);
                )*
                let $row = $i;
                $finish
            }
        )*
    };
}

pub(super) use eliminate;
