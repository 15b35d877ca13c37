//! Operations on vectors.
//!
//! They are inlined wherever they are called, so that vectors whose length the compiler knows cost no loops.

use crate::real::Real;

/// Partial sums kept side by side, so that a long sum runs in vector registers and rounds less.
const LANES: usize = 4;

/// `aᵀb`.
#[inline(always)]
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    if a.len() < 2 * LANES {
        return a.iter().zip(b).fold(T::ZERO, |sum, (&a, &b)| sum + a * b);
    }
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [T::ZERO; LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(T::ZERO, |sum, (&a, &b)| sum + a * b);
    lanes.into_iter().fold(rest, |sum, lane| sum + lane)
}

/// `y += αx`.
#[inline(always)]
pub(crate) fn add_scaled<T: Real>(y: &mut [T], alpha: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += alpha * x;
    }
}

/// Copies a few numbers, in registers if they are as many as the columns of a common block: a call takes longer than the copy.
#[inline(always)]
pub(crate) fn copy_few<T: Copy>(from: &[T], to: &mut [T]) {
    match from.len() {
        1 => copy_array::<T, 1>(from, to),
        2 => copy_array::<T, 2>(from, to),
        3 => copy_array::<T, 3>(from, to),
        6 => copy_array::<T, 6>(from, to),
        9 => copy_array::<T, 9>(from, to),
        _ => to[..from.len()].copy_from_slice(from),
    }
}

/// [`copy_few`] of a number of numbers that the compiler knows.
#[inline(always)]
fn copy_array<T: Copy, const N: usize>(from: &[T], to: &mut [T]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
        *to = *from;
    }
}

/// `y += Jᵀw` for rows of as many numbers as `y` has.
#[inline(always)]
pub(crate) fn add_rows_times<T: Real>(y: &mut [T], rows: &[T], w: &[T]) {
    for (row, &w) in rows.chunks_exact(y.len()).zip(w) {
        add_scaled(y, w, row);
    }
}

/// `‖Dx‖`.
#[inline(always)]
pub(crate) fn scaled_norm<T: Real>(d: &[T], x: &[T]) -> T {
    d.iter().zip(x).fold(T::ZERO, |sum, (&d, &x)| sum + (d * x) * (d * x)).sqrt()
}

/// The length of a vector whose squares may over- or underflow.
pub(crate) fn safe_norm<T: Real>(numbers: impl Iterator<Item = T> + Clone) -> T {
    let unit = numbers.clone().fold(T::ZERO, |sum, number| sum + number.abs());
    if unit == T::ZERO || !unit.is_finite() {
        return unit;
    }
    unit * numbers.fold(T::ZERO, |sum, number| sum + (number / unit) * (number / unit)).sqrt()
}

/// All entries are finite.
#[inline(always)]
pub(crate) fn all_finite<T: Real>(x: &[T]) -> bool {
    x.iter().all(|x| x.is_finite())
}

/// A sum of squares has lost digits to underflow, or all of them.
#[inline(always)]
pub(crate) fn underflows<T: Real>(squares: T) -> bool {
    squares.abs() * T::EPSILON == T::ZERO
}

/// `y = D²x`.
#[inline(always)]
pub(crate) fn scale_twice<T: Real>(y: &mut [T], d: &[T], x: &[T]) {
    for ((y, &d), &x) in y.iter_mut().zip(d).zip(x) {
        *y = d * d * x;
    }
}
