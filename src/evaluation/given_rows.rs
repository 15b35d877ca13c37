//! Rows that are given, for the tests of linear models.

use super::{Evaluation, ProblemRows, RowWorkspace};
use crate::problem::Analytic;
use crate::storage::Dynamic;

/// Residuals and rows of a Jacobian, the same at each point.
pub(crate) struct GivenRows {
    pub(crate) r: Vec<f64>,
    pub(crate) jacobian: Vec<f64>,
}

impl GivenRows {
    /// Calls `work` with their evaluation.
    pub(crate) fn evaluate<R>(&self, work: impl FnOnce(&mut dyn Evaluation<f64>) -> R) -> R {
        let (m, n) = (self.r.len(), self.jacobian.len() / self.r.len());
        let mut problem = Analytic::new(n, m, |_: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
            r.copy_from_slice(&self.r);
            jacobian.into_iter().for_each(|jacobian| jacobian.copy_from_slice(&self.jacobian));
            Ok(())
        });
        let mut workspace = RowWorkspace::<f64, Dynamic>::new(m, n, m);
        work(&mut ProblemRows::new(&mut problem, &mut workspace))
    }
}
