//! Weights on disk.

use std::path::{Path, PathBuf};

use super::monitor::Monitor;
use super::{Callback, CallbackState, Context, Mode};
use crate::atomic_file;
use crate::real::Real;
use crate::train::{CallbackError, Logs};

/// Saves the variables at regular numbers of epochs, or when a number of the logs is the best so far, in the safetensors
/// format, feature `safetensors`. As Keras' `ModelCheckpoint` for weights.
///
/// In the path `{epoch}` stands for the number of the epoch, counted from 0, and the name of a number in the logs, such as `{val_loss}`,
/// for that number to six digits. A file is replaced as a whole, as by [`save_safetensors`](crate::Variables::save_safetensors). If the
/// folder is not writable, the training fails before the first epoch. With several ranks, the first rank writes.
#[derive(Debug, Clone)]
pub struct ModelCheckpoint {
    path: PathBuf,
    every: usize,
    monitor: Option<Monitor>,
    threshold: Option<f64>,
    best: Option<f64>,
}

impl ModelCheckpoint {
    /// Saves after the epochs `n − 1`, `2n − 1` and so on.
    pub fn every(epochs: usize, path: impl Into<PathBuf>) -> Self {
        ModelCheckpoint { path: path.into(), every: epochs, monitor: None, threshold: None, best: None }
    }

    /// Saves when the monitored number is the best so far.
    pub fn best(monitor: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        ModelCheckpoint {
            path: path.into(),
            every: 1,
            monitor: Some(Monitor::new(monitor, 0.0)),
            threshold: None,
            best: None,
        }
    }

    /// Sets the direction of improvement, in place of the one that the metric's name implies.
    pub fn with_mode(mut self, mode: Mode) -> Self {
        if let Some(monitor) = &mut self.monitor {
            monitor.mode = Some(mode);
        }
        self
    }

    /// Sets a threshold for the first saved value, which must be better than this; default: none.
    pub fn with_initial_value_threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// The path of an epoch.
    fn path(&self, epoch: usize, logs: &Logs) -> PathBuf {
        let pattern = self.path.to_string_lossy();
        if !pattern.contains('{') {
            return self.path.clone();
        }
        let path = pattern.replace("{epoch}", &epoch.to_string());
        logs.iter()
            .fold(path, |path, (name, value)| path.replace(&format!("{{{name}}}"), &format!("{value:.6}")))
            .into()
    }
}

fn file_error(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> CallbackError {
    CallbackError::File { path: path.to_owned(), source: source.into() }
}

impl<T: Real> Callback<T> for ModelCheckpoint {
    fn name(&self) -> &str {
        "model_checkpoint"
    }

    fn on_train_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        if self.every == 0 {
            return Err(CallbackError::Setting { setting: "every", requirement: "at least 1", value: 0.0 });
        }
        if !context.is_resumed() {
            self.best = self.threshold;
        }
        self.monitor.as_mut().map_or(Ok(()), |monitor| monitor.begin(context))?;
        // The name of a folder may be a pattern, too, and is then not known yet.
        let is_known = !self.path.parent().is_some_and(|folder| folder.to_string_lossy().contains('{'));
        if context.is_root() && is_known {
            atomic_file::check(&self.path).map_err(|source| file_error(&self.path, source))?;
        }
        Ok(())
    }

    fn on_epoch_end(&mut self, logs: &mut Logs, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        if !(context.epoch + 1).is_multiple_of(self.every) {
            return Ok(());
        }
        let value = self.monitor.as_ref().map(|monitor| monitor.value(logs)).transpose()?;
        if let (Some(monitor), Some(value)) = (&self.monitor, value)
            && !monitor.is_improvement(value, self.best)
        {
            return Ok(());
        }
        if context.is_root() {
            let path = self.path(context.epoch, logs);
            let bytes = context.variables.to_safetensors().map_err(|source| file_error(&path, source))?;
            atomic_file::write(&path, &[&bytes]).map_err(|source| file_error(&path, source))?;
        }
        self.best = value.or(self.best);
        Ok(())
    }

    fn state(&self) -> CallbackState {
        CallbackState::default().with("best", self.best)
    }

    fn restore(&mut self, state: &CallbackState) -> Result<(), CallbackError> {
        self.best = state.number("best")?;
        Ok(())
    }
}
