//! Random numbers.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

/// The stream of random numbers of one fit.
pub struct Draw(ChaCha8Rng);

impl Draw {
    pub fn new(seed: u64, fit: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(fit as u64);
        Draw(random)
    }

    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        let unit = (self.0.next_u64() >> 11) as f64 * 0.5_f64.powi(53);
        low + (high - low) * unit
    }

    /// Ten to a uniform exponent.
    pub fn power_of_ten(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(self.uniform(low, high))
    }

    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform(0.0, 1.0) < probability
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.uniform(0.0, count as f64) as usize).min(count - 1)
    }

    pub fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}
