//! Waves. Frequencies are angular: radians for each unit of `x`.

use std::f64::consts::PI;
use std::iter::zip;

use super::formula::library;
use super::grid::Grid;
use super::look::{Look, geometric, spaced};

library! {
    /// `amplitude sin(frequency x + shift)`, as lmfit's `SineModel`: `frequency` is angular.
    ///
    /// The guess sees frequencies up to one oscillation for every two of the observations, or of the 512 means of them.
    Sine("sine", "amplitude sin(frequency x + shift)") {
        response: |x; amplitude, frequency, shift| amplitude * (frequency * x + shift).sin(),
        linear: [0],
        start: |look| {
            let [sine, cosine, frequency] = undamped(look);
            vec![sine.hypot(cosine), frequency, cosine.atan2(sine)]
        },
        derived: [("period", "2 * pi / frequency"), ("peak_to_peak", "2 * amplitude")],
    }

    /// `amplitude exp(−x / decay) sin(frequency x + shift)`: `frequency` is angular.
    DampedSine("damped_sine", "amplitude exp(-x / decay) sin(frequency x + shift)") {
        response: |x; amplitude, frequency, shift, decay|
            amplitude * (decay.recip() * -x).exp() * (frequency * x + shift).sin(),
        linear: [0],
        start: |look| {
            let [_, _, frequency] = undamped(look);
            let resolution = look.span().recip();
            let lowest = (frequency - 8.0 * resolution).max(0.5 * resolution);
            let axes = vec![
                spaced(lowest, frequency + 8.0 * resolution, 17),
                geometric(look.span() / 20.0, 10.0 * look.span(), 9),
            ];
            // Its frequencies follow those of the undamped wave: nothing is the same for other data.
            let grid = Grid { name: None, linear: &[0, 1], parameters: 4, axes };
            let damped = look.best_on_fine(grid, &|x, b, column| {
                wave(x, b, column);
                zip(column, x).for_each(|(value, x)| *value *= (-x / b[3]).exp());
            });
            let [sine, cosine, frequency, decay] = damped[..] else { return damped };
            vec![sine.hypot(cosine), frequency, cosine.atan2(sine), decay]
        },
        derived: [
            ("period", "2 * pi / frequency"),
            ("half_life", "ln(2) * decay"),
            ("quality", "frequency * decay / 2"),
        ],
    }
}

/// The best of the waves that oscillate no faster than the data can show: the shares of sine and cosine, and the frequency.
fn undamped(look: &Look) -> [f64; 3] {
    let highest = 0.98 * PI * look.x.len().saturating_sub(1) as f64 / look.span();
    let lowest = (1.5 / look.span()).min(highest);
    let steps = ((highest - lowest) * look.span()).min(2.0 * look.x.len() as f64 + 8.0).max(0.0).ceil() as usize;
    let axes = vec![spaced(lowest, highest, steps + 2)];
    let grid = Grid { name: Some("wave"), linear: &[0, 1], parameters: 3, axes };
    let best = look.best_on_fine(grid, &wave);
    [best[0], best[1], best[2]]
}

/// Shares of a sine and a cosine of one frequency.
fn wave(x: &[f64], b: &[f64], responses: &mut [f64]) {
    for (response, x) in zip(responses, x) {
        let (sine, cosine) = (b[2] * x).sin_cos();
        *response = b[0] * sine + b[1] * cosine;
    }
}
