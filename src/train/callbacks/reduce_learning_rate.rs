//! Reduction of the learning rate without improvement.

use super::monitor::Monitor;
use super::{Callback, CallbackState, Context, Mode};
use crate::real::Real;
use crate::train::{CallbackError, Logs};

/// Multiplies the learning rate by a factor when a number of the logs has not improved for some epochs. As Keras'
/// `ReduceLROnPlateau`.
///
/// For Levenberg–Marquardt, the learning rate is the fraction of the damped step that is taken, default 1; its damping adapts by itself.
#[derive(Debug, Clone)]
pub struct ReduceLearningRateOnPlateau {
    monitor: Monitor,
    factor: f64,
    patience: usize,
    cooldown: usize,
    min_learning_rate: f64,
    wait: usize,
    cooldown_left: usize,
    best: Option<f64>,
}

impl ReduceLearningRateOnPlateau {
    /// Creates a callback that multiplies the learning rate by 0.1 after 10 epochs in which this entry of the logs has not improved by more
    /// than 1e-4.
    pub fn monitor(name: impl Into<String>) -> Self {
        ReduceLearningRateOnPlateau {
            monitor: Monitor::new(name, 1e-4),
            factor: 0.1,
            patience: 10,
            cooldown: 0,
            min_learning_rate: 0.0,
            wait: 0,
            cooldown_left: 0,
            best: None,
        }
    }

    /// Factor of the learning rate, from 0 to 1; 0.1 unless set.
    pub fn with_factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// Epochs without improvement before a reduction; 10 unless set.
    pub fn with_patience(mut self, patience: usize) -> Self {
        self.patience = patience;
        self
    }

    /// Least improvement that counts; 1e-4 unless set.
    pub fn with_min_delta(mut self, min_delta: f64) -> Self {
        self.monitor.min_delta = min_delta;
        self
    }

    /// Sets the direction of improvement, in place of the one that the metric's name implies.
    pub fn with_mode(mut self, mode: Mode) -> Self {
        self.monitor.mode = Some(mode);
        self
    }

    /// Sets the number of epochs after a reduction that are not counted; default 0.
    pub fn with_cooldown(mut self, cooldown: usize) -> Self {
        self.cooldown = cooldown;
        self
    }

    /// Sets the smallest learning rate; default 0.
    pub fn with_min_learning_rate(mut self, min_learning_rate: f64) -> Self {
        self.min_learning_rate = min_learning_rate;
        self
    }
}

impl<T: Real> Callback<T> for ReduceLearningRateOnPlateau {
    fn name(&self) -> &str {
        "reduce_learning_rate_on_plateau"
    }

    fn on_train_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        self.monitor.begin(context)?;
        if !(self.factor > 0.0 && self.factor < 1.0) {
            let requirement = "between 0 and 1";
            return Err(CallbackError::Setting { setting: "factor", requirement, value: self.factor });
        }
        context.learning_rate()?;
        if !context.is_resumed() {
            (self.wait, self.cooldown_left, self.best) = (0, 0, None);
        }
        Ok(())
    }

    fn on_epoch_end(&mut self, logs: &mut Logs, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let value = self.monitor.value(logs)?;
        if self.cooldown_left > 0 {
            self.cooldown_left -= 1;
            self.wait = 0;
        }
        if self.monitor.is_improvement(value, self.best) {
            (self.best, self.wait) = (Some(value), 0);
        } else if self.cooldown_left == 0 {
            self.wait += 1;
            let rate = context.learning_rate()?;
            if self.wait >= self.patience && rate > self.min_learning_rate {
                context.set_learning_rate((rate * self.factor).max(self.min_learning_rate))?;
                (self.cooldown_left, self.wait) = (self.cooldown, 0);
            }
        }
        Ok(())
    }

    fn state(&self) -> CallbackState {
        let numbers = [self.wait as f64, self.cooldown_left as f64];
        CallbackState::default().with("wait", [numbers[0]]).with("cooldown_left", [numbers[1]]).with("best", self.best)
    }

    fn restore(&mut self, state: &CallbackState) -> Result<(), CallbackError> {
        let (wait, cooldown_left, best) = (state.count("wait")?, state.count("cooldown_left")?, state.number("best")?);
        (self.wait, self.cooldown_left, self.best) = (wait, cooldown_left, best);
        Ok(())
    }
}
