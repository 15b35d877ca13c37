//! The results of many fits.

use ndarray::{Array1, Array2};

use super::outcomes::Outcomes;
use crate::{FitStatus, Real};

/// What many fits found, fit by fit in the order of the data.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ManyFits<T> {
    /// Names of the parameters.
    pub names: Vec<String>,
    /// The best point of each fit, a row a fit: where it would have started if it could not, NaN where that is not known.
    pub parameters: Array2<T>,
    /// Standard errors of the parameters, a row a fit: zero where a bound holds the parameter, infinite where the data do not
    /// determine it, NaN where there was no fit.
    pub standard_errors: Array2<T>,
    /// `½ Σ ((f − y) / σ)²` at the best point; NaN where there was no fit.
    pub cost: Array1<T>,
    /// What became of each fit.
    pub status: Array1<FitStatus>,
    /// Trial steps that each fit took.
    pub iterations: Array1<usize>,
}

impl<T: Real> ManyFits<T> {
    /// The results of all blocks, one after the other.
    pub(super) fn of(names: Vec<String>, blocks: Vec<Outcomes<T>>) -> Self {
        let (n, fits) = (names.len(), blocks.iter().map(|block| block.cost.len()).sum());
        let mut parameters = Vec::with_capacity(fits * n);
        let mut standard_errors = Vec::with_capacity(fits * n);
        let (mut cost, mut status) = (Vec::with_capacity(fits), Vec::with_capacity(fits));
        let mut iterations = Vec::with_capacity(fits);
        for block in blocks {
            parameters.extend(block.parameters);
            standard_errors.extend(block.standard_errors);
            cost.extend(block.cost);
            status.extend(block.status);
            iterations.extend(block.iterations);
        }
        let rows = |numbers| Array2::from_shape_vec((fits, n), numbers).expect("a row of n numbers for each fit");
        ManyFits {
            names,
            parameters: rows(parameters),
            standard_errors: rows(standard_errors),
            cost: cost.into(),
            status: status.into(),
            iterations: iterations.into(),
        }
    }

    /// How many fits ended at a minimum.
    pub fn converged(&self) -> usize {
        self.status.iter().filter(|status| status.is_converged()).count()
    }
}
