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

/// A sum that began from the guard, without it. Where larger terms have absorbed it, and cancelled to zero, the sum is zero; so is
/// one of exactly minus the guard.
#[inline(always)]
pub(crate) fn without_guard<T: Number>(sum: T) -> T {
    // Nothing but zero is below; NaN stays.
    let smallest = T::splat(T::Element::MIN_POSITIVE * T::Element::EPSILON);
    sum.abs().select_less(smallest, T::from_f64(0.0), sum - underflow_guard::<T>())
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

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The sum of products in this order, with the guard.
    fn guarded<T: Real>(factors: &[(f64, f64)]) -> f64 {
        let mut sums = RegisterTile::<T, 1, 1>::guarded();
        for &(a, b) in factors {
            sums.add_product::<true>(&[T::from_f64(a)], &[T::from_f64(b)]);
        }
        sums.totals()[0][0].to_f64()
    }

    proptest! {
        /// The guard costs a sum a few units of the smallest number, and no more than its rounding error.
        #[test]
        fn sums_of_any_size_are_kept(
            factors in vec((-1.0..1.0_f64, -1.0..1.0_f64), 0..40),
            exponents in (-511..200_i32, -511..200_i32),
        ) {
            let scale = |exponent: i32| f64::from(exponent).exp2();
            let terms: Vec<(f64, f64)> =
                factors.iter().map(|(a, b)| (a * scale(exponents.0), b * scale(exponents.1))).collect();
            // In units that no term underflows in.
            let unit = scale(exponents.0) * scale(exponents.1);
            let exact: f64 = factors.iter().map(|(a, b)| a * b).sum::<f64>() * unit;
            let size = factors.iter().map(|(a, b)| (a * b).abs()).sum::<f64>() * unit;
            let error = (guarded::<f64>(&terms) - exact).abs();
            let count = factors.len() as f64 + 4.0;
            prop_assert!(error <= count * (f64::EPSILON * size + 16.0 * f64::from_bits(1)), "{}", error);
        }
    }

    #[test]
    fn terms_that_cancel_leave_zero() {
        assert_eq!(guarded::<f64>(&[]), 0.0);
        assert_eq!(guarded::<f32>(&[(3.0, 7.0), (-21.0, 1.0)]), 0.0);
        assert_eq!(guarded::<f64>(&[(1e-180, 1e-180), (1e-200, -1e-200)]), 0.0);
    }

    /// Sums near the negative guard, where those with it nearly vanish.
    #[test]
    fn sums_of_the_size_of_the_guard_are_kept() {
        fn kept<T: Real>() {
            let size = T::MIN_POSITIVE.to_f64().sqrt();
            for share in [-5.0, -4.5, -4.25, -4.0 + 1e-3, -3.5, -3.0, -0.5, 0.5, 4.0] {
                let sum = share * T::MIN_POSITIVE.to_f64();
                let units = 8.0 * T::EPSILON.to_f64() * T::MIN_POSITIVE.to_f64();
                assert!((guarded::<T>(&[(share * size, size)]) - sum).abs() <= units, "{share}");
            }
        }
        kept::<f32>();
        kept::<f64>();
    }

    #[test]
    fn what_is_not_finite_is_seen() {
        assert!(guarded::<f64>(&[(1.0, f64::NAN)]).is_nan());
        assert_eq!(guarded::<f32>(&[(2.0, f64::INFINITY)]), f64::INFINITY);
    }
}
