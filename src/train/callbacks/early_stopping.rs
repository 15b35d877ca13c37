//! Early stopping without improvement.

use super::monitor::Monitor;
use super::{Callback, CallbackState, Context, Mode};
use crate::real::Real;
use crate::train::{CallbackError, Logs, StopReason};

/// Stops a training when a number of the logs has not improved for some epochs. As Keras' `EarlyStopping`.
///
/// With [`restore_best_weights`](Self::with_restore_best_weights) the variables end as they were after the best epoch,
/// unless the training was cancelled.
#[derive(Debug, Clone)]
pub struct EarlyStopping<T> {
    monitor: Monitor,
    patience: usize,
    baseline: Option<f64>,
    start_from_epoch: usize,
    restore_best_weights: bool,
    wait: usize,
    best: Option<f64>,
    best_epoch: Option<usize>,
    stopped_epoch: Option<usize>,
    best_weights: Vec<T>,
}

impl<T: Real> EarlyStopping<T> {
    /// Creates a callback that stops after the first epoch without an improvement of this entry of the logs, such as `val_loss`.
    pub fn monitor(name: impl Into<String>) -> Self {
        EarlyStopping {
            monitor: Monitor::new(name, 0.0),
            patience: 0,
            baseline: None,
            start_from_epoch: 0,
            restore_best_weights: false,
            wait: 0,
            best: None,
            best_epoch: None,
            stopped_epoch: None,
            best_weights: Vec::new(),
        }
    }

    /// Sets the number of epochs without improvement after which the training stops; default 0, which means 1.
    pub fn with_patience(mut self, patience: usize) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the smallest change that counts as an improvement; default 0.
    pub fn with_min_delta(mut self, min_delta: f64) -> Self {
        self.monitor.min_delta = min_delta;
        self
    }

    /// Sets the direction of improvement, in place of the one that the metric's name implies.
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.monitor.mode = Some(mode);
        self
    }

    /// Sets a baseline: the count of epochs without improvement restarts only if the value is better than this. Default: none.
    pub fn with_baseline(mut self, baseline: f64) -> Self {
        self.baseline = Some(baseline);
        self
    }

    /// Sets the first epoch that is counted; default 0.
    pub fn with_start_from_epoch(mut self, epoch: usize) -> Self {
        self.start_from_epoch = epoch;
        self
    }

    /// Enables restoring the variables of the best epoch at the end; default `false`.
    pub fn with_restore_best_weights(mut self, restore_best_weights: bool) -> Self {
        self.restore_best_weights = restore_best_weights;
        self
    }

    /// The best value so far.
    pub fn best(&self) -> Option<f64> {
        self.best
    }

    /// The epoch of the best value.
    pub fn best_epoch(&self) -> Option<usize> {
        self.best_epoch
    }

    /// Epoch after which this callback stopped the training; `None` if it did not.
    pub fn stopped_epoch(&self) -> Option<usize> {
        self.stopped_epoch
    }

    fn keep(&mut self, context: &Context<'_, T>) {
        self.best_epoch = Some(context.epoch);
        if self.restore_best_weights {
            self.best_weights.clear();
            self.best_weights.extend_from_slice(context.variables.values());
        }
    }
}

impl<T: Real> Callback<T> for EarlyStopping<T> {
    fn name(&self) -> &str {
        "early_stopping"
    }

    fn on_train_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        self.monitor.begin(context)?;
        self.stopped_epoch = None;
        if !context.is_resumed() {
            (self.wait, self.best, self.best_epoch) = (0, None, None);
            self.best_weights.clear();
        } else if !self.best_weights.is_empty() && self.best_weights.len() != context.variables.values().len() {
            let difference = format!("best_weights has {} numbers", self.best_weights.len());
            return Err(CallbackError::State { difference });
        }
        Ok(())
    }

    fn on_epoch_end(&mut self, logs: &mut Logs, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let value = self.monitor.value(logs)?;
        if context.epoch < self.start_from_epoch {
            return Ok(());
        }
        if self.best_epoch.is_none() {
            self.keep(context);
        }
        self.wait += 1;
        if self.monitor.is_improvement(value, self.best) {
            self.best = Some(value);
            self.keep(context);
            if self.baseline.is_none() || self.monitor.is_improvement(value, self.baseline) {
                self.wait = 0;
            }
        } else if self.wait >= self.patience && context.epoch > 0 {
            self.stopped_epoch = Some(context.epoch);
            let Monitor { name, .. } = &self.monitor;
            context.stop(match (self.best, self.best_epoch) {
                (Some(best), Some(epoch)) => {
                    format!("{name} has not improved on {best:.6e} of epoch {epoch} for {} epochs", self.wait)
                }
                _ => format!("{name} is {value}"),
            });
        }
        Ok(())
    }

    fn on_train_end(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let is_over = context.stop_reason() != Some(&StopReason::Cancelled);
        if self.restore_best_weights && is_over && !self.best_weights.is_empty() {
            context.variables.values_mut().copy_from_slice(&self.best_weights);
        }
        Ok(())
    }

    fn state(&self) -> CallbackState {
        CallbackState::default()
            .with("wait", [self.wait as f64])
            .with("best", self.best)
            .with("best_epoch", self.best_epoch.map(|epoch| epoch as f64))
            .with("best_weights", self.best_weights.iter().map(|weight| weight.to_f64()))
    }

    fn restore(&mut self, state: &CallbackState) -> Result<(), CallbackError> {
        let best_weights: Vec<T> = state.get("best_weights")?.iter().map(|&weight| T::from_f64(weight)).collect();
        if best_weights.iter().any(|weight| !weight.is_finite()) {
            return Err(CallbackError::State {
                difference: "best_weights holds a number that is not finite".to_owned(),
            });
        }
        let (wait, best) = (state.count("wait")?, state.number("best")?);
        let best_epoch = state.count("best_epoch")?;
        self.best_epoch = (!state.get("best_epoch")?.is_empty()).then_some(best_epoch);
        (self.wait, self.best, self.best_weights) = (wait, best, best_weights);
        Ok(())
    }
}
