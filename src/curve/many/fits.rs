//! The results of many fits.

use ndarray::{Array1, Array2};

use super::FitStatus;

/// What many fits found, fit by fit in the order of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct ManyFits<T> {
    /// Names of the parameters.
    pub names: Vec<String>,
    /// The best point of each fit, a row a fit.
    pub parameters: Array2<T>,
    /// Standard errors of the parameters, a row a fit: infinite where undetermined, NaN where there was no fit.
    pub standard_errors: Array2<T>,
    /// `½ Σ ((f − y) / σ)²` at the best point; NaN where there was no fit.
    pub cost: Array1<T>,
    /// What became of each fit.
    pub status: Array1<FitStatus>,
    /// Trial steps that each fit took.
    pub iterations: Array1<usize>,
}

impl<T> ManyFits<T> {
    /// How many fits ended at a minimum.
    pub fn converged(&self) -> usize {
        self.status.iter().filter(|status| status.is_converged()).count()
    }
}
