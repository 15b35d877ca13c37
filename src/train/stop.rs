//! Reasons why a training ends.

use std::fmt;

/// Reason why a training ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum StopReason {
    /// All epochs are done.
    Completed,
    /// A [`CancelToken`](crate::solver::CancelToken) was used. The training can be resumed from its checkpoint.
    Cancelled,
    /// A callback ended it.
    Callback {
        /// The callback's name.
        callback: String,
        /// Its reason.
        reason: String,
    },
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Completed => f.write_str("all epochs are done"),
            StopReason::Cancelled => f.write_str("cancelled"),
            StopReason::Callback { callback, reason } => write!(f, "{callback}: {reason}"),
        }
    }
}
