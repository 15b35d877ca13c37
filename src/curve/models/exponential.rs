//! Exponential decays and rises.

use super::formula::{library, real};
use super::growth::exp_of_minus;
use super::look::geometric;
use crate::scalar::Scalar;

library! {
    /// `amplitude exp(−x / decay)`, as lmfit's `ExponentialModel`; with a negative `decay` it grows.
    ExponentialDecay("exponential_decay", "amplitude exp(-x / decay)") {
        response: |x; amplitude, decay| amplitude * decayed(x, decay),
        linear: [0],
        axes: |look| [look.signed_lengths()],
        derived: [("half_life", "ln(2) * decay"), ("rate", "1 / decay"), ("area", "amplitude * decay")],
    }

    /// `offset + amplitude exp(−x / decay)`; with a negative `decay` it grows.
    ExponentialDecayOffset("exponential_decay_offset", "offset + amplitude exp(-x / decay)") {
        response: |x; amplitude, decay, offset| amplitude * decayed(x, decay) + offset,
        linear: [0, 2],
        axes: |look| [look.signed_lengths()],
        derived: [("half_life", "ln(2) * decay"), ("rate", "1 / decay"), ("initial", "offset + amplitude")],
    }

    /// `amplitude (1 − exp(−x / decay))`: a rise from zero at `x = 0`.
    ExponentialRise("exponential_rise", "amplitude (1 - exp(-x / decay))") {
        response: |x; amplitude, decay| amplitude * risen(x, decay),
        linear: [0],
        axes: |look| [look.signed_lengths()],
        derived: [("half_time", "ln(2) * decay"), ("rate", "1 / decay"), ("initial_slope", "amplitude / decay")],
    }

    /// `offset + amplitude (1 − exp(−x / decay))`: a rise from `offset` at `x = 0`.
    ExponentialRiseOffset("exponential_rise_offset", "offset + amplitude (1 - exp(-x / decay))") {
        response: |x; amplitude, decay, offset| amplitude * risen(x, decay) + offset,
        linear: [0, 2],
        axes: |look| [look.signed_lengths()],
        derived: [("half_time", "ln(2) * decay"), ("rate", "1 / decay"), ("plateau", "offset + amplitude")],
    }

    /// `amplitude1 exp(−x / decay1) + amplitude2 exp(−x / decay2)`. The guess puts the faster decay first.
    BiExponential("bi_exponential", "amplitude1 exp(-x / decay1) + amplitude2 exp(-x / decay2)") {
        response: |x; amplitude1, decay1, amplitude2, decay2|
            amplitude1 * decayed(x, decay1) + amplitude2 * decayed(x, decay2),
        linear: [0, 2],
        axes: |look| [look.lengths(), look.lengths()],
        start: |look| {
            let start = Self::best_on_axes(look);
            let [first, second] = [[start[0], start[1]], [start[2], start[3]]];
            if first[1] > second[1] { [second, first].concat() } else { start }
        },
        derived: [
            ("half_life1", "ln(2) * decay1"),
            ("half_life2", "ln(2) * decay2"),
            ("area", "amplitude1 * decay1 + amplitude2 * decay2"),
        ],
    }

    /// `amplitude exp(−(x / decay)^beta)` for `x ≥ 0`: the stretched exponential of Kohlrausch.
    StretchedExponential("stretched_exponential", "amplitude exp(-(x / decay)^beta)") {
        response: |x; amplitude, decay, beta| amplitude * exp_of_minus(scaled_power(x, decay, beta)),
        linear: [0],
        axes: |look| [look.lengths(), geometric(0.2, 4.0, 10)],
        derived: [
            ("half_life", "decay * ln(2)^(1 / \"beta\")"),
            ("mean_time", "decay / \"beta\" * gamma(1 / \"beta\")"),
        ],
    }
}

/// `exp(−x / decay)`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn decayed<S: Scalar>(x: S::Real, decay: S) -> S {
    (decay.recip() * -x).exp()
}

/// `1 − exp(−x / decay)`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn risen<S: Scalar>(x: S::Real, decay: S) -> S {
    -(decay.recip() * -x).exp_m1()
}

/// `(x / scale)^power`, which at `x = 0` is zero whatever the power, and so are its derivatives.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn scaled_power<S: Scalar>(x: S::Real, scale: S, power: S) -> S {
    let zero = S::constant(real::<S>(0.0));
    zero.select_less(S::constant(x.abs()), ((S::constant(x) / scale).ln() * power).exp(), S::constant(x))
}
