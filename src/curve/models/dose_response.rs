//! Saturation: responses to doses and rates of reactions.

use super::formula::{library, real, sigmoid, softplus, unless_zero};
use super::look::{both_signs, geometric, multiples};
use super::polish::better_on;
use crate::scalar::Scalar;

library! {
    /// `vmax x / (km + x)`: the rate of an enzyme at a concentration `x`.
    ///
    /// The same curve is known as Monod's of growth, as Holling's second of predation, as binding to one kind of site (`vmax` is
    /// `Bmax`, `km` is `Kd`), and as [`Langmuir`](super::Langmuir)'s isotherm, whose constant is `1 / km`.
    MichaelisMenten("michaelis_menten", "vmax x / (km + x)") {
        response: |x; vmax, km| vmax * x / (km + x),
        linear: [0],
        axes: |look| [look.positive()],
        derived: [("efficiency", "vmax / km")],
    }

    /// `vmax x^n / (k^n + x^n)` for `x ≥ 0`: cooperative binding, `k` being where half of `vmax` is reached.
    ///
    /// The same curve is known as [`Sips`](super::Sips)' (Langmuir–Freundlich) isotherm and, with `n = 2`, as Holling's third of predation.
    Hill("hill", "vmax x^n / (k^n + x^n)") {
        response: |x; vmax, k, n| vmax * occupied(x, k, n),
        linear: [0],
        axes: |look| [look.positive(), both_signs(&slopes())],
        derived: [("ec10", "k / 9^(1 / n)"), ("ec90", "k * 9^(1 / n)")],
    }

    /// `bottom + (top − bottom) / (1 + (ec50 / x)^hill)` for `x ≥ 0`: the logistic curve of four parameters (4PL) over the
    /// logarithm of a dose. With a negative `hill` it falls, which is how the guess describes falling data.
    Logistic4("logistic4", "bottom + (top - bottom) / (1 + (ec50 / x)^hill)") {
        response: |x; bottom, top, ec50, hill| bottom + (top - bottom) * occupied(x, ec50, hill),
        linear: [0, 1],
        axes: |look| [look.positive(), slopes()],
        start: |look| bottom_first(Self::best_on_axes(look)),
        derived: [
            ("span", "top - bottom"),
            ("ec10", "ec50 / 9^(1 / hill)"),
            ("ec90", "ec50 * 9^(1 / hill)"),
            ("pec50", "-log10(ec50)"),
        ],
    }

    /// `bottom + (top − bottom) / (1 + (ec50 / x)^hill)^asymmetry` for `x ≥ 0`: the logistic curve of five parameters (5PL),
    /// which for `asymmetry = 1` is [`Logistic4`]. Only there is `ec50` where half is reached.
    Logistic5("logistic5", "bottom + (top - bottom) / (1 + (ec50 / x)^hill)^asymmetry") {
        response: |x; bottom, top, ec50, hill, asymmetry|
            bottom + (top - bottom) * occupied(x, ec50, hill).pow(asymmetry),
        linear: [0, 1],
        // Starts from the curve of four parameters, once as it is and once upside down. The two differ here, but little: only data
        // that clearly show it have their `bottom` above their `top`.
        start: |look| {
            let symmetric = Logistic4::start(look);
            let (ec50, hill) = (symmetric[2], symmetric[3]);
            let grids =
                [hill, -hill].map(|hill| vec![multiples(ec50, 10.0, 9), multiples(hill, 2.5, 7), geometric(0.25, 4.0, 5)]);
            better_on::<Self>(look, grids, 0.5)
        },
        derived: [("span", "top - bottom"), ("half_dose", "ec50 / (2^(1 / asymmetry) - 1)^(1 / hill)")],
    }

    /// `bottom + (top − bottom) / (1 + (2^(1 / asymmetry) − 1) (ec50 / x)^hill)^asymmetry` for `x ≥ 0`: the curve of [`Logistic5`] by
    /// the dose `ec50` (unit of `x`) at which half of the change from `bottom` to `top` is reached, whatever the asymmetry.
    ///
    /// `bottom` and `top` have the unit of `y`, `hill` and `asymmetry` none. GraphPad Prism: "Asymmetric (five parameter)", where
    /// `asymmetry` is `S`.
    Logistic5Ec50(
        "logistic5_ec50",
        "bottom + (top - bottom) / (1 + (2^(1 / asymmetry) - 1) (ec50 / x)^hill)^asymmetry"
    ) {
        response: |x; bottom, top, ec50, hill, asymmetry| {
            let (zero, one) = (S::constant(real::<S>(0.0)), S::constant(real::<S>(1.0)));
            // ln(2^(1 / asymmetry) − 1), which does not overflow.
            let doublings = asymmetry.recip() * real::<S>(std::f64::consts::LN_2);
            let shift = doublings + (-(-doublings).exp_m1()).ln();
            let reached = (-asymmetry * softplus(shift - hill * (S::constant(x) / ec50).ln())).exp();
            bottom + (top - bottom) * unless_zero(x, reached, hill.select_less(zero, one, zero))
        },
        linear: [0, 1],
        start: |look| {
            let start = Logistic5::start(look);
            let [bottom, top, place, hill, asymmetry] = start[..] else { return start };
            let ec50 = place * ((1.0 / asymmetry).exp2() - 1.0).powf(-1.0 / hill);
            vec![bottom, top, ec50, hill, asymmetry]
        },
        derived: [
            ("span", "top - bottom"),
            ("inflection", "ec50 * ((2^(1 / asymmetry) - 1) * asymmetry)^(1 / hill)"),
            ("pec50", "-log10(ec50)"),
        ],
    }

    /// `bottom + (top − bottom) / (1 + exp(−(x − center) / width))`: between two levels, as Boltzmann's distribution over two
    /// states goes; with a negative `width` it falls, which is how the guess describes falling data.
    Boltzmann("boltzmann", "bottom + (top - bottom) / (1 + exp(-(x - center) / width))") {
        response: |x; bottom, top, center, width| bottom + (top - bottom) * sigmoid((-center + x) / width),
        linear: [0, 1],
        axes: |look| [look.wider_places(), look.widths()],
        start: |look| bottom_first(Self::best_on_axes(look)),
        derived: [
            ("span", "top - bottom"),
            ("slope_at_center", "(top - bottom) / (4 * width)"),
            ("width_10_90", "4.394449154672439 * width"),
        ],
    }
}

/// The start of a curve that falls from `bottom` to `top`, written as one with these exchanged and its slope negative.
fn bottom_first(start: Vec<f64>) -> Vec<f64> {
    let [bottom, top, place, slope] = start[..] else { return start };
    if bottom > top { vec![top, bottom, place, -slope] } else { start }
}

/// `x^n / (k^n + x^n)`, with all its derivatives zero at `x = 0`; NaN where `x` is.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn occupied<S: Scalar>(x: S::Real, half: S, slope: S) -> S {
    let (zero, one) = (S::constant(real::<S>(0.0)), S::constant(real::<S>(1.0)));
    let at_zero = zero.select_less(slope, zero, one) + x;
    zero.select_less(S::constant(x.abs()), sigmoid(slope * (S::constant(x) / half).ln()), at_zero)
}

/// Hill's slopes.
fn slopes() -> Vec<f64> {
    geometric(0.25, 15.0, 13)
}
