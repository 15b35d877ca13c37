//! Writing the state of an optimizer.

use super::{Hyperparameter, OptimizerState};
use crate::real::Real;
use crate::variables::Layout;

use super::state::entry;

/// Writes a state over an earlier one of the same optimizer, in the memory that this one has. Entries are found by their order.
pub(super) struct StateWriter<'a, T> {
    state: &'a mut OptimizerState<T>,
    has_variables: bool,
    hyperparameters: usize,
    slots: usize,
    numbers: usize,
}

impl<'a, T: Real> StateWriter<'a, T> {
    /// Begins the state of an optimizer after `iterations` steps.
    pub(super) fn new(state: &'a mut OptimizerState<T>, optimizer: &str, iterations: u64) -> Self {
        optimizer.clone_into(&mut state.optimizer);
        state.iterations = iterations;
        StateWriter { state, has_variables: false, hyperparameters: 0, slots: 0, numbers: 0 }
    }

    /// Writes a hyperparameter.
    pub(super) fn hyperparameter(&mut self, name: &str, value: &Hyperparameter) {
        let saved = entry(&mut self.state.hyperparameters, self.hyperparameters, name);
        if saved != value {
            saved.clone_from(value);
        }
        self.hyperparameters += 1;
    }

    /// Writes the names and shapes of the variables.
    pub(super) fn variables(&mut self, layout: &Layout) {
        layout.save(self.state);
        self.has_variables = true;
    }

    /// Writes a slot.
    pub(super) fn slot(&mut self, name: &str, slot: &[T]) {
        let saved = entry(&mut self.state.slots, self.slots, name);
        saved.clear();
        saved.extend_from_slice(slot);
        self.slots += 1;
    }

    /// Writes other numbers.
    pub(super) fn numbers(&mut self, name: &str, numbers: impl IntoIterator<Item = f64>) {
        self.append_numbers(name, |saved| saved.extend(numbers));
    }

    /// Writes the numbers that `append` appends.
    pub(super) fn append_numbers(&mut self, name: &str, append: impl FnOnce(&mut Vec<f64>)) {
        let saved = entry(&mut self.state.numbers, self.numbers, name);
        saved.clear();
        append(saved);
        self.numbers += 1;
    }

    /// Drops the entries that were not written, and returns the states of `parts` optimizers, to be written.
    pub(super) fn finish(self, parts: usize) -> &'a mut [OptimizerState<T>] {
        let StateWriter { state, has_variables, hyperparameters, slots, numbers } = self;
        if !has_variables {
            state.variables.clear();
        }
        state.hyperparameters.truncate(hyperparameters);
        state.slots.truncate(slots);
        state.numbers.truncate(numbers);
        state.parts.resize_with(parts, OptimizerState::default);
        &mut state.parts
    }
}
