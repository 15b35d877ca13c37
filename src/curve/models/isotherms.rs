//! Adsorption isotherms: amount adsorbed at a pressure or a concentration `x ≥ 0`, at one temperature.

use super::dose_response::occupied;
use super::exponential::scaled_power;
use super::formula::{library, real, softplus, unless_zero};
use super::look::{geometric, reciprocals};

library! {
    /// `q_max k x / (1 + k x)`: Langmuir's isotherm. `q_max` is the capacity (unit of `y`), `k` the affinity (reciprocal unit of `x`).
    ///
    /// It is [`MichaelisMenten`](super::MichaelisMenten) with `k = 1 / km`. I. Langmuir, J. Am. Chem. Soc. 40 (1918) 1361.
    Langmuir("langmuir", "q_max k x / (1 + k x)") {
        response: |x; q_max, k| {
            let bound = k * x;
            q_max * bound / (bound + real::<S>(1.0))
        },
        linear: [0],
        axes: |look| [reciprocals(&look.positive())],
        derived: [("half_saturation", "1 / k"), ("henry_constant", "q_max * k")],
    }

    /// `k x^(1 / n)`: Freundlich's isotherm. `k` is the amount at `x = 1` (unit of `y`), `n` the heterogeneity (no unit).
    ///
    /// Zero at `x = 0`. H. Freundlich, Z. Phys. Chem. 57 (1907) 385.
    Freundlich("freundlich", "k x^(1 / n)") {
        response: |x; k, n| k * scaled_power(x, S::constant(real::<S>(1.0)), n.recip()),
        linear: [0],
        axes: |_look| [geometric(0.1, 20.0, 27)],
    }

    /// `q_m c x / ((1 − x) (1 + (c − 1) x))` for `0 ≤ x < 1`: adsorption in any number of layers, of Brunauer, Emmett and Teller.
    ///
    /// `x` is the pressure relative to that of saturation, `q_m` the capacity of the first layer (unit of `y`), `c` the ratio of the
    /// affinities of the first layer and those above (no unit). Surfaces are commonly taken from `0.05 < x < 0.35`. J. Am. Chem. Soc.
    /// 60 (1938) 309.
    Bet("bet", "q_m c x / ((1 - x) (1 + (c - 1) x))") {
        response: |x; q_m, c| {
            let one = real::<S>(1.0);
            q_m * c * x / (((c - one) * x + one) * (-S::constant(x) + one))
        },
        linear: [0],
        axes: |_look| [geometric(0.03, 3e4, 43)],
        derived: [("monolayer_pressure", "1 / (1 + sqrt(c))")],
    }

    /// `q_max k x / (1 + (k x)^t)^(1 / t)`: Tóth's isotherm of a heterogeneous surface.
    ///
    /// `q_max` is the capacity (unit of `y`), `k` the affinity at `x → 0` (reciprocal unit of `x`), `t` the heterogeneity (no unit,
    /// usually at most 1). For `t = 1` it is [`Langmuir`]. J. Tóth, Acta Chim. Acad. Sci. Hung. 69 (1971) 311.
    Toth("toth", "q_max k x / (1 + (k x)^t)^(1 / t)") {
        response: |x; q_max, k, t| {
            let bound = (-softplus(-t * (k * x).ln()) / t).exp();
            q_max * unless_zero(x, bound, S::constant(real::<S>(0.0)))
        },
        linear: [0],
        axes: |look| [reciprocals(&look.positive()), geometric(0.15, 4.0, 14)],
        derived: [("half_saturation", "1 / (k * (2^t - 1)^(1 / t))"), ("henry_constant", "q_max * k")],
    }

    /// `q_max (k x)^(1 / n) / (1 + (k x)^(1 / n))`: Sips' isotherm, of Langmuir's and Freundlich's.
    ///
    /// `q_max` is the capacity (unit of `y`), `k` the affinity (reciprocal unit of `x`), `n` the heterogeneity (no unit). It is
    /// [`Hill`](super::Hill) with the reciprocals of `k` and `n`. R. Sips, J. Chem. Phys. 16 (1948) 490.
    Sips("sips", "q_max (k x)^(1 / n) / (1 + (k x)^(1 / n))") {
        response: |x; q_max, k, n| q_max * occupied(x, k.recip(), n.recip()),
        linear: [0],
        axes: |look| [reciprocals(&look.positive()), geometric(0.2, 5.0, 13)],
        derived: [("half_saturation", "1 / k")],
    }
}
