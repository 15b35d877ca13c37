//! Sums over the steps of an epoch.

use super::Logs;
use crate::optim::StepReport;
use crate::real::Real;

/// Sums over the steps of an epoch so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct EpochSums {
    rows: f64,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    loss: f64,
    steps: f64,
    applied: f64,
    damped_steps: f64,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    damping: f64,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    gain_ratio: f64,
    attempts: f64,
    #[cfg_attr(feature = "serde", serde(default))]
    factored_steps: f64,
    pub(super) seconds: f64,
}

impl EpochSums {
    pub(super) fn add<T: Real>(&mut self, report: &StepReport<T>, rows: usize) {
        self.rows += rows as f64;
        self.loss += report.loss.to_f64() * rows as f64;
        self.steps += 1.0;
        self.applied += f64::from(u8::from(report.applied));
        if let Some(damped) = &report.damped {
            self.damped_steps += 1.0;
            self.damping = damped.damping.to_f64();
            self.gain_ratio += damped.gain_ratio.to_f64();
            self.attempts += damped.attempts as f64;
        }
        if let Some(factored) = &report.factored {
            self.factored_steps += 1.0;
            self.damping = factored.damping.to_f64();
        }
    }

    /// The mean loss.
    pub(super) fn loss(&self) -> f64 {
        self.loss / self.rows
    }

    /// All but the loss.
    pub(super) fn log(&self, logs: &mut Logs) {
        logs.set("applied", self.applied / self.steps);
        if self.damped_steps + self.factored_steps > 0.0 {
            logs.set("damping", self.damping);
            logs.set("factored", self.factored_steps / self.steps);
        }
        if self.damped_steps > 0.0 {
            logs.set("gain_ratio", self.gain_ratio / self.damped_steps);
            logs.set("attempts", self.attempts / self.damped_steps);
        }
        logs.set("seconds", self.seconds);
    }
}
