//! Checks that variables, gradients and states are those of the variables that an optimizer was built for.

use ndarray::ArrayViewD;

use super::{OptimizerError, OptimizerResult, OptimizerState};
use crate::variables::{Layout, Variable};

/// A [`Layout`] in the hands of an optimizer, whose name goes into the errors.
pub(super) trait Checked {
    /// Refuses variables, or their gradients, that lie in memory in another way.
    fn check(&self, optimizer: &str, handles: impl ExactSizeIterator<Item = Variable>) -> OptimizerResult<()>;

    /// The shape of a variable, which must be one of these.
    fn checked_shape(&self, optimizer: &str, variable: Variable) -> OptimizerResult<&[usize]>;

    /// One variable's part of as many numbers as all variables have.
    fn checked_view<'a, T>(
        &self,
        optimizer: &str,
        variable: Variable,
        flat: &'a [T],
    ) -> OptimizerResult<ArrayViewD<'a, T>>;

    /// Writes names and shapes into a state.
    fn save<T>(&self, state: &mut OptimizerState<T>);

    /// Refuses a state of other variables.
    fn check_state<T>(&self, state: &OptimizerState<T>) -> OptimizerResult<()>;
}

impl Checked for Layout {
    fn check(&self, optimizer: &str, handles: impl ExactSizeIterator<Item = Variable>) -> OptimizerResult<()> {
        match self.difference(handles) {
            None => Ok(()),
            Some(difference) => Err(OptimizerError::OtherVariables { optimizer: optimizer.to_owned(), difference }),
        }
    }

    fn checked_shape(&self, optimizer: &str, variable: Variable) -> OptimizerResult<&[usize]> {
        self.shape(variable).ok_or_else(|| stranger(optimizer, variable))
    }

    fn checked_view<'a, T>(
        &self,
        optimizer: &str,
        variable: Variable,
        flat: &'a [T],
    ) -> OptimizerResult<ArrayViewD<'a, T>> {
        self.view(variable, flat).ok_or_else(|| stranger(optimizer, variable))
    }

    fn save<T>(&self, state: &mut OptimizerState<T>) {
        for (index, (name, shape)) in self.iter().enumerate() {
            let saved = super::state::entry(&mut state.variables, index, name);
            saved.clear();
            saved.extend_from_slice(shape);
        }
        state.variables.truncate(self.variables().len());
    }

    fn check_state<T>(&self, state: &OptimizerState<T>) -> OptimizerResult<()> {
        let (expected, found) = (self.variables().len(), state.variables.len());
        if expected != found {
            return Err(OptimizerError::State { difference: format!("it is of {found} variables, not {expected}") });
        }
        for ((expected_name, expected_shape), (name, shape)) in self.iter().zip(&state.variables) {
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

fn stranger(optimizer: &str, variable: Variable) -> OptimizerError {
    OptimizerError::OtherVariables { optimizer: optimizer.to_owned(), difference: format!("none was {variable:?}") }
}
