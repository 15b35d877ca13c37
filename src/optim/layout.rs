//! The names and shapes of the variables that an optimizer was built for.

use ndarray::{ArrayView, ArrayViewD, IxDyn};

use super::{OptimizerError, OptimizerState};
use crate::Real;
use crate::variables::{Variable, Variables};

/// What the variables were when the optimizer was built.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    handle: Variable,
    name: String,
    shape: Vec<usize>,
}

impl Layout {
    pub(super) fn of<T: Real>(variables: &Variables<T>) -> Self {
        let entry = |handle| {
            let (name, shape) = (variables.name(handle).to_owned(), variables.shape(handle).to_vec());
            Entry { handle, name, shape }
        };
        Layout { entries: variables.iter().map(entry).collect() }
    }

    /// The variables.
    pub(super) fn variables(&self) -> impl ExactSizeIterator<Item = Variable> {
        self.entries.iter().map(|entry| entry.handle)
    }

    /// Numbers in all variables.
    pub(super) fn numbers(&self) -> usize {
        self.entries.last().map_or(0, |last| last.handle.range().end)
    }

    /// Refuses variables, or their gradients, that lie in memory in another way. Compares no names, as every step calls it.
    pub(super) fn check(
        &self,
        optimizer: &str,
        mut handles: impl ExactSizeIterator<Item = Variable>,
    ) -> Result<(), OptimizerError> {
        let (expected, found) = (self.entries.len(), handles.len());
        let difference = if expected != found {
            format!("{expected} then, {found} now")
        } else {
            match self.entries.iter().find(|entry| handles.next() != Some(entry.handle)) {
                None => return Ok(()),
                Some(entry) => format!("{} had the shape {:?}", entry.name, entry.shape),
            }
        };
        Err(OptimizerError::OtherVariables { optimizer: optimizer.to_owned(), difference })
    }

    /// Overwrites the trainable variables with as many numbers as all variables have.
    pub(super) fn write_trainable<T: Real>(&self, values: &[T], variables: &mut Variables<T>) {
        for variable in self.variables() {
            if variables.is_trainable(variable) {
                variables.values_mut()[variable.range()].copy_from_slice(&values[variable.range()]);
            }
        }
    }

    /// The shape of a variable, which must be one of these.
    pub(super) fn shape(&self, optimizer: &str, variable: Variable) -> Result<&[usize], OptimizerError> {
        match self.entries.get(variable.index()) {
            Some(entry) if entry.handle == variable => Ok(&entry.shape),
            _ => {
                let difference = format!("none was {variable:?}");
                Err(OptimizerError::OtherVariables { optimizer: optimizer.to_owned(), difference })
            }
        }
    }

    /// One variable's part of as many numbers as all variables have.
    pub(super) fn view<'a, T>(
        &self,
        optimizer: &str,
        variable: Variable,
        flat: &'a [T],
    ) -> Result<ArrayViewD<'a, T>, OptimizerError> {
        let shape = IxDyn(self.shape(optimizer, variable)?);
        Ok(ArrayView::from_shape(shape, &flat[variable.range()]).expect("a range has its shape's size"))
    }

    /// Writes names and shapes into a state.
    pub(super) fn save<T>(&self, state: &mut OptimizerState<T>) {
        for (index, entry) in self.entries.iter().enumerate() {
            let shape = super::state::entry(&mut state.variables, index, &entry.name);
            shape.clear();
            shape.extend_from_slice(&entry.shape);
        }
        state.variables.truncate(self.entries.len());
    }

    /// Refuses a state of other variables.
    pub(super) fn check_state<T>(&self, state: &OptimizerState<T>) -> Result<(), OptimizerError> {
        let (expected, found) = (self.entries.len(), state.variables.len());
        if expected != found {
            return Err(OptimizerError::State { difference: format!("it is of {found} variables, not {expected}") });
        }
        for (entry, (name, shape)) in self.entries.iter().zip(&state.variables) {
            let Entry { name: expected_name, shape: expected_shape, .. } = entry;
            if expected_name != name {
                return Err(OptimizerError::State { difference: format!("it has {name} in place of {expected_name}") });
            }
            if expected_shape != shape {
                let difference = format!("{name} has the shape {shape:?} there and {expected_shape:?} here");
                return Err(OptimizerError::State { difference });
            }
        }
        Ok(())
    }
}
