//! Traffic of a rank.

use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// Traffic as it is counted.
#[derive(Debug, Default)]
pub struct Counters(Mutex<Traffic>);

impl Counters {
    fn lock(&self) -> MutexGuard<'_, Traffic> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sum(&self, numbers: usize) {
        let mut traffic = self.lock();
        traffic.sums += 1;
        traffic.summed_numbers += numbers as u64;
    }

    pub(super) fn gather(&self, bytes: usize) {
        let mut traffic = self.lock();
        traffic.gathers += 1;
        traffic.gathered_bytes += bytes as u64;
    }

    pub(super) fn read(&self) -> Traffic {
        *self.lock()
    }
}
