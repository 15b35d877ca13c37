//! An orthonormal basis of the columns of a matrix.

use crate::kernels::vector::{add_scaled, dot};
use crate::real::Real;

/// Orthonormal columns that span those of a matrix.
pub(super) struct Basis<T> {
    columns: Vec<Vec<T>>,
    rows: usize,
}

impl<T: Real> Basis<T> {
    /// Spans the columns of a matrix with rows of `n`; those that depend on earlier ones, within rounding, add nothing.
    pub(super) fn of_columns(matrix: &[T], n: usize) -> Self {
        let rows = matrix.len() / n;
        let mut basis = Basis { columns: Vec::new(), rows };
        let noise = T::from_f64(10.0 * rows.max(n) as f64) * T::EPSILON;
        for j in 0..n {
            let mut column: Vec<T> = matrix.iter().skip(j).step_by(n).copied().collect();
            normalize(&mut column);
            basis.reject(&mut column);
            if normalize(&mut column) > noise {
                basis.columns.push(column);
            }
        }
        basis
    }

    /// Subtracts from `v` its projection on the span. Twice, so that rounding leaves nothing of it.
    pub(super) fn reject(&self, v: &mut [T]) {
        for column in self.columns.iter().chain(&self.columns) {
            let along = dot(column, v);
            add_scaled(v, -along, column);
        }
    }

    /// The diagonal of the projection onto the span.
    pub(super) fn leverages(&self) -> Vec<T> {
        let mut leverages = vec![T::ZERO; self.rows];
        for column in &self.columns {
            leverages.iter_mut().zip(column).for_each(|(leverage, &q)| *leverage += q * q);
        }
        leverages
    }
}

/// Brings a vector to length one, and returns the length that it had.
fn normalize<T: Real>(v: &mut [T]) -> T {
    let largest = v.iter().fold(T::ZERO, |largest, value| largest.max(value.abs()));
    if !(largest > T::ZERO) {
        return T::ZERO;
    }
    // By the largest, so that no square over- or underflows.
    v.iter_mut().for_each(|value| *value /= largest);
    let length = dot(v, v).sqrt();
    v.iter_mut().for_each(|value| *value /= length);
    largest * length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leverages_are_the_diagonal_of_the_projection() {
        // A constant and a straight line, the latter twice, in units far apart.
        let x = [0.0, 1.0, 2.0, 3.0, 6.0];
        let matrix: Vec<f64> = x.iter().flat_map(|&x| [1e-200, 1e200 * x, 3e200 * x]).collect();
        let basis = Basis::of_columns(&matrix, 3);
        let mean = x.iter().sum::<f64>() / 5.0;
        let spread: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
        for (leverage, x) in basis.leverages().iter().zip(x) {
            assert!((leverage - (0.2 + (x - mean).powi(2) / spread)).abs() < 1e-14, "{leverage}");
        }
        let mut line = x.map(|x| 2.0 - 7.0 * x);
        basis.reject(&mut line);
        assert!(line.iter().all(|rest| rest.abs() < 1e-13), "{line:?}");
    }
}
