//! One step for each minibatch: the iteration of the full solve, with what is carried from one batch to the next.

use super::damping::{DampingPolicy, Trial};
use super::iteration::{Arrival, Iteration};
use super::{Settings, SolveError};
use crate::linear::shape::Dynamic;
use crate::linear::{LinearForm, LinearModel, LinearSolver, Plan, PlanError};
use crate::optim::Hyperparameter;
use crate::{LeastSquares, Real};

/// The settings that only training has.
#[derive(Debug, Clone)]
pub(crate) struct TrainingSettings {
    pub(crate) learning_rate: Hyperparameter,
    pub(crate) momentum: Hyperparameter,
    pub(crate) weight_decay: Hyperparameter,
    pub(crate) minimum_damping: Hyperparameter,
    pub(crate) global_clipnorm: Option<Hyperparameter>,
    /// Trials for each minibatch.
    pub(crate) attempts: usize,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        TrainingSettings {
            learning_rate: 1.0.into(),
            momentum: 0.0.into(),
            weight_decay: 0.0.into(),
            minimum_damping: 0.0.into(),
            global_clipnorm: None,
            attempts: 8,
        }
    }
}

/// What is carried from minibatch to minibatch.
pub(crate) struct Training<T: Real, D> {
    pub(crate) iteration: Iteration<T, Dynamic, D>,
    /// The model in the form that is not in use: a ragged batch may call for the other.
    spare: Option<LinearModel<T, Dynamic>>,
    /// Steps made.
    pub(crate) steps: u64,
    /// A step has been made since the damping was set.
    pub(crate) underway: bool,
    /// Damping and scaling before the step, to return to if it fails.
    before: (D, Vec<T>),
}

/// What a step did.
pub(crate) struct TrainingStep<T> {
    /// The cost before, without the ridge.
    pub(crate) loss: T,
    /// The cost after, without the ridge.
    pub(crate) loss_after: T,
    /// The last trial.
    pub(crate) trial: Trial<T>,
    pub(crate) attempts: usize,
    pub(crate) form: LinearForm,
    pub(crate) rows: usize,
}

impl<T: Real, D: DampingPolicy<T>> Training<T, D> {
    /// Room for steps over `n` numbers.
    pub(crate) fn new(settings: &Settings<T>, damping: D, n: usize) -> Self {
        // The form is planned with each batch; this one is the smallest until then.
        let plan = Plan { m: 1, n, form: LinearForm::Dual, may_orthogonalize: false };
        let mut iteration = Iteration::new(settings, damping.clone(), plan, 1, vec![T::ZERO; n]);
        iteration.arrival = Arrival::Leave;
        Training { iteration, spare: None, steps: 0, underway: false, before: (damping, vec![T::ZERO; n]) }
    }

    /// One step on `problem` from `x`, which moves if a trial is taken.
    pub(crate) fn step<P: LeastSquares<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        x: &mut [T],
    ) -> Result<TrainingStep<T>, SolveError> {
        self.before.0.clone_from(&self.iteration.damping);
        self.before.1.copy_from_slice(&self.iteration.d);
        let outcome = self.prepare(settings, problem, x).and_then(|()| self.attempt(settings, problem));
        match &outcome {
            Ok(step) => {
                self.steps += 1;
                self.underway = true;
                if step.trial.accepted {
                    x.copy_from_slice(&self.iteration.x);
                }
            }
            Err(_) => {
                self.iteration.damping.clone_from(&self.before.0);
                self.iteration.d.copy_from_slice(&self.before.1);
            }
        }
        outcome
    }

    /// Takes up a new problem: plans, makes room, and linearises at `x`.
    fn prepare<P: LeastSquares<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        x: &[T],
    ) -> Result<(), SolveError> {
        let (m, group) = (settings.check(problem, x)?, problem.row_group());
        let iteration = &mut self.iteration;
        let solver = match settings.linear_solver {
            // The dual has no room for a ridge.
            LinearSolver::Auto if !iteration.rule.ridge.is_empty() => LinearSolver::Always(LinearForm::Cholesky),
            solver => solver,
        };
        let plan = Plan::new::<T>(solver, m, x.len(), group, settings.memory_budget)
            .map_err(|PlanError { needed }| SolveError::MemoryBudget { needed, budget: settings.memory_budget })?;
        // A system that is too badly conditioned is answered by more damping.
        iteration.plan = Plan { may_orthogonalize: false, ..plan };
        if iteration.model.form() != plan.form {
            let next = self.spare.take().filter(|spare| spare.form() == plan.form);
            let next = next.unwrap_or_else(|| LinearModel::new(&plan));
            self.spare = Some(std::mem::replace(&mut iteration.model, next));
        }
        iteration.model.resize(m);
        iteration.tiles.resize(m, x.len(), group);
        iteration.trial.copy_from_slice(x);
        iteration.start(problem)?;
        if !self.underway {
            iteration.start_damping();
        }
        Ok(())
    }

    /// Tries steps until one is taken or the attempts are used up.
    fn attempt<P: LeastSquares<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
    ) -> Result<TrainingStep<T>, SolveError> {
        let iteration = &mut self.iteration;
        let loss = iteration.cost - iteration.rule.ridge_cost(&iteration.x);
        let momentum = iteration.rule.momentum;
        let mut attempts = 0;
        let trial = loop {
            attempts += 1;
            let trial = iteration.iterate(problem).map_err(SolveError::Evaluation)?;
            if trial.accepted || attempts >= settings.training.attempts {
                break trial;
            }
            // Damping does not shorten the momentum, so it may be what is wrong with the step.
            iteration.rule.momentum = T::ZERO;
        };
        if trial.accepted && momentum > T::ZERO {
            iteration.rule.velocity.copy_from_slice(&iteration.step);
        }
        let loss_after = iteration.cost - iteration.rule.ridge_cost(&iteration.x);
        let (form, rows) = (iteration.model.form(), iteration.plan.m);
        Ok(TrainingStep { loss, loss_after, trial, attempts, form, rows })
    }
}
