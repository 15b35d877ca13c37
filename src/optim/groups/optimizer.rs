//! The trait, served by several optimizers.

use ndarray::ArrayViewD;

use super::step::apply;
use super::{Assignment, Groups, GroupsMemory, NAME, OptimizerGroup};
use crate::optim::state_reader::{StateReader, refuse};
use crate::optim::state_writer::StateWriter;
use crate::optim::{Hyperparameter, Optimizer, OptimizerError, OptimizerResult, OptimizerState, StepReport};
use crate::problem::Objective;
use crate::real::Real;
use crate::variables::{Gradients, Layout, Variable, Variables};

/// The name of the numbers that say which variable belongs to which group.
const ASSIGNMENT: &str = "groups";

impl<T: Real> Groups<T> {
    /// Hyperparameters of the optimizers, each once, in order.
    fn union(&self, of: impl Fn(&dyn Optimizer<T>) -> Vec<&'static str>) -> Vec<&'static str> {
        let mut all = Vec::new();
        for name in self.groups.iter().flat_map(|group| of(&*group.optimizer)) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    fn memory(&self) -> OptimizerResult<&GroupsMemory<T>> {
        self.memory.as_ref().ok_or_else(|| OptimizerError::NotBuilt { optimizer: NAME })
    }

    fn unknown(&self, name: &str) -> OptimizerError {
        let (name, known) = (name.to_owned(), self.hyperparameters());
        OptimizerError::UnknownHyperparameter { optimizer: NAME, name, known }
    }
}

impl<T: Real> GroupsMemory<T> {
    fn new(groups: &[OptimizerGroup<T>], variables: &Variables<T>) -> OptimizerResult<Self> {
        let mut memory = GroupsMemory {
            layout: Layout::of(variables),
            assignment: Assignment::new(groups, variables)?,
            gradients: Gradients::new(variables),
            values: Vec::new(),
            trainable: Vec::new(),
        };
        memory.record(variables);
        Ok(memory)
    }
}

impl<T: Real> Optimizer<T> for Groups<T> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn build(&mut self, variables: &Variables<T>) -> OptimizerResult<()> {
        let memory = GroupsMemory::new(&self.groups, variables)?;
        let mut restricted = variables.clone();
        for (index, group) in self.groups.iter_mut().enumerate() {
            memory.restrict(index, &mut restricted);
            group.optimizer.build(&restricted)?;
        }
        self.iterations = 0;
        self.memory = Some(memory);
        Ok(())
    }

    fn step(&mut self, batch: &mut dyn Objective<T>, variables: &mut Variables<T>) -> OptimizerResult<StepReport<T>> {
        self.together(variables, |groups, memory, variables| {
            let mut report = None;
            for (index, group) in groups.iter_mut().enumerate() {
                if group.optimizer.is_first_order() || !memory.acts(index) {
                    continue;
                }
                memory.restrict(index, variables);
                let new = group.attempt(|optimizer| optimizer.step(batch, variables))?;
                let StepReport { loss, applied, damped, factored, .. } =
                    report.unwrap_or(StepReport { applied: false, ..new });
                let applied = applied || new.applied;
                report = Some(StepReport { loss, loss_after: new.loss_after, applied, damped, factored });
            }
            let is_first_order = |group: usize| groups[group].optimizer.is_first_order() && memory.acts(group);
            if let Some(report) = report
                && !(0..groups.len()).any(is_first_order)
            {
                return Ok(report);
            }
            let loss = batch.loss_and_gradient(variables.values(), &mut memory.gradients)?;
            memory.layout.check(NAME, memory.gradients.variables())?;
            if !loss.is_finite() {
                return Err(OptimizerError::NonFiniteLoss { value: loss.to_f64() });
            }
            let (any, applied) = apply(groups, memory, &memory.gradients, variables, true)?;
            match report {
                Some(report) => Ok(StepReport { loss_after: None, applied: report.applied || applied, ..report }),
                None if any => Ok(StepReport { loss, loss_after: None, applied, damped: None, factored: None }),
                None => Err(OptimizerError::NoGradients),
            }
        })
    }

    fn apply_gradients(&mut self, gradients: &Gradients<T>, variables: &mut Variables<T>) -> OptimizerResult<()> {
        let report = self.together(variables, |groups, memory, variables| {
            memory.layout.check(NAME, gradients.variables())?;
            let (any_other, other_applied) = apply(groups, memory, gradients, variables, false)?;
            let (any, applied) = apply(groups, memory, gradients, variables, true)?;
            let applied = applied || other_applied;
            let report = StepReport { loss: T::ZERO, loss_after: None, applied, damped: None, factored: None };
            if any || any_other { Ok(report) } else { Err(OptimizerError::NoGradients) }
        });
        report.map(|_| ())
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn hyperparameters(&self) -> Vec<&'static str> {
        self.union(|optimizer| optimizer.hyperparameters())
    }

    fn hyperparameter(&self, name: &str) -> OptimizerResult<Hyperparameter> {
        let mut found = self.groups.iter().filter_map(|group| group.optimizer.hyperparameter(name).ok());
        found.next().ok_or_else(|| self.unknown(name))
    }

    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> OptimizerResult<()> {
        let before: Vec<_> = self.groups.iter().map(|group| group.optimizer.hyperparameter(name).ok()).collect();
        if before.iter().all(Option::is_none) {
            return Err(self.unknown(name));
        }
        for index in 0..before.len() {
            if before[index].is_none() {
                continue;
            }
            if let Err(error) = self.groups[index].optimizer.set_hyperparameter(name, value.clone()) {
                for (group, before) in self.groups.iter_mut().zip(&before[..index]) {
                    if let Some(before) = before {
                        group.optimizer.set_hyperparameter(name, before.clone())?;
                    }
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn slots(&self) -> Vec<&'static str> {
        self.union(|optimizer| optimizer.slots())
    }

    fn slot(&self, variable: Variable, name: &str) -> OptimizerResult<ArrayViewD<'_, T>> {
        let memory = self.memory()?;
        memory.layout.checked_shape(NAME, variable)?;
        match memory.assignment.of(variable) {
            Some(group) => self.groups[group].optimizer.slot(variable, name),
            None => Err(OptimizerError::Groups(format!("variable {} belongs to no group", variable.index()))),
        }
    }

    fn save_into(&self, state: &mut OptimizerState<T>) {
        let mut to = StateWriter::new(state, NAME, self.iterations);
        if let Some(memory) = &self.memory {
            to.variables(&memory.layout);
            to.numbers(ASSIGNMENT, memory.assignment.numbers());
        }
        for (group, part) in self.groups.iter().zip(to.finish(self.groups.len())) {
            group.optimizer.save_into(part);
        }
    }

    fn restore(&mut self, state: &OptimizerState<T>, variables: &Variables<T>) -> OptimizerResult<()> {
        let mut from = StateReader::new(state, NAME)?;
        if state.parts.len() != self.groups.len() {
            return refuse(format!("it is of {} groups, not {}", state.parts.len(), self.groups.len()));
        }
        if let Some(memory) = &self.memory {
            memory.layout.check(NAME, variables.iter())?;
        }
        let memory = GroupsMemory::new(&self.groups, variables)?;
        let is_built = !state.variables.is_empty();
        if is_built {
            memory.layout.check_state(state)?;
            if !memory.assignment.numbers().eq(from.numbers(ASSIGNMENT)?.iter().copied()) {
                return refuse("its groups have other variables");
            }
        }
        let before = self.state();
        let mut restricted = variables.clone();
        for index in 0..self.groups.len() {
            memory.restrict(index, &mut restricted);
            if let Err(error) = self.groups[index].optimizer.restore(&state.parts[index], &restricted) {
                for restored in 0..index {
                    memory.restrict(restored, &mut restricted);
                    self.groups[restored].optimizer.restore(&before.parts[restored], &restricted)?;
                }
                return Err(error);
            }
        }
        self.iterations = state.iterations;
        self.memory = is_built.then_some(memory);
        Ok(())
    }

    fn finalize(&mut self, variables: &mut Variables<T>) -> OptimizerResult<()> {
        let Some(memory) = &mut self.memory else { return Ok(()) };
        memory.layout.check(NAME, variables.iter())?;
        memory.record(variables);
        let mut result = Ok(());
        for (index, group) in self.groups.iter_mut().enumerate() {
            memory.restrict(index, variables);
            result = result.and_then(|()| group.optimizer.finalize(variables));
        }
        memory.release(variables);
        result
    }

    fn is_first_order(&self) -> bool {
        self.groups.iter().all(|group| group.optimizer.is_first_order())
    }
}
