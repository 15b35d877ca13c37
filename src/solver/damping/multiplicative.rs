//! Marquardt's form: the damping goes up or down by fixed factors.

use super::{DampedSystem, DampingPolicy, IllConditioned, Trial};
use crate::real::Real;

/// Damping by fixed factors (Marquardt 1963): divided after an accepted step, multiplied after a rejected one.
///
/// `up = down = 10` is the classic; raising little and lowering much (`up = 2`, `down = 5`) is *delayed gratification*
/// (Transtrum & Sethna 2012), which keeps to the floor of curved valleys.
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
    /// Starts with `λ = initial`, in units of the scaling `D²`, or of the mean of the squared lengths of the columns where a training does not form them; `up` and `down` are factors greater than one.
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
