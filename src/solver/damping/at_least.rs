//! Damping in the unit of the problem, with a least one.

use super::{DampedSystem, DampingPolicy, IllConditioned, Trial};
use crate::real::Real;

/// A policy whose damping is in a unit, and never below a minimum, which is none of the policy's.
#[derive(Debug, Clone)]
pub(in crate::solver) struct AtLeast<T, D> {
    pub(in crate::solver) policy: D,
    /// Damping `λ` of the system for a damping of one of the policy.
    pub(in crate::solver) unit: T,
    pub(in crate::solver) minimum: T,
}

/// A system that is damped by no less than the minimum.
struct DampedAtLeast<'s, T> {
    system: &'s mut dyn DampedSystem<T>,
    unit: T,
    minimum: T,
}

impl<T: Real> DampedSystem<T> for DampedAtLeast<'_, T> {
    fn solve(&mut self, lambda: T) -> Result<T, IllConditioned> {
        self.system.solve((self.unit * lambda).max(self.minimum))
    }

    fn shrink_rate(&mut self) -> T {
        self.unit * self.system.shrink_rate()
    }

    fn gradient_norm(&mut self) -> T {
        self.system.gradient_norm() / self.unit
    }

    fn is_bounded(&self) -> bool {
        self.system.is_bounded()
    }

    fn is_cheap(&self) -> bool {
        self.system.is_cheap()
    }
}

impl<T: Real, D: DampingPolicy<T>> DampingPolicy<T> for AtLeast<T, D> {
    fn start(&mut self, scaled_start: T) {
        self.policy.start(scaled_start);
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned> {
        let AtLeast { unit, minimum, .. } = *self;
        let lambda = self.policy.damp(&mut DampedAtLeast { system, unit, minimum })?;
        Ok((unit * lambda).max(minimum))
    }

    fn update(&mut self, trial: &Trial<T>) {
        self.policy.update(&Trial { lambda: trial.lambda / self.unit, ..*trial });
    }

    fn damp_more(&mut self) {
        self.policy.damp_more();
    }

    fn relax(&mut self) -> bool {
        self.policy.relax()
    }

    fn save(&self, numbers: &mut Vec<f64>) {
        self.policy.save(numbers);
    }

    fn restore(&mut self, numbers: &[f64]) -> bool {
        self.policy.restore(numbers)
    }
}
