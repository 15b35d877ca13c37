//! Kronecker factors in place of the exact Gauss–Newton matrix of minibatches.

use super::training::VariableTraining;
use crate::linear::{LinearSolver, Plan, Size};
use crate::optim::{KroneckerLevenbergMarquardt, Optimizer, OptimizerResult};
use crate::problem::selected::count;
use crate::problem::{Objective, Work};
use crate::real::Real;
use crate::solver::damping::DampingPolicy;
use crate::solver::{Acceleration, Curvature, HYPERPARAMETERS, LevenbergMarquardt, Settings};
use crate::variables::Variables;

/// Hyperparameters that mean the same for both kinds of steps.
const SHARED: [&str; 3] = ["learning_rate", "weight_decay", "global_clipnorm"];

impl<T: Real, D> LevenbergMarquardt<T, D> {
    /// The optimizer that makes the steps, where they have Kronecker factors.
    pub(super) fn kronecker(&self) -> Option<&KroneckerLevenbergMarquardt<T>> {
        self.carried.as_ref()?.downcast_ref()
    }

    /// As [`kronecker`](Self::kronecker), to change it.
    pub(super) fn kronecker_mut(&mut self) -> Option<&mut KroneckerLevenbergMarquardt<T>> {
        self.carried.as_mut()?.downcast_mut()
    }
}

impl<T: Real, D: DampingPolicy<T> + 'static> LevenbergMarquardt<T, D> {
    /// The curvature of a training's steps: [`Exact`](Curvature::Exact) or [`Kronecker`](Curvature::Kronecker) once the first minibatch has decided, the
    /// [setting](Self::with_curvature) before.
    pub fn curvature(&self) -> Curvature {
        if self.kronecker().is_some() {
            return Curvature::Kronecker;
        }
        let has_begun = self.training().is_some_and(|training| training.steps > 0);
        if has_begun { Curvature::Exact } else { self.settings.training.curvature }
    }

    /// The optimizer of Kronecker steps with these settings.
    pub(super) fn kronecker_steps(&self) -> OptimizerResult<KroneckerLevenbergMarquardt<T>> {
        let exclusions = self.settings.training.exclusions.iter().cloned();
        let mut kronecker = KroneckerLevenbergMarquardt::new().exclude_from_weight_decay(exclusions);
        for name in SHARED {
            kronecker.set_hyperparameter(name, self.hyperparameter(name)?)?;
        }
        Ok(kronecker)
    }

    /// Passes a hyperparameter on to Kronecker steps, where they have it.
    pub(super) fn pass_on_hyperparameter(&mut self, name: &str) -> OptimizerResult<()> {
        let value = self.hyperparameter(name)?;
        match self.kronecker_mut().filter(|_| SHARED.contains(&name)) {
            Some(kronecker) => kronecker.set_hyperparameter(name, value),
            None => Ok(()),
        }
    }

    /// Returns true if the first step is to have Kronecker factors, given its minibatch.
    pub(super) fn begins_with_kronecker(&self, batch: &mut dyn Objective<T>, variables: &Variables<T>) -> bool {
        let has_begun = self.training().is_some_and(|training: &VariableTraining<T>| training.steps > 0);
        match self.settings.training.curvature {
            Curvature::Exact => false,
            _ if has_begun || self.kronecker().is_some() => false,
            Curvature::Kronecker => true,
            Curvature::Auto => chosen(&self.settings, batch, variables) == Some(Curvature::Kronecker),
        }
    }
}

/// The curvature that is chosen for a minibatch; `None` where there is nothing to choose.
fn chosen<T: Real>(
    settings: &Settings<T>,
    batch: &mut dyn Objective<T>,
    variables: &Variables<T>,
) -> Option<Curvature> {
    // Of squares, the factor of the likelihood is not known.
    batch.dispersion()?;
    if !is_plain(settings) {
        return None;
    }
    let factored = batch.kronecker_factored().ok()?;
    if factored.communicator().is_some() {
        return None;
    }
    let kronecker = factored.step_work()?;
    Some(Curvature::by_times(exact_work(settings, batch, variables)?.time(), kronecker.time()))
}

/// Returns true without settings that only exact steps have.
fn is_plain<T: Real>(settings: &Settings<T>) -> bool {
    let values = HYPERPARAMETERS.iter().zip(&settings.training.hyperparameters);
    let mut own = values.filter(|(spec, _)| !SHARED.contains(&spec.name));
    own.all(|(spec, value)| *value == spec.default.into())
        && settings.linear_solver == LinearSolver::Auto
        && settings.scaling.is_none()
        && settings.acceleration == Acceleration::default()
}

/// Estimated work of an exact step on a minibatch with fewer residuals than adjusted parameters; `None` for others.
fn exact_work<T: Real>(settings: &Settings<T>, batch: &mut dyn Objective<T>, variables: &Variables<T>) -> Option<Work> {
    let problem = batch.least_squares().ok()?;
    let columns = variables.trainable_ranges();
    let (m, n, group) = (problem.residual_count(), count(&columns), problem.row_group().max(1));
    if m >= n || problem.parameter_count() != variables.values().len() {
        return None;
    }
    let products = problem.capabilities().products()?.work(&columns);
    let size = Size::plain(m, n, group, products, settings.truncation);
    let plan = Plan::new::<T>(settings.linear_solver, &size, settings.memory_budget).ok()?;
    plan.form.work::<T>(&size)
}
