//! Inverses of symmetric positive definite matrices.

use super::dense::Factor;
use super::simd::{self, Kernel};
use super::tile::{plus_multiple, scaled};
use super::triangular::is_sound;
use crate::real::Real;

/// Largest number of rows of a matrix that is eliminated at once; larger ones are cut in two.
const SMALL: usize = WIDE * CHUNKS;

/// Entries of a row that are worked on side by side, and most of these in a row: the chunks of all rows that are eliminated at once
/// fit the registers.
const WIDE: usize = 16;
const CHUNKS: usize = 4;

/// Rows that are eliminated from all others at once. No such block of columns lies in two chunks of a row.
const ROWS: usize = 4;

/// Length of the scratch memory of [`invert`].
pub(crate) fn scratch_len(n: usize) -> usize {
    if n <= SMALL {
        return n.next_multiple_of(ROWS) * n.next_multiple_of(WIDE);
    }
    // Both diagonal blocks, the block between them and a product; then the scratch of the larger block.
    let [k, m] = cut(n);
    n * n + scratch_len(k).max(scratch_len(m))
}

/// Sizes of the two diagonal blocks, the first a multiple of [`SMALL`]: a single row beyond a multiple, such as that of a bias, costs
/// little.
fn cut(n: usize) -> [usize; 2] {
    let k = (n / 2).next_multiple_of(SMALL);
    [k, n - k]
}

/// Overwrites a symmetric positive definite matrix, given by both triangles, with its inverse. Returns `false` where a pivot is not
/// sound; the matrix is then undefined.
///
/// By blocks: `[P Qᵀ; Q S]⁻¹` from `P⁻¹` and the inverse of `S − Q P⁻¹ Qᵀ`. About `2n³` flops, nearly all in products.
pub(crate) fn invert<T: Real>(a: &mut [T], n: usize, memory: &mut [T]) -> bool {
    if n <= SMALL {
        return invert_small(a, n, memory);
    }
    let [k, m] = cut(n);
    let (p, memory) = memory.split_at_mut(k * k);
    let (s, memory) = memory.split_at_mut(m * m);
    let (q, memory) = memory.split_at_mut(m * k);
    let (w, memory) = memory.split_at_mut(m * k);
    for (p, row) in p.chunks_exact_mut(k).zip(a.chunks_exact(n)) {
        p.copy_from_slice(&row[..k]);
    }
    for ((s, q), row) in s.chunks_exact_mut(m).zip(q.chunks_exact_mut(k)).zip(a[k * n..].chunks_exact(n)) {
        q.copy_from_slice(&row[..k]);
        s.copy_from_slice(&row[k..]);
    }
    if !invert(p, k, memory) {
        return false;
    }
    T::multiply(w, false, Factor::Plain(q), p, k, k);
    w.iter_mut().for_each(|w| *w = -*w);
    T::multiply_transposed(s, true, w, q, k, m);
    if !invert(s, m, memory) {
        return false;
    }
    T::multiply(q, false, Factor::Plain(s), w, m, k);
    T::multiply(p, true, Factor::Transposed(w), q, m, k);
    for (i, row) in a.chunks_exact_mut(n).enumerate() {
        if i < k {
            row[..k].copy_from_slice(&p[i * k..(i + 1) * k]);
            row[k..].iter_mut().enumerate().for_each(|(j, number)| *number = q[j * k + i]);
        } else {
            row[..k].copy_from_slice(&q[(i - k) * k..(i - k + 1) * k]);
            row[k..].copy_from_slice(&s[(i - k) * m..(i - k + 1) * m]);
        }
    }
    true
}

/// [`invert`] for a small matrix, padded to whole blocks of rows and chunks of columns by those of the identity.
fn invert_small<T: Real>(a: &mut [T], n: usize, memory: &mut [T]) -> bool {
    let (height, width) = (n.next_multiple_of(ROWS), n.next_multiple_of(WIDE));
    let rows = &mut memory[..height * width];
    let mut diagonal = [T::ONE; SMALL];
    for (i, to) in rows.chunks_exact_mut(width).enumerate() {
        let row = a.get(i * n..(i + 1) * n).unwrap_or_default();
        to[..row.len()].copy_from_slice(row);
        to[row.len()..].fill(T::ZERO);
        if i < n {
            diagonal[i] = row[i];
        } else {
            to[i] = T::ONE;
        }
    }
    let mut sound = true;
    simd::run(GaussJordan { rows, width, diagonal: &diagonal[..height], sound: &mut sound });
    for (row, from) in a.chunks_exact_mut(n).zip(rows.chunks_exact(width)) {
        row.copy_from_slice(&from[..n]);
    }
    sound
}

/// Gauss–Jordan elimination without pivoting, in place.
struct GaussJordan<'a, T> {
    /// Whole blocks of rows of whole chunks.
    rows: &'a mut [T],
    /// Entries of a row.
    width: usize,
    diagonal: &'a [T],
    sound: &'a mut bool,
}

impl<T: Real> Kernel for GaussJordan<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let GaussJordan { rows, width, diagonal, sound } = self;
        let chunks = rows.as_chunks_mut().0;
        // The number of chunks is a constant to the loops, which are unrolled.
        *sound = match width / WIDE {
            1 => eliminate::<T, 1, FUSED>(chunks.as_chunks_mut().0, diagonal),
            2 => eliminate::<T, 2, FUSED>(chunks.as_chunks_mut().0, diagonal),
            3 => eliminate::<T, 3, FUSED>(chunks.as_chunks_mut().0, diagonal),
            _ => eliminate::<T, CHUNKS, FUSED>(chunks.as_chunks_mut().0, diagonal),
        };
    }
}

/// Eliminates block after block of rows; `false` at the first pivot that is not sound.
#[inline(always)]
fn eliminate<T: Real, const COUNT: usize, const FUSED: bool>(rows: &mut [[[T; WIDE]; COUNT]], diagonal: &[T]) -> bool {
    for (block, diagonal) in diagonal.as_chunks::<ROWS>().0.iter().enumerate() {
        let start = block * ROWS;
        let (chunk, first) = (start / WIDE, start % WIDE);
        let own: &[[[T; WIDE]; COUNT]; ROWS] = &std::array::from_fn(|k| rows[start + k]);
        let Some(inverse) = block_inverse(own.each_ref().map(|row| &row[chunk][first..]), diagonal) else {
            return false;
        };
        // The inverse of the block times its rows. Other rows subtract multiples of these.
        let mut pivots = [[[T::ZERO; WIDE]; COUNT]; ROWS];
        for c in 0..COUNT {
            for (pivots, factors) in pivots.iter_mut().zip(&inverse) {
                pivots[c] = combined::<T, FUSED>(&[T::ZERO; WIDE], factors, own.each_ref().map(|row| &row[c]));
            }
        }
        for (pivots, inverse) in pivots.iter_mut().zip(&inverse) {
            pivots[chunk][first..first + ROWS].copy_from_slice(inverse);
        }
        let mut is_other = [T::ONE; WIDE];
        is_other[first..first + ROWS].fill(T::ZERO);
        for row in rows.iter_mut() {
            let factors: [T; ROWS] = std::array::from_fn(|k| -row[chunk][first + k]);
            for c in 0..COUNT {
                let mut sums = row[c];
                if c == chunk {
                    sums.iter_mut().zip(&is_other).for_each(|(sum, &is_other)| *sum *= is_other);
                }
                row[c] = combined::<T, FUSED>(&sums, &factors, pivots.each_ref().map(|row| &row[c]));
            }
        }
        rows[start..start + ROWS].copy_from_slice(&pivots);
    }
    true
}

/// `sums + Σ factors · rows`.
#[inline(always)]
fn combined<T: Real, const FUSED: bool>(sums: &[T; WIDE], factors: &[T; ROWS], rows: [&[T; WIDE]; ROWS]) -> [T; WIDE] {
    let mut sums = *sums;
    for k in 0..ROWS {
        sums = plus_multiple::<T, WIDE, FUSED>(&sums, factors[k], rows[k]);
    }
    sums
}

/// The inverse of the block at the beginning of the rows; `None` where a pivot is not sound.
#[inline(always)]
fn block_inverse<T: Real>(rows: [&[T]; ROWS], diagonal: &[T; ROWS]) -> Option<[[T; ROWS]; ROWS]> {
    let mut block = [[T::ZERO; ROWS]; ROWS];
    for (to, row) in block.iter_mut().zip(rows) {
        to.copy_from_slice(&row[..ROWS]);
    }
    for k in 0..ROWS {
        let pivot = block[k][k];
        if !is_sound(pivot, diagonal[k]) {
            return None;
        }
        block[k][k] = T::ONE;
        block[k] = scaled(&block[k], pivot.recip());
        for i in (0..ROWS).filter(|&i| i != k) {
            let factor = -std::mem::replace(&mut block[i][k], T::ZERO);
            block[i] = plus_multiple::<T, ROWS, false>(&block[i], factor, &block[k]);
        }
    }
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registers::tests::in_all;

    fn largest_error<T: Real>(n: usize) -> f64 {
        let b: Vec<f64> = (0..n * n).map(|k| ((k * k) as f64 * 0.7 + k as f64).sin()).collect();
        let entry = |i: usize, j: usize| (0..n).map(|k| b[k * n + i] * b[k * n + j]).sum::<f64>() / n as f64;
        let matrix: Vec<f64> =
            (0..n * n).map(|k| entry(k / n, k % n) + if k / n == k % n { 0.1 } else { 0.0 }).collect();
        let mut inverse: Vec<T> = matrix.iter().map(|&number| T::from_f64(number)).collect();
        assert!(invert(&mut inverse, n, &mut vec![T::ZERO; scratch_len(n)]));
        let mut largest = 0.0_f64;
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..n).map(|k| matrix[i * n + k] * inverse[k * n + j].to_f64()).sum();
                largest = largest.max((product - f64::from(u8::from(i == j))).abs());
            }
        }
        largest
    }

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        in_all(|| {
            for n in [1, 2, 3, 10, 16, 17, 31, 48, 63, 64, 65, 79, 100, 128, 129, 131, 200] {
                assert!(largest_error::<f64>(n) < 1e-12, "{n}");
                assert!(largest_error::<f32>(n) < 1e-3, "{n}");
            }
        });
    }

    #[test]
    fn what_is_not_definite_is_refused() {
        for n in [2, 30, 60, 100] {
            let mut ones = vec![1.0_f64; n * n];
            assert!(!invert(&mut ones, n, &mut vec![0.0; scratch_len(n)]), "{n}");
            let mut nan = vec![f64::NAN; n * n];
            assert!(!invert(&mut nan, n, &mut vec![0.0; scratch_len(n)]), "{n}");
        }
    }
}
