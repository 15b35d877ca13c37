//! Triangular matrices: Cholesky factors of small systems, substitution, and the triangle of a QR factorisation that
//! absorbs rows as they come. Matrices are row-major slices.

use super::vector::{add_scaled, dot};
use crate::Real;

/// A pivot that is smaller than its diagonal by this factor is mostly rounding error.
fn lost_digits<T: Real>() -> T {
    T::EPSILON * T::from_f64(1e3)
}

/// The pivot can be trusted: it is not what rounding left of the diagonal entry it was made from.
#[inline]
pub(super) fn is_sound<T: Real>(pivot: T, diagonal: T) -> bool {
    pivot > lost_digits::<T>() * diagonal && pivot.is_finite()
}

/// The square-root-free Cholesky factorisation `A = LDLᵀ`: overwrites the strict lower triangle of the symmetric `a` with
/// the unit triangle `L`, and fills `inverse_pivots` with `D⁻¹`. Returns `false` at the first pivot that is not sound.
///
/// Unblocked, `n³/3` flops: for small systems and for sizes known at compile time.
#[inline]
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
        for (entry, &inverse) in row[..i].iter_mut().zip(&*inverse_pivots) {
            let scaled = *entry * inverse;
            pivot -= *entry * scaled;
            *entry = scaled;
        }
        if !is_sound(pivot, diagonal) {
            return false;
        }
        inverse_pivots[i] = pivot.recip();
    }
    true
}

/// Solves `LDLᵀx = b` in place.
#[inline]
pub(crate) fn solve_cholesky<T: Real>(l: &[T], inverse_pivots: &[T], b: &mut [T]) {
    let n = b.len();
    forward(l, b);
    for (b, &inverse) in b.iter_mut().zip(inverse_pivots) {
        *b *= inverse;
    }
    for i in (1..n).rev() {
        let x = b[i];
        add_scaled(&mut b[..i], -x, &l[i * n..i * n + i]);
    }
}

/// `bᵀ(LDLᵀ)⁻¹b`; `b` is overwritten.
#[inline]
pub(crate) fn cholesky_inverse_form<T: Real>(l: &[T], inverse_pivots: &[T], b: &mut [T]) -> T {
    forward(l, b);
    b.iter().zip(inverse_pivots).fold(T::ZERO, |sum, (&b, &inverse)| sum + b * b * inverse)
}

/// Solves `Lx = b` in place, `L` lower triangular with ones on the diagonal.
#[inline]
fn forward<T: Real>(l: &[T], b: &mut [T]) {
    let n = b.len();
    for i in 1..n {
        b[i] -= dot(&l[i * n..i * n + i], &b[..i]);
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

/// Absorbs rows `[J r]` into the upper triangle `R` and the rotated right-hand side `Qᵀr` by Householder reflections:
/// afterwards `RᵀR` has grown by `JᵀJ`. `jacobian` and `r` are overwritten; what is left in `r` is the part of the
/// right-hand side that no column reaches. `w` is scratch for `n` numbers.
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
    for k in 0..n {
        let row = &mut triangle[k * n..k * n + n];
        let column = jacobian.iter().skip(k).step_by(n);
        if column.clone().all(|&a| a == T::ZERO) {
            continue;
        }
        // In units of the largest entry the squares neither over- nor underflow.
        let largest = column.clone().fold(row[k].abs(), |largest, &a| largest.max(a.abs()));
        let sum = column.fold((row[k] / largest).powi(2), |sum, &a| sum + (a / largest).powi(2));
        // The sign is the one with which nothing cancels. The reflector is I − τvvᵀ with v₀ = 1 and vᵢ = aᵢ · inverse.
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
