//! Errors of a training.

use std::error::Error;
use std::path::PathBuf;

use thiserror::Error;

use super::{CheckpointError, History};
use crate::distributed::RankError;
use crate::nn::BatchError;
use crate::optim::OptimizerError;

/// Errors of a training that cannot start, or that stopped early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The data have no rows.
    #[error("the data have no rows")]
    Empty,
    /// The batch size is 0.
    #[error("the batch size is 0")]
    BatchSize,
    /// There is no full minibatch, and partial ones are dropped.
    #[error("{rows} rows do not fill a minibatch of {batch_size}, and drop_remainder is set")]
    NoFullBatch {
        /// Rows of the training data.
        rows: usize,
        /// The batch size.
        batch_size: usize,
    },
    /// The initial epoch is beyond the last epoch.
    #[error("the initial epoch is {initial_epoch}, but there are {epochs} epochs")]
    InitialEpoch {
        /// The first epoch, counted from 0.
        initial_epoch: usize,
        /// Number of epochs.
        epochs: usize,
    },
    /// The validation split leaves one of the two parts without rows.
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
    /// The optimizer returned an error instead of a step.
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
    /// A checkpoint could not be saved, loaded or resumed from.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A rank has failed, and all have stopped.
    #[error(transparent)]
    Rank(#[from] RankError),
    /// Settings, variables or optimizer states differ between ranks.
    #[error("the {what} of rank {rank} are not those of rank 0")]
    RanksDiffer {
        /// The lowest rank that differs from rank 0.
        rank: usize,
        /// The part that differs: settings, variables or the numbers of the optimizer.
        what: &'static str,
    },
    /// The training stopped with an error after its start. The variables have their values after the last step, and the trainer has a
    /// [`checkpoint`](super::Trainer::checkpoint).
    #[error("in epoch {epoch}, minibatch {batch}: {source}")]
    BrokenOff {
        /// The epoch, counted from 0.
        epoch: usize,
        /// Index of the minibatch, counted from 0; after the last minibatch, their number.
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
    /// The logs have no entry of this name.
    #[error("there is no {monitor} to monitor; there are {}", known.join(", "))]
    UnknownMonitor {
        /// The name asked for.
        monitor: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A setting has an invalid value.
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
    /// The optimizer returned an error.
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
