//! An exponential decay on a linear background: fluorescence, relaxation, washout.

use super::Family;
use super::many_curves::{Start, Truth};

/// `y = a·exp(−x/τ) + b + c·x`, with parameters `[a, τ, b, c]`.
///
/// Fits start with amplitude and background off by up to ±50 %, the lifetime by up to ±60 %.
#[derive(Clone, Copy, Debug)]
pub struct Decays;

impl Family for Decays {
    const NAME: &'static str = "decays";
    const RANGE: (f64, f64) = (0.0, 10.0);
    const NOISE: f64 = 0.05;

    #[inline]
    fn model(&[a, tau, b, c]: &[f64; 4], x: f64) -> (f64, [f64; 4]) {
        let rate = 1.0 / tau;
        let shape = (-x * rate).exp();
        (a * shape + b + c * x, [shape, a * shape * x * rate * rate, 1.0, x])
    }

    fn draw(mut uniform: impl FnMut(f64, f64) -> f64) -> (Truth, Start) {
        let [a, tau, b, c] = [uniform(1.0, 3.0), uniform(0.5, 2.5), uniform(-0.5, 0.5), uniform(-0.1, 0.1)];
        let start = [a * uniform(0.5, 1.5), tau * uniform(0.4, 1.6), b * uniform(0.5, 1.5), c * uniform(0.5, 1.5)];
        ([a, tau, b, c], start)
    }
}
