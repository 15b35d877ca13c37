//! The trait, served by the shell.

use ndarray::ArrayViewD;

use super::{FirstOrder, FirstOrderMemory, SlotSpec, StepSettings, UpdateRule};
use crate::optim::state_reader::StateReader;
use crate::optim::state_writer::StateWriter;
use crate::optim::{
    Hyperparameter, HyperparameterError, Optimizer, OptimizerError, OptimizerResult, OptimizerState, StepReport,
};
use crate::problem::Objective;
use crate::real::Real;
use crate::variables::{Gradients, Variable, Variables};

/// The name of the average's slot.
pub(super) const AVERAGE: &str = "average";

impl<T: Real, R: UpdateRule<T>> FirstOrder<T, R> {
    /// Memory for these variables: made by the first step, and refused if it is for others.
    fn memory(&mut self, variables: &Variables<T>) -> OptimizerResult<&mut FirstOrderMemory<T>> {
        if self.memory.is_none() {
            self.build(variables)?;
        }
        let memory = self.memory.as_mut().expect("it was just built");
        memory.layout.check(R::NAME, variables.iter())?;
        if !variables.iter().any(|variable| variables.is_trainable(variable)) {
            return Err(OptimizerError::NothingToTrain);
        }
        Ok(memory)
    }

    /// Refuses settings that make no sense.
    fn check(&self) -> OptimizerResult<()> {
        let at_least_one = |name: &str, value: u64| match value {
            0 => {
                let requirement = "at least 1".to_owned();
                Err(HyperparameterError::Value { name: name.to_owned(), requirement, value: 0.0 })
            }
            _ => Ok(()),
        };
        at_least_one("gradient_accumulation_steps", self.accumulation_steps)?;
        at_least_one("ema_overwrite_frequency", self.ema_overwrite_frequency.unwrap_or(1))?;
        self.hyperparameters.check()?;
        StepSettings::check_clips(&self.hyperparameters)
    }

    /// The rule's slots, at its hyperparameters.
    pub(super) fn slots_of_rule(&self) -> Vec<SlotSpec> {
        self.rule.slots(StepSettings::of_rule(&self.hyperparameters))
    }
}

impl<T: Real, R: UpdateRule<T>> Optimizer<T> for FirstOrder<T, R> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn build(&mut self, variables: &Variables<T>) -> OptimizerResult<()> {
        self.check()?;
        self.memory = Some(FirstOrderMemory::new(self, variables));
        self.iterations = 0;
        Ok(())
    }

    fn step(&mut self, batch: &mut dyn Objective<T>, variables: &mut Variables<T>) -> OptimizerResult<StepReport<T>> {
        let name = R::NAME;
        let memory = self.memory(variables)?;
        let loss = batch.loss_and_gradient(variables.values(), &mut memory.gradients)?;
        memory.layout.check(name, memory.gradients.variables())?;
        let mut report = StepReport { loss, loss_after: None, applied: false, damped: None, factored: None };
        if !loss.is_finite() {
            let error = OptimizerError::NonFiniteLoss { value: loss.to_f64() };
            return if self.tolerates(&error) { Ok(report) } else { Err(error) };
        }
        report.applied = self.apply(variables)?;
        Ok(report)
    }

    fn apply_gradients(&mut self, gradients: &Gradients<T>, variables: &mut Variables<T>) -> OptimizerResult<()> {
        let name = R::NAME;
        let memory = self.memory(variables)?;
        memory.layout.check(name, gradients.variables())?;
        for variable in gradients.variables() {
            memory.gradients.set(variable, gradients.of(variable));
        }
        self.apply(variables)?;
        Ok(())
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn hyperparameters(&self) -> Vec<&'static str> {
        self.hyperparameters.names()
    }

    fn hyperparameter(&self, name: &str) -> OptimizerResult<Hyperparameter> {
        self.hyperparameters.get(name).cloned()
    }

    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> OptimizerResult<()> {
        let mut hyperparameters = self.hyperparameters.clone();
        hyperparameters.set(name, value)?;
        StepSettings::check_clips(&hyperparameters)?;
        self.hyperparameters = hyperparameters;
        let slots = self.slots_of_rule();
        if let Some(memory) = &mut self.memory {
            memory.fit_slots(slots);
        }
        Ok(())
    }

    fn slots(&self) -> Vec<&'static str> {
        self.slots_of_rule().iter().map(|slot| slot.name).chain(self.ema.then_some(AVERAGE)).collect()
    }

    fn slot(&self, variable: Variable, name: &str) -> OptimizerResult<ArrayViewD<'_, T>> {
        let optimizer = R::NAME;
        let known = self.slots();
        if !known.contains(&name) {
            return Err(OptimizerError::UnknownSlot { optimizer, name: name.to_owned(), known });
        }
        let not_built = || OptimizerError::NotBuilt { optimizer };
        let memory = self.memory.as_ref().ok_or_else(not_built)?;
        let of_rule = memory.slot_names.iter().position(|&slot| slot == name).map(|place| &memory.slots[place]);
        let flat = of_rule.or(memory.average.as_ref()).ok_or_else(not_built)?;
        memory.layout.checked_view(optimizer, variable, flat)
    }

    fn save_into(&self, state: &mut OptimizerState<T>) {
        let mut to = StateWriter::new(state, R::NAME, self.iterations);
        self.hyperparameters.iter().for_each(|(name, value)| to.hyperparameter(name, value));
        self.settings().for_each(|(name, value)| to.numbers(name, [value]));
        if let Some(memory) = &self.memory {
            memory.save(&mut to);
        }
        to.finish(0);
    }

    fn restore(&mut self, state: &OptimizerState<T>, variables: &Variables<T>) -> OptimizerResult<()> {
        let mut from = StateReader::new(state, R::NAME)?;
        let mut hyperparameters = self.hyperparameters.clone();
        hyperparameters.take_over(&state.hyperparameters)?;
        hyperparameters.check()?;
        StepSettings::check_clips(&hyperparameters)?;
        from.settings(self.settings())?;
        let mut memory = None;
        if !state.variables.is_empty() {
            let restored = memory.insert(FirstOrderMemory::new(self, variables));
            restored.fit_slots(self.rule.slots(StepSettings::of_rule(&hyperparameters)));
            restored.layout.check_state(state)?;
            restored.take_over(from, self.accumulation_steps, variables)?;
        }
        (self.hyperparameters, self.iterations, self.memory) = (hyperparameters, state.iterations, memory);
        Ok(())
    }

    fn finalize(&mut self, variables: &mut Variables<T>) -> OptimizerResult<()> {
        let Some(memory) = &self.memory else { return Ok(()) };
        memory.layout.check(R::NAME, variables.iter())?;
        if let Some(average) = &memory.average {
            memory.layout.write_trainable(average, variables);
        }
        Ok(())
    }

    fn is_first_order(&self) -> bool {
        true
    }
}
