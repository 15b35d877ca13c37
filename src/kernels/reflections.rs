//! Householder reflections of many rows at once, in vector registers.

use super::array::array_of;
use super::simd::{Kernel, multiply_add};
use super::tile::{RegisterTile, eliminate};
use crate::real::Real;

/// Rows that are absorbed before the next ones are read, so that they stay in the cache.
const ROWS: usize = 64;

/// Entries multiplied side by side.
const LANES: usize = 8;

/// Absorbs rows `[J r]` into the upper triangle `R` and the rotated right-hand side `Qᵀr`, both of which are overwritten; there
/// are at least `WIDE` columns. The squares of columns must neither over- nor underflow.
///
/// `TALL` reflections at a time, in compact form (Schreiber & Van Loan 1989): `Qᵀ = I − VTᵀVᵀ`, where `V` is the identity in the
/// rows of `R`, and takes the place of the eliminated columns in the others.
pub(super) struct Reflections<'a, T, const WIDE: usize> {
    pub(super) triangle: &'a mut [T],
    pub(super) rotated: &'a mut [T],
    pub(super) jacobian: &'a mut [T],
    pub(super) r: &'a mut [T],
}

impl<T: Real, const WIDE: usize> Kernel for Reflections<'_, T, WIDE> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let n = self.rotated.len();
        for (jacobian, r) in self.jacobian.chunks_mut(ROWS * n).zip(self.r.chunks_mut(ROWS)) {
            let mut part =
                Reflections::<T, WIDE> { triangle: &mut *self.triangle, rotated: &mut *self.rotated, jacobian, r };
            let whole = n - n % TALL;
            for first in (0..whole).step_by(TALL) {
                part.columns::<TALL, FUSED>(first);
            }
            for first in whole..n {
                part.columns::<1, FUSED>(first);
            }
        }
    }
}

/// Reflections `I − τ_i v_i v_iᵀ`, one after the other.
struct Compact<T, const TALL: usize> {
    /// `v_kᵀv_i` for `k < i`.
    products: [[T; TALL]; TALL],
    tau: [T; TALL],
}

impl<T: Real, const WIDE: usize> Reflections<'_, T, WIDE> {
    /// Eliminates `TALL` columns from `first` on.
    #[inline(always)]
    fn columns<const TALL: usize, const FUSED: bool>(&mut self, first: usize) {
        let n = self.rotated.len();
        let Compact { products, tau } = self.eliminate_columns::<TALL, FUSED>(first);
        for left in (first + TALL..n).step_by(WIDE) {
            let begin = left.min(n - WIDE);
            let mut sums = RegisterTile::<T, TALL, WIDE>::guarded();
            for row in self.jacobian.chunks_exact(n) {
                if let (Some(v), Some(row)) = (row[first..].first_chunk::<TALL>(), row[begin..].first_chunk::<WIDE>()) {
                    sums.add_product::<FUSED>(v, row);
                }
            }
            let mut sums = RegisterTile(sums.totals());
            // Columns that the strip before has reflected are left alone.
            let mask: [T; WIDE] = array_of(|j| if begin + j < left { T::ZERO } else { T::ONE });
            eliminate!(sums, products, |i| {
                let row = &mut self.triangle[(first + i) * n + begin..][..WIDE];
                for j in 0..WIDE {
                    sums.0[i][j] = -((sums.0[i][j] + row[j]) * tau[i]) * mask[j];
                    row[j] += sums.0[i][j];
                }
            });
            for row in self.jacobian.chunks_exact_mut(n) {
                let Some(&v) = row[first..].first_chunk::<TALL>() else { break };
                if let Some(row) = row[begin..].first_chunk_mut::<WIDE>() {
                    sums.add_combination::<FUSED>(&v, row);
                }
            }
        }
    }

    /// Puts `V` in the place of `TALL` columns from `first` on, and reflects the right-hand side.
    #[inline(always)]
    fn eliminate_columns<const TALL: usize, const FUSED: bool>(&mut self, first: usize) -> Compact<T, TALL> {
        let n = self.rotated.len();
        let mut columns = [[T::ZERO; ROWS]; TALL];
        for (i, row) in self.jacobian.chunks_exact(n).enumerate() {
            for k in 0..TALL {
                columns[k][i] = row[first + k];
            }
        }
        // A number that the compiler does not know: it would unroll the loops, and not find its way back to registers.
        let count = self.r.len().next_multiple_of(LANES);
        let mut r = [T::ZERO; ROWS];
        r[..self.r.len()].copy_from_slice(self.r);
        let mut compact = Compact { products: [[T::ZERO; TALL]; TALL], tau: [T::ZERO; TALL] };
        for j in 0..TALL {
            let (before, rest) = columns.split_at_mut(j);
            let Some((column, after)) = rest.split_first_mut() else { break };
            let column = &mut column[..count];
            let square = dot::<T, FUSED>(column, column);
            if !(square > T::ZERO) {
                continue;
            }
            // The sign is the one with which nothing cancels.
            let row = &mut self.triangle[(first + j) * n + first..][..TALL];
            let norm = (row[j] * row[j] + square).sqrt();
            let diagonal = if row[j] > T::ZERO { -norm } else { norm };
            let tau = (diagonal - row[j]) / diagonal;
            let inverse = (row[j] - diagonal).recip();
            row[j] = diagonal;
            compact.tau[j] = tau;
            column.iter_mut().for_each(|a| *a *= inverse);
            for (products, before) in compact.products.iter_mut().zip(before) {
                products[j] = dot::<T, FUSED>(&before[..count], column);
            }
            for (entry, other) in row[j + 1..].iter_mut().zip(after) {
                reflect::<T, FUSED>(column, tau, entry, &mut other[..count]);
            }
            reflect::<T, FUSED>(column, tau, &mut self.rotated[first + j], &mut r[..count]);
        }
        for (i, row) in self.jacobian.chunks_exact_mut(n).enumerate() {
            for k in 0..TALL {
                row[first + k] = columns[k][i];
            }
        }
        self.r.copy_from_slice(&r[..self.r.len()]);
        compact
    }
}

/// `aᵀb`.
#[inline(always)]
fn dot<T: Real, const FUSED: bool>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        lanes = array_of(|lane| multiply_add::<T, FUSED>(a[lane], b[lane], lanes[lane]));
    }
    lanes.into_iter().sum()
}

/// Applies the reflection of `v`, whose first entry is one, to a column, whose first entry is `top`.
#[inline(always)]
fn reflect<T: Real, const FUSED: bool>(v: &[T], tau: T, top: &mut T, column: &mut [T]) {
    let change = -tau * (*top + dot::<T, FUSED>(v, column));
    *top += change;
    for (a, &v) in column.iter_mut().zip(v) {
        *a = multiply_add::<T, FUSED>(change, v, *a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries that look random.
    fn numbers(count: usize, seed: f64) -> Vec<f64> {
        (0..count).map(|k| ((k * k) as f64 * 0.7 + seed * k as f64).sin()).collect()
    }

    /// The triangle, and `Qᵀr`.
    fn absorb<const TALL: usize, const WIDE: usize, const FUSED: bool>(
        rows: &[f64],
        r: &[f64],
        n: usize,
    ) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let (mut triangle, mut rotated) = (vec![0.0; n * n], vec![0.0; n]);
        let (mut jacobian, mut left) = (rows.to_vec(), r.to_vec());
        // In two parts, so that the second meets a triangle.
        let cut = r.len() / 3;
        let (first, second) = jacobian.split_at_mut(cut * n);
        let (first_r, second_r) = left.split_at_mut(cut);
        for (jacobian, r) in [(first, first_r), (second, second_r)] {
            Reflections::<f64, WIDE> { triangle: &mut triangle, rotated: &mut rotated, jacobian, r }
                .run::<TALL, FUSED>();
        }
        (triangle, rotated, left)
    }

    type Absorb = fn(&[f64], &[f64], usize) -> (Vec<f64>, Vec<f64>, Vec<f64>);

    /// The shapes of all sets of registers.
    const SHAPES: [Absorb; 5] = [
        absorb::<4, 8, false>,
        absorb::<4, 8, true>,
        absorb::<4, 16, true>,
        absorb::<8, 8, true>,
        absorb::<8, 16, true>,
    ];

    /// Entry `(i, j)` of the product of a matrix with its transpose, `BᵀB`.
    fn gram(b: &[f64], n: usize, i: usize, j: usize) -> f64 {
        b.chunks_exact(n).map(|row| row[i] * row[j]).sum()
    }

    #[test]
    fn absorbed_rows_add_up() {
        for n in (16..30).chain([41]) {
            for m in [1, 5, n, 64, 150] {
                let (mut rows, r) = (numbers(m * n, 0.3), numbers(m, 0.9));
                // A column of zeros.
                rows.iter_mut().skip(3).step_by(n).for_each(|a| *a = 0.0);
                for absorb in SHAPES {
                    let (triangle, rotated, left) = absorb(&rows, &r, n);
                    for i in 0..n {
                        assert!(triangle[i * n..i * n + i].iter().all(|&below| below == 0.0));
                        for j in 0..=i {
                            let (found, sum) = (gram(&triangle, n, i, j), gram(&rows, n, i, j));
                            assert!((found - sum).abs() < 1e-12 * m as f64, "{m} rows of {n}: ({i}, {j})");
                        }
                        let found: f64 = (0..=i).map(|k| triangle[k * n + i] * rotated[k]).sum();
                        let product: f64 = rows.chunks_exact(n).zip(&r).map(|(row, r)| row[i] * r).sum();
                        assert!((found - product).abs() < 1e-12 * m as f64, "{m} rows of {n}: Jᵀr, {i}");
                    }
                    let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
                    assert!((square(&rotated) + square(&left) - square(&r)).abs() < 1e-12 * m as f64);
                }
            }
        }
    }

    /// `JᵀJ` would have lost the last columns.
    #[test]
    fn nearly_dependent_columns_keep_their_digits() {
        let (n, m, tilt) = (17, 100, 1e-9);
        let directions = numbers(m * n, 0.3);
        let rows: Vec<f64> = directions
            .chunks_exact(n)
            .flat_map(|row| (0..n).map(|j| row[0] + if j == 0 { 0.0 } else { tilt * row[j] }).collect::<Vec<_>>())
            .collect();
        let r = vec![0.0; m];
        for absorb in SHAPES {
            // Differences with the first column, in units of the tilt, have the triangle of the directions.
            let (nearly, ..) = absorb(&rows, &r, n);
            let (expected, ..) = absorb(&directions, &r, n);
            for i in 1..n {
                for j in i..n {
                    let (found, expected) = (nearly[i * n + j] / tilt, expected[i * n + j]);
                    assert!((found.abs() - expected.abs()).abs() < 1e-5, "({i}, {j}): {found}, {expected}");
                }
            }
        }
    }
}
