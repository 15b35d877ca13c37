//! Rows that are given, for the tests of linear models.

use super::{Evaluation, ProblemRows, RowWorkspace};
use crate::problem::{EvaluationError, LeastSquares};
use crate::storage::Dynamic;

/// Residuals and rows of a Jacobian, the same at each point.
pub(crate) struct GivenRows {
    pub(crate) r: Vec<f64>,
    pub(crate) jacobian: Vec<f64>,
}

impl GivenRows {
    /// Calls `work` with their evaluation.
    pub(crate) fn evaluate<R>(&mut self, work: impl FnOnce(&mut dyn Evaluation<f64>) -> R) -> R {
        let mut workspace = RowWorkspace::<f64, Dynamic>::new(self.r.len(), self.parameter_count(), 1);
        work(&mut ProblemRows::new(self, &mut workspace))
    }
}

impl LeastSquares<f64> for GivenRows {
    fn parameter_count(&self) -> usize {
        self.jacobian.len() / self.r.len()
    }

    fn residual_count(&self) -> usize {
        self.r.len()
    }

    fn residuals(&mut self, _: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        r.copy_from_slice(&self.r[first..first + r.len()]);
        Ok(())
    }

    fn linearize(
        &mut self,
        x: &[f64],
        first: usize,
        r: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        jacobian.copy_from_slice(&self.jacobian[first * self.parameter_count()..][..jacobian.len()]);
        self.residuals(x, first, r)
    }
}
