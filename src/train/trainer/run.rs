//! Progress of a training.

use crate::train::sums::EpochSums;
use crate::train::{History, Logs, Mode, StopReason};

/// Progress of a training.
#[derive(Debug, Default)]
pub(super) struct FitRun {
    /// Epochs that are done.
    pub(super) epoch: usize,
    /// Minibatches of the epoch that are done.
    pub(super) batch: usize,
    /// Minibatches in an epoch.
    pub(super) batches: usize,
    pub(super) sums: EpochSums,
    pub(super) logs: Logs,
    /// The rows in the epoch's order.
    pub(super) order: Vec<usize>,
    pub(super) history: History,
    /// Quantities that can be monitored.
    pub(super) known: Vec<(String, Mode)>,
    pub(super) is_resumed: bool,
    pub(super) stop: Option<StopReason>,
    /// True if the token was cancelled when it was last checked.
    pub(super) is_cancelled: bool,
    /// This rank's rows of the minibatch at hand, and their places in it.
    pub(super) rows: Vec<usize>,
    pub(super) places: Vec<usize>,
}
