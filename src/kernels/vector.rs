//! Operations on vectors.
//!
//! All but [`long_dot`] are inlined wherever they are called, so that vectors whose length the compiler knows cost no loops.

use super::simd::{self, Kernel, multiply_add};
use crate::real::Real;

/// Partial sums kept side by side, so that a long sum runs in vector registers and rounds less.
const LANES: usize = 4;

/// Partial sums of [`long_dot`]: enough registers to hide the latency of an addition.
const LONG_LANES: usize = 64;

/// `aᵀb`.
#[inline(always)]
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    if a.len() < 2 * LANES {
        return a.iter().zip(b).fold(T::ZERO, |sum, (&a, &b)| sum + a * b);
    }
    dot_in_lanes::<T, LANES, false>(a, b)
}

/// `aᵀb` by `LANES` partial sums, which are added to that of the entries beyond the last whole block.
#[inline(always)]
pub(super) fn dot_in_lanes<T: Real, const LANES: usize, const FUSED: bool>(a: &[T], b: &[T]) -> T {
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [T::ZERO; LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            lanes[lane] = multiply_add::<T, FUSED>(a[lane], b[lane], lanes[lane]);
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(T::ZERO, |sum, (&a, &b)| multiply_add::<T, FUSED>(a, b, sum));
    lanes.into_iter().fold(rest, |sum, lane| sum + lane)
}

/// `aᵀb` of thousands of entries, in the widest registers; not inlined.
pub(crate) fn long_dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut product = T::ZERO;
    simd::run(LongDot { a, b, product: &mut product });
    product
}

/// `product = aᵀb`.
struct LongDot<'a, T> {
    a: &'a [T],
    b: &'a [T],
    product: &'a mut T,
}

impl<T: Real> Kernel for LongDot<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let (a_blocks, a_rest) = self.a.as_chunks::<LONG_LANES>();
        let (b_blocks, b_rest) = self.b.as_chunks::<LONG_LANES>();
        let mut lanes = [T::ZERO; LONG_LANES];
        for (a, b) in a_blocks.iter().zip(b_blocks) {
            for lane in 0..LONG_LANES {
                lanes[lane] += a[lane] * b[lane];
            }
        }
        *self.product = lanes.into_iter().fold(dot(a_rest, b_rest), |sum, lane| sum + lane);
    }
}

/// Sets subnormal entries to zero: products with them take some processors a hundred times as long as others.
pub(crate) fn drop_subnormals<T: Real>(entries: &mut [T]) {
    simd::run(DropSubnormals { entries });
}

struct DropSubnormals<'a, T> {
    entries: &'a mut [T],
}

impl<T: Real> Kernel for DropSubnormals<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        for entry in self.entries {
            *entry = entry.abs().select_less(T::MIN_POSITIVE, T::ZERO, *entry);
        }
    }
}

/// `y += αx`.
#[inline(always)]
pub(crate) fn add_scaled<T: Real>(y: &mut [T], alpha: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += alpha * x;
    }
}

/// Copies a few entries, without a call for the common sizes 1, 2, 3, 6 and 9.
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

/// [`copy_few`] for `N` entries.
#[inline(always)]
fn copy_array<T: Copy, const N: usize>(from: &[T], to: &mut [T]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
        *to = *from;
    }
}

/// Product of the first `N` entries, or of all if `N` is zero.
#[inline(always)]
pub(crate) fn dot_sized<T: Real, const N: usize>(a: &[T], b: &[T]) -> T {
    if N == 0 {
        return dot(a, b);
    }
    let (Some(a), Some(b)) = (a.first_chunk::<N>(), b.first_chunk::<N>()) else { return T::ZERO };
    // Sums that do not wait for each other.
    let mut sums = [T::ZERO; 4];
    for i in 0..N {
        sums[i % 4] += a[i] * b[i];
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Adds a multiple of the first `N` entries, or of all if `N` is zero. Copies tell the compiler that the slices do not overlap.
#[inline(always)]
pub(crate) fn add_scaled_sized<T: Real, const N: usize>(y: &mut [T], factor: T, x: &[T]) {
    if N == 0 {
        return add_scaled(y, factor, x);
    }
    let (Some(y), Some(&x)) = (y.first_chunk_mut::<N>(), x.first_chunk::<N>()) else { return };
    let mut sums = *y;
    for i in 0..N {
        sums[i] += factor * x[i];
    }
    *y = sums;
}

/// `y += Jᵀw` for rows of as many entries as `y` has.
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

/// Returns true if all entries are finite.
#[inline(always)]
pub(crate) fn all_finite<T: Real>(x: &[T]) -> bool {
    x.iter().all(|x| x.is_finite())
}

/// Returns true if a sum of squares has lost digits to underflow.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::registers::tests::in_all;

    #[test]
    fn subnormal_entries_alone_become_zero() {
        fn drops<T: Real>() {
            let smallest = T::MIN_POSITIVE;
            let below = smallest * T::from_f64(0.75);
            let kept = [T::ZERO, smallest, -smallest, T::ONE, -T::INFINITY, T::from_f64(f64::NAN)];
            for count in [0, 1, 5, 40, 100] {
                let mut entries: Vec<T> = (0..count).map(|i| if i % 7 < 6 { kept[i % 7] } else { -below }).collect();
                drop_subnormals(&mut entries);
                for (i, entry) in entries.iter().map(|entry| entry.to_f64()).enumerate() {
                    let expected = if i % 7 < 6 { kept[i % 7].to_f64() } else { 0.0 };
                    assert!(entry == expected || entry.is_nan() && expected.is_nan(), "{i}: {entry}");
                }
            }
        }
        in_all(|| {
            drops::<f32>();
            drops::<f64>();
        });
    }

    #[test]
    fn long_products_are_those_of_any_length() {
        for n in [0, 1, 3, 63, 64, 65, 200, 1000] {
            // Whole numbers, so that sums are exact in any order.
            let a: Vec<f32> = (0..n).map(|i| (i % 17) as f32 - 5.0).collect();
            let b: Vec<f32> = (0..n).map(|i| (i % 23) as f32 - 11.0).collect();
            let expected: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!((long_dot(&a, &b), dot(&a, &b)), (expected, expected));
        }
    }
}
