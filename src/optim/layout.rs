//! Checks that variables, gradients and states are those of the variables that an optimizer was built for.

use ndarray::ArrayViewD;

use super::state::entry;
use super::state_reader::refuse;
use super::{OptimizerError, OptimizerResult, OptimizerState};
use crate::variables::{Layout, Variable};

/// A layout in the hands of an optimizer, whose name goes into the errors.
impl Layout {
    /// Refuses variables, or their gradients, that lie in memory in another way.
    pub(super) fn check(
        &self,
        optimizer: &'static str,
        handles: impl ExactSizeIterator<Item = Variable>,
    ) -> OptimizerResult<()> {
        match self.difference(handles) {
            None => Ok(()),
            Some(difference) => Err(OptimizerError::OtherVariables { optimizer, difference }),
        }
    }

    /// The shape of a variable, which must be one of these.
    pub(super) fn checked_shape(&self, optimizer: &'static str, variable: Variable) -> OptimizerResult<&[usize]> {
        self.shape(variable).ok_or_else(|| stranger(optimizer, variable))
    }

    /// One variable's part of a vector of all variables.
    pub(super) fn checked_view<'a, T>(
        &self,
        optimizer: &'static str,
        variable: Variable,
        flat: &'a [T],
    ) -> OptimizerResult<ArrayViewD<'a, T>> {
        self.view(variable, flat).ok_or_else(|| stranger(optimizer, variable))
    }

    /// Writes names and shapes into a state.
    pub(super) fn save<T>(&self, state: &mut OptimizerState<T>) {
        for (index, (name, shape)) in self.iter().enumerate() {
            let saved = entry(&mut state.variables, index, name);
            saved.clear();
            saved.extend_from_slice(shape);
        }
        state.variables.truncate(self.variables().len());
    }

    /// Refuses a state of other variables.
    pub(super) fn check_state<T>(&self, state: &OptimizerState<T>) -> OptimizerResult<()> {
        self.difference_of_saved(&state.variables).map_or(Ok(()), refuse)
    }
}

fn stranger(optimizer: &'static str, variable: Variable) -> OptimizerError {
    OptimizerError::OtherVariables { optimizer, difference: format!("none was {variable:?}") }
}
