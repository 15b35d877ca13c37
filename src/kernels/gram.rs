//! `JᵀJ` and `Jᵀr` of a tile of rows of few entries, in registers.

use std::array::from_fn;

use super::simd::{Kernel, multiply_add};
use super::tile::{RegisterTile, underflow_guard, without_guard};
use crate::real::Real;

/// `gram += JᵀJ` (lower triangle; the upper is undefined) and `gradient += Jᵀr`.
pub(super) struct GramProducts<'a, T> {
    pub(super) gram: &'a mut [T],
    pub(super) gradient: &'a mut [T],
    pub(super) rows: &'a [T],
    pub(super) r: &'a [T],
}

/// [`GramProducts`] for a few rows of a few columns, whose number the compiler knows.
pub(super) struct FewProducts<'a, T, const N: usize>(pub(super) GramProducts<'a, T>);

impl<T: Real, const N: usize> Kernel for FewProducts<'_, T, N> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let GramProducts { gram, gradient, rows, r } = self.0;
        let guard = underflow_guard::<T>();
        let (mut squares, mut products) = ([[guard; N]; N], [guard; N]);
        for (row, &r) in rows.as_chunks::<N>().0.iter().zip(r) {
            for i in 0..N {
                products[i] = multiply_add::<T, FUSED>(r, row[i], products[i]);
                for k in 0..=i {
                    squares[i][k] = multiply_add::<T, FUSED>(row[i], row[k], squares[i][k]);
                }
            }
        }
        for i in 0..N {
            gradient[i] += without_guard(products[i]);
            for k in 0..=i {
                gram[i * N + k] += without_guard(squares[i][k]);
            }
        }
    }
}

/// [`GramProducts`] for `TOP` columns and `BELOW` more, whose rows are read in registers of `WIDE` entries, and the first `TOP` in those of
/// `NEAR`: for two or three columns, or four and more.
pub(super) struct NarrowProducts<'a, T, const TOP: usize, const NEAR: usize, const BELOW: usize, const WIDE: usize>(
    pub(super) GramProducts<'a, T>,
);

impl<T: Real, const TOP: usize, const NEAR: usize, const BELOW: usize, const WIDE: usize> Kernel
    for NarrowProducts<'_, T, TOP, NEAR, BELOW, WIDE>
{
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let GramProducts { gram, gradient, rows, r } = self.0;
        let n = TOP + BELOW;
        let mut sums = NarrowSums::<T, TOP, NEAR, BELOW, WIDE> {
            top: RegisterTile::guarded(),
            below: RegisterTile::guarded(),
            gradient: [underflow_guard(); WIDE],
        };
        if const { exceed_registers::<T>(TALL, BELOW) && FUSED } {
            sums.pass::<FUSED, true, false>(rows, r);
            sums.pass::<FUSED, false, true>(rows, r);
        } else {
            sums.pass::<FUSED, true, true>(rows, r);
        }
        let (top, below) = (sums.top.totals(), sums.below.totals());
        for i in 0..n {
            gradient[i] += without_guard(sums.gradient[i]);
            for k in 0..=i {
                gram[i * n + k] += if i < TOP { top[i][k] } else { below[i - TOP][k] };
            }
        }
    }
}

/// Returns true if the sums of `below` columns do not fit registers of 256 bits beside those of the first four.
const fn exceed_registers<T>(tall: usize, below: usize) -> bool {
    tall <= 4 && below > 3 && size_of::<T>() == size_of::<f64>()
}

/// The sums of [`NarrowProducts`], in registers.
struct NarrowSums<T, const TOP: usize, const NEAR: usize, const BELOW: usize, const WIDE: usize> {
    top: RegisterTile<T, TOP, NEAR>,
    below: RegisterTile<T, BELOW, WIDE>,
    gradient: [T; WIDE],
}

impl<T: Real, const TOP: usize, const NEAR: usize, const BELOW: usize, const WIDE: usize>
    NarrowSums<T, TOP, NEAR, BELOW, WIDE>
{
    /// Adds the products of all rows: those of the top columns, of the columns below, or of both.
    #[inline(always)]
    fn pass<const FUSED: bool, const OF_TOP: bool, const OF_BELOW: bool>(&mut self, rows: &[T], r: &[T]) {
        let n = TOP + BELOW;
        // A row is loaded together with the beginning of the next, whose products are discarded; the last row is padded.
        let (mut first, mut residuals) = (0, r.iter());
        while let (Some(row), Some(&r)) = (rows[first..].first_chunk::<WIDE>(), residuals.as_slice().first()) {
            self.add::<FUSED, OF_TOP, OF_BELOW>(row, r);
            first += n;
            residuals.next();
        }
        if let Some(&r) = residuals.next() {
            let mut row = [T::ZERO; WIDE];
            row[..n].copy_from_slice(&rows[first..]);
            self.add::<FUSED, OF_TOP, OF_BELOW>(&row, r);
        }
    }

    #[inline(always)]
    fn add<const FUSED: bool, const OF_TOP: bool, const OF_BELOW: bool>(&mut self, row: &[T; WIDE], r: T) {
        if OF_TOP {
            let (top, near) = (from_fn(|i| row[i]), from_fn(|i| row[i]));
            self.top.add_product::<FUSED>(&top, &near);
            self.gradient = from_fn(|i| multiply_add::<T, FUSED>(r, row[i], self.gradient[i]));
        }
        if OF_BELOW {
            self.below.add_product::<FUSED>(&from_fn(|i| row[TOP + i]), row);
        }
    }
}

#[cfg(test)]
mod tests {
    use chacha20::ChaCha8Rng;
    use chacha20::rand_core::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::kernels::Kernels;
    use crate::kernels::gram_tiles::GramTiles;
    use crate::kernels::registers::tests::in_all;
    use crate::kernels::vectors::VectorKernel;
    use crate::kernels::vectors::portable::PortableVector;

    /// Entries from a seed.
    fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        (0..count).map(|_| StandardNormal.sample(&mut random)).collect()
    }

    /// Asserts that `sum` agrees with the sums term by term, on top of what was there before.
    fn agrees(n: usize, m: usize, sum: impl FnOnce(&mut [f64], &mut [f64], &[f64], &[f64])) {
        let (rows, r) = (numbers(m * n, 1), numbers(m, 2));
        let (before_gram, before_gradient) = (numbers(n * n, 3), numbers(n, 4));
        let (mut gram, mut gradient) = (before_gram.clone(), before_gradient.clone());
        sum(&mut gram, &mut gradient, &rows, &r);
        for i in 0..n {
            let product: f64 = (0..m).map(|row| r[row] * rows[row * n + i]).sum();
            assert!((gradient[i] - before_gradient[i] - product).abs() < 1e-12, "gradient {i} of {n}, {m} rows");
            for k in 0..=i {
                let square: f64 = (0..m).map(|row| rows[row * n + i] * rows[row * n + k]).sum();
                assert!(
                    (gram[i * n + k] - before_gram[i * n + k] - square).abs() < 1e-12,
                    "({i}, {k}) of {n}, {m} rows"
                );
            }
        }
    }

    #[test]
    fn sums_agree_for_every_width() {
        in_all(|| {
            for n in (1..40).chain([101, 159, 160, 161, 200]) {
                for m in [1, 2, 3, 17, 33] {
                    agrees(n, m, f64::add_products);
                }
            }
        });
    }

    /// More rows than are worked on at a time.
    #[test]
    fn parts_of_many_rows_add_up() {
        in_all(|| {
            agrees(20, 500, f64::add_products);
        });
    }

    /// The copies for other processors than this one.
    #[test]
    fn sums_agree_for_every_set_of_instructions() {
        type Short = PortableVector<f64, 2>;
        let copies: [fn(GramTiles<'_, f64>); 5] = [
            |tiles| tiles.run::<PortableVector<f64, 8>, 8, 4, 3>(),
            |tiles| tiles.run::<PortableVector<f64, 16>, 8, 4, 3>(),
            |tiles| tiles.run::<PortableVector<f64, 4>, 6, 3, 2>(),
            |tiles| tiles.run::<Short, 4, 4, 3>(),
            |mut tiles| tiles.add::<Short, 4, 4>(),
        ];
        for n in (9..40).chain([64, 71]) {
            for add in copies {
                agrees(n, 9, |gram, gradient, rows, r| add(GramTiles(GramProducts { gram, gradient, rows, r })));
            }
        }
    }

    #[test]
    fn single_precision_sums_agree_with_double() {
        in_all(|| {
            for n in [2, 3, 4, 5, 8, 9, 13, 16, 17, 37] {
                single_agrees(n, 50, f32::add_products);
            }
        });
    }

    fn single_agrees(n: usize, m: usize, sum: impl FnOnce(&mut [f32], &mut [f32], &[f32], &[f32])) {
        let (rows, r) = (numbers(m * n, 1), numbers(m, 2));
        let single = |numbers: &[f64]| numbers.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let (mut gram, mut gradient) = (vec![0.0; n * n], vec![0.0; n]);
        let (mut gram_32, mut gradient_32) = (vec![0.0_f32; n * n], vec![0.0_f32; n]);
        f64::add_products(&mut gram, &mut gradient, &rows, &r);
        sum(&mut gram_32, &mut gradient_32, &single(&rows), &single(&r));
        assert!(gradient.iter().zip(&gradient_32).all(|(double, &single)| (double - f64::from(single)).abs() < 1e-4));
        for i in 0..n {
            let lower = i * n..i * n + i + 1;
            let mut pairs = gram[lower.clone()].iter().zip(&gram_32[lower]);
            assert!(pairs.all(|(double, &single)| (double - f64::from(single)).abs() < 1e-4));
        }
    }
}
