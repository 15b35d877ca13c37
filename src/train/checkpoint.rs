//! Checkpoints, from which a training can be resumed.

#[cfg(feature = "checkpoint")]
mod file;

use std::path::PathBuf;

use thiserror::Error;

use super::sums::EpochSums;
use super::{CallbackState, History};
use crate::optim::OptimizerState;

/// State of a training from which it can be resumed: variables, the optimizer's state, the progress, the history, and the states
/// of metrics, callbacks and dropout.
///
/// [`Trainer::restore`](super::Trainer::restore) makes the next `fit` continue from it, with the same result, bit for bit, as without an
/// interruption. With the feature `checkpoint` it is saved to a file and loaded again.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Checkpoint<T> {
    pub(super) terms: FitTerms,
    /// Names and shapes.
    pub(super) variables: Vec<(String, Vec<usize>)>,
    pub(super) values: Vec<T>,
    pub(super) optimizer: OptimizerState<T>,
    pub(super) mask_step: u64,
    pub(super) epoch: usize,
    pub(super) batch: usize,
    pub(super) sums: EpochSums,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::named"))]
    pub(super) metrics: Vec<(String, Vec<f64>)>,
    pub(super) callbacks: Vec<(String, CallbackState)>,
    pub(super) history: History,
}

impl<T> Checkpoint<T> {
    /// Epochs that are done.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// Minibatches of the next epoch that are done.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// All entries of all variables.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The optimizer's state.
    pub fn optimizer(&self) -> &OptimizerState<T> {
        &self.optimizer
    }

    /// Refuses a checkpoint whose parts do not fit together, for a training with this number of minibatches in an epoch.
    pub(super) fn check(&self, batches: usize) -> Result<(), CheckpointError> {
        let inconsistent = |contradiction: String| Err(CheckpointError::Inconsistent { contradiction });
        if self.batch > batches {
            return inconsistent(format!("{} minibatches are done of an epoch of {batches}", self.batch));
        }
        if self.terms.text("metrics") != Some(&list(self.metrics.iter().map(|(name, _)| name.as_str()))) {
            return inconsistent("it does not have the state of every metric".to_owned());
        }
        if self.terms.text("callbacks") != Some(&list(self.callbacks.iter().map(|(name, _)| name.as_str()))) {
            return inconsistent("it does not have the state of every callback".to_owned());
        }
        match self.history.ragged_column() {
            Some(name) => inconsistent(format!("the column {name} of the history is not as long as the others")),
            None => Ok(()),
        }
    }

    /// Logs of the epochs.
    pub fn history(&self) -> &History {
        &self.history
    }
}

/// Settings that must be the same for a resumed training to be the same: the name and the text of each.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct FitTerms(Vec<(String, String)>);

impl FitTerms {
    pub(super) fn new(terms: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        FitTerms(terms.into_iter().map(|(name, text)| (name.to_owned(), text)).collect())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, text)| text.as_str())
    }

    /// Refuses a checkpoint of a training with other settings.
    pub(super) fn check(&self, here: &FitTerms) -> Result<(), CheckpointError> {
        match here.0.iter().find(|(name, found)| self.text(name) != Some(found)) {
            Some((what, found)) => {
                let (what, found) = (what.clone(), found.clone());
                Err(CheckpointError::OtherTraining {
                    saved: self.text(&what).unwrap_or("none").to_owned(),
                    what,
                    found,
                })
            }
            None => Ok(()),
        }
    }
}

/// The text of a list of names.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Errors of saving, loading or resuming from a checkpoint.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The file is not a checkpoint.
    #[error("{}: this is no checkpoint of a training", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file is of a version that is not known.
    #[error("{}: a checkpoint of version {found}, and only {expected} is known", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The version that is known.
        expected: u32,
    },
    /// The file is damaged: its content has changed since it was written.
    #[error("{}: the checkpoint is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Description of the fault.
        reason: String,
    },
    /// A number is NaN or infinite, which a file could not hold.
    #[error("{name} holds a number that is not finite")]
    NonFinite {
        /// The part that holds it.
        name: String,
    },
    /// The checkpoint belongs to a training with other settings.
    #[error("the checkpoint is of another training: {what}: {saved} there, {found} here")]
    OtherTraining {
        /// The setting that differs.
        what: String,
        /// Value in the checkpoint.
        saved: String,
        /// Value of this training.
        found: String,
    },
    /// Two parts of the checkpoint contradict each other.
    #[error("the checkpoint contradicts itself: {contradiction}")]
    Inconsistent {
        /// Description of the contradiction.
        contradiction: String,
    },
    /// The checkpoint belongs to other variables.
    #[error("the checkpoint is of other variables: {difference}")]
    OtherVariables {
        /// The first difference.
        difference: String,
    },
}
