//! A curve fit as it was set, checked and ready to be solved: once, or again with something changed.

use std::ops::ControlFlow;

use super::data::Data;
use super::likelihood::Likelihood;
use super::map::ParameterMap;
use super::method::FitMethod;
use super::noise::Noise;
use super::parameter::Role;
use super::problem::CurveProblem;
use super::ranks::{agreed, check_equal, summed};
use super::robust_sums::RobustSums;
use super::{AnyCurve, CurrentCurve, CurveError, FitOptions};
use crate::kernels::vector::all_finite;
use crate::parallel;
use crate::problem::{Evaluated, LeastSquares, LeastSquaresExt};
use crate::real::Real;
use crate::solver::{
    ActiveBound, Covariance, CovarianceError, IterationRecord, LevenbergMarquardt, Report, SolveError,
};

/// Data, curve and options of a fit, checked.
pub(super) struct CheckedFit<'a, T: Real> {
    pub(super) curve: AnyCurve<'a, T>,
    pub(super) data: Data<'a, T>,
    pub(super) map: ParameterMap<T>,
    pub(super) likelihood: Likelihood<T>,
    pub(super) options: FitOptions<T>,
    pub(super) method: FitMethod<T>,
}

impl<T: Real> CheckedFit<'_, T> {
    /// The parts go together. Of parts that are [the same](Self::check_equal) on all ranks, all say the same.
    pub(super) fn check(&self) -> Result<(), CurveError> {
        let conflict = |first, second, reason| Err(CurveError::Conflict { first, second, reason });
        let outputs = self.curve.response_count();
        if outputs != self.data.outputs() {
            return Err(CurveError::ResponseCount { curve: outputs, data: self.data.outputs() });
        }
        let has_sigma = !matches!(self.data.noise, Noise::Uniform);
        self.options.check(has_sigma, self.map.priors().next().is_some())?;
        if self.method.variable_projection && (self.options.counts || self.options.robust.is_some()) {
            let first = if self.options.counts { "counts" } else { "a robust loss" };
            return conflict(first, "variable projection", "it takes a sum of squares");
        }
        if self.data.has_means() {
            let first = match () {
                () if self.options.counts => Some("counts"),
                () if self.options.robust.is_some() => Some("a robust loss"),
                () if self.data.has_errors_in_x() => Some("errors in x"),
                () => None,
            };
            if let Some(first) = first {
                return conflict(first, "standard deviations of replicates", "single responses are not known");
            }
        }
        if self.data.has_errors_in_x() {
            let errors = "errors in x";
            if self.options.counts {
                return conflict("counts", errors, "distances are made of residuals, which counts do not have");
            }
            if self.method.variable_projection {
                return conflict("variable projection", errors, "distances are not linear in any parameter");
            }
            if let Noise::Correlated(_) = self.data.noise {
                return conflict("a covariance of the data", errors, "each point has its own distance");
            }
        }
        if self.method.variable_projection && self.map.has_relations() {
            return conflict("variable projection", "relations", "eliminated parameters could violate them");
        }
        if self.method.variable_projection && self.data.is_shared() {
            return conflict("variable projection", "several ranks", "it takes all rows, and no rank has them");
        }
        let (observations, parameters) = (self.informative_count(), self.map.free().len());
        if parameters == 0 {
            return Err(CurveError::NothingToFit);
        }
        if observations < parameters {
            return Err(CurveError::TooFewObservations { observations, parameters });
        }
        Ok(())
    }

    /// Responses that are counts are integers, and not negative.
    pub(super) fn check_counts(&self) -> Result<(), CurveError> {
        if !matches!(self.likelihood, Likelihood::Poisson) {
            return Ok(());
        }
        let is_count = |y: f64| y >= 0.0 && y.fract() == 0.0;
        let Some(index) = self.data.y().iter().position(|y| !is_count(y.to_f64())) else { return Ok(()) };
        let row = self.data.original_row(index / self.data.outputs());
        let value = self.data.y()[index].to_f64();
        Err(match value < 0.0 {
            true => CurveError::NegativeCount { row, value },
            false => CurveError::FractionalCount { row, value },
        })
    }

    /// Checks that parameters and noise are the same on all ranks. Collective.
    pub(super) fn check_equal(&self) -> Result<(), CurveError> {
        if !self.data.is_shared() {
            return Ok(());
        }
        let flag = |is: bool| if is { T::ONE } else { T::ZERO };
        let mut numbers = vec![
            flag(self.options.absolute_sigma),
            flag(self.likelihood.is_sum_of_squares()),
            flag(matches!(self.data.noise, Noise::Uniform)),
            flag(self.options.robust.is_some()),
            flag(self.method.variable_projection),
            T::from_f64(self.curve.response_count() as f64),
        ];
        numbers.extend(self.options.robust.iter().filter_map(|robust| robust.scale));
        let texts = self.map.relation_texts();
        numbers.extend(texts.iter().flat_map(|text| text.bytes()).map(|byte| T::from_f64(f64::from(byte))));
        for parameter in &self.map.parameters {
            numbers.extend(parameter.name.bytes().map(|byte| T::from_f64(f64::from(byte))));
            numbers.extend([parameter.start, parameter.lower, parameter.upper, parameter.scale]);
            numbers.extend(parameter.prior.into_iter().flat_map(|(mean, deviation)| [mean, deviation]));
            numbers.extend([flag(matches!(parameter.role, Role::Free)), flag(matches!(parameter.role, Role::Fixed))]);
        }
        check_equal(self.data.ranks(), "the parameters and what is said of them and of the noise", &numbers)
    }

    /// Describes the error of a solve from these parameters in terms of the curve and the data as they were given. Collective.
    pub(super) fn explain(&self, error: SolveError, start: &[T]) -> CurveError {
        if !matches!(error, SolveError::NonFiniteResidual { .. } | SolveError::Rank(_)) {
            return error.into();
        }
        agreed(self.data.ranks(), self.check_start(start)).err().unwrap_or_else(|| error.into())
    }

    /// All parameters are finite there, and the curve has values that data can have, as far as it can be evaluated.
    fn check_start(&self, start: &[T]) -> Result<(), CurveError> {
        let mut curve_problem = self.curve_problem();
        let start = curve_problem.expand(&self.map.gather(start)).0;
        if let Some(index) = start.iter().position(|value| !value.is_finite()) {
            let (name, value) = (self.map.name(index).to_owned(), start[index].to_f64());
            return Err(CurveError::NonFiniteParameter { name, value });
        }
        let Ok(responses) = self.responses(start) else { return Ok(()) };
        let row_of = |index: usize| self.data.original_row(index / self.data.outputs());
        let is_impossible = |response: &T| matches!(self.likelihood, Likelihood::Poisson) && !(*response > T::ZERO);
        if let Some(index) = responses.iter().position(|response| !response.is_finite()) {
            Err(CurveError::NonFiniteResponse { row: row_of(index), value: responses[index].to_f64() })
        } else if let Some(index) = responses.iter().position(is_impossible) {
            Err(CurveError::NonPositiveMean { row: row_of(index), value: responses[index].to_f64() })
        } else {
            Ok(())
        }
    }

    /// The responses of the curve with these parameters, where data are.
    pub(super) fn responses(&self, at: &[T]) -> Evaluated<Vec<T>> {
        let mut responses = vec![T::ZERO; self.data.y().len()];
        if !responses.is_empty() {
            self.curve.responses(self.data.x(), self.data.width(), at, &mut responses)?;
        }
        Ok(responses)
    }

    /// Responses of all ranks, and priors.
    pub(super) fn informative_count(&self) -> usize {
        self.data.all_rows() * self.data.outputs() + self.map.priors().count()
    }

    /// The results of `work` for `0..count`, in that order: on all cores, but one after the other where ranks meet in it.
    pub(super) fn for_each_solve<R: Send>(&self, count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
        if self.data.is_shared() { (0..count).map(work).collect() } else { parallel::map(count, work) }
    }

    /// The least-squares problem.
    pub(super) fn curve_problem(&self) -> CurveProblem<'_, T> {
        CurveProblem::new(&*self.curve, &self.data, &self.map, &self.likelihood)
    }

    /// Solves from these parameters, all of the curve's. So are those of the report.
    pub(super) fn solve(&self, start: &[T]) -> Result<Report<T>, SolveError> {
        self.solve_with(&self.data, &self.map, start)
    }

    /// Solves from these parameters, under the robust loss if there is one. Collective.
    pub(super) fn solve_under_loss(&mut self, start: &[T]) -> Result<Report<T>, SolveError> {
        match self.approach_errors_in_x(start) {
            Some(approach) => self.solve_after(approach, start),
            None => self.solve_from(start),
        }
    }

    /// Solves from these parameters. Collective.
    pub(super) fn solve_from(&mut self, start: &[T]) -> Result<Report<T>, SolveError> {
        match self.options.robust.clone() {
            Some(robust) => self.solve_robust(robust, start),
            None => self.solve(start),
        }
    }

    /// Solves for other data of the same kind, or with other parameters free.
    pub(super) fn solve_with(
        &self,
        data: &Data<'_, T>,
        map: &ParameterMap<T>,
        start: &[T],
    ) -> Result<Report<T>, SolveError> {
        self.solve_by(&self.method.solver, data, map, start)
    }

    /// Solves as [`solve_with`](Self::solve_with) does, by another solver.
    pub(super) fn solve_by(
        &self,
        solver: &LevenbergMarquardt<T>,
        data: &Data<'_, T>,
        map: &ParameterMap<T>,
        start: &[T],
    ) -> Result<Report<T>, SolveError> {
        if map.has_relations() {
            let report = self.solve_within_relations(solver, data, map, start)?;
            return Ok(Report { x: map.rounded_within(&report.x), ..report });
        }
        self.minimize(data, map, start, |problem, start| {
            if self.method.variable_projection {
                solver.minimize_separable_rows(problem, start)
            } else if let Some(observer) = &self.method.observer {
                solver.minimize_rows(problem, start, &mut |record: &IterationRecord<T>, x: &[T]| {
                    observer.observe(record, &self.current_curve(map, x));
                    ControlFlow::Continue(())
                })
            } else {
                solver.minimize_rows(problem, start, &mut ())
            }
        })
    }

    /// The curve at free parameters of a solve.
    pub(super) fn current_curve<'p>(&'p self, map: &'p ParameterMap<T>, free: &'p [T]) -> CurrentCurve<'p, T> {
        CurrentCurve::new(&*self.curve, self.data.predictors_in_row(), map, free)
    }

    /// The report of a solve in the free parameters as one on all. The engine that `solve` calls is compiled once for all curves, and not for
    /// each closure anew.
    pub(super) fn minimize(
        &self,
        data: &Data<'_, T>,
        map: &ParameterMap<T>,
        start: &[T],
        solve: impl FnOnce(&mut dyn LeastSquares<T>, &[T]) -> Result<Report<T>, SolveError>,
    ) -> Result<Report<T>, SolveError> {
        let mut curve_problem = CurveProblem::new(&*self.curve, data, map, &self.likelihood);
        let mut report = solve(&mut curve_problem, &map.gather(start))?;
        map.rename(&mut report);
        report.x = curve_problem.expand(&report.x).0.to_vec();
        Ok(report)
    }

    /// All parameters where the free ones are as in `at`, and the cost there. Collective.
    pub(super) fn evaluate(&self, map: &ParameterMap<T>, at: &[T]) -> Evaluated<(Vec<T>, T)> {
        self.evaluate_for(&self.data, map, at)
    }

    /// The same for other data of the same kind. Collective.
    pub(super) fn evaluate_for(&self, data: &Data<'_, T>, map: &ParameterMap<T>, at: &[T]) -> Evaluated<(Vec<T>, T)> {
        let mut curve_problem = CurveProblem::new(&*self.curve, data, map, &self.likelihood);
        let mut r = vec![T::ZERO; curve_problem.residual_count()];
        let free = map.gather(at);
        let evaluated = curve_problem.residuals(&free, 0, &mut r);
        let [cost] = summed(data.ranks(), evaluated.map(|()| [curve_problem.cost_of_rows(0, &r)]))?;
        Ok((curve_problem.expand(&free).0.to_vec(), cost))
    }

    /// The size of the noise is known.
    pub(super) fn is_absolute(&self) -> bool {
        self.options.absolute_sigma || matches!(self.likelihood, Likelihood::Poisson)
    }

    /// Returns true if the solver is asked to end, on any rank. Collective.
    pub(super) fn is_cancelled(&self) -> bool {
        let own = if self.method.solver.settings.is_cancelled() { T::ONE } else { T::ZERO };
        summed(self.data.ranks(), Ok([own])).is_ok_and(|[all]| all > T::ZERO)
    }

    /// A solve from these parameters failed because the curve, or its derivative, is not finite there, or relations leave no such
    /// parameters. Collective.
    pub(super) fn is_without_value(&self, error: &SolveError, map: &ParameterMap<T>, start: &[T]) -> bool {
        match error {
            SolveError::NonFiniteResidual { .. } | SolveError::NonFiniteDerivative { .. } | SolveError::Overflow => {
                true
            }
            SolveError::StartOutOfBounds { .. } => map.has_relations(),
            // Ranks know in words alone what went wrong on one of them.
            SolveError::Rank(_) => {
                let mut curve_problem = CurveProblem::new(&*self.curve, &self.data, map, &self.likelihood);
                let (m, free) = (curve_problem.residual_count(), map.gather(start));
                let (mut r, mut jacobian) = (vec![T::ZERO; m], vec![T::ZERO; m * free.len()]);
                let own = curve_problem.linearize(&free, 0, &mut r, &mut jacobian).map(|()| {
                    let is_finite = all_finite(&r) && all_finite(&jacobian);
                    [if is_finite { T::ZERO } else { T::ONE }]
                });
                summed(self.data.ranks(), own).is_ok_and(|[without]| without > T::ZERO)
            }
            _ => false,
        }
    }

    /// Covariance of all parameters of the curve at a point, where these bounds and relations hold some, and a robust loss has left these
    /// sums. Collective.
    pub(super) fn covariance(
        &self,
        at: &[T],
        (active, relations): (&[ActiveBound<T>], &[usize]),
        robust: Option<&RobustSums<T>>,
    ) -> Result<Covariance<T>, CovarianceError> {
        let map = self.map.holding(active, relations, at);
        // A robust loss says how noisy the data are, and not how the parameters depend on them.
        let mut curve_problem = match robust {
            Some(_) => self.least_squares(&map),
            None => CurveProblem::new(&*self.curve, &self.data, &map, &self.likelihood),
        };
        let observations = self.informative_count();
        let padding = observations.next_multiple_of(self.data.outputs()) - observations;
        let of_free =
            Covariance::at(&mut curve_problem as &mut dyn LeastSquares<T>, &map.gather(at))?.without_residuals(padding);
        let rank = observations - of_free.degrees_of_freedom();
        let chain = curve_problem.expand(&map.gather(at)).1;
        let names = self.map.parameters.iter().map(|parameter| parameter.name.as_str());
        let covariance = of_free.propagated(chain, names);
        Ok(match robust {
            Some(sums) => covariance.with_variance(sums.variance(rank)),
            None if self.is_absolute() => covariance.absolute(),
            None => covariance,
        })
    }

    /// Covariance of all parameters where it could not be computed, given the sum of the squared residuals.
    pub(super) fn unknown_covariance(&self, report: &Report<T>, sum_of_squares: T) -> Covariance<T> {
        let is_free = |index: usize| match self.map.parameters[index].role {
            Role::Free => report.active.iter().all(|active| active.parameter != index),
            Role::Tied(_) => true,
            Role::Fixed => false,
        };
        let names = (0..self.map.count()).map(|index| (self.map.name(index), is_free(index)));
        let degrees_of_freedom = self.informative_count() - self.map.free().len();
        let covariance = Covariance::unknown(names, sum_of_squares, degrees_of_freedom);
        if self.is_absolute() { covariance.absolute() } else { covariance }
    }
}
