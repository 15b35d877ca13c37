//! The settings of a solve, and their checks.

use std::time::Duration;

use super::active_bounds::{bounds_of, check_start};
use super::hyperparameters::TrainingSettings;
use super::{Acceleration, CancelToken, Scaling, SolveError};
use crate::clock::HAS_CLOCK;
use crate::evaluation::CheckedProblem;
use crate::linear::{Inexact, LinearForm, LinearSolver, MEMORY_BUDGET, Plan, Ridge, Size, Truncation};
use crate::problem::{LeastSquares, LeastSquaresExt};
use crate::real::Real;

/// Limit of the iterations unless another is set.
const MAX_ITERATIONS: usize = 1000;

/// All settings but the damping.
#[derive(Debug, Clone)]
pub(crate) struct Settings<T> {
    /// Scaling that was set; `None` lets the form of the linear system decide.
    pub(crate) scaling: Option<Scaling>,
    /// The scaling that was not set, where the Jacobian is formed.
    pub(crate) formed_scaling: Scaling,
    /// Weights `w` of the ridge `½ Σ w_j x_j²` of a full solve over variables; empty where there is none.
    pub(crate) ridge: Vec<T>,
    /// Number of steps that are refused because they take a parameter's influence away.
    pub(crate) influence_refusals: usize,
    pub(crate) acceleration: Acceleration,
    /// Chord corrections of a trial at most.
    pub(super) chord_corrections: usize,
    pub(crate) linear_solver: LinearSolver,
    pub(crate) memory_budget: usize,
    /// Accuracy to which conjugate gradients solve the systems of a Jacobian of blocks.
    pub(super) inexact: Inexact,
    pub(crate) truncation: Truncation,
    pub(super) gtol: T,
    pub(super) xtol: T,
    pub(super) ftol: T,
    pub(super) target_cost: Option<T>,
    pub(crate) max_iterations: usize,
    pub(super) max_evaluations: usize,
    pub(super) time_limit: Option<Duration>,
    pub(super) cancel: Option<CancelToken>,
    /// Whether to polish; `None` unless the derivatives are rough.
    pub(super) polish: Option<bool>,
    pub(super) log: bool,
    pub(crate) training: TrainingSettings,
}

impl<T: Real> Default for Settings<T> {
    fn default() -> Self {
        Settings {
            scaling: None,
            formed_scaling: Scaling::default(),
            ridge: Vec::new(),
            influence_refusals: usize::MAX,
            acceleration: Acceleration::default(),
            chord_corrections: 0,
            linear_solver: LinearSolver::default(),
            memory_budget: MEMORY_BUDGET,
            inexact: Inexact::default(),
            truncation: Truncation::default(),
            gtol: T::from_f64(256.0) * T::EPSILON,
            xtol: T::EPSILON,
            ftol: Self::default_ftol(),
            target_cost: None,
            max_iterations: MAX_ITERATIONS,
            max_evaluations: usize::MAX,
            time_limit: None,
            cancel: None,
            polish: None,
            log: true,
            training: TrainingSettings::default(),
        }
    }
}

impl<T: Real> Settings<T> {
    /// `ε^⅔`.
    pub(super) fn default_ftol() -> T {
        T::EPSILON.powf(T::from_f64(2.0 / 3.0))
    }

    /// Returns true if the solve is asked to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }

    /// Returns true if corrections of steps make it worth to keep all rows of the Jacobian between them.
    pub(crate) fn keeps_rows(&self, plan: &Plan) -> bool {
        let corrects = self.acceleration == Acceleration::Always || self.chord_corrections > 0;
        corrects && plan.may_keep_rows && plan.form == LinearForm::Cholesky
    }

    /// Neither iterations nor evaluations are used up.
    pub(crate) fn has_work_left(&self) -> bool {
        self.max_iterations > 0 && self.max_evaluations > 0
    }

    /// Returns true if a limit of iterations was set.
    pub(crate) fn limits_iterations(&self) -> bool {
        self.max_iterations != MAX_ITERATIONS
    }

    /// Divides the iterations among this number of solves.
    pub(crate) fn share_iterations(&mut self, solves: usize) {
        self.max_iterations = self.max_iterations.div_ceil(solves);
    }

    /// Number of evaluations that are allowed.
    pub(crate) fn evaluations_left(&self) -> usize {
        self.max_evaluations
    }

    /// Returns true if work that has taken this long is to end.
    pub(crate) fn is_over_after(&self, elapsed: Duration) -> bool {
        self.is_cancelled() || self.time_limit.is_some_and(|limit| elapsed >= limit)
    }

    /// Subtracts earlier work from the limits; the limit of iterations holds for this number of solves together.
    pub(crate) fn spend(&mut self, iterations: usize, solves: usize, evaluations: usize, time: Duration) {
        let left = self.max_iterations.saturating_mul(solves).saturating_sub(iterations);
        self.max_iterations = self.max_iterations.min(left);
        self.max_evaluations = self.max_evaluations.saturating_sub(evaluations);
        self.time_limit = self.time_limit.map(|limit| limit.saturating_sub(time));
    }

    /// Checks settings and problem.
    #[inline]
    pub(crate) fn open<'p, P: LeastSquares<T> + ?Sized>(
        &self,
        problem: &'p mut P,
        start: &[T],
    ) -> Result<CheckedProblem<'p, T, P>, SolveError> {
        let checked = self.check(problem, start);
        let problem = CheckedProblem::new(problem, checked)?;
        if problem.size().0 == 0 {
            return Err(SolveError::NoResiduals);
        }
        match self.linear_solver {
            LinearSolver::Always(form) if form.takes_blocks() && !problem.is_whole() => {
                Err(SolveError::SpreadOut { what: form.to_string(), ranks: problem.ranks() })
            }
            _ => Ok(problem),
        }
    }

    /// [Opens](Self::open) a problem at a start that has to be the same on all ranks.
    #[inline]
    pub(super) fn open_at<'p, P: LeastSquares<T> + ?Sized>(
        &self,
        problem: &'p mut P,
        start: &[T],
    ) -> Result<CheckedProblem<'p, T, P>, SolveError> {
        let problem = self.open(problem, start)?;
        let differs = problem.first_to_differ(start)?;
        differs.map_or(Ok(problem), |(what, rank)| Err(SolveError::Unequal { what, rank }))
    }

    /// Checks settings and problem, but for having residuals: those may be on other ranks.
    #[inline]
    fn check<P: LeastSquares<T> + ?Sized>(&self, problem: &P, start: &[T]) -> Result<(), SolveError> {
        let tolerances = [("gtol", self.gtol), ("xtol", self.xtol), ("ftol", self.ftol)];
        for (setting, value) in tolerances {
            if !(value >= T::ZERO) {
                let requirement = "zero or positive";
                return Err(SolveError::Setting { setting, requirement, value: value.to_f64() });
            }
        }
        if let Some(target) = self.target_cost.filter(|target| !target.is_finite()) {
            // A loss that stands for a sum of squares may be negative.
            let (setting, requirement) = ("target_cost", "finite");
            return Err(SolveError::Setting { setting, requirement, value: target.to_f64() });
        }
        let forcing_term = self.inexact.forcing_term;
        if !(0.0..1.0).contains(&forcing_term) {
            let (setting, requirement) = ("forcing_term", "from 0 to less than 1");
            return Err(SolveError::Setting { setting, requirement, value: forcing_term });
        }
        if self.inexact.max_rounds == 0 {
            let (setting, requirement) = ("max_linear_iterations", "positive");
            return Err(SolveError::Setting { setting, requirement, value: 0.0 });
        }
        let Truncation { rounds, tolerance } = self.truncation;
        if rounds == 0 {
            return Err(SolveError::Setting { setting: "rounds", requirement: "positive", value: 0.0 });
        }
        if !(0.0..1.0).contains(&tolerance) {
            let (setting, requirement) = ("tolerance of the rounds", "zero or positive, and less than one");
            return Err(SolveError::Setting { setting, requirement, value: tolerance });
        }
        if self.time_limit.is_some() && !HAS_CLOCK {
            return Err(SolveError::NoClock);
        }
        let (m, n, group) = (problem.residual_count(), problem.parameter_count(), problem.row_group());
        if problem.column_count() == 0 {
            return Err(SolveError::NoParameters);
        }
        if start.len() != n {
            return Err(SolveError::WrongStartLength { expected: n, found: start.len() });
        }
        if m > 0 && (group == 0 || m % group != 0) {
            return Err(SolveError::UnevenGroups { residuals: m, group });
        }
        if let Some(index) = start.iter().position(|x| !x.is_finite()) {
            let (name, value) = (problem.parameter_name(index), start[index].to_f64());
            return Err(SolveError::NonFiniteStart { name, value });
        }
        if let Some(manifold) = problem.domain().manifold().filter(|manifold| !manifold.contains(start)) {
            return Err(SolveError::StartOffManifold { manifold: manifold.name() });
        }
        check_start(problem, start)
    }

    /// Chooses how to solve the linear systems of a problem, damped with this scaling, and with a ridge.
    pub(crate) fn plan_for<P: LeastSquares<T> + ?Sized>(
        &self,
        checked: &mut CheckedProblem<'_, T, P>,
        scaling: Option<Scaling>,
        ridge: Ridge,
    ) -> Result<Plan, SolveError> {
        let ((m, group), spread, problem) = (checked.size(), !checked.is_whole(), &mut *checked.problem);
        let n = problem.column_count();
        let bounded = bounds_of(problem)?.is_some();
        let products = match scaling {
            None | Some(Scaling::Identity) => problem.capabilities().products(),
            Some(_) => None,
        };
        let products = products.and_then(|products| products.work(std::slice::from_ref(&(0..n))));
        let blocks = problem.capabilities().blocks().is_some();
        let size = Size { m, n, group, products, ridge, bounded, blocks, spread, truncation: self.truncation };
        let plan = Plan::new::<T>(self.linear_solver, &size, self.memory_budget)
            .map_err(|error| SolveError::no_plan(error, self.memory_budget))?;
        // What the first-order test lets pass.
        let negligible = self.largest_cosine().to_f64().powi(2);
        Ok(Plan { group: problem.row_group().max(1), inexact: Inexact { negligible, ..self.inexact }, ..plan })
    }

    /// The form for a problem of a number of parameters that the compiler knows.
    #[inline]
    pub(super) fn plan_fixed<P: LeastSquares<T> + ?Sized>(
        &self,
        checked: &CheckedProblem<'_, T, P>,
        n: usize,
    ) -> Result<Plan, SolveError> {
        let ((m, _), group) = (checked.size(), checked.problem.row_group().max(1));
        let bounded = bounds_of(&*checked.problem)?.is_some();
        Plan::stacked(self.linear_solver, (m, n), group, bounded)
            .map_err(|error| SolveError::no_plan(error, self.memory_budget))
    }

    /// The scaling of a problem that is solved in this form.
    pub(super) fn scaling_for(&self, form: LinearForm) -> Scaling {
        let default = if form.multiplies() { Scaling::Identity } else { self.formed_scaling };
        self.scaling.unwrap_or(default)
    }
}
