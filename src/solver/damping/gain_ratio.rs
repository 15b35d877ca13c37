//! Nielsen's form: the damping follows the gain ratio smoothly.

use super::{DampedSystem, DampingPolicy, IllConditioned, Trial};
use crate::Real;

/// Damping by the gain ratio `ρ` (Nielsen 1999).
///
/// An accepted step multiplies `λ` by `max(1/3, 1 − (2ρ − 1)³)`; a rejected one by 2, the next by 4, then 8, and so on.
/// One factorisation a trial, and few rejections once under way.
#[derive(Debug, Clone, Copy)]
pub struct GainRatio<T> {
    initial: T,
    lambda: T,
    growth: T,
}

impl<T: Real> Default for GainRatio<T> {
    fn default() -> Self {
        Self::new(T::from_f64(0.1))
    }
}

impl<T: Real> GainRatio<T> {
    /// Starts with `λ = initial`, in units of the scaling `D²`.
    pub fn new(initial: T) -> Self {
        GainRatio { initial, lambda: initial, growth: T::from_f64(2.0) }
    }
}

impl<T: Real> DampingPolicy<T> for GainRatio<T> {
    fn start(&mut self, _scaled_start: T) {
        *self = Self::new(self.initial);
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned> {
        system.solve(self.lambda)?;
        Ok(self.lambda)
    }

    fn update(&mut self, trial: &Trial<T>) {
        if trial.accepted {
            let shape = T::from_f64(2.0) * trial.gain_ratio() - T::ONE;
            self.lambda *= (T::ONE - shape.powi(3)).max(T::from_f64(1.0 / 3.0));
            self.growth = T::from_f64(2.0);
        } else {
            self.lambda *= self.growth;
            self.growth *= T::from_f64(2.0);
        }
    }
}
