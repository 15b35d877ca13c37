//! Cholesky factors of small matrices, `W = LLᵀ`, of as many rows as a curve has responses.

use crate::real::Real;

/// Replaces the lower triangle of `w`, of `n` rows, by `L`. Where `W` is not positive definite, entries are NaN or infinite.
pub(super) fn factorize<T: Real>(w: &mut [T], n: usize) {
    for column in 0..n {
        let pivot = (0..column).fold(w[column * n + column], |rest, k| rest - w[column * n + k] * w[column * n + k]);
        let root = pivot.sqrt();
        w[column * n + column] = root;
        for row in column + 1..n {
            let rest = (0..column).fold(w[row * n + column], |rest, k| rest - w[row * n + k] * w[column * n + k]);
            w[row * n + column] = rest / root;
        }
    }
}

/// `L⁻¹B` in place; `b` has `n` rows of `columns`.
pub(super) fn solve<T: Real>(l: &[T], n: usize, b: &mut [T], columns: usize) {
    for row in 0..n {
        let (above, below) = b.split_at_mut(row * columns);
        let own = &mut below[..columns];
        for (k, other) in above.chunks_exact(columns).enumerate() {
            let factor = l[row * n + k];
            own.iter_mut().zip(other).for_each(|(value, &other)| *value -= factor * other);
        }
        own.iter_mut().for_each(|value| *value /= l[row * n + row]);
    }
}

/// `L⁻ᵀb` in place.
pub(super) fn solve_transposed<T: Real>(l: &[T], n: usize, b: &mut [T]) {
    for row in (0..n).rev() {
        let rest = (row + 1..n).fold(b[row], |rest, k| rest - l[k * n + row] * b[k]);
        b[row] = rest / l[row * n + row];
    }
}
