//! Levenberg–Marquardt as an optimizer: one damped iteration for each minibatch.

use ndarray::ArrayViewD;

use super::direction::step_along;
use super::state::entry;
use super::{DampedStep, Hyperparameter, Optimizer, OptimizerError, OptimizerState, StepReport};
use crate::damping::DampingPolicy;
use crate::kernels::vector::add_scaled;
use crate::problem::selected::{Selected, SelectionMemory, gather, scatter};
use crate::solver::Training;
use crate::variables::{Gradients, Variable, Variables};
use crate::{LevenbergMarquardt, Objective, Observer, Real, Report, SolveError};

const NAME: &str = "levenberg_marquardt";
const SLOTS: [&str; 2] = ["momentum", "scaling"];

/// # Training
///
/// As an [`Optimizer`], one step is one iteration on the minibatch at hand, the same as a full solve repeats: linearise,
/// solve the damped system, try the step, and try again with more damping until one lowers the loss *of that minibatch*
/// or the attempts are used up. Then the step is not taken. Damping and scaling are carried from batch to batch.
///
/// The learning rate, momentum and clipping act on the step before it is tried, and the gain ratio is judged on what is
/// tried. Weight decay is part of the damped system: `½ · weight_decay · ‖x‖²` is added to the loss.
impl<T: Real, D> LevenbergMarquardt<T, D> {
    /// Factor of the step when training. One by default: the damped step is taken whole.
    pub fn with_learning_rate(mut self, learning_rate: impl Into<Hyperparameter>) -> Self {
        self.settings.training.learning_rate = learning_rate.into();
        self
    }

    /// Share of the last step that is added to the next when training. Zero by default.
    pub fn with_momentum(mut self, momentum: impl Into<Hyperparameter>) -> Self {
        self.settings.training.momentum = momentum.into();
        self
    }

    /// Adds `½ · weight_decay · ‖x‖²` to the loss when training. Zero by default.
    pub fn with_weight_decay(mut self, weight_decay: impl Into<Hyperparameter>) -> Self {
        self.settings.training.weight_decay = weight_decay.into();
        self
    }

    /// The least damping `λ` when training. Zero by default.
    pub fn with_minimum_damping(mut self, damping: impl Into<Hyperparameter>) -> Self {
        self.settings.training.minimum_damping = damping.into();
        self
    }

    /// The longest step when training; longer ones are shortened. Zero, the default, stands for any length.
    pub fn with_global_clipnorm(mut self, norm: impl Into<Hyperparameter>) -> Self {
        self.settings.training.global_clipnorm = norm.into();
        self
    }

    /// Trials for each minibatch when training. Eight by default.
    pub fn with_attempts(mut self, attempts: usize) -> Self {
        self.settings.training.attempts = (attempts as f64).into();
        self
    }
}

impl<T: Real, D: DampingPolicy<T>> LevenbergMarquardt<T, D> {
    /// Minimises `½‖r‖²` over the trainable variables: a full solve, to convergence.
    ///
    /// The variables end at the best point found, whatever the status.
    ///
    /// # Errors
    ///
    /// [`OptimizerError`] for what prevents a start; the variables are unchanged then.
    pub fn minimize_variables(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> Result<Report<T>, OptimizerError> {
        self.minimize_variables_observed(objective, variables, &mut ())
    }

    /// [`minimize_variables`](Self::minimize_variables) with an observer that sees each trial.
    ///
    /// # Errors
    ///
    /// As [`minimize_variables`](Self::minimize_variables).
    pub fn minimize_variables_observed(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
        observer: &mut (impl Observer<T> + ?Sized),
    ) -> Result<Report<T>, OptimizerError> {
        let columns = variables.trainable_ranges();
        if columns.is_empty() {
            return Err(OptimizerError::NothingToTrain);
        }
        let problem = objective.least_squares()?;
        let (expected, found) = (problem.parameter_count(), variables.values().len());
        if expected != found {
            return Err(SolveError::WrongStartLength { expected, found }.into());
        }
        let mut memory = SelectionMemory::of(variables.values());
        let mut start = vec![T::ZERO; crate::problem::selected::count(&columns)];
        gather(&mut start, variables.values(), &columns);
        let report = if start.len() == variables.values().len() {
            self.minimize_observed(problem, &start, observer)?
        } else {
            let mut selected = Selected { problem, columns: &columns, memory: &mut memory };
            self.minimize_observed(&mut selected, &start, observer)?
        };
        scatter(variables.values_mut(), &report.x, &columns);
        Ok(report)
    }

    /// What is carried from batch to batch, for these variables.
    fn training_for(&mut self, variables: &Variables<T>) -> Result<&mut Training<T, D>, OptimizerError> {
        if let Some(difference) = self.training.as_ref().and_then(|training| variables.difference(&training.layout)) {
            return Err(OptimizerError::OtherVariables { optimizer: NAME.to_owned(), difference });
        }
        let (settings, damping) = (&self.settings, &self.damping);
        Ok(self.training.get_or_insert_with(|| Box::new(Training::new(settings, damping, variables))))
    }

    fn unknown_hyperparameter(&self, name: &str) -> OptimizerError {
        let known = self.settings.training.iter().map(|(known, _)| known.to_owned()).collect();
        OptimizerError::UnknownHyperparameter { optimizer: NAME.to_owned(), name: name.to_owned(), known }
    }

    /// Checks the hyperparameters as they are for the next step.
    fn check_hyperparameters(&self) -> Result<(), OptimizerError> {
        let steps = self.training.as_ref().map_or(0, |training| training.steps);
        let mut hyperparameters = self.settings.training.iter();
        hyperparameters.try_for_each(|(name, hyperparameter)| check(name, hyperparameter, steps))
    }
}

/// Checks a hyperparameter as it is for the step after `steps` others.
fn check(name: &str, hyperparameter: &Hyperparameter, steps: u64) -> Result<(), OptimizerError> {
    if let Hyperparameter::Schedule(schedule) = hyperparameter {
        schedule.check()?;
    }
    let value = hyperparameter.at(steps);
    let (fits, requirement) = match name {
        "learning_rate" => (value > 0.0 && value.is_finite(), "positive"),
        "momentum" => ((0.0..1.0).contains(&value), "at least 0 and below 1"),
        "attempts" => (value >= 1.0 && value.fract() == 0.0, "a whole number from 1"),
        _ => (value >= 0.0 && value.is_finite(), "zero or positive"),
    };
    if fits {
        return Ok(());
    }
    Err(OptimizerError::Hyperparameter { name: name.to_owned(), requirement: requirement.to_owned(), value })
}

impl<T: Real, D: DampingPolicy<T> + Send> Optimizer<T> for LevenbergMarquardt<T, D> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&mut self, variables: &Variables<T>) -> Result<(), OptimizerError> {
        self.check_hyperparameters()?;
        self.training = Some(Box::new(Training::new(&self.settings, &self.damping, variables)));
        Ok(())
    }

    fn step(
        &mut self,
        batch: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> Result<StepReport<T>, OptimizerError> {
        self.check_hyperparameters()?;
        if !variables.iter().any(|variable| variables.is_trainable(variable) && !variable.is_empty()) {
            return Err(OptimizerError::NothingToTrain);
        }
        let problem = batch.least_squares()?;
        self.training_for(variables)?;
        let Some(training) = &mut self.training else { return Err(not_built()) };
        let step = training.step(&self.settings, problem, variables).map_err(|error| match error {
            SolveError::Evaluation(error) => OptimizerError::Evaluation(error),
            error => error.into(),
        })?;
        Ok(StepReport {
            loss: step.loss,
            loss_after: Some(step.loss_after),
            applied: step.trial.accepted,
            damped: Some(DampedStep {
                damping: step.trial.lambda,
                gain_ratio: step.trial.gain_ratio(),
                attempts: step.attempts,
                linear_form: step.form,
                rows: step.rows,
                columns: step.columns,
            }),
        })
    }

    /// Takes the gradients for a direction that was computed elsewhere: `x ← x − learning_rate · direction + momentum ·
    /// (last step)`.
    fn apply_gradients(
        &mut self,
        gradients: &Gradients<T>,
        variables: &mut Variables<T>,
    ) -> Result<(), OptimizerError> {
        self.check_hyperparameters()?;
        let now = |hyperparameter: &Hyperparameter| T::from_f64(hyperparameter.at(self.iterations()));
        let settings = &self.settings.training;
        let rates = (now(&settings.learning_rate), now(&settings.momentum));
        let training = self.training_for(variables)?;
        if !gradients.variables().eq(variables.iter()) {
            let difference = "the gradients are of others".to_owned();
            return Err(OptimizerError::OtherVariables { optimizer: NAME.to_owned(), difference });
        }
        if !variables.iter().any(|variable| variables.is_trainable(variable)) {
            return Err(OptimizerError::NothingToTrain);
        }
        let next = &mut training.memory.all;
        step_along(gradients, variables, rates, &training.velocity, next)?;
        std::mem::swap(&mut training.velocity, next);
        for index in 0..variables.len() {
            let variable = variables.iter().nth(index).expect("an index below the length");
            if variables.is_trainable(variable) {
                add_scaled(&mut variables.values_mut()[variable.range()], T::ONE, &training.velocity[variable.range()]);
            }
        }
        training.steps += 1;
        Ok(())
    }

    fn iterations(&self) -> u64 {
        self.training.as_ref().map_or(0, |training| training.steps)
    }

    fn hyperparameters(&self) -> Vec<&'static str> {
        self.settings.training.iter().map(|(name, _)| name).collect()
    }

    fn hyperparameter(&self, name: &str) -> Result<Hyperparameter, OptimizerError> {
        let found = self.settings.training.iter().find(|(known, _)| *known == name);
        found.map(|(_, hyperparameter)| hyperparameter.clone()).ok_or_else(|| self.unknown_hyperparameter(name))
    }

    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> Result<(), OptimizerError> {
        let unknown = self.unknown_hyperparameter(name);
        let steps = self.iterations();
        let hyperparameter = self.settings.training.get_mut(name).ok_or(unknown)?;
        check(name, &value, steps)?;
        *hyperparameter = value;
        Ok(())
    }

    fn slots(&self) -> Vec<&'static str> {
        SLOTS.to_vec()
    }

    fn slot(&self, variable: Variable, name: &str) -> Result<ArrayViewD<'_, T>, OptimizerError> {
        let training = self.training.as_ref().ok_or_else(not_built)?;
        let slot = match name {
            "momentum" => &training.velocity,
            "scaling" => &training.scale,
            _ => {
                let known = SLOTS.map(str::to_owned).to_vec();
                return Err(OptimizerError::UnknownSlot { optimizer: NAME.to_owned(), name: name.to_owned(), known });
            }
        };
        let shape = training.shape_of(variable).ok_or_else(|| {
            let difference = format!("none was {variable:?}");
            OptimizerError::OtherVariables { optimizer: NAME.to_owned(), difference }
        })?;
        Ok(ArrayViewD::from_shape(shape, &slot[variable.range()]).expect("a slot has its variable's layout"))
    }

    fn state(&self) -> OptimizerState<T> {
        let mut state = OptimizerState::default();
        self.save_into(&mut state);
        state
    }

    fn save_into(&self, state: &mut OptimizerState<T>) {
        state.optimizer.clear();
        state.optimizer.push_str(NAME);
        state.iterations = self.iterations();
        for (index, (name, value)) in self.settings.training.iter().enumerate() {
            let saved = entry(&mut state.hyperparameters, index, name);
            if saved != value {
                saved.clone_from(value);
            }
        }
        state.hyperparameters.truncate(self.settings.training.iter().count());
        state.parts.clear();
        let Some(training) = &self.training else {
            state.variables.clear();
            state.slots.clear();
            state.numbers.clear();
            return;
        };
        if state.variables != training.layout {
            state.variables.clone_from(&training.layout);
        }
        for (index, slot) in [&training.velocity, &training.scale].into_iter().enumerate() {
            entry(&mut state.slots, index, SLOTS[index]).clone_from(slot);
        }
        state.slots.truncate(SLOTS.len());
        let damping = entry(&mut state.numbers, 0, "damping");
        damping.clear();
        training.save_damping(damping);
        let flags = entry(&mut state.numbers, 1, "flags");
        flags.clear();
        flags.extend(training.flags());
        state.numbers.truncate(2);
    }

    fn restore(&mut self, state: &OptimizerState<T>, variables: &Variables<T>) -> Result<(), OptimizerError> {
        let refuse = |difference: String| Err(OptimizerError::State { difference });
        if state.optimizer != NAME {
            return refuse(format!("it is of {}, not of {NAME}", state.optimizer));
        }
        let mut restored = self.clone();
        for (name, value) in &state.hyperparameters {
            restored.set_hyperparameter(name, value.clone())?;
        }
        if !state.variables.is_empty() {
            if let Some(difference) = variables.difference(&state.variables) {
                return refuse(difference);
            }
            let mut training = Training::new(&restored.settings, &restored.damping, variables);
            if let Some(missing) = SLOTS.iter().find(|slot| !state.slots.iter().any(|(name, _)| name == *slot)) {
                return refuse(format!("slot {missing} is missing"));
            }
            for (name, slot) in &state.slots {
                let target = match name.as_str() {
                    "momentum" => &mut training.velocity,
                    "scaling" => &mut training.scale,
                    _ => return refuse(format!("slot {name} is unknown")),
                };
                if slot.len() != target.len() {
                    return refuse(format!("slot {name} has {} numbers instead of {}", slot.len(), target.len()));
                }
                target.copy_from_slice(slot);
            }
            if !training.restore(&state.numbers) {
                return refuse("its damping is not that of this policy".to_owned());
            }
            training.steps = state.iterations;
            restored.training = Some(Box::new(training));
        }
        *self = restored;
        Ok(())
    }

    fn is_first_order(&self) -> bool {
        false
    }
}

fn not_built() -> OptimizerError {
    OptimizerError::NotBuilt { optimizer: NAME.to_owned() }
}
