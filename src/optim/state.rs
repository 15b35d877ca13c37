//! The whole state of an optimizer, to save and to restore.

use super::Hyperparameter;

/// Everything that an optimizer carries from one step to the next, and what it must match to be restored.
///
/// With the feature `serde` it can be serialised.
#[derive(Debug, Clone, PartialEq)]
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
    /// Slots by name, each as many numbers as the variables have together.
    pub slots: Vec<(String, Vec<T>)>,
    /// Other numbers by name, such as those of the damping.
    pub numbers: Vec<(String, Vec<f64>)>,
    /// The states of the optimizers that this one is made of.
    pub parts: Vec<OptimizerState<T>>,
}

impl<T> Default for OptimizerState<T> {
    fn default() -> Self {
        OptimizerState {
            optimizer: String::new(),
            iterations: 0,
            hyperparameters: Vec::new(),
            variables: Vec::new(),
            slots: Vec::new(),
            numbers: Vec::new(),
            parts: Vec::new(),
        }
    }
}

/// The entry at `index` of a list by name, made if need be, in memory that is used again where the name is the same.
pub(super) fn entry<'a, V: Default>(list: &'a mut Vec<(String, V)>, index: usize, name: &str) -> &'a mut V {
    if list.get(index).is_none_or(|(found, _)| found != name) {
        list.truncate(index);
        list.push((name.to_owned(), V::default()));
    }
    &mut list[index].1
}
