//! The square-root-free Cholesky factorisation of systems of middling size, in vector registers.

use super::simd::{Kernel, multiply_add};
use super::triangular::is_sound;
use crate::Real;

/// Columns eliminated in one pass over the rows below them.
const PANEL: usize = 4;

/// `A = LDLᵀ`: overwrites the strict lower triangle of the row-major `a` with the unit triangle `L`, and fills
/// `inverse_pivots` with `D⁻¹`. What lies above the diagonal is spoilt. `sound` turns `false` at the first pivot that is
/// not, and the factorisation ends there.
///
/// Right-looking: a panel of columns is eliminated and copied, so that what is taken from each row below is a sum of
/// contiguous pieces.
pub(super) struct BlockedCholesky<'a, T> {
    pub(super) a: &'a mut [T],
    pub(super) inverse_pivots: &'a mut [T],
    /// Room for [`PANEL`] columns.
    pub(super) columns: &'a mut [T],
    pub(super) sound: &'a mut bool,
}

/// Numbers of room that a factorisation of size `n` needs.
pub(super) fn room(n: usize) -> usize {
    PANEL * n
}

impl<T: Real> Kernel for BlockedCholesky<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let n = self.inverse_pivots.len();
        // The pivots are judged by the diagonal that they are left of.
        for (j, diagonal) in self.inverse_pivots.iter_mut().enumerate() {
            *diagonal = self.a[j * n + j];
        }
        *self.sound = true;
        let mut first = 0;
        while *self.sound && first < n {
            if first + PANEL <= n {
                *self.sound = panel::<T, PANEL, FUSED>(self.a, self.inverse_pivots, self.columns, first);
                first += PANEL;
            } else {
                *self.sound = panel::<T, 1, FUSED>(self.a, self.inverse_pivots, self.columns, first);
                first += 1;
            }
        }
    }
}

/// Eliminates `WIDTH` columns.
#[inline(always)]
fn panel<T: Real, const WIDTH: usize, const FUSED: bool>(
    a: &mut [T],
    inverse_pivots: &mut [T],
    columns: &mut [T],
    first: usize,
) -> bool {
    let n = inverse_pivots.len();
    let end = first + WIDTH;
    // The columns `L D` of the panel, each by itself, and its uppermost part again.
    let (columns, _) = columns.split_at_mut(WIDTH * n);
    let mut top = [[T::ZERO; WIDTH]; WIDTH];
    let mut inverses = [T::ZERO; WIDTH];
    for i in first..n {
        let row = &mut a[i * n + first..i * n + end];
        let mut eliminated = [T::ZERO; WIDTH];
        let in_panel = (i - first).min(WIDTH);
        for c in 0..WIDTH {
            if i < end && c > i - first {
                break;
            }
            let mut value = row[c];
            for above in 0..c {
                value = multiply_add::<T, FUSED>(-eliminated[above], top[c][above], value);
            }
            columns[c * n + i] = value;
            if c < in_panel {
                eliminated[c] = value * inverses[c];
                row[c] = eliminated[c];
                if i < end {
                    top[in_panel][c] = value;
                }
            }
        }
        if i < end {
            let c = i - first;
            let pivot = columns[c * n + i];
            if !is_sound(pivot, inverse_pivots[i]) {
                return false;
            }
            inverses[c] = pivot.recip();
            inverse_pivots[i] = inverses[c];
        } else {
            let taken = i + 1 - end;
            let row = &mut a[i * n + end..][..taken];
            subtract::<T, WIDTH, FUSED>(row, eliminated, columns, n, end);
        }
    }
    true
}

/// `row −= Σ_c factors[c] · columns[c]`, from the row `end` of the columns on.
#[inline(always)]
fn subtract<T: Real, const WIDTH: usize, const FUSED: bool>(
    row: &mut [T],
    factors: [T; WIDTH],
    columns: &[T],
    n: usize,
    end: usize,
) {
    let pieces: [&[T]; WIDTH] = std::array::from_fn(|c| &columns[c * n + end..][..row.len()]);
    for (j, entry) in row.iter_mut().enumerate() {
        let mut value = *entry;
        for c in 0..WIDTH {
            value = multiply_add::<T, FUSED>(-factors[c], pieces[c][j], value);
        }
        *entry = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `BᵀB + I` for numbers that look random.
    fn positive(n: usize) -> Vec<f64> {
        let b: Vec<f64> = (0..n * n).map(|k| ((k * k) as f64 * 0.7 + k as f64).sin()).collect();
        let entry = |i: usize, j: usize| (0..n).map(|k| b[k * n + i] * b[k * n + j]).sum::<f64>();
        (0..n * n).map(|k| entry(k / n, k % n) + if k / n == k % n { 1.0 } else { 0.0 }).collect()
    }

    fn factorise<const FUSED: bool>(a: &mut [f64], n: usize) -> (Vec<f64>, bool) {
        let (mut inverse_pivots, mut columns, mut sound) = (vec![0.0; n], vec![0.0; room(n)], false);
        let kernel =
            BlockedCholesky { a, inverse_pivots: &mut inverse_pivots, columns: &mut columns, sound: &mut sound };
        kernel.run::<4, FUSED>();
        (inverse_pivots, sound)
    }

    #[test]
    fn the_factors_multiply_to_the_matrix() {
        for n in 1..40 {
            let a = positive(n);
            for fused in [false, true] {
                let mut l = a.clone();
                let (inverse_pivots, sound) =
                    if fused { factorise::<true>(&mut l, n) } else { factorise::<false>(&mut l, n) };
                assert!(sound);
                let unit = |i: usize, j: usize| if i == j { 1.0 } else { l[i * n + j] };
                for i in 0..n {
                    for j in 0..=i {
                        let product: f64 = (0..=j).map(|k| unit(i, k) * unit(j, k) / inverse_pivots[k]).sum();
                        assert!(
                            (product - a[i * n + j]).abs() < 1e-12 * n as f64 * a[0].abs().max(n as f64),
                            "{n}: {i} {j}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_pivot_that_is_rounding_is_not_sound() {
        for n in 2..12 {
            let mut a = positive(n);
            // The last row is the first.
            for j in 0..n {
                a[(n - 1) * n + j] = a[j];
            }
            a[n * n - 1] = a[0];
            assert!(!factorise::<true>(&mut a, n).1, "{n}");
        }
    }
}
