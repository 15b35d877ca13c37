//! Errors of a training.

use std::error::Error;
use std::path::PathBuf;

use thiserror::Error;

use super::{CheckpointError, History};
use crate::distributed::RankError;
use crate::nn::BatchError;
use crate::optim::OptimizerError;

/// A training that cannot begin, or that broke off.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The data have no rows.
    #[error("the data have no rows")]
    Empty,
    /// Minibatches without rows.
    #[error("the batch size is 0")]
    BatchSize,
    /// Every minibatch would be left out.
    #[error("{rows} rows do not fill a minibatch of {batch_size}, and drop_remainder is set")]
    NoFullBatch {
        /// Rows of the training data.
        rows: usize,
        /// The batch size.
        batch_size: usize,
    },
    /// The first epoch comes after the last.
    #[error("the initial epoch is {initial_epoch}, but there are {epochs} epochs")]
    InitialEpoch {
        /// The first epoch, counted from 0.
        initial_epoch: usize,
        /// Number of epochs.
        epochs: usize,
    },
    /// A validation split that leaves no row for one of the two.
    #[error("a validation split of {split} of {rows} rows: both parts need a row")]
    ValidationSplit {
        /// The split.
        split: f64,
        /// Rows of the data.
        rows: usize,
    },
    /// The training data, or a minibatch, do not fit the network.
    #[error(transparent)]
    Data(#[from] BatchError),
    /// The validation data do not fit the network.
    #[error("validation: {0}")]
    Validation(#[source] BatchError),
    /// A metric cannot be computed.
    #[error("the metric {metric}: {reason}")]
    Metric {
        /// Its name.
        metric: String,
        /// Description of the fault.
        reason: String,
    },
    /// Targets have no classes, or class weights do not fit them.
    #[error("classes: {reason}")]
    NoClasses {
        /// Description of the fault.
        reason: String,
    },
    /// The optimizer made no step.
    #[error(transparent)]
    Optimizer(#[from] OptimizerError),
    /// A callback failed.
    #[error("{callback}: {source}")]
    Callback {
        /// Its name.
        callback: String,
        /// The cause.
        source: CallbackError,
    },
    /// A checkpoint could not be saved, loaded or gone on from.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A rank has failed, and all have stopped.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// Ranks do not begin, or do not go on, from the same.
    #[error("the {what} of rank {rank} are not those of rank 0")]
    RanksDiffer {
        /// The lowest rank that differs from rank 0.
        rank: usize,
        /// Part that differs: its settings, its variables or its optimizer's numbers.
        what: &'static str,
    },
    /// A training that had begun broke off. The variables are where the last step left them, and the trainer's
    /// [`checkpoint`](super::Trainer::checkpoint) is there, too.
    #[error("in epoch {epoch}, minibatch {batch}: {source}")]
    BrokenOff {
        /// The epoch, counted from 0.
        epoch: usize,
        /// The minibatch, counted from 0; as many as there are after the last.
        batch: usize,
        /// Logs of the epochs before.
        history: Box<History>,
        /// The cause.
        source: Box<TrainError>,
    },
}

impl TrainError {
    /// Logs of the epochs before the error, where the training had begun.
    pub fn history(&self) -> Option<&History> {
        match self {
            TrainError::BrokenOff { history, .. } => Some(history),
            _ => None,
        }
    }
}

/// Error of a callback.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// There is nothing of this name to monitor.
    #[error("there is no {monitor} to monitor; there are {}", known.join(", "))]
    UnknownMonitor {
        /// The name asked for.
        monitor: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A setting makes no sense.
    #[error("{setting} must be {requirement}, not {value}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// The values allowed.
        requirement: &'static str,
        /// Its value.
        value: f64,
    },
    /// The learning rate follows a schedule.
    #[error("the learning rate follows a schedule: this callback needs a number")]
    ScheduledLearningRate,
    /// The optimizer refuses.
    #[error(transparent)]
    Optimizer(#[from] OptimizerError),
    /// A saved state is not this callback's.
    #[error("the saved state does not fit: {difference}")]
    State {
        /// The first difference.
        difference: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// Any other error.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}
