//! One step for each minibatch: the iteration of the full solve, and the state that is carried from one batch to the next.

use std::ops::Range;

use crate::hyperparameters::HyperparameterError;
use crate::kernels::triangular::lost_digits;
use crate::kernels::vector::add_scaled;
use crate::linear::shape::Dynamic;
use crate::linear::{BoxedModel, Forms, LinearForm, LinearModel, LinearSolver, Plan, Ridge};
use crate::precision::compile_once;
use crate::problem::LeastSquares;
use crate::problem::selected::{Selected, SelectionMemory, count, gather, scatter};
use crate::real::Real;
use crate::solver::damping::{AnyPolicy, DampingPolicy, Trial};
use crate::solver::{Arrival, HYPERPARAMETERS, Iteration, Scaling, Settings, SolveError, StepRule, bounds_of};
use crate::variables::{Gradient, Gradients, Layout, Variables, pattern};

/// State carried from minibatch to minibatch, for variables of one layout.
pub(super) struct Training<T: Real> {
    pub(super) layout: Layout,
    pub(super) iteration: Iteration<T, Dynamic, AnyPolicy<'static, T>>,
    /// The model in the form that is not in use: a ragged batch may call for the other.
    spare: Option<BoxedModel<T>>,
    /// The parts of the variables that are adjusted.
    columns: Vec<Range<usize>>,
    /// Ranges of the trainable variables at hand, to compare with.
    trainable: Vec<Range<usize>>,
    memory: SelectionMemory<T>,
    /// The numbers that are adjusted.
    x: Vec<T>,
    /// The last step taken, for all variables.
    pub(super) velocity: Vec<T>,
    /// Room for a step of all variables.
    next: Vec<T>,
    /// One where weights decay, zero where they do not, for all variables.
    decays: Vec<T>,
    /// Scaling in use: the one that was set, or the one that the form of the first batch's linear system called for.
    scaling: Option<Scaling>,
    /// The scaling `D`, for all variables.
    pub(super) scale: Vec<T>,
    /// Steps made.
    pub(super) steps: u64,
    /// A step has been made since the damping was set.
    pub(super) underway: bool,
    /// Normal equations have been too badly conditioned, and QR has taken their place.
    orthogonal: bool,
    /// State before the step.
    before: Before<T>,
}

/// State that a failed step returns to.
struct Before<T> {
    /// The state of the damping.
    numbers: Vec<f64>,
    /// The damping, of a policy that saves no numbers.
    damping: Option<AnyPolicy<'static, T>>,
    /// The step was to be accelerated.
    accelerate: bool,
}

/// Limits of a step, besides the rule.
#[derive(Clone, Copy)]
struct Limits<T> {
    /// Trials for each minibatch.
    attempts: usize,
    /// Lower bound of `λ` relative to the loss, where there are fewer residuals than parameters.
    loss_damping: T,
}

/// Report of a step.
pub(super) struct TrainingStep<T> {
    /// The cost before, without the ridge.
    pub(super) loss: T,
    /// The cost after, without the ridge.
    pub(super) loss_after: T,
    /// The last trial.
    pub(super) trial: Trial<T>,
    pub(super) attempts: usize,
    pub(super) form: LinearForm,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// Arguments of [`Training::new`].
struct Beginning<'a, T: Real> {
    settings: &'a Settings<T>,
    damping: AnyPolicy<'static, T>,
    variables: &'a Variables<T>,
}

compile_once!(begin(Beginning) -> Result<Training, HyperparameterError>);

impl<T: Real> Beginning<'_, T> {
    fn run(self) -> Result<Training<T>, HyperparameterError> {
        let Beginning { settings, damping, variables } = self;
        let hyperparameters = &settings.training.hyperparameters;
        HYPERPARAMETERS.iter().zip(hyperparameters).try_for_each(|(spec, value)| spec.check(value))?;
        let zeros = vec![T::ZERO; variables.values().len()];
        Ok(Training {
            layout: Layout::of(variables),
            iteration: iteration_over(0, settings, damping),
            spare: None,
            columns: Vec::new(),
            trainable: Vec::new(),
            memory: SelectionMemory::default(),
            x: Vec::new(),
            velocity: zeros.clone(),
            next: Vec::new(),
            decays: decays(&settings.training.exclusions, variables),
            scaling: settings.scaling,
            scale: zeros,
            steps: 0,
            underway: false,
            orthogonal: false,
            before: Before { numbers: Vec::new(), damping: None, accelerate: false },
        })
    }
}

/// Arguments of [`Training::step`].
struct Step<'a, T: Real> {
    training: &'a mut Training<T>,
    settings: &'a Settings<T>,
    problem: &'a mut (dyn LeastSquares<T> + 'a),
    variables: &'a mut Variables<T>,
}

compile_once!(step(Step) -> Result<TrainingStep, SolveError>);

impl<T: Real> Step<'_, T> {
    fn run(self) -> Result<TrainingStep<T>, SolveError> {
        let Step { training, settings, problem, variables } = self;
        training.make_step(settings, problem, variables)
    }
}

impl<T: Real> Training<T> {
    /// Room for these variables.
    ///
    /// # Errors
    ///
    /// [`HyperparameterError`] for hyperparameters outside of their domains.
    pub(super) fn new(
        settings: &Settings<T>,
        damping: &(impl DampingPolicy<T> + 'static),
        variables: &Variables<T>,
    ) -> Result<Self, HyperparameterError> {
        begin(Beginning { settings, damping: AnyPolicy::new(damping.clone()), variables })
    }

    /// One step on `problem`, whose parameters are all variables; the trainable ones move if a trial is taken.
    pub(super) fn step(
        &mut self,
        settings: &Settings<T>,
        problem: &mut dyn LeastSquares<T>,
        variables: &mut Variables<T>,
    ) -> Result<TrainingStep<T>, SolveError> {
        step(Step { training: self, settings, problem, variables })
    }

    fn make_step(
        &mut self,
        settings: &Settings<T>,
        problem: &mut dyn LeastSquares<T>,
        variables: &mut Variables<T>,
    ) -> Result<TrainingStep<T>, SolveError> {
        let expected = problem.parameter_count();
        if variables.values().len() != expected {
            return Err(SolveError::WrongStartLength { expected, found: variables.values().len() });
        }
        if bounds_of(problem)?.is_some() {
            return Err(SolveError::BoundedMinibatch);
        }
        if problem.manifold().is_some() {
            return Err(SolveError::OnManifold { what: "steps of training" });
        }
        self.select(settings, variables);
        let limits = self.set_rule(settings.training.at(self.steps)?);
        self.keep_for_return();

        let mut x = std::mem::take(&mut self.x);
        let outcome = if x.len() == expected {
            self.step_from(settings, problem, &x, limits)
        } else {
            let mut memory = std::mem::take(&mut self.memory);
            let columns = std::mem::take(&mut self.columns);
            let mut selected = Selected { problem, columns: &columns, memory: &mut memory };
            let outcome = self.step_from(settings, &mut selected, &x, limits);
            (self.memory, self.columns) = (memory, columns);
            outcome
        };
        match &outcome {
            Ok(step) if step.trial.accepted => x.copy_from_slice(&self.iteration.x),
            Ok(_) => {}
            Err(_) => self.go_back(),
        }
        self.x = x;
        if let Ok(step) = &outcome {
            self.commit(step.trial.accepted, variables);
        }
        outcome
    }

    /// Keeps what a failed step returns to.
    fn keep_for_return(&mut self) {
        let Before { numbers, damping, accelerate } = &mut self.before;
        numbers.clear();
        self.iteration.damping.save(numbers);
        *damping = numbers.is_empty().then(|| self.iteration.damping.clone());
        *accelerate = self.iteration.accelerate;
    }

    /// Returns to what was before the step.
    fn go_back(&mut self) {
        match self.before.damping.take() {
            Some(damping) => self.iteration.damping = damping,
            None => drop(self.iteration.damping.restore(&self.before.numbers)),
        }
        self.iteration.accelerate = self.before.accelerate;
    }

    /// Takes up the numbers that are to be adjusted.
    fn select(&mut self, settings: &Settings<T>, variables: &Variables<T>) {
        variables.collect_trainable_ranges(&mut self.trainable);
        if self.trainable != self.columns {
            self.columns.clone_from(&self.trainable);
            let n = count(&self.columns);
            let accelerate = self.iteration.accelerate;
            self.iteration = iteration_over(n, settings, self.iteration.damping.clone());
            self.iteration.accelerate |= accelerate;
            self.spare = None;
            self.x.resize(n, T::ZERO);
        }
        gather(&mut self.x, variables.values(), &self.columns);
        if self.scaling != Some(Scaling::Identity) {
            gather(&mut self.iteration.d, &self.scale, &self.columns);
        }
        if self.x.len() < variables.values().len() {
            self.memory.all.clear();
            self.memory.all.extend_from_slice(variables.values());
        }
    }

    /// Sets the rule for this step by the current hyperparameters, and returns the limits that they set.
    fn set_rule(&mut self, hyperparameters: [f64; 7]) -> Limits<T> {
        let [learning_rate, momentum, decay, minimum_damping, loss_damping, clip, attempts] =
            hyperparameters.map(T::from_f64);
        let n = self.x.len();
        let rule = &mut self.iteration.rule;
        rule.learning_rate = learning_rate;
        rule.minimum_damping = minimum_damping;
        rule.clip_norm = if clip > T::ZERO { clip } else { T::INFINITY };
        rule.momentum = momentum;
        if momentum > T::ZERO {
            rule.velocity.resize(n, T::ZERO);
            rule.target.reserve(n.saturating_sub(rule.target.len()));
            gather(&mut rule.velocity, &self.velocity, &self.columns);
        }
        rule.ridge.clear();
        if decay > T::ZERO {
            rule.ridge.resize(n, T::ZERO);
            gather(&mut rule.ridge, &self.decays, &self.columns);
            rule.ridge.iter_mut().for_each(|weight| *weight *= decay);
            if rule.ridge.iter().all(|&weight| weight == T::ZERO) {
                rule.ridge.clear();
            }
        }
        rule.uniform_ridge = uniform(&rule.ridge);
        Limits { attempts: attempts.to_f64() as usize, loss_damping }
    }

    /// Plans for a problem, makes room, linearises at `x`, and tries steps until one is taken or the attempts are used up.
    fn step_from(
        &mut self,
        settings: &Settings<T>,
        problem: &mut dyn LeastSquares<T>,
        x: &[T],
        limits: Limits<T>,
    ) -> Result<TrainingStep<T>, SolveError> {
        self.prepare(settings, problem, x)?;
        let iteration = &mut self.iteration;
        iteration.trial.copy_from_slice(x);
        iteration.start(problem)?;
        if !self.underway {
            iteration.start_damping();
        }
        let loss = iteration.cost - iteration.rule.ridge_cost(&iteration.x);
        if iteration.plan.m < iteration.plan.n {
            let rule = &mut iteration.rule;
            rule.minimum_damping = rule.minimum_damping.max(limits.loss_damping * loss.abs());
        }
        let mut attempts = 0;
        let (trial, hopeless) = loop {
            attempts += 1;
            let trial = iteration.iterate(problem).map_err(SolveError::Evaluation)?;
            if trial.accepted {
                break (trial, false);
            }
            let hopeless = iteration.rule.momentum == T::ZERO && iteration.is_lost(&trial);
            if hopeless || attempts >= limits.attempts {
                break (trial, hopeless || !trial.length.is_finite());
            }
            // Damping does not shorten the momentum, so it may be what is wrong with the step.
            iteration.rule.momentum = T::ZERO;
        };
        if hopeless {
            // No more damping would have helped, and as much might keep later batches from learning anything.
            iteration.start_damping();
        }
        let loss_after = iteration.cost - iteration.rule.ridge_cost(&iteration.x);
        let (form, rows) = (iteration.model.form(), iteration.plan.m);
        self.orthogonal |= iteration.plan.form == LinearForm::Cholesky && form == LinearForm::Qr;
        Ok(TrainingStep { loss, loss_after, trial, attempts, form, rows, columns: x.len() })
    }

    /// Plans for a problem and makes room for its rows.
    fn prepare(
        &mut self,
        settings: &Settings<T>,
        problem: &mut dyn LeastSquares<T>,
        x: &[T],
    ) -> Result<(), SolveError> {
        let rank_sync = settings.open(problem, x)?;
        if let (0, Some(rank_sync)) = (self.steps, &rank_sync) {
            // From there on all ranks make the same steps.
            rank_sync.compare(problem, x)?;
        }
        let iteration = &mut self.iteration;
        let ridge = allowed_ridge(settings.linear_solver, &iteration.rule)?;
        let plan = settings.plan_for(problem, rank_sync.as_ref(), self.scaling, ridge)?;
        iteration.rank_sync = rank_sync;
        iteration.scaling = self.scaling.unwrap_or_else(|| scaling_of_weights(plan.form));
        let may_orthogonalize = plan.may_orthogonalize && damping_would_be_high::<T>();
        let plan = if self.orthogonal && may_orthogonalize && plan.form == LinearForm::Cholesky {
            Plan { form: LinearForm::Qr, may_orthogonalize: false, ..plan }
        } else {
            Plan { may_orthogonalize, ..plan }
        };
        iteration.plan = plan;
        if iteration.model.form() != plan.form {
            let next = self.spare.take().filter(|spare| spare.form() == plan.form);
            let next = next.map_or_else(|| Forms::ALL.model(&plan, None), Ok);
            let next = next.map_err(|error| SolveError::no_plan(error, settings.memory_budget))?;
            self.spare = Some(std::mem::replace(&mut iteration.model, next));
        }
        iteration.model.resize(plan.m, plan.group);
        iteration.tiles.resize(plan.m, plan.form.formed_columns(x.len()), plan.group);
        if settings.keeps_rows(&plan) {
            iteration.tiles.keep_all(plan.m);
        }
        Ok(())
    }

    /// Moves by `−learning_rate` times a direction plus `momentum` times the last step; does nothing where a number would not be
    /// finite.
    pub(super) fn apply_direction(
        &mut self,
        learning_rate: T,
        momentum: T,
        directions: &Gradients<T>,
        variables: &mut Variables<T>,
    ) -> Result<(), SolveError> {
        self.next.clear();
        self.next.extend(self.velocity.iter().map(|&velocity| momentum * velocity));
        for variable in self.layout.variables() {
            let next = &mut self.next[variable.range()];
            match directions.of(variable) {
                Gradient::Absent => {}
                Gradient::Dense(direction) => add_scaled(next, -learning_rate, direction),
                Gradient::Rows { rows, values } => {
                    let columns = variable.columns();
                    for (&row, direction) in rows.iter().zip(values.chunks_exact(columns.max(1))) {
                        add_scaled(&mut next[row * columns..][..columns], -learning_rate, direction);
                    }
                }
            }
        }
        variables.collect_trainable_ranges(&mut self.trainable);
        let free = || self.trainable.iter().cloned().flatten();
        if let Some(index) = free().find(|&index| !(variables.values()[index] + self.next[index]).is_finite()) {
            let value = (variables.values()[index] + self.next[index]).to_f64();
            return Err(SolveError::NonFiniteStep { name: variables.parameter_name(index), value });
        }
        for index in free() {
            variables.values_mut()[index] += self.next[index];
            self.velocity[index] = self.next[index];
        }
        self.steps += 1;
        Ok(())
    }

    /// Appends the state of the damping.
    pub(super) fn save_damping(&self, numbers: &mut Vec<f64>) {
        self.iteration.damping.save(numbers);
    }

    /// State carried besides the slots.
    pub(super) fn flags(&self) -> [f64; 4] {
        let uniform = self.scaling == Some(Scaling::Identity);
        [self.underway, self.iteration.accelerate, uniform, self.orthogonal].map(|flag| f64::from(u8::from(flag)))
    }

    /// Takes over numbers by name, the `damping` and the `flags`; `false` when they are not of this kind.
    pub(super) fn restore(&mut self, numbers: &[(String, Vec<f64>)]) -> bool {
        let find = |name: &str| numbers.iter().find(|(saved, _)| saved == name).map(|(_, numbers)| numbers.as_slice());
        let (Some(damping), Some(&[underway, accelerate, uniform, orthogonal])) = (find("damping"), find("flags"))
        else {
            return false;
        };
        (self.underway, self.iteration.accelerate) = (underway != 0.0, accelerate != 0.0);
        self.orthogonal = orthogonal != 0.0;
        if self.scaling.is_none() && self.steps > 0 {
            self.scaling = Some(if uniform != 0.0 { Scaling::Identity } else { Scaling::OF_WEIGHTS });
        }
        self.iteration.damping.restore(damping)
    }

    /// Commits the changes of a step that did not fail.
    fn commit(&mut self, accepted: bool, variables: &mut Variables<T>) {
        if accepted {
            scatter(variables.values_mut(), &self.x, &self.columns);
            scatter(&mut self.velocity, &self.iteration.step, &self.columns);
        }
        if self.scaling != Some(Scaling::Identity) || self.steps == 0 {
            scatter(&mut self.scale, &self.iteration.d, &self.columns);
        }
        self.scaling = Some(self.iteration.scaling);
        self.steps += 1;
        self.underway = true;
    }
}

/// Normal equations refuse any damping but a high one. In double precision they are solved down to `λ = 2e-13`, and less is not
/// worth twice the work; in single precision down to `1e-4`, where training would come to a standstill.
fn damping_would_be_high<T: Real>() -> bool {
    lost_digits::<T>() > T::from_f64(1e-8)
}

/// The ridge of a rule, if a solver that always takes one form has room for it.
fn allowed_ridge<T: Real>(solver: LinearSolver, rule: &StepRule<T>) -> Result<Ridge, SolveError> {
    let Some(decay) = rule.ridge.iter().copied().reduce(T::max) else { return Ok(Ridge::None) };
    let ridge = if rule.uniform_ridge.is_some() { Ridge::Uniform } else { Ridge::Varied };
    let requirement = match solver {
        LinearSolver::Always(LinearForm::Dual) => "zero in the dual form",
        LinearSolver::Always(form) if form.multiplies() && ridge == Ridge::Varied => {
            "the same for all variables where the Jacobian is not formed"
        }
        _ => return Ok(ridge),
    };
    Err(SolveError::Setting { setting: "weight_decay", requirement, value: decay.to_f64() })
}

/// The weight that all of a ridge's are; zero for no ridge.
fn uniform<T: Real>(ridge: &[T]) -> Option<T> {
    let Some((&first, others)) = ridge.split_first() else { return Some(T::ZERO) };
    others.iter().all(|&weight| weight == first).then_some(first)
}

/// One for every number that decays, zero for every other.
fn decays<T: Real>(exclusions: &[String], variables: &Variables<T>) -> Vec<T> {
    let mut decays = vec![T::ONE; variables.values().len()];
    for variable in variables.iter() {
        if exclusions.iter().any(|pattern| pattern::matches(pattern, variables.name(variable))) {
            decays[variable.range()].fill(T::ZERO);
        }
    }
    decays
}

/// Default scaling of weights.
fn scaling_of_weights(form: LinearForm) -> Scaling {
    if form.multiplies() { Scaling::Identity } else { Scaling::OF_WEIGHTS }
}

/// An iteration over `n` numbers that stays where it arrives.
fn iteration_over<T: Real>(
    n: usize,
    settings: &Settings<T>,
    damping: AnyPolicy<'static, T>,
) -> Iteration<T, Dynamic, AnyPolicy<'static, T>> {
    // The form is planned with each batch; this is the smallest until then.
    let plan = Plan { truncation: settings.truncation, ..Plan::of_rows(LinearForm::FactoredDual, false, (1, n), 1) };
    let model = Forms::ALL.model(&plan, None).expect("this form takes no blocks");
    let mut iteration = Iteration::new(settings, damping, plan, model, vec![T::ZERO; n]);
    iteration.arrival = Arrival::Leave;
    iteration
}
