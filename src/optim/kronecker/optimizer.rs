//! The trait.

use ndarray::ArrayViewD;

use super::{KroneckerLevenbergMarquardt, KroneckerMemory, NAME, SLOT};
use crate::optim::gradients::check_gradients;
use crate::optim::state_reader::{StateReader, refuse};
use crate::optim::state_writer::StateWriter;
use crate::optim::{Hyperparameter, NonFinite, Optimizer, OptimizerError, OptimizerResult, OptimizerState, StepReport};
use crate::problem::Objective;
use crate::real::Real;
use crate::variables::{Gradients, Variable, Variables};

impl<T: Real> KroneckerLevenbergMarquardt<T> {
    /// KroneckerMemory for these variables: made by the first step, and refused if it is for others.
    fn memory_for(&mut self, variables: &Variables<T>) -> OptimizerResult<&mut KroneckerMemory<T>> {
        if self.memory.is_none() {
            self.build(variables)?;
        }
        let is_free = |variable: Variable| variables.is_trainable(variable) && !variable.is_empty();
        if !variables.iter().any(is_free) {
            return Err(OptimizerError::NothingToTrain);
        }
        let Some(memory) = &mut self.memory else { return Err(OptimizerError::NotBuilt { optimizer: NAME }) };
        memory.layout.check(NAME, variables.iter())?;
        Ok(memory)
    }
}

impl<T: Real> Optimizer<T> for KroneckerLevenbergMarquardt<T> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&mut self, variables: &Variables<T>) -> OptimizerResult<()> {
        self.settings.hyperparameters.check()?;
        self.memory = Some(KroneckerMemory::new(&self.settings, variables));
        self.iterations = 0;
        Ok(())
    }

    fn step(&mut self, batch: &mut dyn Objective<T>, variables: &mut Variables<T>) -> OptimizerResult<StepReport<T>> {
        self.memory_for(variables)?;
        let now = self.settings.at(self.iterations)?;
        let (settings, steps) = (&self.settings, self.iterations);
        let Some(memory) = &mut self.memory else { return Err(OptimizerError::NotBuilt { optimizer: NAME }) };
        match memory.step(settings, (steps, &now), batch, variables) {
            Ok(report) => {
                self.iterations += 1;
                Ok(report)
            }
            Err(error) if settings.non_finite == NonFinite::Skip && error.is_non_finite() => {
                let loss = if let OptimizerError::NonFiniteLoss { value } = error { value } else { f64::NAN };
                Ok(StepReport {
                    loss: T::from_f64(loss),
                    loss_after: None,
                    applied: false,
                    damped: None,
                    factored: None,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the gradients for a direction that was computed elsewhere: `x ← x − learning_rate · direction + momentum ·
    /// (last step)`.
    fn apply_gradients(&mut self, gradients: &Gradients<T>, variables: &mut Variables<T>) -> OptimizerResult<()> {
        let now = self.settings.at(self.iterations)?;
        let memory = self.memory_for(variables)?;
        memory.layout.check(NAME, gradients.variables())?;
        check_gradients(gradients, variables)?;
        memory.apply_direction(&now, gradients, variables)?;
        self.iterations += 1;
        Ok(())
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn hyperparameters(&self) -> Vec<&'static str> {
        self.settings.hyperparameters.names()
    }

    fn hyperparameter(&self, name: &str) -> OptimizerResult<Hyperparameter> {
        self.settings.hyperparameters.get(name).cloned()
    }

    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> OptimizerResult<()> {
        self.settings.hyperparameters.set(name, value)
    }

    fn slots(&self) -> Vec<&'static str> {
        vec![SLOT]
    }

    fn slot(&self, variable: Variable, name: &str) -> OptimizerResult<ArrayViewD<'_, T>> {
        if name != SLOT {
            return Err(OptimizerError::UnknownSlot { optimizer: NAME, name: name.to_owned(), known: vec![SLOT] });
        }
        let memory = self.memory.as_ref().ok_or_else(|| OptimizerError::NotBuilt { optimizer: NAME })?;
        memory.layout.checked_view(NAME, variable, &memory.velocity)
    }

    fn save_into(&self, state: &mut OptimizerState<T>) {
        let mut to = StateWriter::new(state, NAME, self.iterations);
        self.settings.hyperparameters.iter().for_each(|(name, value)| to.hyperparameter(name, value));
        to.numbers("settings", self.fixed_settings());
        if let Some(memory) = &self.memory {
            memory.save(&mut to);
        }
        to.finish(0);
    }

    fn restore(&mut self, state: &OptimizerState<T>, variables: &Variables<T>) -> OptimizerResult<()> {
        let mut from = StateReader::new(state, NAME)?;
        let mut settings = self.settings.clone();
        settings.hyperparameters.take_over(&state.hyperparameters)?;
        settings.hyperparameters.check()?;
        if from.numbers("settings")? != self.fixed_settings() {
            return refuse("it is of other settings");
        }
        let mut memory = None;
        if !state.variables.is_empty() {
            let restored = memory.insert(KroneckerMemory::new(&settings, variables));
            restored.layout.check_state(state)?;
            restored.take_over(from, settings.rank)?;
        }
        *self = KroneckerLevenbergMarquardt { settings, iterations: state.iterations, memory };
        Ok(())
    }

    fn is_first_order(&self) -> bool {
        false
    }
}
