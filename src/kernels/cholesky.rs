//! Rows of the square-root-free Cholesky factorisation, in vector registers.

use std::hint::black_box;
use std::ops::Range;

use super::simd::Kernel;
use super::tile::{RegisterTile, eliminate, scaled};
use super::triangular::is_sound;
use crate::real::Real;

/// Rows and columns of a block: the fastest on the diagonal in both precisions and in every set of registers.
const ROWS: usize = 4;
const WIDE: usize = 8;

/// Columns of a block to the right of the diagonal, where four registers of sums would not hide the latency of additions.
const FAR: usize = 2 * WIDE;

/// Returns true if sixteen sums of each row fit the registers: 512 bits in double precision, or 256 in single.
const fn are_far_blocks_wide<T>(tall: usize) -> bool {
    tall >= if size_of::<T>() == size_of::<f32>() { 4 } else { 8 }
}

/// A panel of rows of the factorisation `A = LDLᵀ`. `A` is row-major and given by its lower triangle, from which the
/// contributions of the rows above the panel have been subtracted; the panel's rows of the strict upper triangle are
/// overwritten with those of `Lᵀ`. `pivots` holds the diagonal of `A`, by which the pivots are judged, and is overwritten with
/// `D`. `sound` turns `false` at the first pivot that is not, and the factorisation ends there.
///
/// Left-looking: blocks of [`ROWS`] × [`WIDE`] entries, or [`FAR`] away from the diagonal, are [summed in registers](RegisterTile), first those
/// of the panel's own columns, then strips of columns to the right, which stay in the first-level cache. The last block of a row starts
/// early enough to be whole: entries that it repeats come out the same, and those that it writes to the lower triangle or to the
/// diagonal are not read again. The panel must end at column `WIDE` or later.
pub(super) struct CholeskyPanel<'a, T> {
    pub(super) a: &'a mut [T],
    pub(super) pivots: &'a mut [T],
    pub(super) rows: Range<usize>,
    /// Scratch of [`scratch_len`] entries: the inverse pivots, and `−LD` of each block of rows, column after column.
    pub(super) work: &'a mut [T],
    pub(super) sound: &'a mut bool,
}

/// Length of the scratch memory of a panel.
pub(super) fn scratch_len(rows: usize) -> usize {
    (rows + 1) * rows
}

impl<T: Real> Kernel for CholeskyPanel<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        if const { are_far_blocks_wide::<T>(TALL) } {
            self.factorise::<FAR, FUSED>();
        } else {
            self.factorise::<WIDE, FUSED>();
        }
    }
}

impl<T: Real> CholeskyPanel<'_, T> {
    /// Fills all rows, in blocks of `W` columns to the right of the diagonal.
    ///
    /// Each block of a size is filled at one place in the code, as each is compiled for each set of registers.
    #[inline(always)]
    fn factorise<const W: usize, const FUSED: bool>(mut self) {
        let Range { start, end } = self.rows;
        let n = self.pivots.len();
        // Rows that do not fill a block come first, where sums are short.
        let whole = start + (end - start) % ROWS;
        *self.sound = false;
        for top in start..whole {
            if !self.corner::<1, 1, FUSED>(top) {
                return;
            }
            for left in (top + 1..n).step_by(WIDE) {
                self.block::<1, WIDE, FUSED>(top, left.min(n - WIDE));
            }
        }
        let on_diagonal = (whole..end).step_by(ROWS).map(|top| (top..top + ROWS, top..end));
        let to_the_right = (end..n).step_by(W).map(|left| (whole..end, left..n.min(left + W)));
        for (tops, columns) in on_diagonal.chain(to_the_right) {
            let mut first = columns.start;
            if first < end {
                let is_wide = first + WIDE <= end;
                let is_sound = if is_wide {
                    self.corner::<ROWS, WIDE, FUSED>(first)
                } else {
                    self.corner::<ROWS, ROWS, FUSED>(first)
                };
                if !is_sound {
                    return;
                }
                first += if is_wide { WIDE } else { ROWS };
            }
            for top in tops.step_by(ROWS) {
                let mut left = first;
                while left < columns.end {
                    if W > WIDE && left + W <= columns.end {
                        self.block::<ROWS, W, FUSED>(top, left);
                        left += W;
                    } else {
                        self.block::<ROWS, WIDE, FUSED>(top, left.min(columns.end - WIDE));
                        left += WIDE;
                    }
                }
            }
        }
        *self.sound = true;
    }

    /// Computes `−LD` of `TALL` rows from the columns above them.
    #[inline(always)]
    fn fill_factors<const TALL: usize>(&mut self, top: usize) {
        let n = self.pivots.len();
        let Range { start, end } = self.rows;
        let (_, factors) = self.work.split_at_mut(end - start);
        let factors = &mut factors[(top - start) * (end - start)..].as_chunks_mut::<TALL>().0[..top - start];
        let rows = self.a[start * n..].chunks_exact(n).zip(&self.pivots[start..]);
        for (factors, (row, &pivot)) in factors.iter_mut().zip(rows) {
            if let Some(row) = row[top..].first_chunk::<TALL>() {
                *factors = scaled(row, -pivot);
            }
        }
    }

    /// A block of the lower triangle, transposed, less the contributions of the panel's rows above.
    #[inline(always)]
    fn sums<const TALL: usize, const W: usize, const FUSED: bool>(
        &self,
        top: usize,
        left: usize,
    ) -> RegisterTile<T, TALL, W> {
        let n = self.pivots.len();
        let Range { start, end } = self.rows;
        let mut sums = RegisterTile::<T, TALL, W>::zero();
        for j in 0..W {
            let lower = &self.a[(left + j) * n + top..][..TALL];
            for i in 0..TALL {
                sums.0[i][j] = lower[i];
            }
        }
        let factors = &self.work[(end - start) * (top - start + 1)..].as_chunks::<TALL>().0[..top - start];
        for (factors, row) in factors.iter().zip(self.a[start * n..].chunks_exact(n)) {
            if let Some(row) = row[left..].first_chunk::<W>() {
                sums.add_product::<FUSED>(factors, row);
            }
        }
        sums
    }

    /// Fills a block to the right of the diagonal.
    #[inline(always)]
    fn block<const TALL: usize, const W: usize, const FUSED: bool>(&mut self, top: usize, left: usize) {
        let n = self.pivots.len();
        let Range { start, end } = self.rows;
        let mut sums = self.sums::<TALL, W, FUSED>(top, left);
        let (inverses, factors) = self.work.split_at(end - start);
        let inverses = &inverses[top - start..][..TALL];
        let factors = &factors[(top - start) * (end - start)..].as_chunks::<TALL>().0[top - start..][..TALL];
        eliminate!(sums, factors, |i| {
            sums.0[i] = scaled(&sums.0[i], inverses[i]);
            self.a[(top + i) * n + left..][..W].copy_from_slice(&sums.0[i]);
        });
    }

    /// Fills the leftmost block of these rows, which begins on the diagonal; `false` if a pivot is not sound.
    #[inline(always)]
    fn corner<const TALL: usize, const W: usize, const FUSED: bool>(&mut self, top: usize) -> bool {
        let n = self.pivots.len();
        let Range { start, end } = self.rows;
        self.fill_factors::<TALL>(top);
        // Through memory: where single sums are read, LLVM would not keep them in vectors.
        let mut sums = black_box(self.sums::<TALL, W, FUSED>(top, top));
        let (inverses, factors) = self.work.split_at_mut(end - start);
        let inverses = &mut inverses[top - start..][..TALL];
        let factors = &mut factors[(top - start) * (end - start)..].as_chunks_mut::<TALL>().0[top - start..][..TALL];
        eliminate!(sums, factors, |i| {
            let pivot = sums.0[i][i];
            if !is_sound(pivot, self.pivots[top + i]) {
                return false;
            }
            self.pivots[top + i] = pivot;
            inverses[i] = pivot.recip();
            for j in 0..TALL {
                factors[i][j] = -sums.0[i][j];
            }
            sums.0[i] = scaled(&sums.0[i], inverses[i]);
            let row = &mut self.a[(top + i) * n + top..][..W];
            for j in 0..W {
                row[j] = if j > i { sums.0[i][j] } else { row[j] };
            }
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `BᵀB + I` for entries that look random.
    fn positive(n: usize) -> Vec<f64> {
        let b: Vec<f64> = (0..n * n).map(|k| ((k * k) as f64 * 0.7 + k as f64).sin()).collect();
        let entry = |i: usize, j: usize| (0..n).map(|k| b[k * n + i] * b[k * n + j]).sum::<f64>();
        (0..n * n).map(|k| entry(k / n, k % n) + if k / n == k % n { 1.0 } else { 0.0 }).collect()
    }

    /// Factorises all rows as one panel; returns `D`.
    fn factorise<const TALL: usize, const FUSED: bool>(a: &mut [f64], n: usize) -> Option<Vec<f64>> {
        let mut pivots: Vec<f64> = a.iter().step_by(n + 1).copied().collect();
        let (mut work, mut sound) = (vec![0.0; scratch_len(n)], false);
        let kernel = CholeskyPanel { a, pivots: &mut pivots, rows: 0..n, work: &mut work, sound: &mut sound };
        kernel.run::<TALL, FUSED>();
        sound.then_some(pivots)
    }

    type Factorise = fn(&mut [f64], usize) -> Option<Vec<f64>>;

    /// Copies for sets of registers.
    const COPIES: [Factorise; 3] = [factorise::<2, false>, factorise::<4, true>, factorise::<8, true>];

    #[test]
    fn the_factors_multiply_to_the_matrix() {
        for n in 16..50 {
            let a = positive(n);
            for factorise in COPIES {
                let mut u = a.clone();
                let pivots = factorise(&mut u, n).unwrap();
                let unit = |k: usize, i: usize| if i == k { 1.0 } else { u[k * n + i] };
                for i in 0..n {
                    for j in 0..=i {
                        let product: f64 = (0..=j).map(|k| unit(k, i) * unit(k, j) * pivots[k]).sum();
                        assert!((product - a[i * n + j]).abs() < 1e-12 * (n * n) as f64, "{n}: {i} {j}");
                    }
                }
            }
        }
    }

    /// Tests that only the lower triangle is read.
    #[test]
    fn the_upper_triangle_is_not_read() {
        for n in 16..40 {
            let a = positive(n);
            for factorise in COPIES {
                let (mut full, mut lower) = (a.clone(), a.clone());
                (0..n).for_each(|i| lower[i * n + i + 1..(i + 1) * n].fill(f64::NAN));
                assert_eq!(factorise(&mut full, n), factorise(&mut lower, n));
                (0..n).for_each(|i| assert_eq!(full[i * n + i + 1..(i + 1) * n], lower[i * n + i + 1..(i + 1) * n]));
            }
        }
    }

    #[test]
    fn a_pivot_that_is_rounding_is_not_sound() {
        for n in 16..30 {
            let mut a = positive(n);
            // The last row is the first.
            for j in 0..n {
                a[(n - 1) * n + j] = a[j];
            }
            a[n * n - 1] = a[0];
            for factorise in COPIES {
                assert!(factorise(&mut a.clone(), n).is_none(), "{n}");
            }
        }
    }
}
