//! Weibull's dose–response curves, as the R package drc has them.

use super::formula::{library, real, unless_zero};
use super::growth::exp_of_minus;
use super::look::{Look, geometric};
use super::polish::better_on;
use crate::scalar::Scalar;

library! {
    /// `c + (d − c) exp(−exp(b (ln x − ln e)))` for `x ≥ 0`: Weibull's curve of type 1 with four parameters, drc's `W1.4`.
    ///
    /// `x` is the dose, `c` and `d` are the limits of the response (unit of `y`), `b` is the slope (no unit), `e` the dose of the point
    /// of inflection over the logarithm of the dose (unit of `x`). With `b > 0` it goes from `d` at `x = 0` to `c`, with `b < 0` from
    /// `c` to `d`. C. Ritz and others, PLoS ONE 10 (2015) e0146021.
    Weibull1("weibull1", "c + (d - c) exp(-exp(b (ln(x) - ln(e))))") {
        response: |x; b, c, d, e| c + (d - c) * survival(x, b, e),
        linear: [1, 2],
        start: |look| better_on::<Self>(look, slopes_and_doses(look), 1.0),
        derived: [("ed50", "e * ln(2)^(1 / b)"), ("span", "d - c")],
    }

    /// `c + (d − c) (1 − exp(−exp(b (ln x − ln e))))` for `x ≥ 0`: Weibull's curve of type 2 with four parameters, drc's `W2.4`.
    ///
    /// The parameters are those of [`Weibull1`]. With `b > 0` it goes from `c` at `x = 0` to `d`, with `b < 0` from `d` to `c`.
    Weibull2("weibull2", "c + (d - c) (1 - exp(-exp(b (ln(x) - ln(e)))))") {
        response: |x; b, c, d, e| d + (c - d) * survival(x, b, e),
        linear: [1, 2],
        start: |look| better_on::<Self>(look, slopes_and_doses(look), 1.0),
        derived: [("ed50", "e * ln(2)^(1 / b)"), ("span", "d - c")],
    }
}

/// `exp(−(x / scale)^slope)`, at `x = 0` its limit.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn survival<S: Scalar>(x: S::Real, slope: S, scale: S) -> S {
    let (zero, one) = (S::constant(real::<S>(0.0)), S::constant(real::<S>(1.0)));
    let elsewhere = exp_of_minus((slope * (S::constant(x) / scale).ln()).exp());
    unless_zero(x, elsewhere, slope.select_less(zero, zero, one))
}

/// A grid of positive slopes, and one of negative ones.
fn slopes_and_doses(look: &Look) -> [Vec<Vec<f64>>; 2] {
    [1.0, -1.0].map(|sign| vec![geometric(0.25 * sign, 12.0 * sign, 13), look.positive()])
}
