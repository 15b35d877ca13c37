//! Pseudo-inverse of a triangle whose columns have length one.

use crate::kernels::triangular_inverse::invert_upper;
use crate::kernels::vector::{all_finite, dot};
use crate::real::Real;

/// Number of parameters from which the inverse is tried before singular values.
pub(super) const MANY_PARAMETERS: usize = 16;

/// The inverse is taken if the smallest singular value is at least this many times what counts as zero.
const CERTAIN: f64 = 8.0;

/// A matrix `F` with `F Fᵀ = (RᵀR)⁺`.
pub(super) struct PseudoInverse<T> {
    /// `F`, with a row for each column of `R`.
    pub(super) entries: Vec<T>,
    /// Columns of `F`: the rank of `R`.
    pub(super) rank: usize,
    /// Length of each unit vector's part in the null space of `R`.
    pub(super) freedom: Vec<T>,
}

impl<T: Real> PseudoInverse<T> {
    /// Inverts a matrix with `n` rows, which is upper triangular if its columns are all in use. Singular values of up to `rounding` times
    /// the largest count as zero. `None` if an entry is not finite.
    pub(super) fn of(scaled: Vec<T>, n: usize, rounding: T) -> Option<Self> {
        if n >= MANY_PARAMETERS && all_finite(&scaled) {
            let mut inverse = scaled.clone();
            invert_upper(&mut inverse, n);
            // The largest singular value is at most √n, as columns have length one; the smallest is at least 1 / ‖R⁻¹‖.
            let condition = dot(&inverse, &inverse).sqrt() * T::from_f64(n as f64).sqrt();
            if condition * rounding * T::from_f64(CERTAIN) <= T::ONE {
                return Some(PseudoInverse { entries: inverse, rank: n, freedom: vec![T::ZERO; n] });
            }
        }
        Self::by_singular_values(&scaled, n, rounding)
    }

    fn by_singular_values(scaled: &[T], n: usize, rounding: T) -> Option<Self> {
        let (values, vectors) = T::singular_values(scaled, n)?;
        let noise = values[0] * rounding;
        let rank = values.iter().filter(|&&value| value > noise).count();
        let (seen, unseen) = vectors.split_at(rank * n);
        let freedom = |j: usize| unseen.iter().skip(j).step_by(n).fold(T::ZERO, |sum, &v| sum + v * v).sqrt();
        let entries = (0..n * rank).map(|at| seen[at % rank * n + at / rank] / values[at % rank]).collect();
        Some(PseudoInverse { entries, rank, freedom: (0..n).map(freedom).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A triangle with columns of length one, the last two of which differ by about `apart`.
    fn triangle(n: usize, apart: f64) -> Vec<f64> {
        let mut r = vec![0.0; n * n];
        for j in 0..n {
            (0..=j).for_each(|i| r[i * n + j] = if i == j { 2.0 } else { ((i * 3 + j * j) as f64).sin() / n as f64 });
        }
        for i in 0..n - 1 {
            r[i * n + n - 1] = r[i * n + n - 2];
        }
        r[n * n - 1] = 2.0 * apart;
        for j in 0..n {
            let length = (0..n).map(|i| r[i * n + j].powi(2)).sum::<f64>().sqrt();
            (0..n).for_each(|i| r[i * n + j] /= length);
        }
        r
    }

    /// `F Fᵀ` is the same by the inverse and by singular values, wherever the inverse is taken; where it is not, the rank is.
    #[test]
    fn both_ways_agree() {
        let n = 40;
        for apart in [1.0, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0] {
            let rounding = f64::EPSILON * n as f64;
            let (scaled, by) = (triangle(n, apart), PseudoInverse::by_singular_values);
            let (one, other) =
                (PseudoInverse::of(scaled.clone(), n, rounding).unwrap(), by(&scaled, n, rounding).unwrap());
            assert_eq!((one.rank, apart > 1e-13), (other.rank, one.rank == n), "{apart}");
            let square = |of: &PseudoInverse<f64>, i: usize, j: usize| {
                dot(&of.entries[i * of.rank..(i + 1) * of.rank], &of.entries[j * of.rank..(j + 1) * of.rank])
            };
            for (i, j) in (0..n * n).map(|at| (at / n, at % n)) {
                let size = (square(&other, i, i) * square(&other, j, j)).sqrt();
                let error = (square(&one, i, j) - square(&other, i, j)).abs();
                assert!(error <= 1e-13 / apart.max(1e-13) * size, "{apart}: {error} of {size} at {i}, {j}");
            }
        }
    }

    #[test]
    fn what_is_not_finite_has_no_inverse() {
        for strange in [f64::NAN, f64::INFINITY] {
            let mut scaled = triangle(40, 1.0);
            scaled[3] = strange;
            assert!(PseudoInverse::of(scaled, 40, 1e-14).is_none());
        }
    }

    /// A column of zeros is that of a parameter which is held.
    #[test]
    fn a_column_of_zeros_has_no_part() {
        let mut scaled = triangle(40, 1.0);
        scaled.iter_mut().skip(7).step_by(40).for_each(|entry| *entry = 0.0);
        let inverse = PseudoInverse::of(scaled, 40, 1e-14).unwrap();
        assert_eq!(inverse.rank, 39);
        assert!((inverse.freedom[7] - 1.0).abs() < 1e-12 && inverse.freedom[8] < 1e-12);
    }
}
