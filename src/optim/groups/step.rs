//! The step of several optimizers: all of them, or none.

use super::{Groups, GroupsMemory, NAME, OptimizerGroup};
use crate::optim::{Optimizer, OptimizerError, OptimizerResult, StepReport};
use crate::real::Real;
use crate::variables::{Gradient, Gradients, Variable, Variables};

impl<T: Real> Groups<T> {
    /// Makes the steps of all groups, or of none.
    pub(super) fn together(
        &mut self,
        variables: &mut Variables<T>,
        steps: impl FnOnce(
            &mut [OptimizerGroup<T>],
            &mut GroupsMemory<T>,
            &mut Variables<T>,
        ) -> OptimizerResult<StepReport<T>>,
    ) -> OptimizerResult<StepReport<T>> {
        match &self.memory {
            None => self.build(variables)?,
            Some(memory) => memory.layout.check(NAME, variables.iter())?,
        }
        let memory = self.memory.as_mut().expect("it was just built");
        memory.assignment.check(variables)?;
        if !variables.iter().any(|variable| variables.is_trainable(variable)) {
            return Err(OptimizerError::NothingToTrain);
        }
        memory.record(variables);
        prepare(&mut self.groups, memory);
        let result = steps(&mut self.groups, memory, variables);
        let undone = if result.is_err() { undo(&mut self.groups, memory, variables) } else { Ok(()) };
        memory.release(variables);
        undone?;
        let report = result?;
        self.iterations += u64::from(report.applied);
        Ok(report)
    }
}

impl<T: Real> OptimizerGroup<T> {
    /// A step that can be taken back, unless it is the last.
    pub(super) fn attempt<R>(
        &mut self,
        step: impl FnOnce(&mut dyn Optimizer<T>) -> OptimizerResult<R>,
    ) -> OptimizerResult<R> {
        if !self.is_last {
            self.optimizer.save_into(&mut self.before);
            self.has_stepped = true;
        }
        step(&mut *self.optimizer)
    }
}

impl<T: Real> GroupsMemory<T> {
    /// Variables that a group has to train.
    fn of_group(&self, group: usize) -> impl Iterator<Item = Variable> {
        let variables = self.layout.variables().zip(&self.trainable).filter(|(_, trainable)| **trainable);
        variables.map(|(variable, _)| variable).filter(move |&variable| self.assignment.is_in(variable, group))
    }

    /// Returns true if a group has anything to train.
    pub(super) fn acts(&self, group: usize) -> bool {
        self.of_group(group).next().is_some()
    }
}

/// Resets the groups before a step: none has stepped, and the last to step is marked.
fn prepare<T: Real>(groups: &mut [OptimizerGroup<T>], memory: &GroupsMemory<T>) {
    for group in &mut *groups {
        (group.has_stepped, group.is_last) = (false, false);
    }
    let acting = (0..groups.len()).rev().filter(|&group| memory.acts(group));
    let first_order = acting.clone().find(|&group| groups[group].optimizer.is_first_order());
    if let Some(last) = first_order.or_else(|| acting.into_iter().next()) {
        groups[last].is_last = true;
    }
}

/// Applies gradients to the groups that are of first order, or to the others. Returns whether any had one, and whether
/// any step was made.
pub(super) fn apply<T: Real>(
    groups: &mut [OptimizerGroup<T>],
    memory: &GroupsMemory<T>,
    gradients: &Gradients<T>,
    variables: &mut Variables<T>,
    first_order: bool,
) -> OptimizerResult<(bool, bool)> {
    let (mut any, mut applied) = (false, false);
    for (index, group) in groups.iter_mut().enumerate() {
        if group.optimizer.is_first_order() == first_order
            && memory.of_group(index).any(|variable| gradients.of(variable) != Gradient::Absent)
        {
            memory.restrict(index, variables);
            let before = group.optimizer.iterations();
            group.attempt(|optimizer| optimizer.apply_gradients(gradients, variables))?;
            any = true;
            applied |= group.optimizer.iterations() != before;
        }
    }
    Ok((any, applied))
}

/// Variables and optimizers as they were.
fn undo<T: Real>(
    groups: &mut [OptimizerGroup<T>],
    memory: &GroupsMemory<T>,
    variables: &mut Variables<T>,
) -> OptimizerResult<()> {
    variables.values_mut().copy_from_slice(&memory.values);
    for (index, group) in groups.iter_mut().enumerate().filter(|(_, group)| group.has_stepped) {
        memory.restrict(index, variables);
        group.optimizer.restore(&group.before, variables)?;
    }
    Ok(())
}
