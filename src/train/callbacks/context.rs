//! The view of a training that callbacks have, and may change.

use super::Mode;
use crate::optim::{Hyperparameter, Optimizer};
use crate::real::Real;
use crate::train::{CallbackError, History, StopReason};
use crate::variables::Variables;

/// The view of a training that callbacks have, and may change.
pub struct Context<'c, T: Real> {
    /// The variables, as the last step left them.
    pub variables: &'c mut Variables<T>,
    /// The optimizer.
    pub optimizer: &'c mut dyn Optimizer<T>,
    /// Logs of the epochs before this one.
    pub history: &'c History,
    /// Index of the epoch, counted from 0; after the last epoch, the number of epochs.
    pub epoch: usize,
    /// Number of epochs of the training.
    pub epochs: usize,
    /// Minibatches of the epoch that are done.
    pub batch: usize,
    /// Minibatches in an epoch.
    pub batches: usize,
    pub(in crate::train) is_resumed: bool,
    pub(in crate::train) is_root: bool,
    /// Quantities that can be monitored, and which way is better.
    pub(in crate::train) known: &'c [(String, Mode)],
    /// The reason of a callback that wants to end the training.
    pub(in crate::train) stop: Option<String>,
    pub(in crate::train) stop_reason: Option<&'c StopReason>,
}

impl<T: Real> Context<'_, T> {
    /// Ends the training after this minibatch, or this epoch.
    pub fn stop(&mut self, reason: impl Into<String>) {
        self.stop = Some(reason.into());
    }

    /// Reason why the training ended; `None` before its end.
    pub fn stop_reason(&self) -> Option<&StopReason> {
        self.stop_reason
    }

    /// Returns true if the training goes on from a checkpoint.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Returns true on the rank that prints, draws and writes files: the first rank, or the only one. Callbacks are called on all ranks and
    /// must otherwise do the same on all. If a callback fails or stops the training on one rank, the training ends on all.
    pub fn is_root(&self) -> bool {
        self.is_root
    }

    /// Returns the direction of improvement of one of the numbers in the logs.
    ///
    /// # Errors
    ///
    /// [`CallbackError::UnknownMonitor`].
    pub fn mode(&self, monitor: &str) -> Result<Mode, CallbackError> {
        match self.known.iter().find(|(name, _)| name == monitor) {
            Some((_, mode)) => Ok(*mode),
            None => {
                let known = self.known.iter().map(|(name, _)| name.clone()).collect();
                Err(CallbackError::UnknownMonitor { monitor: monitor.to_owned(), known })
            }
        }
    }

    /// The learning rate.
    ///
    /// # Errors
    ///
    /// [`CallbackError::ScheduledLearningRate`], or the optimizer's error if it has none.
    pub fn learning_rate(&self) -> Result<f64, CallbackError> {
        match self.optimizer.hyperparameter("learning_rate")? {
            Hyperparameter::Number(rate) => Ok(rate),
            Hyperparameter::Schedule(_) => Err(CallbackError::ScheduledLearningRate),
        }
    }

    /// Sets the learning rate, from the next step on.
    ///
    /// # Errors
    ///
    /// The optimizer's, if it has none or it cannot be this.
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<(), CallbackError> {
        Ok(self.optimizer.set_hyperparameter("learning_rate", rate.into())?)
    }
}
