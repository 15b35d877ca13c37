//! Undo log of a step: the values that it is about to overwrite.

use std::ops::Range;

use crate::optim::gradients::push_range;

/// Copies of the entries that a step changes, so that it can be taken back.
#[derive(Debug, Clone, Default)]
pub(super) struct UndoLog<T> {
    /// Ranges of the recorded entries, in order, neighbours joined.
    ranges: Vec<Range<usize>>,
    values: Vec<T>,
    slots: Vec<T>,
}

impl<T: Copy> UndoLog<T> {
    /// Forgets the step before.
    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.values.clear();
        self.slots.clear();
    }

    /// Announces that these entries will change.
    pub(super) fn announce(&mut self, range: Range<usize>) {
        push_range(&mut self.ranges, range);
    }

    /// The values announced.
    pub(super) fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Copies the announced entries.
    pub(super) fn record(&mut self, values: &[T], slots: &[Vec<T>]) {
        for range in &self.ranges {
            self.values.extend_from_slice(&values[range.clone()]);
            for slot in slots {
                self.slots.extend_from_slice(&slot[range.clone()]);
            }
        }
    }

    /// Writes the copies back.
    pub(super) fn undo(&self, values: &mut [T], slots: &mut [Vec<T>]) {
        let (mut old_values, mut old_slots) = (self.values.as_slice(), self.slots.as_slice());
        for range in &self.ranges {
            values[range.clone()].copy_from_slice(old_values.split_off(..range.len()).expect("it was recorded"));
            for slot in slots.iter_mut() {
                slot[range.clone()].copy_from_slice(old_slots.split_off(..range.len()).expect("it was recorded"));
            }
        }
    }
}
