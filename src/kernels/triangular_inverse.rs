//! Inverses of triangular matrices.

use super::dense::Factor;
use super::vector::add_scaled;
use crate::real::Real;

/// Largest number of rows that are inverted one by one; more are cut in two.
const SMALL: usize = 48;

/// Overwrites an upper triangle `R`, with zeros below the diagonal, with its inverse. Where `R` is singular, entries are not finite.
///
/// By blocks: the inverse of `[A B; 0 C]` is `[A⁻¹ −A⁻¹BC⁻¹; 0 C⁻¹]`. About `⅔n³` flops, nearly all in products; `n²/2` numbers of memory at
/// a time.
pub(crate) fn invert_upper<T: Real>(r: &mut [T], n: usize) {
    if n <= SMALL {
        return invert_rows(r, n);
    }
    let k = n / 2;
    let m = n - k;
    let part = |r: &[T], from: usize, count: usize, columns: std::ops::Range<usize>| {
        r.chunks_exact(n).skip(from).take(count).flat_map(|row| &row[columns.clone()]).copied().collect::<Vec<T>>()
    };
    let (mut a, mut b, mut c) = (part(r, 0, k, 0..k), part(r, 0, k, k..n), part(r, k, m, k..n));
    invert_upper(&mut a, k);
    invert_upper(&mut c, m);
    let mut product = vec![T::ZERO; k * m];
    T::multiply(&mut product, false, Factor::Plain(&a), &b, k, m);
    T::multiply(&mut b, false, Factor::Plain(&product), &c, m, m);
    for (i, row) in r.chunks_exact_mut(n).enumerate() {
        if i < k {
            row[..k].copy_from_slice(&a[i * k..][..k]);
            row[k..].iter_mut().zip(&b[i * m..]).for_each(|(entry, &product)| *entry = -product);
        } else {
            row[k..].copy_from_slice(&c[(i - k) * m..][..m]);
        }
    }
}

/// [`invert_upper`] from the last row to the first: a row of the inverse is a combination of those below.
fn invert_rows<T: Real>(r: &mut [T], n: usize) {
    for i in (0..n).rev() {
        let (above, below) = r.split_at_mut((i + 1) * n);
        let row = &mut above[i * n..];
        let factors = row.to_vec();
        let pivot = factors[i].recip();
        row[i..].fill(T::ZERO);
        for (k, inverse) in below.chunks_exact(n).enumerate().map(|(k, inverse)| (i + 1 + k, inverse)) {
            add_scaled(&mut row[k..], -factors[k], &inverse[k..]);
        }
        row[i + 1..].iter_mut().for_each(|entry| *entry *= pivot);
        row[i] = pivot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registers::tests::in_all;

    /// Largest entry of `RR⁻¹ − I`, for a well-conditioned `R`.
    fn largest_error<T: Real>(n: usize) -> f64 {
        let entry = |i: usize, j: usize| match j.cmp(&i) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0 + 0.5 * (i as f64).sin(),
            std::cmp::Ordering::Greater => ((i * i + 7 * j) as f64).sin() / n as f64,
        };
        let matrix: Vec<T> = (0..n * n).map(|k| T::from_f64(entry(k / n, k % n))).collect();
        let mut inverse = matrix.clone();
        invert_upper(&mut inverse, n);
        let product = |i: usize, j: usize| {
            (i..=j.max(i)).map(|k| matrix[i * n + k].to_f64() * inverse[k * n + j].to_f64()).sum::<f64>()
        };
        let errors = (0..n * n).map(|k| (product(k / n, k % n) - f64::from(u8::from(k / n == k % n))).abs());
        assert!((0..n).all(|i| inverse[i * n..i * n + i].iter().all(|&below| below == T::ZERO)), "{n}");
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn a_triangle_times_its_inverse_is_one() {
        in_all(|| {
            for n in [1, 2, 3, 16, 47, 48, 49, 97, 150] {
                assert!(largest_error::<f64>(n) < 1e-13, "{n}");
                assert!(largest_error::<f32>(n) < 1e-4, "{n}");
            }
        });
    }

    #[test]
    fn a_singular_triangle_has_no_finite_inverse() {
        for n in [3, 100] {
            for zero in [0, n / 2, n - 1] {
                let mut r: Vec<f64> = (0..n * n).map(|k| if k % n >= k / n { 1.0 } else { 0.0 }).collect();
                r[zero * n + zero] = 0.0;
                invert_upper(&mut r, n);
                assert!(!r.iter().all(|entry| entry.is_finite()), "{n}, {zero}");
            }
        }
    }
}
