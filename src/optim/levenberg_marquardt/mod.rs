//! Levenberg–Marquardt as an optimizer: one damped iteration for each minibatch.

mod batch_noise;
mod equal_minima;
mod evidence;
mod full_solve;
mod kronecker_steps;
mod settings;
mod training;

use ndarray::ArrayViewD;

use super::state_reader::{StateReader, refuse};
use super::state_writer::StateWriter;
use super::{
    DampedStep, Hyperparameter, KroneckerLevenbergMarquardt, Optimizer, OptimizerError, OptimizerResult,
    OptimizerState, StepReport,
};
use crate::problem::Objective;
use crate::real::Real;
use crate::solver::damping::{DampingPolicy, Trial};
use crate::solver::{Curvature, HYPERPARAMETERS, LevenbergMarquardt, Settings, SolveError};
use crate::variables::{Gradients, Variable, Variables};
use batch_noise::BatchNoise;
pub use evidence::Evidence;
use training::VariableTraining;

const NAME: &str = "levenberg_marquardt";
const SLOTS: [&str; 2] = ["momentum", "scaling"];

impl<T: Real, D> LevenbergMarquardt<T, D> {
    /// State that is carried from batch to batch; `None` before the first.
    fn training(&self) -> Option<&VariableTraining<T>> {
        self.carried.as_ref()?.downcast_ref()
    }
}

impl<T: Real, D: DampingPolicy<T> + 'static> LevenbergMarquardt<T, D> {
    /// State for these variables, which is made if there is none, and the settings.
    fn training_for(&mut self, variables: &Variables<T>) -> OptimizerResult<(&mut VariableTraining<T>, &Settings<T>)> {
        let mut begun = None;
        if self.carried.is_none() {
            begun = Some(VariableTraining::new(&self.settings, &self.damping, variables)?);
        }
        let is_free = |variable: Variable| variables.is_trainable(variable) && !variable.is_empty();
        if !variables.iter().any(is_free) {
            return Err(OptimizerError::NothingToTrain);
        }
        if let Some(begun) = begun {
            self.carried = Some(Box::new(begun));
        }
        let training = self.carried.as_mut().and_then(|carried| carried.downcast_mut::<VariableTraining<T>>());
        let training = training.ok_or_else(|| OptimizerError::NotBuilt { optimizer: NAME })?;
        training.layout.check(NAME, variables.iter())?;
        Ok((training, &self.settings))
    }
}

/// Returns the index of a hyperparameter in the table.
fn place(name: &str) -> OptimizerResult<usize> {
    let found = HYPERPARAMETERS.iter().position(|spec| spec.name == name);
    let known = || HYPERPARAMETERS.map(|spec| spec.name).to_vec();
    found.ok_or_else(|| OptimizerError::UnknownHyperparameter {
        optimizer: NAME,
        name: name.to_owned(),
        known: known(),
    })
}

impl<T: Real, D: DampingPolicy<T> + 'static> Optimizer<T> for LevenbergMarquardt<T, D> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&mut self, variables: &Variables<T>) -> OptimizerResult<()> {
        if self.settings.training.curvature == Curvature::Kronecker {
            let mut kronecker = self.kronecker_steps()?;
            kronecker.build(variables)?;
            self.carried = Some(Box::new(kronecker));
        } else {
            self.carried = Some(Box::new(VariableTraining::new(&self.settings, &self.damping, variables)?));
        }
        Ok(())
    }

    fn step(&mut self, batch: &mut dyn Objective<T>, variables: &mut Variables<T>) -> OptimizerResult<StepReport<T>> {
        if self.begins_with_kronecker(batch, variables) {
            let mut kronecker = self.kronecker_steps()?;
            let report = kronecker.step(batch, variables)?;
            self.carried = Some(Box::new(kronecker));
            return Ok(report);
        }
        if let Some(kronecker) = self.kronecker_mut() {
            return kronecker.step(batch, variables);
        }
        let problem = batch.least_squares()?;
        let is_new = self.carried.is_none();
        let (training, settings) = self.training_for(variables)?;
        let learning_rate = training.learning_rate(settings)?;
        let step = match training.step(settings, problem, variables) {
            Ok(step) => step,
            Err(error) => {
                self.carried.take_if(|_| is_new);
                return Err(own_error(error));
            }
        };
        Ok(StepReport {
            loss: step.loss,
            loss_after: Some(step.loss_after),
            applied: step.trial.accepted,
            damped: Some(DampedStep {
                damping: step.trial.lambda,
                learning_rate: T::from_f64(learning_rate),
                gain_ratio: gain_ratio(&step.trial),
                attempts: step.attempts,
                linear_form: step.form,
                rows: step.rows,
                columns: step.columns,
            }),
            factored: None,
        })
    }

    /// Refused: a gradient says nothing of the curvature, and a step along it would be gradient descent.
    ///
    /// # Errors
    ///
    /// Always [`OptimizerError::NeedsObjective`]. [`step`](Optimizer::step) makes a step, and
    /// [`minimize_variables`](LevenbergMarquardt::minimize_variables) solves.
    fn apply_gradients(&mut self, _: &Gradients<T>, _: &mut Variables<T>) -> OptimizerResult<()> {
        Err(OptimizerError::NeedsObjective { optimizer: NAME })
    }

    fn iterations(&self) -> u64 {
        let kronecker = self.kronecker().map(KroneckerLevenbergMarquardt::iterations);
        kronecker.or(self.training().map(|training| training.steps)).unwrap_or(0)
    }

    fn hyperparameters(&self) -> Vec<&'static str> {
        HYPERPARAMETERS.map(|spec| spec.name).to_vec()
    }

    fn hyperparameter(&self, name: &str) -> OptimizerResult<Hyperparameter> {
        Ok(self.settings.training.hyperparameters[place(name)?].clone())
    }

    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> OptimizerResult<()> {
        let place = place(name)?;
        HYPERPARAMETERS[place].check(&value)?;
        self.settings.training.hyperparameters[place] = value;
        self.pass_on_hyperparameter(name)
    }

    fn slots(&self) -> Vec<&'static str> {
        self.kronecker().map_or(SLOTS.to_vec(), KroneckerLevenbergMarquardt::slots)
    }

    fn slot(&self, variable: Variable, name: &str) -> OptimizerResult<ArrayViewD<'_, T>> {
        if let Some(kronecker) = self.kronecker() {
            return kronecker.slot(variable, name);
        }
        let training = self.training().ok_or_else(|| OptimizerError::NotBuilt { optimizer: NAME })?;
        let slot = match name {
            "momentum" => &training.velocity,
            "scaling" => &training.scale,
            _ => {
                let (name, known) = (name.to_owned(), SLOTS.to_vec());
                return Err(OptimizerError::UnknownSlot { optimizer: NAME, name, known });
            }
        };
        training.layout.checked_view(NAME, variable, slot)
    }

    fn save_into(&self, state: &mut OptimizerState<T>) {
        let mut to = StateWriter::new(state, NAME, self.iterations());
        let hyperparameters = HYPERPARAMETERS.iter().zip(&self.settings.training.hyperparameters);
        hyperparameters.for_each(|(spec, value)| to.hyperparameter(spec.name, value));
        if let Some(training) = self.training() {
            to.variables(&training.layout);
            to.slot(SLOTS[0], &training.velocity);
            to.slot(SLOTS[1], &training.scale);
            to.append_numbers("damping", |saved| training.save_damping(saved));
            to.numbers("flags", training.flags());
            to.numbers("noise", training.noise.numbers());
        }
        let kronecker = self.kronecker();
        let parts = to.finish(usize::from(kronecker.is_some()));
        kronecker.into_iter().zip(parts).for_each(|(kronecker, part)| kronecker.save_into(part));
    }

    fn restore(&mut self, state: &OptimizerState<T>, variables: &Variables<T>) -> OptimizerResult<()> {
        let mut from = StateReader::new(state, NAME)?;
        let mut restored = self.clone();
        match (self.settings.training.curvature, &state.parts[..]) {
            (Curvature::Exact, [_, ..]) => return refuse("its steps have Kronecker factors"),
            (Curvature::Kronecker, []) if !state.variables.is_empty() => return refuse("its steps are exact"),
            (_, [_, _, ..]) => return refuse("it has more than one part"),
            _ => {}
        }
        for (name, value) in &state.hyperparameters {
            restored.set_hyperparameter(name, value.clone())?;
        }
        if let Some(part) = state.parts.first() {
            let mut kronecker = restored.kronecker_steps()?;
            kronecker.restore(part, variables)?;
            restored.carried = Some(Box::new(kronecker));
        } else if !state.variables.is_empty() {
            let mut training = VariableTraining::new(&restored.settings, &restored.damping, variables)?;
            training.layout.check_state(state)?;
            let len = training.scale.len();
            training.velocity.copy_from_slice(from.slot(SLOTS[0], len)?);
            training.scale.copy_from_slice(from.slot(SLOTS[1], len)?);
            if training.scale.iter().any(|&scale| scale < T::ZERO) {
                return refuse("slot scaling holds a negative number");
            }
            training.steps = state.iterations;
            let (damping, flags) = (from.numbers("damping")?, from.numbers("flags")?);
            let Some(noise) = BatchNoise::from_numbers(from.numbers("noise")?) else {
                return refuse("its noise is not that of minibatches");
            };
            training.noise = noise;
            if !training.restore(damping, flags) {
                return refuse("its damping is not that of this policy");
            }
            restored.carried = Some(Box::new(training));
        }
        from.end()?;
        *self = restored;
        Ok(())
    }

    fn adapt_weight_decay(&mut self, data: &mut dyn Objective<T>, variables: &Variables<T>) -> OptimizerResult<f64> {
        self.update_weight_decay(data, variables)
    }

    fn is_first_order(&self) -> bool {
        false
    }
}

/// Actual over predicted reduction; zero where no step could be solved for, or none was to gain anything.
fn gain_ratio<T: Real>(trial: &Trial<T>) -> T {
    if trial.predicted > T::ZERO && trial.predicted.is_finite() { trial.gain_ratio() } else { T::ZERO }
}

/// An error of the solver, under the name that all optimizers have for it.
fn own_error(error: SolveError) -> OptimizerError {
    match error {
        SolveError::Hyperparameter(error) => error.into(),
        SolveError::Evaluation(error) => error.into(),
        error => error.into(),
    }
}
