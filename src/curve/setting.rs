//! A curve fit as it was set, checked and ready to be solved: once, or again with something changed.

use super::Curve;
use super::data::Data;
use super::likelihood::Likelihood;
use super::map::ParameterMap;
use super::misfit::Misfit;
use crate::{Covariance, CovarianceError, EvaluationError, LeastSquares, LevenbergMarquardt, Real, Report, SolveError};

/// All that a fit goes by.
#[derive(Debug, Clone)]
pub(super) struct Setting<'a, T: Real, C> {
    pub(super) curve: C,
    pub(super) data: Data<'a, T>,
    pub(super) map: ParameterMap<T>,
    pub(super) likelihood: Likelihood,
    /// Sigma is the noise itself.
    pub(super) absolute_sigma: bool,
    pub(super) solver: LevenbergMarquardt<T>,
}

impl<T: Real, C: Curve<T>> Setting<'_, T, C> {
    /// The least-squares problem.
    pub(super) fn misfit(&self) -> Misfit<'_, T, C> {
        Misfit::new(&self.curve, &self.data, &self.map, &self.likelihood)
    }

    /// Solves from these parameters, all of the curve's. So are those of the report.
    pub(super) fn solve(&self, start: &[T]) -> Result<Report<T>, SolveError> {
        self.solve_with(&self.data, &self.map, start)
    }

    /// Solves for other data of the same kind, or with other parameters free.
    pub(super) fn solve_with(
        &self,
        data: &Data<'_, T>,
        map: &ParameterMap<T>,
        start: &[T],
    ) -> Result<Report<T>, SolveError> {
        self.solve_by(&self.solver, data, map, start)
    }

    /// Solves as [`solve_with`](Self::solve_with) does, by another solver.
    pub(super) fn solve_by(
        &self,
        solver: &LevenbergMarquardt<T>,
        data: &Data<'_, T>,
        map: &ParameterMap<T>,
        start: &[T],
    ) -> Result<Report<T>, SolveError> {
        let mut misfit = Misfit::new(&self.curve, data, map, &self.likelihood);
        let mut report = solver.minimize(&mut misfit, &map.gather(start))?;
        report.x = misfit.expand(&report.x).0.to_vec();
        Ok(report)
    }

    /// All parameters where none of them is free, and the cost there.
    pub(super) fn evaluate(&self, map: &ParameterMap<T>) -> Result<(Vec<T>, T), EvaluationError> {
        let mut misfit = Misfit::new(&self.curve, &self.data, map, &self.likelihood);
        let mut r = vec![T::ZERO; misfit.residual_count()];
        misfit.residuals(&[], 0, &mut r)?;
        let cost = misfit.cost_of(0, &r);
        Ok((misfit.expand(&[]).0.to_vec(), cost))
    }

    /// The size of the noise is known.
    pub(super) fn is_absolute(&self) -> bool {
        self.absolute_sigma || !self.likelihood.is_sum_of_squares()
    }

    /// Covariance of all parameters of the curve, at these.
    pub(super) fn covariance(&self, at: &[T]) -> Result<Covariance<T>, CovarianceError> {
        let mut misfit = self.misfit();
        let padding = misfit.residual_count() - misfit.informative_count();
        let of_free = Covariance::at(&mut misfit, &self.map.gather(at))?;
        let chain = misfit.expand(&self.map.gather(at)).1;
        let names = self.map.parameters.iter().map(|parameter| parameter.name.as_str());
        let covariance = of_free.without_residuals(padding).propagated(chain, names);
        Ok(if self.is_absolute() { covariance.absolute() } else { covariance })
    }
}
