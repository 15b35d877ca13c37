//! Reading the state of an optimizer.

use std::slice::Iter;

use super::{OptimizerError, OptimizerResult, OptimizerState};
use crate::real::Real;

/// Reads a saved state entry by entry, in the order in which they were written, and refuses what does not fit.
pub(super) struct StateReader<'a, T> {
    slots: Iter<'a, (String, Vec<T>)>,
    numbers: Iter<'a, (String, Vec<f64>)>,
}

impl<'a, T: Real> StateReader<'a, T> {
    /// Begins with a state that has to be one of this optimizer, from which steps can go on.
    pub(super) fn new(state: &'a OptimizerState<T>, optimizer: &str) -> OptimizerResult<Self> {
        if state.optimizer != optimizer {
            return refuse(format!("it is of {}, not of {optimizer}", state.optimizer));
        }
        state.check()?;
        Ok(StateReader { slots: state.slots.iter(), numbers: state.numbers.iter() })
    }

    /// The next slot, which has to have this name and length.
    pub(super) fn slot(&mut self, name: &str, len: usize) -> OptimizerResult<&'a [T]> {
        match self.slots.next() {
            Some((found, slot)) if found == name && slot.len() == len => Ok(slot),
            Some((found, slot)) if found == name => {
                refuse(format!("the slot {name} has {} numbers, not {len}", slot.len()))
            }
            Some((found, _)) => refuse(format!("it has the slot {found} in place of {name}")),
            None => refuse(format!("it has no slot {name}")),
        }
    }

    /// The next numbers, which have to have this name.
    pub(super) fn numbers(&mut self, name: &str) -> OptimizerResult<&'a [f64]> {
        match self.numbers.next() {
            Some((found, numbers)) if found == name => Ok(numbers),
            _ => refuse(format!("it has no {name}")),
        }
    }

    /// Refuses a state whose settings, the next numbers, are not these.
    pub(super) fn settings<'n>(&mut self, settings: impl IntoIterator<Item = (&'n str, f64)>) -> OptimizerResult<()> {
        for (name, value) in settings {
            let saved = self.numbers(name)?;
            if *saved != [value] {
                return refuse(format!("{name} is {saved:?} there and {value} here"));
            }
        }
        Ok(())
    }

    /// Returns true if there are more numbers.
    pub(super) fn has_numbers(&self) -> bool {
        self.numbers.len() > 0
    }

    /// Refuses a state with more entries.
    pub(super) fn end(mut self) -> OptimizerResult<()> {
        match (self.slots.next(), self.numbers.next()) {
            (None, None) => Ok(()),
            (Some((name, _)), _) => refuse(format!("it has a slot {name}, which is not needed")),
            (None, Some((name, _))) => refuse(format!("it has {name}, which is not needed")),
        }
    }
}

/// The error of a state that does not fit.
pub(super) fn refuse<V>(difference: impl Into<String>) -> OptimizerResult<V> {
    Err(OptimizerError::State { difference: difference.into() })
}
