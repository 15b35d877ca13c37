//! A damping policy whose type is not known.

use super::{DampedSystem, DampingPolicy, IllConditioned, Trial};
use crate::real::Real;

/// Any policy, on the heap.
pub(crate) struct AnyPolicy<'p, T>(Box<dyn Policy<T> + Send + Sync + 'p>);

/// [`DampingPolicy`] as a trait object.
trait Policy<T> {
    fn start(&mut self, scaled_start: T);
    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned>;
    fn update(&mut self, trial: &Trial<T>);
    fn damp_more(&mut self);
    fn relax(&mut self) -> bool;
    fn save(&self, numbers: &mut Vec<f64>);
    fn restore(&mut self, numbers: &[f64]) -> bool;
    fn boxed<'p>(&self) -> Box<dyn Policy<T> + Send + Sync + 'p>
    where
        Self: 'p;
}

impl<T: Real, D: DampingPolicy<T>> Policy<T> for D {
    fn start(&mut self, scaled_start: T) {
        DampingPolicy::start(self, scaled_start);
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned> {
        DampingPolicy::damp(self, system)
    }

    fn update(&mut self, trial: &Trial<T>) {
        DampingPolicy::update(self, trial);
    }

    fn damp_more(&mut self) {
        DampingPolicy::damp_more(self);
    }

    fn relax(&mut self) -> bool {
        DampingPolicy::relax(self)
    }

    fn save(&self, numbers: &mut Vec<f64>) {
        DampingPolicy::save(self, numbers);
    }

    fn restore(&mut self, numbers: &[f64]) -> bool {
        DampingPolicy::restore(self, numbers)
    }

    fn boxed<'p>(&self) -> Box<dyn Policy<T> + Send + Sync + 'p>
    where
        Self: 'p,
    {
        Box::new(self.clone())
    }
}

impl<'p, T: Real> AnyPolicy<'p, T> {
    /// A policy of any type.
    pub(crate) fn new(policy: impl DampingPolicy<T> + 'p) -> Self {
        AnyPolicy(Box::new(policy))
    }
}

impl<T: Real> Clone for AnyPolicy<'_, T> {
    fn clone(&self) -> Self {
        AnyPolicy(self.0.boxed())
    }
}

impl<T: Real> DampingPolicy<T> for AnyPolicy<'_, T> {
    fn start(&mut self, scaled_start: T) {
        self.0.start(scaled_start);
    }

    fn damp(&mut self, system: &mut dyn DampedSystem<T>) -> Result<T, IllConditioned> {
        self.0.damp(system)
    }

    fn update(&mut self, trial: &Trial<T>) {
        self.0.update(trial);
    }

    fn damp_more(&mut self) {
        self.0.damp_more();
    }

    fn relax(&mut self) -> bool {
        self.0.relax()
    }

    fn save(&self, numbers: &mut Vec<f64>) {
        self.0.save(numbers);
    }

    fn restore(&mut self, numbers: &[f64]) -> bool {
        self.0.restore(numbers)
    }
}
