//! The whole state of an optimizer, to save and to restore.

use super::{Hyperparameter, OptimizerError, OptimizerResult};
use crate::real::Real;

/// Largest count that a state can be restored with: schedules compute with counts as floats, which are exact up to there.
const MAX_COUNT: u64 = 1 << 53;

/// State that an optimizer carries from one step to the next, and the layout that it must match to be restored.
///
/// With the feature `serde` it can be serialised.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OptimizerState<T> {
    /// The optimizer's name.
    pub optimizer: String,
    /// Steps made.
    pub iterations: u64,
    /// Hyperparameters by name.
    pub hyperparameters: Vec<(String, Hyperparameter)>,
    /// Names and shapes of the variables it was built for; none before.
    pub variables: Vec<(String, Vec<usize>)>,
    /// Slots by name, each as many entries as the variables have together.
    pub slots: Vec<(String, Vec<T>)>,
    /// Other numbers by name, such as those of the damping.
    pub numbers: Vec<(String, Vec<f64>)>,
    /// The states of the optimizers that this one is made of.
    pub parts: Vec<OptimizerState<T>>,
}

impl<T: Real> OptimizerState<T> {
    /// The first of the slots and numbers that holds NaN or infinity, with the optimizer's name. Such a state cannot be
    /// written as text and read again.
    #[cfg(feature = "checkpoint")]
    pub(crate) fn first_non_finite(&self) -> Option<String> {
        let by_name = self.first_with(&|number| !number.is_finite());
        by_name.or_else(|| self.parts.iter().find_map(OptimizerState::first_non_finite))
    }

    /// Checks that a step can go on from the state: refuses NaN, and a count that a step would not change as a float. Parts are
    /// left to their own optimizers.
    pub(super) fn check(&self) -> OptimizerResult<()> {
        let difference = match self.first_with(&|number| number.is_nan()) {
            _ if self.iterations > MAX_COUNT => format!("{} iterations are more than {MAX_COUNT}", self.iterations),
            Some(name) => format!("{name} holds NaN"),
            None => return Ok(()),
        };
        Err(OptimizerError::State { difference })
    }

    /// The first of the slots and numbers that holds such a number.
    fn first_with(&self, is_such: &dyn Fn(f64) -> bool) -> Option<String> {
        let slots = self.slots.iter().map(|(name, slot)| (name, slot.iter().any(|number| is_such(number.to_f64()))));
        let numbers = self.numbers.iter().map(|(name, list)| (name, list.iter().any(|&number| is_such(number))));
        let (name, _) = slots.chain(numbers).find(|(_, holds)| *holds)?;
        Some(format!("{name} of {}", self.optimizer))
    }
}

/// A count among the numbers of a state, at most `limit`.
pub(super) fn count(name: &str, number: f64, limit: u64) -> OptimizerResult<u64> {
    let is_count = number >= 0.0 && number.fract() == 0.0 && number <= limit as f64;
    let difference = || format!("{name} is {number}, not a whole number up to {limit}");
    if is_count { Ok(number as u64) } else { Err(OptimizerError::State { difference: difference() }) }
}

/// The entry at `index` of a list by name, made if need be, in memory that is used again where the name is the same.
pub(super) fn entry<'a, V: Default>(list: &'a mut Vec<(String, V)>, index: usize, name: &str) -> &'a mut V {
    if list.get(index).is_none_or(|(found, _)| found != name) {
        list.truncate(index);
        list.push((name.to_owned(), V::default()));
    }
    &mut list[index].1
}
