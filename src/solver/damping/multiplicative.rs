//! Marquardt's rule: fixed factors raise and lower the damping.

use super::{DampedSystem, DampingPolicy, IllConditioned, Trial};
use crate::real::Real;

/// Damping by fixed factors (Marquardt 1963): divided after an accepted step, multiplied after a rejected one.
///
/// `up = down = 10` is Marquardt's choice. `up = 2` with `down = 5` is *delayed gratification* (Transtrum & Sethna 2012): steps stay short
/// enough to follow the floor of a curved valley.
#[derive(Debug, Clone, Copy)]
pub struct Multiplicative<T> {
    initial: T,
    up: T,
    down: T,
    lambda: T,
}

impl<T: Real> Default for Multiplicative<T> {
    fn default() -> Self {
        Self::new(T::from_f64(1e-3), T::from_f64(10.0), T::from_f64(10.0))
    }
}

impl<T: Real> Multiplicative<T> {
    /// Creates the policy with the initial damping `λ = initial`, a positive number, in units of the scaling `D²`; in a training that does
    /// not form the Jacobian, in units of the mean of the squared column norms. `up` and `down` are factors greater than 1.
    pub fn new(initial: T, up: T, down: T) -> Self {
        Multiplicative { initial, up, down, lambda: initial }
    }

    /// Delayed gratification: up by 2, down by 5.
    pub fn delayed_gratification() -> Self {
        Self::new(T::from_f64(1e-2), T::from_f64(2.0), T::from_f64(5.0))
    }
}

impl<T: Real> DampingPolicy<T> for Multiplicative<T> {
    fn start(&mut self, _scaled_start: T) {
        self.lambda = self.initial;
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned> {
        system.solve(self.lambda)?;
        Ok(self.lambda)
    }

    fn update(&mut self, trial: &Trial<T>) {
        if trial.accepted {
            self.lambda /= self.down;
        } else {
            // There may be a least damping, which was not enough.
            self.lambda = self.lambda.max(trial.lambda);
            self.damp_more();
        }
    }

    fn damp_more(&mut self) {
        self.lambda = (self.lambda * self.up).max(T::EPSILON);
    }

    fn save(&self, numbers: &mut Vec<f64>) {
        numbers.push(self.lambda.to_f64());
    }

    fn restore(&mut self, numbers: &[f64]) -> bool {
        let &[lambda] = numbers else { return false };
        self.lambda = T::from_f64(lambda);
        true
    }
}
