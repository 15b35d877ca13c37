//! Triangular matrices: Cholesky factors of small systems, substitution, and the triangle of a QR factorisation that
//! absorbs rows as they come. Matrices are row-major slices.

use super::vector::{add_scaled, all_finite, dot};
use crate::real::Real;

/// A pivot that is smaller than its diagonal by this factor is mostly rounding error.
pub(crate) fn lost_digits<T: Real>() -> T {
    T::EPSILON * T::from_f64(1e3)
}

/// Returns true if the pivot is larger than the rounding error of the diagonal entry it was computed from.
#[inline(always)]
pub(super) fn is_sound<T: Real>(pivot: T, diagonal: T) -> bool {
    pivot > lost_digits::<T>() * diagonal && pivot.is_finite()
}

/// Largest number of unknowns of a small system, which is factorised and solved in line, by the lower triangle.
pub(super) const SMALL_SYSTEM: usize = 10;

/// The square-root-free Cholesky factorisation `A = LDLᵀ`: reads the lower triangle of the symmetric `a`, overwrites both strict
/// triangles with `L` and `Lᵀ`, and fills `inverse_pivots` with `D⁻¹`. Returns `false` at the first pivot that is not sound.
///
/// Unblocked, `n³/3` flops: for small systems and for sizes known at compile time.
#[inline(always)]
pub(crate) fn cholesky<T: Real>(a: &mut [T], inverse_pivots: &mut [T]) -> bool {
    let n = inverse_pivots.len();
    for i in 0..n {
        let (above, row) = a.split_at_mut(i * n);
        let row = &mut row[..n];
        for k in 0..i {
            row[k] -= dot(&row[..k], &above[k * n..k * n + k]);
        }
        let diagonal = row[i];
        let mut pivot = diagonal;
        for (k, (entry, &inverse)) in row[..i].iter_mut().zip(&*inverse_pivots).enumerate() {
            let scaled = *entry * inverse;
            pivot -= *entry * scaled;
            *entry = scaled;
            above[k * n + i] = scaled;
        }
        if !is_sound(pivot, diagonal) {
            return false;
        }
        inverse_pivots[i] = pivot.recip();
    }
    true
}

/// Solves `LDLᵀx = b` in place, given the triangles that the factorisation has filled.
#[inline(always)]
pub(crate) fn solve_cholesky<T: Real>(factor: &[T], inverse_pivots: &[T], b: &mut [T]) {
    let n = b.len();
    cholesky_forward(factor, b);
    for (b, &inverse) in b.iter_mut().zip(inverse_pivots) {
        *b *= inverse;
    }
    if n > SMALL_SYSTEM {
        return T::substitute_backward(factor, b);
    }
    for i in (1..n).rev() {
        let x = b[i];
        add_scaled(&mut b[..i], -x, &factor[i * n..i * n + i]);
    }
}

/// `bᵀ(LDLᵀ)⁻¹b`, given the triangles that the factorisation has filled; `b` is overwritten.
#[inline(always)]
pub(crate) fn cholesky_inverse_form<T: Real>(factor: &[T], inverse_pivots: &[T], b: &mut [T]) -> T {
    cholesky_forward(factor, b);
    b.iter().zip(inverse_pivots).fold(T::ZERO, |sum, (&b, &inverse)| sum + b * b * inverse)
}

/// Solves `Lx = b` in place, given the triangles that the factorisation has filled.
#[inline(always)]
pub(crate) fn cholesky_forward<T: Real>(factor: &[T], b: &mut [T]) {
    let n = b.len();
    if n > SMALL_SYSTEM {
        return T::substitute_forward(factor, b);
    }
    for i in 1..n {
        b[i] -= dot(&factor[i * n..i * n + i], &b[..i]);
    }
}

/// Solves `Rx = b` in place, `R` upper triangular.
#[inline]
pub(crate) fn solve_upper<T: Real>(r: &[T], b: &mut [T]) {
    let n = b.len();
    for i in (0..n).rev() {
        let row = &r[i * n..i * n + n];
        b[i] = (b[i] - dot(&row[i + 1..], &b[i + 1..])) / row[i];
    }
}

/// Solves `Rᵀx = b` in place, `R` upper triangular.
#[inline]
pub(crate) fn solve_upper_transposed<T: Real>(r: &[T], b: &mut [T]) {
    let n = b.len();
    for i in 0..n {
        let row = &r[i * n..i * n + n];
        let x = b[i] / row[i];
        b[i] = x;
        add_scaled(&mut b[i + 1..], -x, &row[i + 1..]);
    }
}

/// Returns true if the diagonal of column `j` of an upper triangle of `n` columns is more than the rounding error of the column, which the columns
/// before then do not combine to.
pub(crate) fn is_independent<T: Real>(triangle: &[T], n: usize, j: usize) -> bool {
    let column = || triangle.iter().skip(j).step_by(n).take(j + 1);
    // In units of the largest entry the squares neither over- nor underflow.
    let largest = column().fold(T::ZERO, |largest, &a| largest.max(a.abs()));
    let norm = largest * column().fold(T::ZERO, |sum, &a| sum + (a / largest).powi(2)).sqrt();
    triangle[j * n + j].abs() > T::EPSILON * T::from_f64(8.0 * n as f64) * norm
}

/// Number of columns from which rows are absorbed by many reflections at once.
const MANY_COLUMNS: usize = 16;

/// Absorbs rows `[J r]` into the upper triangle `R` and the rotated right-hand side `Qᵀr` by Householder reflections:
/// afterwards `RᵀR` has grown by `JᵀJ`. `jacobian` and `r` are overwritten; `r` keeps the part of the right-hand side that is
/// orthogonal to all columns. `w` is scratch for `n` entries.
///
/// Backward stable (Golub & Van Loan 2013, §5.2); `2bn²` flops for `b` rows, reading rows in storage order.
#[inline]
pub(crate) fn absorb_rows<T: Real>(
    triangle: &mut [T],
    rotated: &mut [T],
    jacobian: &mut [T],
    r: &mut [T],
    w: &mut [T],
) {
    let n = rotated.len();
    if n >= MANY_COLUMNS && scale_columns(triangle, jacobian, w) {
        T::reflect_rows(triangle, rotated, jacobian, r);
        if w.iter().any(|&factor| factor != T::ONE) {
            multiply_columns(triangle, w, T::recip);
        }
        return;
    }
    for k in 0..n {
        let row = &mut triangle[k * n..k * n + n];
        let column = jacobian.iter().skip(k).step_by(n);
        if column.clone().all(|&a| a == T::ZERO) {
            continue;
        }
        // In units of the largest entry the squares neither over- nor underflow.
        let largest = column.clone().fold(row[k].abs(), |largest, &a| largest.max(a.abs()));
        let sum = column.fold((row[k] / largest).powi(2), |sum, &a| sum + (a / largest).powi(2));
        // This sign avoids cancellation. The reflector is I − τvvᵀ with v₀ = 1 and vᵢ = aᵢ · inverse.
        let norm = largest * sum.sqrt();
        let diagonal = if row[k] > T::ZERO { -norm } else { norm };
        let tau = (diagonal - row[k]) / diagonal;
        let inverse = (row[k] - diagonal).recip();
        if !inverse.is_finite() {
            continue;
        }
        row[k] = diagonal;

        let w = &mut w[k + 1..n];
        w.copy_from_slice(&row[k + 1..]);
        let mut w_rhs = rotated[k];
        for (a, &r) in jacobian.chunks_exact(n).zip(&*r) {
            let v = a[k] * inverse;
            add_scaled(w, v, &a[k + 1..]);
            w_rhs += v * r;
        }
        add_scaled(&mut row[k + 1..], -tau, w);
        rotated[k] -= tau * w_rhs;
        for (a, r) in jacobian.chunks_exact_mut(n).zip(&mut *r) {
            let factor = -tau * a[k] * inverse;
            add_scaled(&mut a[k + 1..], factor, w);
            *r += factor * w_rhs;
        }
    }
}

/// Scales columns whose squares would over- or underflow by powers of two, which leaves the reflections unchanged. Fills `factors` with
/// these powers. Returns `false`, and changes nothing, where a column is not finite.
fn scale_columns<T: Real>(triangle: &mut [T], jacobian: &mut [T], factors: &mut [T]) -> bool {
    let is_single = size_of::<T>() == size_of::<f32>();
    let (limit, largest_exponent) = if is_single { (1e15, 120) } else { (1e140, 1000) };
    let limit = T::from_f64(limit);
    factors.fill(T::ZERO);
    for row in triangle.chunks_exact(factors.len()).chain(jacobian.chunks_exact(factors.len())) {
        factors.iter_mut().zip(row).for_each(|(sum, a)| *sum += a.abs());
    }
    if !all_finite(factors) {
        return false;
    }
    let mut are_moderate = true;
    for factor in &mut *factors {
        let sum = *factor;
        let is_moderate = sum == T::ZERO || (sum >= limit.recip() && sum <= limit);
        are_moderate &= is_moderate;
        *factor = if is_moderate {
            T::ONE
        } else {
            let exponent = sum.to_f64().log2() as i32;
            T::from_f64(2.0).powi(-exponent.clamp(-largest_exponent, largest_exponent))
        };
    }
    if !are_moderate {
        multiply_columns(triangle, factors, |factor| factor);
        multiply_columns(jacobian, factors, |factor| factor);
    }
    true
}

/// Multiplies each column by a function of its factor.
fn multiply_columns<T: Real>(rows: &mut [T], factors: &[T], of: impl Fn(T) -> T) {
    for row in rows.chunks_exact_mut(factors.len()) {
        row.iter_mut().zip(factors).for_each(|(a, &factor)| *a *= of(factor));
    }
}

/// Appends the entries on and above the diagonal of an upper triangle, row after row.
pub(crate) fn write_triangle<T: Real>(triangle: &[T], n: usize, numbers: &mut Vec<T>) {
    let rows = triangle.chunks_exact(n).enumerate();
    rows.for_each(|(i, row)| numbers.extend_from_slice(&row[i..]));
}

/// Fills an upper triangle with the entries that [`write_triangle`] has written, and returns the entries that follow.
pub(crate) fn read_triangle<'a, T: Real>(mut numbers: &'a [T], n: usize, triangle: &mut [T]) -> &'a [T] {
    for (i, row) in triangle.chunks_exact_mut(n).enumerate() {
        let (of_row, others) = numbers.split_at(n - i);
        row[..i].fill(T::ZERO);
        row[i..].copy_from_slice(of_row);
        numbers = others;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::kernels::registers::tests::in_all;
    use crate::kernels::{Kernels, Scratch};

    /// `JᵀJ` in full.
    fn gram(rows: &[f64], n: usize) -> Vec<f64> {
        let entry = |i: usize, k: usize| rows.chunks_exact(n).map(|row| row[i] * row[k]).sum();
        (0..n * n).map(|at| entry(at / n, at % n)).collect()
    }

    /// `n`, and more rows than it takes to determine `n` numbers.
    fn tall() -> impl Strategy<Value = (usize, Vec<f64>)> {
        (1..7_usize).prop_flat_map(|n| (Just(n), vec(-1.0..1.0_f64, n * (n + 5))))
    }

    proptest! {
        #[test]
        fn cholesky_solves_what_it_accepts((n, rows) in tall(), x in vec(-1.0..1.0_f64, 7)) {
            let a = gram(&rows, n);
            let x = &x[..n];
            let mut b: Vec<f64> = a.chunks_exact(n).map(|row| dot(row, x)).collect();
            let form = dot(&b, x);
            let (mut factor, mut inverse_pivots, mut copy) = (a, vec![0.0; n], b.clone());
            prop_assume!(cholesky(&mut factor, &mut inverse_pivots));
            solve_cholesky(&factor, &inverse_pivots, &mut b);
            prop_assert!(b.iter().zip(x).all(|(found, x)| (found - x).abs() < 1e-2));
            let found = cholesky_inverse_form(&factor, &inverse_pivots, &mut copy);
            prop_assert!((found - form).abs() <= 1e-8 * (1.0 + form.abs()));
        }

        #[test]
        fn absorbed_rows_add_up((n, rows) in tall(), r in vec(-1.0..1.0_f64, 12), cut in 0..5_usize) {
            let r = &r[..n + 5];
            let (mut triangle, mut rotated, mut w) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; n]);
            let (mut first, mut second) = (rows[..cut * n].to_vec(), rows[cut * n..].to_vec());
            let (mut first_r, mut second_r) = (r[..cut].to_vec(), r[cut..].to_vec());
            absorb_rows(&mut triangle, &mut rotated, &mut first, &mut first_r, &mut w);
            absorb_rows(&mut triangle, &mut rotated, &mut second, &mut second_r, &mut w);
            let expected = gram(&rows, n);
            prop_assert!(gram(&triangle, n).iter().zip(&expected).all(|(found, sum)| (found - sum).abs() < 1e-12));
            // Rotations keep the length of the right-hand side, and Rᵀ(Qᵀr) is Jᵀr.
            let length = dot(&rotated, &rotated) + dot(&first_r, &first_r) + dot(&second_r, &second_r);
            prop_assert!((length - dot(r, r)).abs() < 1e-12);
            for j in 0..n {
                let found: f64 = (0..=j).map(|i| triangle[i * n + j] * rotated[i]).sum();
                let product: f64 = rows.chunks_exact(n).zip(r).map(|(row, r)| row[j] * r).sum();
                prop_assert!((found - product).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn triangles_are_solved_both_ways() {
        let r = [2.0, 1.0, -1.0, 0.0, 4.0, 0.5, 0.0, 0.0, 0.25];
        let mut b = [1.0, 2.0, 3.0];
        solve_upper(&r, &mut b);
        assert_eq!(b, [7.0, -1.0, 12.0]);
        let mut b = [2.0, 5.0, 1.0];
        solve_upper_transposed(&r, &mut b);
        assert_eq!(b, [1.0, 1.0, 6.0]);
    }

    #[test]
    fn a_pivot_of_rounding_errors_is_refused() {
        let tilt = 1e-8;
        let nearly_dependent = [1.0, 0.0, 1.0, 1.0 + tilt * tilt];
        assert!(!cholesky(&mut nearly_dependent.clone(), &mut [0.0; 2]));
        assert!(!cholesky(&mut [f64::NAN], &mut [0.0]));
        assert!(!cholesky(&mut [f64::INFINITY], &mut [0.0]));
    }

    /// Sizes around those at which the kernels change.
    const SIZES: [usize; 14] = [9, 10, 11, 15, 16, 50, 63, 64, 95, 143, 144, 250, 350, 610];

    #[test]
    fn systems_of_every_size_are_solved_and_refused_alike() {
        in_all(|| {
            for n in SIZES {
                let mut a: Vec<f64> = (0..n * n).map(|at| 1.0 / (1.0 + (at / n) as f64 + (at % n) as f64)).collect();
                let mut scratch = Scratch::default();
                let refused = !f64::cholesky(&mut a.clone(), &mut vec![0.0; n], &mut scratch);
                assert!(refused || n < 15, "the Hilbert matrix of {n}");
                a.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal += 1.0);
                solved(&a, n, 1e-12);
                solved(&a.iter().map(|&a| a as f32).collect::<Vec<_>>(), n, 1e-4);
            }
        });
    }

    /// Asserts that the solution for the sums of rows is all ones, and that only the lower triangle is read.
    fn solved<T: Real>(a: &[T], n: usize, tolerance: f64) {
        let b: Vec<T> = a.chunks_exact(n).map(|row| row.iter().copied().sum()).collect();
        let (mut factor, mut inverse_pivots, mut x) = (a.to_vec(), vec![T::ZERO; n], b.clone());
        (0..n).for_each(|i| factor[i * n + i + 1..(i + 1) * n].fill(T::from_f64(f64::NAN)));
        assert!(T::cholesky(&mut factor, &mut inverse_pivots, &mut Scratch::default()));
        solve_cholesky(&factor, &inverse_pivots, &mut x);
        assert!(x.iter().all(|x| (x.to_f64() - 1.0).abs() < tolerance), "{n}: {x:?}");
        let form = cholesky_inverse_form(&factor, &inverse_pivots, &mut b.clone()).to_f64();
        let expected = b.iter().map(|b| b.to_f64()).sum::<f64>();
        assert!((form - expected).abs() < tolerance * expected, "{n}: {form}");
    }

    /// Entries that no pivot can feel are left out by the size of both columns, so that units do not matter: the factor is the same to
    /// the last bit in units that are powers of two.
    #[test]
    fn units_of_columns_do_not_matter() {
        in_all(|| {
            for n in [12, 33, 150] {
                // Couplings that fade with the distance, below the smallest number at the corners.
                let a = |i: usize, j: usize| f64::exp(-0.5 * (i as f64 - j as f64).powi(2));
                let unit = |i: usize| f64::exp2(f64::from(((i * 37) % 400) as i32 - 200));
                let in_units = |unit: &dyn Fn(usize) -> f64| {
                    let mut factor: Vec<f64> =
                        (0..n * n).map(|at| a(at / n, at % n) * unit(at / n) * unit(at % n)).collect();
                    let mut inverse_pivots = vec![0.0; n];
                    assert!(f64::cholesky(&mut factor, &mut inverse_pivots, &mut Scratch::default()));
                    (factor, inverse_pivots)
                };
                let ((factor, pivots), (scaled, scaled_pivots)) = (in_units(&|_| 1.0), in_units(&unit));
                for i in 0..n {
                    assert_eq!(scaled_pivots[i] * unit(i) * unit(i), pivots[i], "{n}: {i}");
                    for j in i + 1..n {
                        assert_eq!(scaled[i * n + j] * unit(i) / unit(j), factor[i * n + j], "{n}: {i} {j}");
                    }
                }
            }
        });
    }

    #[test]
    fn tiny_and_huge_columns_do_not_break_reflections() {
        for scale in [1e-300, 1e-160, 1e150] {
            let (mut triangle, mut w) = ([0.0_f64; 4], [0.0; 2]);
            let mut rows = [3.0 * scale, 1.0, 4.0 * scale, -1.0];
            absorb_rows(&mut triangle, &mut [0.0; 2], &mut rows, &mut [0.0; 2], &mut w);
            assert!((triangle[0].abs() / scale - 5.0).abs() < 1e-12, "{triangle:?}");
            assert!(triangle.iter().all(|r| r.is_finite()));
        }
    }

    /// Columns whose squares would over- or underflow are scaled before they are reflected.
    #[test]
    fn columns_of_all_sizes_are_reflected() {
        in_all(|| {
            let (n, m) = (20, 50);
            let rows: Vec<f64> = (0..m * n).map(|k| ((k * k) as f64 * 0.7 + k as f64).sin()).collect();
            let triangle = |scale: f64| {
                let (mut triangle, mut w, mut r) = (vec![0.0; n * n], vec![0.0; n], vec![0.0; m]);
                let mut rows: Vec<f64> =
                    rows.iter().enumerate().map(|(k, a)| if k % n == 5 { a * scale } else { *a }).collect();
                absorb_rows(&mut triangle, &mut vec![0.0; n], &mut rows, &mut r, &mut w);
                triangle
            };
            let expected = triangle(1.0);
            for scale in [1e-300, 1e-200, 1e-100, 1e100, 1e200] {
                for (k, (found, expected)) in triangle(scale).iter().zip(&expected).enumerate() {
                    let found = if k % n == 5 { found / scale } else { *found };
                    assert!((found - expected).abs() < 1e-12, "{scale}: ({}, {})", k / n, k % n);
                }
            }
        });
    }
}
