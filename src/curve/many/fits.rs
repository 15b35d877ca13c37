//! The results of many fits.

use std::iter;

use ndarray::{Array1, Array2, Array3};

use super::outcomes::Outcomes;
use crate::real::Real;
use crate::solver::FitStatus;

/// Results of many fits, fit by fit in the order of the data.
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
    /// Covariances of the parameters, a matrix a fit, if they were [asked for](crate::FitMany::covariances); NaN where there was no fit.
    pub covariances: Option<Array3<T>>,
    /// `½ Σ ((f − y) / σ)²` at the best point, of counts half the deviance, under a robust loss half the sum of it; NaN where there was no
    /// fit.
    pub cost: Array1<T>,
    /// Status of each fit.
    pub status: Array1<FitStatus>,
    /// Trial steps that each fit took.
    pub iterations: Array1<usize>,
}

impl<T: Real> ManyFits<T> {
    /// Makes room for `fits` fits, none of which has begun.
    pub(super) fn none_yet(names: Vec<String>, fits: usize, has_covariances: bool) -> Self {
        let (n, nothing) = (names.len(), T::from_f64(f64::NAN));
        ManyFits {
            names,
            parameters: Array2::from_elem((fits, n), nothing),
            standard_errors: Array2::from_elem((fits, n), nothing),
            covariances: has_covariances.then(|| Array3::from_elem((fits, n, n), nothing)),
            cost: Array1::from_elem(fits, nothing),
            status: Array1::from_elem(fits, FitStatus::Cancelled),
            iterations: Array1::zeros(fits),
        }
    }

    /// Splits the room into blocks of fits.
    pub(super) fn blocks(&mut self, fits: usize) -> Vec<Outcomes<'_, T>> {
        let n = self.names.len();
        let parameters = self.parameters.as_slice_mut().unwrap_or_default().chunks_mut(fits * n);
        let standard_errors = self.standard_errors.as_slice_mut().unwrap_or_default().chunks_mut(fits * n);
        let covariances = self.covariances.as_mut().and_then(Array3::as_slice_mut).unwrap_or_default();
        let covariances = covariances.chunks_mut(fits * n * n).chain(iter::repeat_with(<&mut [T]>::default));
        let cost = self.cost.as_slice_mut().unwrap_or_default().chunks_mut(fits);
        let status = self.status.as_slice_mut().unwrap_or_default().chunks_mut(fits);
        let iterations = self.iterations.as_slice_mut().unwrap_or_default().chunks_mut(fits);
        let rows = parameters.zip(standard_errors).zip(covariances).zip(cost.zip(status).zip(iterations)).enumerate();
        let block = |(number, (((parameters, standard_errors), covariances), ((cost, status), iterations)))| Outcomes {
            first: number * fits,
            n,
            parameters,
            standard_errors,
            covariances,
            cost,
            status,
            iterations,
        };
        rows.map(block).collect()
    }
}

impl<T> ManyFits<T> {
    /// Number of fits that ended at a minimum.
    pub fn converged(&self) -> usize {
        self.status.iter().filter(|status| status.is_converged()).count()
    }
}
