//! Data sets of a global fit.

use std::ops::Range;

use super::FittedCurve;
use crate::curve::Rows;
use crate::curve::inference::UncertainCurve;
use crate::problem::{Evaluated, EvaluationError};
use crate::real::Real;

/// One data set of a global fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedDataSet<T> {
    /// Its name.
    pub name: String,
    /// Its rows among those of the whole fit.
    pub rows: Range<usize>,
    /// The responses observed, row after row.
    pub observed: Vec<T>,
    /// The responses of its curve.
    pub fitted: Vec<T>,
    /// Observed less fitted responses.
    pub residuals: Vec<T>,
}

impl<T: Real> FittedCurve<'_, T> {
    /// The data sets of a global fit, in the order in which they were added; none of another fit.
    ///
    /// # Errors
    ///
    /// The curve's own error when it cannot be evaluated.
    pub fn data_sets(&self) -> Evaluated<Vec<FittedDataSet<T>>> {
        let Some(curve) = self.checked.curve.as_global() else { return Ok(Vec::new()) };
        let data = &self.checked.data;
        let (all, outputs) = (self.fitted(), data.outputs());
        let of_run = |(part, rows): (usize, Range<usize>)| {
            let responses = rows.start * outputs..rows.end * outputs;
            let observed = data.y()[responses.clone()].to_vec();
            let fitted: Vec<T> = responses.map(|index| all[index]).collect();
            let residuals = observed.iter().zip(&fitted).map(|(&observed, &fitted)| observed - fitted).collect();
            FittedDataSet { name: curve.parts[part].name.clone(), rows, observed, fitted, residuals }
        };
        Ok(curve.runs(data.x(), data.width())?.into_iter().map(of_run).collect())
    }

    /// Responses of the curve of one data set at other predictors. The rows of `x` do not contain the number of the data set.
    ///
    /// # Errors
    ///
    /// The curve's own error when it cannot be evaluated, or a message when there is no such data set or the number of
    /// predictors is another.
    pub fn predict_data_set<'x>(&self, name: &str, x: impl Into<Rows<'x, T>>) -> Evaluated<Vec<T>> {
        let mut parts = self.checked.curve.as_global().into_iter().flat_map(|curve| &curve.parts);
        let part = parts.find(|part| part.name == name);
        let part = part.ok_or_else(|| EvaluationError::from(format!("there is no data set {name:?}")))?;
        let inference = &self.inference.selected(&part.parameters);
        UncertainCurve { curve: &part.curve, width: part.width, inference }.predict(x.into())
    }
}
