//! What goes wrong on another rank, or between ranks.

use thiserror::Error;

/// What went wrong on one rank, as all ranks know it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("rank {rank}: {message}")]
pub struct RankError {
    /// The lowest of the ranks where something went wrong.
    pub rank: usize,
    /// What went wrong there.
    pub message: String,
}

/// Ranks cannot talk to each other.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CommunicatorError {
    /// A rank has gone, and will never answer.
    #[error("rank {rank} has gone")]
    Gone {
        /// Which rank.
        rank: usize,
    },
    /// Ranks do not take part in the same exchange: they are not at the same place of the program.
    #[error("ranks {rank} and {other} are not at the same place of the program")]
    OutOfStep {
        /// A rank.
        rank: usize,
        /// Another, which takes part in another exchange.
        other: usize,
    },
}
