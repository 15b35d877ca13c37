//! Robust fits: a loss that limits the influence of outliers, its scale, and the standard errors.

use std::sync::Arc;

use super::checked_fit::CheckedFit;
use super::likelihood::Likelihood;
use super::map::ParameterMap;
use super::problem::CurveProblem;
use super::ranks::agreed;
use super::total_work::TotalWork;
use crate::problem::{Evaluated, Loss, RobustLoss, shared_mad_scale};
use crate::real::Real;
use crate::solver::{LevenbergMarquardt, Report, SolveError, Status};

/// Fits after which a scale that still moves is left as it is, and the fit is not converged.
pub(super) const MAX_FITS: usize = 200;

/// Solves that a fit may take whose iterations are used up.
const SOLVES: usize = 4;

/// Fits by least absolute deviations that bring a start near the good data, before a redescending loss is applied.
pub(super) const APPROACHES: usize = 5;

/// Scale of a smooth absolute value, in standard deviations, that is small enough for the loss to count as the absolute value.
pub(super) const SHARP: f64 = 0.1;

/// Units of the last digit by which a scale may move and yet be settled.
const SETTLED: f64 = 4096.0;

/// Largest ratio of a secant's step to the change that it follows from.
const FAR: f64 = 10.0;

/// A robust loss as it was asked for.
#[derive(Debug, Clone)]
pub(super) struct Robustness<T> {
    pub(super) loss: Arc<dyn RobustLoss<T>>,
    /// The scale `C`; `None` is for the residuals to say.
    pub(super) scale: Option<T>,
}

/// Search for the scale that the residuals of the fit under it suggest, by secants.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScaleIteration<T> {
    pub(super) scale: T,
    /// The scale before, and the change that was suggested there.
    before: Option<[T; 2]>,
}

impl<T: Real> ScaleIteration<T> {
    pub(super) fn begin(scale: T) -> Self {
        ScaleIteration { scale, before: None }
    }

    /// Moves on, given the scale that the residuals suggest. Returns false where the scale is settled.
    pub(super) fn advance(&mut self, judged: T) -> bool {
        let (scale, change) = (self.scale, judged - self.scale);
        if change.abs() <= T::from_f64(SETTLED) * T::EPSILON * scale {
            return false;
        }
        // The secant of the changes, which should vanish, unless it leads away.
        let secant = self
            .before
            .map(|[scale_before, change_before]| scale - change * (scale - scale_before) / (change - change_before));
        let near = |&next: &T| next > T::ZERO && (next - scale).abs() <= T::from_f64(FAR) * change.abs();
        self.before = Some([scale, change]);
        self.scale = secant.filter(near).unwrap_or(judged);
        true
    }
}

/// The solves that a fit with a scale of its own takes.
struct ScaleSearch<T> {
    /// The smallest scale: rounding of rounding.
    least: T,
    work: TotalWork,
}

impl<T: Real> ScaleSearch<T> {
    /// Collective.
    fn begin(checked: &CheckedFit<'_, T>) -> Result<Self, SolveError> {
        let mut squares = [checked.data.squared_responses()];
        checked.data.ranks().all_sum(&mut squares)?;
        let size = if squares[0] > 0.0 { T::from_f64(squares[0].sqrt()) } else { T::ONE };
        Ok(ScaleSearch { least: least_scale(size), work: TotalWork::begin() })
    }

    /// Returns the solver with the rest of its time, its evaluations, and a multiple of its iterations.
    fn left_of(&self, solver: &LevenbergMarquardt<T>) -> LevenbergMarquardt<T> {
        let (mut solver, work) = (solver.clone(), &self.work);
        solver.settings.spend(work.iterations, SOLVES, work.evaluations.total(), work.elapsed());
        solver
    }
}

/// The smallest scale of residuals of responses of this norm.
pub(super) fn least_scale<T: Real>(norm: T) -> T {
    T::EPSILON * T::EPSILON * norm
}

impl<T: Real> CheckedFit<'_, T> {
    /// Solves under a robust loss from these parameters, and keeps the loss with its scale for later solves. Collective.
    ///
    /// A scale that is not given follows from the median absolute deviation of the residuals at the fit, which follows from
    /// the scale. There may be several fits where they agree: that from the start is compared with that from the least
    /// absolute deviations, which nearly half of the data cannot draw far away, and the smaller scale wins (as among
    /// S-estimates: Rousseeuw & Yohai 1984). The report accounts for the work of all these solves. What keeps one of them from beginning is
    /// an error only if there is none before it to be returned.
    pub(super) fn solve_robust(&mut self, robust: Robustness<T>, start: &[T]) -> Result<Report<T>, SolveError> {
        let Robustness { loss, scale } = robust;
        if let Some(scale) = scale {
            self.likelihood = Likelihood::Robust(loss, scale);
            return self.solve(start);
        }
        let mut search = ScaleSearch::begin(self)?;
        let absolute: Arc<dyn RobustLoss<T>> = Arc::new(Loss::SoftL1);
        let approach = self.solve_with_mad(&absolute, T::from_f64(SHARP), start, APPROACHES, &mut search);
        let (tuning, near) = (loss.tuning(), approach.as_ref().map_or(start, |(_, report)| &report.x));
        let found = self.solve_with_mad(&loss, tuning, near, MAX_FITS, &mut search);
        let from_start = self.solve_with_mad(&loss, tuning, start, MAX_FITS, &mut search);
        let is_better = |one: &(T, Report<T>), other: &(T, Report<T>)| match (one.1.status, other.1.status) {
            (one, other) if one.is_converged() != other.is_converged() => one.is_converged(),
            _ => one.0 < other.0,
        };
        let (loss, (scale, report)) = match (found, from_start) {
            (Ok(found), Ok(from_start)) if is_better(&from_start, &found) => (loss, from_start),
            (Ok(one), _) | (Err(_), Ok(one)) => (loss, one),
            // The approach is all that could be done.
            (Err(_), Err(error)) => {
                let (scale, report) = approach?;
                (absolute, (scale, report.ended_by(error)))
            }
        };
        self.likelihood = Likelihood::Robust(loss, scale);
        Ok(search.work.account(report))
    }

    /// Repeats the fit until its scale does not move any more, or as often as that; then it is not converged. A fit that was
    /// stopped says nothing of the scale, and is the last. Returns the scale, too.
    fn solve_with_mad(
        &mut self,
        loss: &Arc<dyn RobustLoss<T>>,
        tuning: T,
        start: &[T],
        fits: usize,
        search: &mut ScaleSearch<T>,
    ) -> Result<(T, Report<T>), SolveError> {
        let mut iteration = ScaleIteration::begin(self.judge_scale(tuning, start)?.max(search.least));
        let mut last: Option<(T, Report<T>)> = None;
        for fit in 1.. {
            let scale = iteration.scale;
            self.likelihood = Likelihood::Robust(loss.clone(), scale);
            let from = last.as_ref().map_or(start, |(_, report)| &report.x);
            let solved = self.solve_by(&search.left_of(&self.method.solver), &self.data, &self.map, from);
            let mut report = match (solved, last.take()) {
                (Ok(report), _) => report,
                (Err(error), Some((scale, report))) => return Ok((scale, report.ended_by(error))),
                (Err(error), None) => return Err(error),
            };
            search.work.add(&report);
            let judged = match self.judge_scale(tuning, &report.x) {
                Ok(judged) => judged.max(search.least),
                Err(error) => return Ok((scale, report.ended_by(error))),
            };
            let is_exhausted = !(report.is_converged()
                || matches!(report.status, Status::NoProgress | Status::FlatValley | Status::Kink));
            if is_exhausted || !iteration.advance(judged) {
                return Ok((scale, report));
            }
            if fit == fits {
                report.status = Status::MaxIterations;
                return Ok((scale, report));
            }
            last = Some((scale, report));
        }
        unreachable!("the last fit returns")
    }

    /// Returns `tuning` times the standard deviation that the residuals at these parameters suggest. Collective.
    fn judge_scale(&self, tuning: T, at: &[T]) -> Result<T, SolveError> {
        let residuals = agreed(self.data.ranks(), self.whitened_residuals(at).map_err(SolveError::Evaluation))?;
        let scale = shared_mad_scale(self.data.ranks(), &residuals)?;
        Ok(tuning * scale)
    }

    /// Whitened residuals of the data, before any loss weighs them.
    pub(super) fn whitened_residuals(&self, at: &[T]) -> Evaluated<Vec<T>> {
        let mut residuals = vec![T::ZERO; self.data.y().len()];
        if !residuals.is_empty() {
            self.least_squares(&self.map).whitened(&self.map.gather(at), 0, &mut residuals)?;
        }
        Ok(residuals)
    }

    /// The problem without a likelihood: whitened residuals, and their squares.
    pub(super) fn least_squares<'p>(&'p self, map: &'p ParameterMap<T>) -> CurveProblem<'p, T> {
        CurveProblem::new(&self.curve, &self.data, map, &Likelihood::Gaussian)
    }
}
