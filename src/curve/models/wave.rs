//! Waves. Frequencies are angular: radians for each unit of `x`.

use std::f64::consts::PI;

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only};
use super::guess::{Guess, finite};
use super::look::{Look, geometric, spaced};
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// `amplitude sin(frequency x + shift)`, as lmfit's `SineModel`: `frequency` is angular.
///
/// The guess sees frequencies up to one oscillation for every two of the observations, or of the 512 means of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sine;

impl Formula for Sine {
    const NAME: &'static str = "sine";
    const FORMULA: &'static str = "amplitude sin(frequency x + shift)";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "frequency", "shift"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * (b[1] * x + b[2]).sin()
    }

    fn start(look: &Look) -> Vec<f64> {
        let [sine, cosine, frequency] = undamped(look);
        vec![sine.hypot(cosine), frequency, cosine.atan2(sine)]
    }
}

/// `amplitude exp(−x / decay) sin(frequency x + shift)`: `frequency` is angular.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DampedSine;

impl Formula for DampedSine {
    const NAME: &'static str = "damped_sine";
    const FORMULA: &'static str = "amplitude exp(-x / decay) sin(frequency x + shift)";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "frequency", "shift", "decay"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * (b[3].recip() * -x).exp() * (b[1] * x + b[2]).sin()
    }

    fn start(look: &Look) -> Vec<f64> {
        let [_, _, frequency] = undamped(look);
        let resolution = look.span().recip();
        let lowest = (frequency - 8.0 * resolution).max(0.5 * resolution);
        let axes = vec![
            spaced(lowest, frequency + 8.0 * resolution, 17),
            geometric(look.span() / 20.0, 10.0 * look.span(), 9),
        ];
        let damped = look.best_on_fine(&[0, 1], 4, axes, |x, b| {
            (-x / b[3]).exp() * (b[0] * (b[2] * x).sin() + b[1] * (b[2] * x).cos())
        });
        let [sine, cosine, frequency, decay] = damped[..] else { return damped };
        vec![sine.hypot(cosine), frequency, cosine.atan2(sine), decay]
    }
}

in_library!(Sine, DampedSine);

/// The best of the waves that oscillate no faster than the data can show: the shares of sine and cosine, and the frequency.
fn undamped(look: &Look) -> [f64; 3] {
    let highest = 0.98 * PI * look.x.len().saturating_sub(1) as f64 / look.span();
    let lowest = (1.5 / look.span()).min(highest);
    let steps = ((highest - lowest) * look.span()).min(2.0 * look.x.len() as f64 + 8.0).max(0.0).ceil() as usize;
    let wave = |x: f64, b: &[f64]| b[0] * (b[2] * x).sin() + b[1] * (b[2] * x).cos();
    let best = look.best_on_fine(&[0, 1], 3, vec![spaced(lowest, highest, steps + 2)], wave);
    [best[0], best[1], best[2]]
}
