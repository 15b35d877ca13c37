//! Rows of data in which the start of a fit is sought.

use std::iter::zip;

use super::program::Program;
use crate::curve::model_rows::backwards;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Rows of data: `width` predictors each, and a response.
#[derive(Debug, Clone)]
pub(super) struct Sample {
    pub(super) x: Vec<f64>,
    pub(super) width: usize,
    pub(super) y: Vec<f64>,
}

impl Sample {
    /// At most `points` of the finite rows: means of neighbours, or, of several predictors, rows from all over the data.
    pub(super) fn of<T: Real>(x: &[T], y: &[T], width: usize, points: usize) -> Self {
        let rows =
            zip(x.chunks_exact(width), y).map(|(x, y)| x.iter().chain([y]).map(|value| value.to_f64()).collect());
        let mut rows: Vec<Vec<f64>> = rows.filter(|row: &Vec<f64>| row.iter().all(|value| value.is_finite())).collect();
        let group = rows.len().div_ceil(points).max(1);
        if width == 1 {
            rows.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
            let mean = |rows: &[Vec<f64>], k: usize| rows.iter().map(|row| row[k] / rows.len() as f64).sum();
            rows = rows.chunks(group).map(|rows| vec![mean(rows, 0), mean(rows, 1)]).collect();
        } else if group > 1 {
            let place = |k: usize| ((0.618_034 * k as f64).fract() * rows.len() as f64) as usize;
            rows = (0..points).map(|k| rows[place(k)].clone()).collect();
        }
        let y = rows.iter().map(|row| row[width]).collect();
        Sample { x: rows.iter().flat_map(|row| &row[..width]).copied().collect(), width, y }
    }

    /// The predictors of a row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.x[row * self.width..(row + 1) * self.width]
    }

    /// The values of a predictor, ascending.
    pub(super) fn column(&self, column: usize) -> Vec<f64> {
        let mut column: Vec<f64> = self.x.iter().skip(column).step_by(self.width).copied().collect();
        column.sort_by(f64::total_cmp);
        column
    }
}

/// Fit of a formula to a sample, as a least-squares problem.
pub(super) struct SampleFit<'s> {
    pub(super) program: &'s Program,
    pub(super) parameters: usize,
    pub(super) sample: &'s Sample,
}

impl LeastSquares<f64> for SampleFit<'_> {
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    fn residual_count(&self) -> usize {
        self.sample.y.len()
    }

    fn row_group(&self) -> usize {
        self.sample.y.len()
    }

    fn residuals(&mut self, b: &[f64], _: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.linearize(b, 0, r, &mut [])
    }

    fn linearize(&mut self, b: &[f64], _: usize, r: &mut [f64], jacobian: &mut [f64]) -> Result<(), EvaluationError> {
        backwards(self.program, &self.sample.x, self.sample.width, b, r, jacobian);
        zip(r, &self.sample.y).for_each(|(r, y)| *r -= y);
        Ok(())
    }
}
