//! Inverses of symmetric positive definite matrices.

use super::dense::Factor;
use super::simd::{self, Kernel};
use super::triangular::is_sound;
use crate::kernels::simd::multiply_add;
use crate::real::Real;

/// Largest number of rows of a matrix that is eliminated at once; larger ones are cut in two.
const SMALL: usize = 24;

/// Numbers of room that [`invert`] needs.
pub(crate) fn room(n: usize) -> usize {
    // Both parts of the matrix, a product and what lies between; and then as much for the larger part.
    let mut room = 0;
    let mut n = n;
    while n > SMALL {
        let larger = n - n / 2;
        room += 4 * larger * larger;
        n = larger;
    }
    room
}

/// Overwrites a symmetric positive definite matrix, of which both triangles are given, with its inverse; `false` where a
/// pivot is not sound, and the matrix is spoilt.
///
/// By blocks: `[P Qᵀ; Q S]⁻¹` from `P⁻¹` and the inverse of `S − Q P⁻¹ Qᵀ`. About `2n³` flops, nearly all in products.
pub(crate) fn invert<T: Real>(a: &mut [T], n: usize, memory: &mut [T]) -> bool {
    if n <= SMALL {
        let mut sound = true;
        simd::run(Eliminate { a, n, sound: &mut sound });
        return sound;
    }
    let (k, m) = (n / 2, n - n / 2);
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

/// Gauss–Jordan elimination without pivoting, in place.
struct Eliminate<'a, T> {
    a: &'a mut [T],
    n: usize,
    sound: &'a mut bool,
}

impl<T: Real> Kernel for Eliminate<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Eliminate { a, n, sound } = self;
        let mut diagonal = [T::ZERO; SMALL];
        (0..n).for_each(|i| diagonal[i] = a[i * n + i]);
        let mut pivot_row = [T::ZERO; SMALL];
        for k in 0..n {
            let pivot = a[k * n + k];
            if !is_sound(pivot, diagonal[k]) {
                *sound = false;
                return;
            }
            let inverse = pivot.recip();
            let pivots = &mut pivot_row[..n];
            for (to, &number) in pivots.iter_mut().zip(&a[k * n..(k + 1) * n]) {
                *to = number * inverse;
            }
            pivots[k] = inverse;
            for (i, row) in a.chunks_exact_mut(n).enumerate() {
                if i == k {
                    row.copy_from_slice(pivots);
                    continue;
                }
                let factor = -row[k];
                row[k] = T::ZERO;
                for (number, &pivot) in row.iter_mut().zip(&*pivots) {
                    *number = multiply_add::<T, FUSED>(factor, pivot, *number);
                }
            }
        }
    }
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
        assert!(invert(&mut inverse, n, &mut vec![T::ZERO; room(n)]));
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
            for n in [1, 2, 3, 10, 24, 25, 31, 48, 49, 65, 100, 131] {
                assert!(largest_error::<f64>(n) < 1e-12, "{n}");
                assert!(largest_error::<f32>(n) < 1e-3, "{n}");
            }
        });
    }

    #[test]
    fn what_is_not_definite_is_refused() {
        for n in [2, 30, 60] {
            let mut ones = vec![1.0_f64; n * n];
            assert!(!invert(&mut ones, n, &mut vec![0.0; room(n)]), "{n}");
            let mut nan = vec![f64::NAN; n * n];
            assert!(!invert(&mut nan, n, &mut vec![0.0; room(n)]), "{n}");
        }
    }
}
