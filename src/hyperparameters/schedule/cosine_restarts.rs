//! Cosine decay with warm restarts.

use std::f64::consts::PI;

use super::{require, require_finite, require_steps};
use crate::hyperparameters::HyperparameterError;

/// `initial_learning_rate · ((1 − alpha) · m_mulⁱ · ½(1 + cos(π · past)) + alpha)`, where `past` is the part of period `i`
/// that is over. The first period has `first_decay_steps`, and each has `t_mul` times as many as the one before.
///
/// Loshchilov and Hutter, *SGDR: Stochastic Gradient Descent with Warm Restarts*, 2017.
///
/// ```
/// use marquardt::optim::CosineDecayRestarts;
///
/// let rate = CosineDecayRestarts::new(0.2, 20).with_m_mul(0.5);
/// assert_eq!((rate.at(0), rate.at(20), rate.at(60)), (0.2, 0.1, 0.05));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CosineDecayRestarts {
    initial_learning_rate: f64,
    first_decay_steps: u64,
    t_mul: f64,
    m_mul: f64,
    alpha: f64,
}

impl CosineDecayRestarts {
    /// Creates a decay to zero with restarts: each period has twice as many steps as the one before, and the same initial rate.
    pub fn new(initial_learning_rate: f64, first_decay_steps: u64) -> Self {
        CosineDecayRestarts { initial_learning_rate, first_decay_steps, t_mul: 2.0, m_mul: 1.0, alpha: 0.0 }
    }

    /// Sets the ratio of a period's length to that of the one before; 2 unless set.
    pub fn with_t_mul(mut self, t_mul: f64) -> Self {
        self.t_mul = t_mul;
        self
    }

    /// Sets the ratio of a period's initial rate to that of the one before; 1 unless set.
    pub fn with_m_mul(mut self, m_mul: f64) -> Self {
        self.m_mul = m_mul;
        self
    }

    /// Sets the fraction of the initial rate that is left at the end of every period; 0 unless set.
    pub fn with_alpha(mut self, alpha: f64) -> Self {
        self.alpha = alpha;
        self
    }

    /// The value for the step after `step` others.
    pub fn at(&self, step: u64) -> f64 {
        let (period, past) = self.period(step as f64 / self.first_decay_steps as f64);
        let wave = 0.5 * self.m_mul.powf(period) * (1.0 + (PI * past).cos());
        self.initial_learning_rate * ((1.0 - self.alpha) * wave + self.alpha)
    }

    /// Returns the number of the period and the part of it that is over, after a time in lengths of the first period.
    fn period(&self, past: f64) -> (f64, f64) {
        if self.t_mul == 1.0 {
            return (past.floor(), past - past.floor());
        }
        let start = |period: f64| (self.t_mul.powf(period) - 1.0) / (self.t_mul - 1.0);
        let mut period = ((1.0 + past * (self.t_mul - 1.0)).ln() / self.t_mul.ln()).floor();
        // At a restart itself rounding, here and in the logarithms, must not decide for the period before.
        if start(period + 1.0) <= past * (1.0 + 1e-9) {
            period += 1.0;
        }
        (period, ((past - start(period)) / self.t_mul.powf(period)).max(0.0))
    }

    pub(super) fn check(&self) -> Result<(), HyperparameterError> {
        let name = "CosineDecayRestarts";
        require_finite(name, "initial_learning_rate", self.initial_learning_rate)?;
        require_steps(name, "first_decay_steps", self.first_decay_steps)?;
        require_finite(name, "t_mul", self.t_mul)?;
        require(name, "t_mul", self.t_mul, self.t_mul >= 1.0, "at least 1")?;
        require_finite(name, "m_mul", self.m_mul)?;
        require(name, "m_mul", self.m_mul, self.m_mul >= 0.0, "at least 0")?;
        require_finite(name, "alpha", self.alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests periods at which the quotient of logarithms rounds down: a plain floor gives the end of the period before.
    #[test]
    fn every_restart_is_at_the_top() {
        for t_mul in [1.0, 1.1, 1.5, 2.0, 3.0, 10.0] {
            let first = if t_mul == 1.1 { 10_u64.pow(6) } else { 16 };
            let rate = CosineDecayRestarts::new(1.0, first).with_t_mul(t_mul);
            let (mut start, mut length) = (0.0, first as f64);
            for restart in 0..4 {
                assert!((rate.at(start as u64) - 1.0).abs() < 1e-9, "restart {restart} with t_mul {t_mul}");
                start += length;
                length *= t_mul;
            }
        }
    }
}
