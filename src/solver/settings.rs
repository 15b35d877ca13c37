//! The settings of a solve, and what they must be.

use std::time::Duration;

use super::bounded::{bounds_of, check_start};
use super::shards::Shards;
use super::training::TrainingSettings;
use super::{Acceleration, CancelToken, Scaling, SolveError};
use crate::distributed::Communicator;
use crate::linear::{LinearForm, LinearSolver, MEMORY_BUDGET, Plan, Ridge, Size};
use crate::{LeastSquares, Real};

/// All settings but the damping.
#[derive(Debug, Clone)]
pub(crate) struct Settings<T> {
    /// Where it was not set, it follows the form of the linear system.
    pub(crate) scaling: Option<Scaling>,
    pub(crate) acceleration: Acceleration,
    pub(crate) linear_solver: LinearSolver,
    pub(crate) memory_budget: usize,
    pub(super) gtol: T,
    pub(super) xtol: T,
    pub(super) ftol: T,
    pub(super) target_cost: Option<T>,
    pub(super) max_iterations: usize,
    pub(super) max_evaluations: usize,
    pub(super) time_limit: Option<Duration>,
    pub(super) cancel: Option<CancelToken>,
    pub(super) polish: bool,
    pub(super) log: bool,
    pub(crate) training: TrainingSettings,
}

impl<T: Real> Default for Settings<T> {
    fn default() -> Self {
        Settings {
            scaling: None,
            acceleration: Acceleration::default(),
            linear_solver: LinearSolver::default(),
            memory_budget: MEMORY_BUDGET,
            gtol: T::from_f64(256.0) * T::EPSILON,
            xtol: T::EPSILON,
            ftol: T::EPSILON.powf(T::from_f64(2.0 / 3.0)),
            target_cost: None,
            max_iterations: 1000,
            max_evaluations: usize::MAX,
            time_limit: None,
            cancel: None,
            polish: true,
            log: true,
            training: TrainingSettings::default(),
        }
    }
}

impl<T: Real> Settings<T> {
    /// Checks settings and problem, and returns the number of residuals, and the ranks that they are spread over if there
    /// are several.
    #[inline]
    pub(super) fn open<P: LeastSquares<T> + ?Sized>(
        &self,
        problem: &P,
        start: &[T],
    ) -> Result<(usize, Option<Shards<T>>), SolveError> {
        let shards = Shards::open(problem, self.check(problem, start))?;
        let m = shards.as_ref().map_or_else(|| problem.residual_count(), |shards| shards.residuals);
        if m == 0 { Err(SolveError::NoResiduals) } else { Ok((m, shards)) }
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
        let (m, n, group) = (problem.residual_count(), problem.parameter_count(), problem.row_group());
        if n == 0 {
            return Err(SolveError::NoParameters);
        }
        if start.len() != n {
            return Err(SolveError::WrongStartLength { expected: n, found: start.len() });
        }
        if group == 0 || m % group != 0 {
            return Err(SolveError::UnevenGroups { residuals: m, group });
        }
        if let Some(index) = start.iter().position(|x| !x.is_finite()) {
            let (name, value) = (problem.parameter_name(index), start[index].to_f64());
            return Err(SolveError::NonFiniteStart { name, value });
        }
        check_start(problem, start)
    }

    /// Chooses how to solve the linear systems of a problem that was checked, which has `m` residuals on all ranks together,
    /// is damped with this scaling, and has a ridge.
    pub(super) fn plan_for<P: LeastSquares<T> + ?Sized>(
        &self,
        problem: &mut P,
        scaling: Option<Scaling>,
        m: usize,
        ridge: Ridge,
    ) -> Result<Plan, SolveError> {
        let (n, group) = (problem.parameter_count(), problem.row_group());
        let bounded = bounds_of(problem)?.is_some();
        let ranks = problem.communicator().map_or(1, Communicator::size);
        if ranks > 1 && self.linear_solver == LinearSolver::Always(LinearForm::Dual) {
            return Err(SolveError::SpreadOut { what: LinearForm::Dual.to_string(), ranks });
        }
        let products = match scaling {
            None | Some(Scaling::Identity) => problem.products(),
            Some(_) => None,
        };
        let products = products.and_then(|products| products.work(std::slice::from_ref(&(0..n))));
        Plan::new::<T>(
            self.linear_solver,
            &Size { m, n, group, products, ridge, bounded, spread: ranks > 1 },
            self.memory_budget,
        )
        .map_err(|error| SolveError::no_plan(error, self.memory_budget))
    }

    /// The scaling of a problem that is solved in this form.
    pub(super) fn scaling_for(&self, form: LinearForm) -> Scaling {
        let default = if form.multiplies() { Scaling::Identity } else { Scaling::default() };
        self.scaling.unwrap_or(default)
    }
}
