//! `JᵀJ` and `Jᵀr` of a tile of rows, in registers.

use super::simd::{Kernel, multiply_add};
use crate::Real;

/// Columns summed side by side: a register of eight doubles, or two of four.
pub(super) const WIDE: usize = 8;

/// `gram += JᵀJ` (lower triangle; the upper holds nothing of use) and `gradient += Jᵀr`, for at least [`WIDE`] columns.
///
/// The triangle is cut into blocks of `TALL × WIDE` sums that stay in registers while all rows of the tile pass by. The
/// last block of a row or column starts early enough to be whole, and leaves out what its neighbour has summed.
pub(super) struct Products<'a, T> {
    pub(super) gram: &'a mut [T],
    pub(super) gradient: &'a mut [T],
    pub(super) rows: &'a [T],
    pub(super) r: &'a [T],
}

impl<T: Real> Kernel for Products<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let n = self.gradient.len();
        for top in (0..n).step_by(TALL) {
            let first_row = top.min(n - TALL);
            for left in (0..first_row + TALL).step_by(WIDE) {
                let first_column = left.min(n - WIDE);
                let sums = block::<T, TALL, FUSED>(self.rows, n, first_row, first_column);
                for (i, sums) in (first_row..).zip(&sums).skip(top - first_row) {
                    let start = i * n + first_column;
                    for (total, &sum) in self.gram[start..start + WIDE].iter_mut().zip(sums).skip(left - first_column) {
                        *total += sum;
                    }
                }
            }
        }
        RowsTimes { gradient: self.gradient, rows: self.rows, r: self.r }.run::<TALL, FUSED>();
    }
}

/// `gradient += Jᵀr`, for at least [`WIDE`] columns.
pub(super) struct RowsTimes<'a, T> {
    pub(super) gradient: &'a mut [T],
    pub(super) rows: &'a [T],
    pub(super) r: &'a [T],
}

impl<T: Real> Kernel for RowsTimes<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let n = self.gradient.len();
        for left in (0..n).step_by(WIDE) {
            let first_column = left.min(n - WIDE);
            let sums = strip::<T, FUSED>(self.rows, self.r, n, first_column);
            for (total, sum) in self.gradient[first_column..].iter_mut().zip(sums).skip(left - first_column) {
                *total += sum;
            }
        }
    }
}

/// The sums over rows of `r` times `WIDE` columns.
#[inline(always)]
fn strip<T: Real, const FUSED: bool>(rows: &[T], r: &[T], n: usize, first_column: usize) -> [T; WIDE] {
    // Four rows at a time, so that no sum waits for the one before.
    let mut sums = [[T::ZERO; WIDE]; 4];
    for (rows, r) in rows.chunks(4 * n).zip(r.chunks(4)) {
        for ((sums, row), &r) in sums.iter_mut().zip(rows.chunks_exact(n)).zip(r) {
            for (sum, &a) in sums.iter_mut().zip(&row[first_column..first_column + WIDE]) {
                *sum = multiply_add::<T, FUSED>(r, a, *sum);
            }
        }
    }
    std::array::from_fn(|k| (sums[0][k] + sums[1][k]) + (sums[2][k] + sums[3][k]))
}

/// The sums over rows of the products of `TALL` columns with `WIDE` columns.
#[inline(always)]
fn block<T: Real, const TALL: usize, const FUSED: bool>(
    rows: &[T],
    n: usize,
    first_row: usize,
    first_column: usize,
) -> [[T; WIDE]; TALL] {
    let mut sums = [[T::ZERO; WIDE]; TALL];
    for row in rows.chunks_exact(n) {
        let (Some(tall), Some(wide)) =
            (row[first_row..].first_chunk::<TALL>(), row[first_column..].first_chunk::<WIDE>())
        else {
            break;
        };
        for i in 0..TALL {
            for k in 0..WIDE {
                sums[i][k] = multiply_add::<T, FUSED>(tall[i], wide[k], sums[i][k]);
            }
        }
    }
    sums
}

/// [`Products`] for a few columns, whose number the compiler knows.
pub(super) struct FewProducts<'a, T, const N: usize>(pub(super) Products<'a, T>);

impl<T: Real, const N: usize> Kernel for FewProducts<'_, T, N> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Products { gram, gradient, rows, r } = self.0;
        let (mut squares, mut products) = ([[T::ZERO; N]; N], [T::ZERO; N]);
        for (row, &r) in rows.as_chunks::<N>().0.iter().zip(r) {
            for i in 0..N {
                products[i] = multiply_add::<T, FUSED>(r, row[i], products[i]);
                for k in 0..=i {
                    squares[i][k] = multiply_add::<T, FUSED>(row[i], row[k], squares[i][k]);
                }
            }
        }
        for i in 0..N {
            gradient[i] += products[i];
            for k in 0..=i {
                gram[i * N + k] += squares[i][k];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::kernels::Kernels;

    /// Numbers from a seed.
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
        for n in (1..40).chain([101, 159, 160, 161, 200]) {
            for m in [1, 2, 3, 17] {
                agrees(n, m, f64::add_products);
            }
        }
    }

    /// The copies for other processors than this one.
    #[test]
    fn sums_agree_for_every_set_of_instructions() {
        for n in WIDE..3 * WIDE {
            agrees(n, 9, |gram, gradient, rows, r| Products { gram, gradient, rows, r }.run::<4, false>());
            agrees(n, 9, |gram, gradient, rows, r| Products { gram, gradient, rows, r }.run::<4, true>());
            agrees(n, 9, |gram, gradient, rows, r| Products { gram, gradient, rows, r }.run::<8, false>());
            agrees(n, 9, |gram, gradient, rows, r| Products { gram, gradient, rows, r }.run::<8, true>());
        }
    }

    #[test]
    fn single_precision_sums_agree_with_double() {
        let (n, m) = (13, 50);
        let (rows, r) = (numbers(m * n, 1), numbers(m, 2));
        let single = |numbers: &[f64]| numbers.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let (mut gram, mut gradient) = (vec![0.0; n * n], vec![0.0; n]);
        let (mut gram_32, mut gradient_32) = (vec![0.0_f32; n * n], vec![0.0_f32; n]);
        f64::add_products(&mut gram, &mut gradient, &rows, &r);
        f32::add_products(&mut gram_32, &mut gradient_32, &single(&rows), &single(&r));
        assert!(gradient.iter().zip(&gradient_32).all(|(double, &single)| (double - f64::from(single)).abs() < 1e-4));
        for i in 0..n {
            let lower = i * n..i * n + i + 1;
            let mut pairs = gram[lower.clone()].iter().zip(&gram_32[lower]);
            assert!(pairs.all(|(double, &single)| (double - f64::from(single)).abs() < 1e-4));
        }
    }
}
