//! Linear least squares with a few columns.

use std::iter::zip;
use std::ops::Range;

use crate::kernels::vector::dot;

/// A column that the others explain to this part has nothing to add.
const DEPENDENT: f64 = 1e-10;

/// Sums of squares of which none that counts was lost.
const SQUARES: Range<f64> = 1e-250..1e300;

/// The fit of data by columns, which orthogonalises them in turn (modified Gram–Schmidt).
pub(super) struct LinearFit<'a> {
    y: &'a [f64],
    left: Vec<f64>,
    columns: Vec<Vec<f64>>,
    /// Coefficient of column `j` in column `k`, for `j < k`.
    shares: Vec<Vec<f64>>,
}

impl<'a> LinearFit<'a> {
    /// Creates a linear fit of these data by `columns` columns.
    pub(super) fn new(y: &'a [f64], columns: usize) -> Self {
        LinearFit {
            y,
            left: Vec::new(),
            columns: vec![vec![0.0; y.len()]; columns],
            shares: vec![vec![0.0; columns]; columns],
        }
    }

    /// Solves for the linear ones of the parameters, and returns the sum of squares that is left. The response to them is
    /// put in a column, without offset.
    pub(super) fn solve(
        &mut self,
        linear: &[usize],
        b: &mut [f64],
        response: &mut dyn FnMut(&[f64], &mut [f64]),
    ) -> f64 {
        self.left.clear();
        self.left.extend_from_slice(self.y);
        linear.iter().for_each(|&index| b[index] = 0.0);
        let mut coefficients = vec![0.0; linear.len()];
        for k in 0..linear.len() {
            let (before, rest) = self.columns.split_at_mut(k);
            let column = &mut rest[0];
            b[linear[k]] = 1.0;
            response(b, column);
            b[linear[k]] = 0.0;
            let size = norm(column);
            for (j, other) in before.iter().enumerate() {
                self.shares[j][k] = take(other, column);
            }
            let remaining = norm(column);
            let dependent = !(remaining > DEPENDENT * size);
            let factor = if dependent { 0.0 } else { remaining.recip() };
            column.iter_mut().for_each(|value| *value *= factor);
            self.shares[k][k] = factor;
            coefficients[k] = take(column, &mut self.left);
        }
        for k in (0..linear.len()).rev() {
            let later: f64 = (k + 1..linear.len()).map(|j| self.shares[k][j] * b[linear[j]]).sum();
            b[linear[k]] = (coefficients[k] - later) * self.shares[k][k];
        }
        dot(&self.left, &self.left)
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
