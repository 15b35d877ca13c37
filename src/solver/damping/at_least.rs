//! A least damping.

use super::{DampedSystem, DampingPolicy, IllConditioned, Trial};
use crate::real::Real;

/// A policy whose damping is never below a minimum.
#[derive(Debug, Clone)]
pub(in crate::solver) struct AtLeast<T, D> {
    pub(in crate::solver) policy: D,
    pub(in crate::solver) minimum: T,
}

/// A system that is damped by no less than the minimum.
struct DampedAtLeast<'s, T> {
    system: &'s mut dyn DampedSystem<T>,
    minimum: T,
}

impl<T: Real> DampedSystem<T> for DampedAtLeast<'_, T> {
    fn solve(&mut self, lambda: T) -> Result<T, IllConditioned> {
        self.system.solve(lambda.max(self.minimum))
    }

    fn shrink_rate(&mut self) -> T {
        self.system.shrink_rate()
    }

    fn gradient_norm(&mut self) -> T {
        self.system.gradient_norm()
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
        let minimum = self.minimum;
        let lambda = self.policy.damp(&mut DampedAtLeast { system, minimum })?;
        Ok(lambda.max(minimum))
    }

    fn update(&mut self, trial: &Trial<T>) {
        self.policy.update(trial);
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
