//! Sum of squares that the best constant leaves of correlated responses.

use crate::curve::data::Data;
use crate::distributed::CommunicatorError;
use crate::kernels::triangular::{cholesky, solve_cholesky};
use crate::real::Real;

/// The fit of a constant to correlated responses, to each of several in a row its own.
pub(super) struct ConstantFit<'d, T: Clone> {
    data: &'d Data<'d, T>,
    /// Whitened responses; then their residuals after a fit of constants.
    rest: Vec<f64>,
    /// The constants, whitened: a row for each response, a column for each constant.
    columns: Vec<f64>,
}

impl<'d, T: Real> ConstantFit<'d, T> {
    /// Creates the constants in units of a typical sigma, so that no square over- or underflows.
    pub(super) fn new(data: &'d Data<'d, T>, typical: T) -> Self {
        let outputs = data.outputs();
        let mut rest = data.y().to_vec();
        let mut columns = vec![T::ZERO; rest.len() * outputs];
        for (response, row) in columns.chunks_exact_mut(outputs).enumerate() {
            row[response % outputs] = typical;
        }
        data.noise.whiten(0, &mut rest, &mut columns, outputs);
        let double = |values: Vec<T>| values.into_iter().map(T::to_f64).collect();
        ConstantFit { data, rest: double(rest), columns: double(columns) }
    }

    /// The sum of squares that the best constants leave. Collective.
    pub(super) fn squares_about_mean(mut self) -> Result<f64, CommunicatorError> {
        let (outputs, ranks) = (self.data.outputs(), self.data.ranks());
        let mut sums = self.gram();
        sums.extend(self.along());
        ranks.all_sum(&mut sums)?;
        let (gram, mean) = sums.split_at_mut(outputs * outputs);
        let mut inverse_pivots = vec![0.0; outputs];
        if !cholesky(gram, &mut inverse_pivots) {
            return Ok(0.0);
        }
        solve_cholesky(gram, &inverse_pivots, mean);
        for (rest, row) in self.rest.iter_mut().zip(self.columns.chunks_exact(outputs)) {
            *rest -= row.iter().zip(&*mean).map(|(column, mean)| column * mean).sum::<f64>();
        }
        // Once more, for what rounding has left of the means.
        let mut sums = self.along();
        sums.push(self.squares());
        ranks.all_sum(&mut sums)?;
        let (along, about_mean) = sums.split_at_mut(outputs);
        let mut correction = along.to_vec();
        solve_cholesky(gram, &inverse_pivots, &mut correction);
        Ok(about_mean[0] - along.iter().zip(correction).map(|(along, step)| along * step).sum::<f64>())
    }

    /// Products of the columns, row after row.
    fn gram(&self) -> Vec<f64> {
        let outputs = self.data.outputs();
        let mut gram = vec![0.0; outputs * outputs];
        for row in self.columns.chunks_exact(outputs) {
            for (sums, &a) in gram.chunks_exact_mut(outputs).zip(row) {
                sums.iter_mut().zip(row).for_each(|(sum, &b)| *sum += a * b);
            }
        }
        gram
    }

    /// Products of the columns and the rest.
    fn along(&self) -> Vec<f64> {
        let mut along = vec![0.0; self.data.outputs()];
        for (row, &rest) in self.columns.chunks_exact(along.len()).zip(&self.rest) {
            along.iter_mut().zip(row).for_each(|(sum, &column)| *sum += column * rest);
        }
        along
    }

    fn squares(&self) -> f64 {
        self.rest.iter().map(|rest| rest * rest).sum()
    }
}
