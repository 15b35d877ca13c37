//! State that a first-order optimizer keeps for the variables it was built for.

use super::undo_log::UndoLog;
use super::{FirstOrder, SlotSpec, UpdateRule};
use crate::real::Real;
use crate::variables::{Gradients, Layout, Variables, pattern};

/// Slots and workspace.
#[derive(Debug, Clone)]
pub(super) struct FirstOrderMemory<T> {
    pub(super) layout: Layout,
    /// For each variable, true if its weights decay.
    pub(super) decays: Vec<bool>,
    pub(super) slot_names: Vec<&'static str>,
    /// The rule's slots, each as long as the variables together.
    pub(super) slots: Vec<Vec<T>>,
    /// The moving average of the weights, if there is one.
    pub(super) average: Option<Vec<T>>,
    /// The gradients at work.
    pub(super) gradients: Gradients<T>,
    /// The sum of earlier gradients, if they are accumulated.
    pub(super) accumulated: Option<Accumulated<T>>,
    pub(super) undo_log: UndoLog<T>,
}

/// A sum of gradients that have not been applied yet.
#[derive(Debug, Clone)]
pub(super) struct Accumulated<T> {
    pub(super) sum: Gradients<T>,
    /// Number of gradients.
    pub(super) count: u64,
}

impl<T: Real> FirstOrderMemory<T> {
    pub(super) fn new<R: UpdateRule<T>>(optimizer: &FirstOrder<T, R>, variables: &Variables<T>) -> Self {
        let decays = |name: &str| !optimizer.exclusions.iter().any(|pattern| pattern::matches(pattern, name));
        let gradients = Gradients::new(variables);
        let accumulates = optimizer.accumulation_steps > 1;
        let mut memory = FirstOrderMemory {
            layout: Layout::of(variables),
            decays: variables.iter().map(|variable| decays(variables.name(variable))).collect(),
            slot_names: Vec::new(),
            slots: Vec::new(),
            average: optimizer.ema.then(|| variables.values().to_vec()),
            accumulated: accumulates.then(|| Accumulated { sum: gradients.clone(), count: 0 }),
            gradients,
            undo_log: UndoLog::default(),
        };
        memory.fit_slots(optimizer.slots_of_rule());
        memory
    }

    /// Takes these slots, and keeps the entries of existing slots of the same names.
    pub(super) fn fit_slots(&mut self, wanted: Vec<SlotSpec>) {
        let take_or_make = |slot: &SlotSpec| match self.slot_names.iter().position(|&name| name == slot.name) {
            Some(place) => std::mem::take(&mut self.slots[place]),
            None => vec![T::from_f64(slot.initial); self.layout.numbers()],
        };
        self.slots = wanted.iter().map(take_or_make).collect();
        self.slot_names = wanted.iter().map(|slot| slot.name).collect();
    }
}
