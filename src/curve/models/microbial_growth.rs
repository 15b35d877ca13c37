//! Growth of bacteria with a lag: `y` is the logarithm of a count, or of a count relative to the first; `x` is a time.

use std::f64::consts::E;

use super::formula::{library, real, sigmoid};
use super::grid::Grid;
use super::growth::{Gompertz, Logistic, exp_of_minus};
use super::look::Look;
use crate::scalar::Scalar;

library! {
    /// `a exp(−exp(mu e / a (lambda − x) + 1))` with `e = 2.718…`: [`Gompertz`]' curve as Zwietering and others have it.
    ///
    /// `a` is the asymptote (unit of `y`), `mu` the largest slope (unit of `y` per unit of `x`), `lambda` the lag (unit of `x`), at
    /// which the tangent of the largest slope is zero. Appl. Environ. Microbiol. 56 (1990) 1875.
    ModifiedGompertz("modified_gompertz", "a exp(-exp(mu exp(1) / a (lambda - x) + 1))") {
        response: |x; a, mu, lambda| {
            let exponent = mu / a * real::<S>(E) * (lambda - x) + real::<S>(1.0);
            a * exp_of_minus(exponent.exp())
        },
        linear: [],
        start: |look| {
            let [a, center, rate] = nonzero(Gompertz::start(look));
            vec![a, a * rate / E, center - rate.recip()]
        },
        scale: |b, factor| b[..2].iter_mut().for_each(|b| *b *= factor),
        derived: [("time_of_largest_slope", "lambda + a / (mu * exp(1))"), ("value_at_largest_slope", "a / exp(1)")],
    }

    /// `a / (1 + exp(4 mu / a (lambda − x) + 2))`: the [`Logistic`] curve as Zwietering and others have it.
    ///
    /// `a` is the asymptote (unit of `y`), `mu` the largest slope (unit of `y` per unit of `x`), `lambda` the lag (unit of `x`), at
    /// which the tangent of the largest slope is zero. Appl. Environ. Microbiol. 56 (1990) 1875.
    ModifiedLogistic("modified_logistic", "a / (1 + exp(4 mu / a (lambda - x) + 2))") {
        response: |x; a, mu, lambda| a * sigmoid(mu / a * real::<S>(4.0) * (-lambda + x) - real::<S>(2.0)),
        linear: [],
        start: |look| {
            let [a, center, rate] = nonzero(Logistic::start(look));
            vec![a, a * rate / 4.0, center - 2.0 / rate]
        },
        scale: |b, factor| b[..2].iter_mut().for_each(|b| *b *= factor),
        derived: [("time_of_largest_slope", "lambda + a / (2 * mu)"), ("value_at_largest_slope", "a / 2")],
    }

    /// `y0 + g − ln(1 + (exp(g) − 1) / exp(ymax − y0))` with `g = ln(1 + exp(−mu lag) (exp(mu x) − 1))`: growth of Baranyi and
    /// Roberts, for natural logarithms of counts.
    ///
    /// `y0` and `ymax > y0` are the logarithms of the first and the last count, `mu > 0` is the specific growth rate (reciprocal unit
    /// of `x`), `lag ≥ 0` the lag (unit of `x`). For decadic logarithms, multiply `y` by `ln 10`. J. Baranyi and T. A. Roberts, Int.
    /// J. Food Microbiol. 23 (1994) 277.
    BaranyiRoberts(
        "baranyi_roberts",
        "y0 + g - ln(1 + (exp(g) - 1) / exp(ymax - y0)), g = ln(1 + exp(-mu lag) (exp(mu x) - 1))"
    ) {
        response: |x; y0, ymax, mu, lag| {
            let grown = delayed(mu * x, mu * lag);
            y0 + grown - delayed(grown, ymax - y0)
        },
        linear: [],
        start: |look| {
            let [first, span] = [look.first(), look.span()];
            let start = offset_gompertz(look);
            let [y0, a, center, rate] = start[..] else { return start };
            let [a, rate] = [a.abs(), rate.abs()];
            vec![y0, y0 + a, a * rate / E, (center - rate.recip() - first).clamp(0.01 * span, span)]
        },
        scale: |b, factor| b[..3].iter_mut().for_each(|b| *b *= factor),
        derived: [("doubling_time", "ln(2) / mu"), ("initial_state", "exp(-mu * lag)"), ("log_growth", "ymax - y0")],
    }
}

/// `ln(1 + exp(u − v) − exp(−v))` for `u ≥ 0` and `v ≥ 0`, about `max(0, u − v)`: nothing overflows.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn delayed<S: Scalar>(u: S, v: S) -> S {
    let zero = S::constant(real::<S>(0.0));
    let beyond = u - v;
    let early = (-(beyond.exp() * (-u).exp_m1())).ln_1p();
    let late = beyond + (-((-beyond).exp() * (-v).exp_m1())).ln_1p();
    beyond.select_less(zero, early, late)
}

/// A limit, a center and a rate; the limit, by which models divide, is not zero.
fn nonzero(start: Vec<f64>) -> [f64; 3] {
    let limit = if start[0] == 0.0 { 1e-6 } else { start[0] };
    [limit, start[1], start[2]]
}

/// Offset, and parameters of the rising Gompertz' curve above it.
fn offset_gompertz(look: &Look) -> Vec<f64> {
    let rates = look.widths().iter().rev().map(|width| 1.0 / width).collect();
    let axes = vec![look.places(), rates];
    let grid = Grid { name: Some("offset_gompertz"), linear: &[0, 1], parameters: 4, axes };
    look.best_on(grid, &|x, b, column| {
        let curve = |x: f64| b[0] + b[1] * (-(b[3] * (b[2] - x)).exp()).exp();
        std::iter::zip(column, x).for_each(|(value, &x)| *value = curve(x));
    })
}
