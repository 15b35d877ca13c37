//! Errors on another rank, or between ranks.

use thiserror::Error;

/// Error of one rank, reported on all ranks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("rank {rank}: {message}")]
pub struct RankError {
    /// The lowest rank with an error.
    pub rank: usize,
    /// The error there.
    pub message: String,
}

impl From<CommunicatorError> for RankError {
    /// Attributes the error to the rank that has gone, or is elsewhere in the program.
    fn from(error: CommunicatorError) -> Self {
        let rank = match error {
            CommunicatorError::Disconnected { rank } | CommunicatorError::CollectiveMismatch { other: rank, .. } => {
                rank
            }
            _ => 0,
        };
        RankError { rank, message: error.to_string() }
    }
}

/// Errors of the communication between ranks.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CommunicatorError {
    /// A rank has ended and does not answer.
    #[error("rank {rank} has gone")]
    Disconnected {
        /// Index of the rank.
        rank: usize,
    },
    /// Ranks are in different collective calls: they are at different places of the program.
    #[error("ranks {rank} and {other} are not at the same place of the program")]
    CollectiveMismatch {
        /// A rank.
        rank: usize,
        /// Another, which takes part in another exchange.
        other: usize,
    },
    /// The program was started on several ranks, but cannot reach the others.
    #[error("started on {ranks} ranks, but built without the feature `mpi`")]
    WithoutMpi {
        /// Number of ranks, or a lower bound of it.
        ranks: usize,
    },
    /// The program was started on several ranks, but its MPI finds this one only.
    #[error("started on {ranks} ranks, but this rank's MPI finds no other: it is not the launcher's MPI")]
    UnconnectedRanks {
        /// Number of ranks, or a lower bound of it.
        ranks: usize,
    },
    /// This MPI cannot be called by one thread after another.
    #[error("MPI allows threads to be {provided}; MPI_THREAD_SERIALIZED is needed")]
    Threading {
        /// The number that it allows.
        provided: &'static str,
    },
    /// MPI was initialised by another part of the program.
    #[error("MPI was initialised by another part of the program")]
    Initialized,
    /// The last communicator of MPI's world was dropped, or MPI was finalised otherwise; it cannot be started again.
    #[error("MPI has been finalised")]
    Finalized,
}
