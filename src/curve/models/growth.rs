//! Growth towards a limit, by curves of the shape of an S.

use super::exponential::scaled_power;
use super::formula::{library, real, sigmoid};
use super::look::{Look, about, both_signs, geometric, multiples};
use crate::scalar::Scalar;

library! {
    /// `limit / (1 + exp(−rate (x − center)))`: the logistic curve of three parameters, `center` being where half of `limit` is
    /// reached.
    Logistic("logistic", "limit / (1 + exp(-rate (x - center)))") {
        response: |x; limit, center, rate| limit * sigmoid(rate * (-center + x)),
        linear: [0],
        axes: |look| [look.wider_places(), rates(look)],
        derived: [("largest_slope", "limit * rate / 4"), ("lag", "center - 2 / rate")],
    }

    /// `limit exp(−exp(−rate (x − center)))`, `center` being the point of inflection, where `limit / e` is reached.
    Gompertz("gompertz", "limit exp(-exp(-rate (x - center)))") {
        response: |x; limit, center, rate| limit * exp_of_minus((rate * (center - x)).exp()),
        linear: [0],
        axes: |look| [look.wider_places(), rates(look)],
        derived: [("largest_slope", "limit * rate / exp(1)"), ("lag", "center - 1 / rate")],
    }

    /// `limit (1 + shape exp(−rate (x − center)))^(−1 / shape)`, `center` being the point of inflection: the generalised logistic
    /// curve, which for `shape = 1` is the [`Logistic`] and for `shape → 0` the [`Gompertz`] curve.
    Richards("richards", "limit (1 + shape exp(-rate (x - center)))^(-1 / shape)") {
        response: |x; limit, center, rate, shape| {
            let before = rate * (center - x);
            let zero = S::constant(real::<S>(0.0));
            // ln(1 + shape eᵘ), the same in both ways.
            let where_large = before + shape.ln() + ((-before).exp() / shape).ln_1p();
            let elsewhere = (shape * before.exp()).ln_1p();
            let logarithm = zero.select_less(before.min(shape), where_large, elsewhere);
            limit * (-logarithm / shape).exp()
        },
        linear: [0],
        axes: |look| {
            let logistic = Logistic::start(look);
            let (center, rate) = (logistic[1], logistic[2]);
            [about(center, 3.0 / rate.abs(), 9), multiples(rate, 3.0, 7), geometric(0.1, 8.0, 7)]
        },
        derived: [
            ("largest_slope", "limit * rate * (1 + shape)^(-1 - 1 / shape)"),
            ("value_at_center", "limit * (1 + shape)^(-1 / shape)"),
        ],
    }

    /// `limit (1 − exp(−(x / scale)^shape))` for `x ≥ 0`: growth as Weibull's distribution has it, `scale` being where 63 % of
    /// `limit` are reached.
    WeibullGrowth("weibull_growth", "limit (1 - exp(-(x / scale)^shape))") {
        response: |x; limit, scale, shape| limit * (-exp_of_minus(scaled_power(x, scale, shape)) + real::<S>(1.0)),
        linear: [0],
        axes: |look| [look.lengths(), geometric(0.3, 10.0, 12)],
        derived: [("half_time", "scale * ln(2)^(1 / shape)")],
    }
}

/// Rates of both signs, of curves as wide as a feature of the data can be.
fn rates(look: &Look) -> Vec<f64> {
    both_signs(&look.widths().iter().rev().map(|width| 0.5 / width).collect::<Vec<f64>>())
}

/// `exp(−u)`, a flat zero where it underflows in either float, as `u` may be infinite there.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn exp_of_minus<S: Scalar>(u: S) -> S {
    S::constant(real::<S>(1e3)).select_less(u, S::constant(real::<S>(0.0)), (-u).exp())
}
