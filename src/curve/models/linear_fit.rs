//! Linear least squares with a few columns.

use std::iter::zip;
use std::ops::Range;

use crate::kernels::vector::dot;

/// A column that the others explain to this part has nothing to add.
const DEPENDENT: f64 = 1e-10;

/// Sums of squares of which none that counts was lost.
const SQUARES: Range<f64> = 1e-250..1e300;

/// Fills in a column: the responses at these parameters, with one linear parameter at 1 and the other linear ones at 0.
pub(super) type Column<'c> = dyn FnMut(&[f64], &mut [f64]) + 'c;

/// The fit of data by columns, which orthogonalises them in turn (modified Gram–Schmidt).
pub(super) struct LinearFit {
    rows: usize,
    /// Columns one after the other.
    columns: Vec<f64>,
    /// A row for each column `j` of its coefficients in the columns `k > j`, and the reciprocal of its own norm at `k = j`.
    shares: Vec<f64>,
}

impl LinearFit {
    /// Creates a linear fit of `rows` data by `columns` columns.
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        LinearFit { rows, columns: vec![0.0; rows * columns], shares: vec![0.0; columns * columns] }
    }

    /// Returns orthogonal columns that span those of the linear ones of the parameters: each has norm one, or zero where it depends on
    /// those before.
    pub(super) fn orthonormal(&mut self, linear: &[usize], b: &mut [f64], response: &mut Column<'_>) -> &[f64] {
        linear.iter().for_each(|&index| b[index] = 0.0);
        for (k, &index) in linear.iter().enumerate() {
            let (before, rest) = self.columns.split_at_mut(k * self.rows);
            let column = &mut rest[..self.rows];
            b[index] = 1.0;
            response(b, column);
            b[index] = 0.0;
            let size = norm(column);
            for (j, other) in before.chunks_exact(self.rows.max(1)).enumerate() {
                self.shares[j * linear.len() + k] = take(other, column);
            }
            let remaining = if k == 0 { size } else { norm(column) };
            let dependent = !(remaining > DEPENDENT * size);
            let factor = if dependent { 0.0 } else { remaining.recip() };
            column.iter_mut().for_each(|value| *value *= factor);
            self.shares[k * linear.len() + k] = factor;
        }
        &self.columns
    }

    /// Solves for the linear ones of the parameters, and returns the sum of squares that is left.
    pub(super) fn solve(&mut self, y: &[f64], linear: &[usize], b: &mut [f64], response: &mut Column<'_>) -> f64 {
        self.orthonormal(linear, b, response);
        let mut left = y.to_vec();
        let columns = self.columns.chunks_exact(self.rows.max(1));
        let coefficients: Vec<f64> = columns.map(|column| take(column, &mut left)).collect();
        for (k, coefficient) in coefficients.iter().enumerate().rev() {
            let shares = &self.shares[k * linear.len()..][..linear.len()];
            let later: f64 = (k + 1..linear.len()).map(|j| shares[j] * b[linear[j]]).sum();
            b[linear[k]] = (coefficient - later) * shares[k];
        }
        dot(&left, &left)
    }
}

fn norm(column: &[f64]) -> f64 {
    let square = dot(column, column);
    if SQUARES.contains(&square) {
        return square.sqrt();
    }
    let size = column.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    if !(size > 0.0) || !size.is_finite() {
        return size;
    }
    size * column.iter().map(|value| (value / size).powi(2)).sum::<f64>().sqrt()
}

/// Subtracts from `of` its projection on `direction`, a unit vector or zero, and returns the coefficient.
fn take(direction: &[f64], of: &mut [f64]) -> f64 {
    let share = dot(direction, of);
    zip(direction, of).for_each(|(d, value)| *value -= share * d);
    share
}
