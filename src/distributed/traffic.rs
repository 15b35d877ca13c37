//! Traffic of a rank.

use std::sync::atomic::{AtomicU64, Ordering};

/// Traffic of a rank in the exchanges so far, from [`Communicator::traffic`](super::Communicator::traffic).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Traffic {
    /// Sums over all ranks: messages.
    pub sums: u64,
    /// The numbers in them.
    pub summed_numbers: u64,
    /// Number of gathers: exchanges of every rank's message with all ranks.
    pub gathers: u64,
    /// The bytes that this rank had.
    pub gathered_bytes: u64,
}

/// Counts it.
#[derive(Debug, Default)]
pub struct Counters {
    sums: AtomicU64,
    summed_numbers: AtomicU64,
    gathers: AtomicU64,
    gathered_bytes: AtomicU64,
}

impl Counters {
    pub(super) fn sum(&self, numbers: usize) {
        self.sums.fetch_add(1, Ordering::Relaxed);
        self.summed_numbers.fetch_add(numbers as u64, Ordering::Relaxed);
    }

    pub(super) fn gather(&self, bytes: usize) {
        self.gathers.fetch_add(1, Ordering::Relaxed);
        self.gathered_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Traffic {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Traffic {
            sums: read(&self.sums),
            summed_numbers: read(&self.summed_numbers),
            gathers: read(&self.gathers),
            gathered_bytes: read(&self.gathered_bytes),
        }
    }
}
