//! The variables of a training: which of them are adjusted, their last step and their scaling, around the solver's steps.

use std::ops::Range;

use super::batch_noise::BatchNoise;
use crate::hyperparameters::HyperparameterError;
use crate::precision::compile_once;
use crate::problem::LeastSquares;
use crate::problem::selected::{Selected, SelectionMemory, count, gather, scatter};
use crate::real::Real;
use crate::solver::damping::{AnyPolicy, DampingPolicy};
use crate::solver::{BatchRule, HYPERPARAMETERS, Settings, SolveError, Training, TrainingStep};
use crate::variables::{Layout, Variables, pattern};

/// State carried from minibatch to minibatch, for variables of one layout.
pub(super) struct VariableTraining<T: Real> {
    pub(super) layout: Layout,
    training: Training<T>,
    /// The parts of the variables that are adjusted.
    columns: Vec<Range<usize>>,
    /// Ranges of the trainable variables at hand, to compare with.
    trainable: Vec<Range<usize>>,
    memory: SelectionMemory<T>,
    /// The entries that are adjusted.
    x: Vec<T>,
    /// The last step taken, for all variables.
    pub(super) velocity: Vec<T>,
    /// One where weights decay, zero where they do not, for all variables.
    decays: Vec<T>,
    /// The last step and the weights of the ridge, for the entries that are adjusted; empty without momentum, and without weight decay.
    selected: SelectedRule<T>,
    /// The scaling `D`, for all variables.
    pub(super) scale: Vec<T>,
    /// Steps made.
    pub(super) steps: u64,
    /// Noise of the minibatches.
    pub(super) noise: BatchNoise,
}

/// Vectors of the rule of a step.
#[derive(Default)]
struct SelectedRule<T> {
    velocity: Vec<T>,
    ridge: Vec<T>,
}

/// Arguments of [`VariableTraining::new`].
struct Beginning<'a, T: Real> {
    settings: &'a Settings<T>,
    damping: AnyPolicy<'static, T>,
    variables: &'a Variables<T>,
}

compile_once!(begin(Beginning) -> Result<VariableTraining, HyperparameterError>);

impl<T: Real> Beginning<'_, T> {
    fn run(self) -> Result<VariableTraining<T>, HyperparameterError> {
        let Beginning { settings, damping, variables } = self;
        let hyperparameters = &settings.training.hyperparameters;
        HYPERPARAMETERS.iter().zip(hyperparameters).try_for_each(|(spec, value)| spec.check(value))?;
        let zeros = vec![T::ZERO; variables.values().len()];
        Ok(VariableTraining {
            layout: Layout::of(variables),
            training: Training::new(0, settings, damping),
            columns: Vec::new(),
            trainable: Vec::new(),
            memory: SelectionMemory::default(),
            x: Vec::new(),
            velocity: zeros.clone(),
            decays: decays(&settings.training.exclusions, variables),
            selected: SelectedRule { velocity: Vec::new(), ridge: Vec::new() },
            scale: zeros,
            steps: 0,
            noise: BatchNoise::default(),
        })
    }
}

/// Arguments of [`VariableTraining::step`].
struct Step<'a, T: Real> {
    training: &'a mut VariableTraining<T>,
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

impl<T: Real> VariableTraining<T> {
    /// State for these variables.
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

    /// The learning rate of the next step.
    pub(super) fn learning_rate(&self, settings: &Settings<T>) -> Result<f64, HyperparameterError> {
        let [learning_rate, ..] = settings.training.at(self.steps)?;
        Ok(if settings.training.averages_noise { learning_rate * self.noise.rate() } else { learning_rate })
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
        let mut hyperparameters = settings.training.at(self.steps)?;
        hyperparameters[0] = self.learning_rate(settings)?;
        self.select(settings, variables);
        self.select_rule(hyperparameters);
        let VariableTraining { training, columns, memory, x, selected, .. } = self;
        let (rule, is_first) = (selected.rule(hyperparameters), self.steps == 0);
        let step = if x.len() == expected {
            training.step(settings, problem, x, rule, is_first)
        } else {
            training.step(settings, &mut Selected { problem, columns, memory }, x, rule, is_first)
        }?;
        self.noise.enter(step.loss, step.loss_after);
        self.commit(step.trial.accepted, variables);
        Ok(step)
    }

    /// Takes up the entries that are to be adjusted.
    fn select(&mut self, settings: &Settings<T>, variables: &Variables<T>) {
        variables.collect_trainable_ranges(&mut self.trainable);
        if self.trainable != self.columns {
            self.columns.clone_from(&self.trainable);
            let n = count(&self.columns);
            self.training.resize(n, settings);
            self.x.resize(n, T::ZERO);
        }
        gather(&mut self.x, variables.values(), &self.columns);
        if self.training.carries_scale() {
            gather(self.training.scale_mut(), &self.scale, &self.columns);
        }
        if self.x.len() < variables.values().len() {
            self.memory.all.clear();
            self.memory.all.extend_from_slice(variables.values());
        }
    }

    /// Selects the entries of the rule of a step, where it has any.
    fn select_rule(&mut self, [_, momentum, decay, ..]: [f64; 7]) {
        let (n, decay) = (self.x.len(), T::from_f64(decay));
        let SelectedRule { velocity, ridge } = &mut self.selected;
        velocity.clear();
        if momentum > 0.0 {
            velocity.resize(n, T::ZERO);
            gather(velocity, &self.velocity, &self.columns);
        }
        ridge.clear();
        if decay > T::ZERO {
            ridge.resize(n, T::ZERO);
            gather(ridge, &self.decays, &self.columns);
            ridge.iter_mut().for_each(|weight| *weight *= decay);
            if ridge.iter().all(|&weight| weight == T::ZERO) {
                ridge.clear();
            }
        }
    }

    /// Appends the state of the damping.
    pub(super) fn save_damping(&self, numbers: &mut Vec<f64>) {
        self.training.save_damping(numbers);
    }

    /// State carried besides the slots.
    pub(super) fn flags(&self) -> [f64; 4] {
        self.training.flags()
    }

    /// Takes over the state of the damping and the [flags](Self::flags); `false` when they are not of this kind.
    pub(super) fn restore(&mut self, damping: &[f64], flags: &[f64]) -> bool {
        flags.try_into().is_ok_and(|flags| self.training.restore(damping, flags, self.steps > 0))
    }

    /// Commits the changes of a step that did not fail.
    fn commit(&mut self, accepted: bool, variables: &mut Variables<T>) {
        if accepted {
            scatter(variables.values_mut(), self.training.point(), &self.columns);
            scatter(&mut self.velocity, self.training.last_step(), &self.columns);
        }
        if self.training.carries_scale() || self.steps == 0 {
            scatter(&mut self.scale, self.training.scale(), &self.columns);
        }
        self.steps += 1;
    }
}

impl<T: Real> SelectedRule<T> {
    /// The rule of a step by the hyperparameters.
    fn rule(&self, hyperparameters: [f64; 7]) -> BatchRule<'_, T> {
        let [learning_rate, momentum, _, minimum_damping, loss_damping, clip_norm, _] =
            hyperparameters.map(T::from_f64);
        let [.., attempts] = hyperparameters;
        BatchRule {
            learning_rate,
            momentum,
            velocity: &self.velocity,
            ridge: &self.ridge,
            minimum_damping,
            loss_damping,
            clip_norm: if clip_norm > T::ZERO { clip_norm } else { T::INFINITY },
            attempts: attempts as usize,
        }
    }
}

/// One for every number that decays, zero for every other.
pub(super) fn decays<T: Real>(exclusions: &[String], variables: &Variables<T>) -> Vec<T> {
    let mut decays = vec![T::ONE; variables.values().len()];
    for variable in variables.iter() {
        if exclusions.iter().any(|pattern| pattern::matches(pattern, variables.name(variable))) {
            decays[variable.range()].fill(T::ZERO);
        }
    }
    decays
}
