//! Observations of a curve, and how a model with a fixed number of parameters is laid over them.

use std::ops::Deref;

use chacha20::ChaCha8Rng;
use rand_distr::{Distribution, Uniform};

/// The points `(x, y)` of a curve, owned or borrowed.
#[derive(Clone, Debug)]
pub struct Samples<D = Vec<f64>> {
    /// Where the curve was observed.
    pub x: D,
    /// What was observed there.
    pub y: D,
}

impl Samples {
    /// Observes `curve` at `x`.
    pub fn of(x: Vec<f64>, curve: impl FnMut(&f64) -> f64) -> Self {
        let y = x.iter().map(curve).collect();
        Self { x, y }
    }
}

impl<D: Deref<Target = [f64]>> Samples<D> {
    /// Number of points.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// The points from the one numbered `first`.
    pub fn starting_at(&self, first: usize) -> impl Iterator<Item = (f64, f64)> {
        self.x[first..].iter().copied().zip(self.y[first..].iter().copied())
    }

    /// Residuals of `model`, which gives its value and its gradient at an `x`.
    ///
    /// The unused gradient costs nothing: the model is inlined and what nobody reads is never computed.
    pub fn residuals<const N: usize>(&self, first: usize, r: &mut [f64], model: impl Fn(f64) -> (f64, [f64; N])) {
        for ((x, y), r) in self.starting_at(first).zip(r) {
            *r = model(x).0 - y;
        }
    }

    /// Residuals and gradients of `model`, one row of `j` after the other.
    pub fn rows<const N: usize>(
        &self,
        first: usize,
        r: &mut [f64],
        j: &mut [f64],
        model: impl Fn(f64) -> (f64, [f64; N]),
    ) {
        for (((x, y), r), row) in self.starting_at(first).zip(r).zip(j.as_chunks_mut().0) {
            let (value, gradient) = model(x);
            *r = value - y;
            *row = gradient;
        }
    }

    /// Residuals and gradients of `model`, one column for each parameter.
    pub fn columns<const N: usize>(
        &self,
        r: &mut [f64],
        columns: &mut [&mut [f64]],
        model: impl Fn(f64) -> (f64, [f64; N]),
    ) {
        for (i, ((x, y), r)) in self.starting_at(0).zip(r).enumerate() {
            let (value, gradient) = model(x);
            *r = value - y;
            for (column, derivative) in columns.iter_mut().zip(gradient) {
                column[i] = derivative;
            }
        }
    }
}

/// `count` numbers evenly spaced from `low` to `high`, both included.
pub fn evenly_spaced(low: f64, high: f64, count: usize) -> Vec<f64> {
    let step = (high - low) / (count - 1) as f64;
    (0..count).map(|i| low + step * i as f64).collect()
}

/// A number from `low` to `high`, all of them equally likely.
pub fn uniform(low: f64, high: f64, random: &mut ChaCha8Rng) -> f64 {
    Uniform::new(low, high).expect("a finite range").sample(random)
}
