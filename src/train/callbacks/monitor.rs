//! Monitored entries of the logs.

use super::Context;
use crate::real::Real;
use crate::train::{CallbackError, Logs};

/// Direction of improvement of a monitored number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Smaller is better.
    Min,
    /// Larger is better.
    Max,
}

/// Monitored entry of the logs and its direction of improvement.
#[derive(Debug, Clone)]
pub(super) struct Monitor {
    pub(super) name: String,
    /// Direction that was set; `None` takes that of the metric.
    pub(super) mode: Option<Mode>,
    pub(super) min_delta: f64,
    /// Its state in the training at hand.
    resolved: Mode,
}

impl Monitor {
    pub(super) fn new(name: impl Into<String>, min_delta: f64) -> Self {
        Monitor { name: name.into(), mode: None, min_delta, resolved: Mode::Min }
    }

    /// Looks the name up.
    pub(super) fn begin<T: Real>(&mut self, context: &Context<'_, T>) -> Result<(), CallbackError> {
        if !(self.min_delta >= 0.0 && self.min_delta.is_finite()) {
            let requirement = "at least 0";
            return Err(CallbackError::Setting { setting: "min_delta", requirement, value: self.min_delta });
        }
        let known = context.mode(&self.name)?;
        self.resolved = self.mode.unwrap_or(known);
        Ok(())
    }

    /// The number of this epoch.
    pub(super) fn value(&self, logs: &Logs) -> Result<f64, CallbackError> {
        logs.get(&self.name).ok_or_else(|| {
            let known = logs.iter().map(|(name, _)| name.to_owned()).collect();
            CallbackError::UnknownMonitor { monitor: self.name.clone(), known }
        })
    }

    /// Returns true if a number is better than the best before, if there was one. NaN never is.
    pub(super) fn is_improvement(&self, value: f64, best: Option<f64>) -> bool {
        let best = match (best, self.resolved) {
            (Some(best), _) => best,
            (None, Mode::Min) => f64::INFINITY,
            (None, Mode::Max) => f64::NEG_INFINITY,
        };
        match self.resolved {
            Mode::Min => value + self.min_delta < best,
            Mode::Max => value - self.min_delta > best,
        }
    }
}
