//! Concentrations of a drug at a time `x ≥ 0` after one dose.
//!
//! Concentrations determine only the ratio of dose and volume of distribution. Amplitudes are therefore concentrations: `c0` is `dose /
//! volume`, or `bioavailability dose / volume` for a dose that is absorbed. If the dose is known, the volume is `dose / c0`.

use super::BiExponential;
use super::formula::{library, real};
use super::look::reciprocals;
use crate::scalar::Scalar;

library! {
    /// `c0 exp(−ke x)`: one compartment, after an intravenous bolus.
    ///
    /// `c0` is the concentration at the start (unit of `y`), `dose / volume`; `ke` is the rate constant of elimination (reciprocal
    /// unit of `x`). The clearance is `ke volume`.
    OneCompartmentBolus("one_compartment_bolus", "c0 exp(-ke x)") {
        response: |x; c0, ke| c0 * (ke * -x).exp(),
        linear: [0],
        axes: |look| [reciprocals(&look.lengths())],
        derived: [("half_life", "ln(2) / ke"), ("auc", "c0 / ke"), ("mean_residence_time", "1 / ke")],
    }

    /// `c0 ka (exp(−ke x) − exp(−ka x)) / (ka − ke)`: one compartment, after a dose that is absorbed (Bateman). Exact at `ka = ke`.
    ///
    /// `c0` is `bioavailability dose / volume` (unit of `y`), `ka` the rate constant of absorption, `ke` that of elimination
    /// (reciprocal unit of `x`). The same curve has `ka` and `ke` exchanged and `c0 ka / ke` for `c0` ("flip-flop"): the guess takes
    /// `ka ≥ ke`.
    OneCompartmentOral("one_compartment_oral", "c0 ka (exp(-ke x) - exp(-ka x)) / (ka - ke)") {
        response: |x; c0, ka, ke| {
            // The slower exponential, and the mean of exp(−u) over 0 < u < z for the difference of the rates: nothing overflows.
            let slow = ka.select_less(ke, ka, ke);
            let difference = ka.select_less(ke, ke - ka, ka - ke);
            c0 * ka * (slow * -x).exp() * mean_decay(difference * x) * x
        },
        linear: [0],
        axes: |look| [reciprocals(&look.lengths()), reciprocals(&look.lengths())],
        start: |look| {
            let start = Self::best_on_axes(look);
            let [c0, ka, ke] = start[..] else { return start };
            if ka < ke { vec![c0 * ka / ke, ke, ka] } else { start }
        },
        derived: [
            ("half_life", "ln(2) / ke"),
            ("absorption_half_life", "ln(2) / ka"),
            ("auc", "c0 / ke"),
            ("tmax", "ka == ke ? 1 / ke : ln(ka / ke) / (ka - ke)"),
            ("cmax", "c0 * (ka == ke ? exp(-1) : (ka / ke)^(-ke / (ka - ke)))"),
        ],
    }

    /// `a exp(−alpha x) + b exp(−beta x)`: two compartments, after an intravenous bolus, by macro constants.
    ///
    /// `a` and `b` are concentrations (unit of `y`) whose sum is that at the start, `dose / volume` of the central compartment;
    /// `alpha` and `beta` are the rate constants of distribution and elimination (reciprocal unit of `x`). The guess takes
    /// `alpha > beta`. It is [`BiExponential`] with rates.
    TwoCompartmentBolus("two_compartment_bolus", "a exp(-alpha x) + b exp(-beta x)") {
        response: |x; a, alpha, b, beta| a * (alpha * -x).exp() + b * (beta * -x).exp(),
        linear: [0, 2],
        start: |look| {
            let start = BiExponential::start(look);
            vec![start[0], start[1].recip(), start[2], start[3].recip()]
        },
        derived: [
            ("c0", "a + b"),
            ("half_life_alpha", "ln(2) / alpha"),
            ("half_life_beta", "ln(2) / \"beta\""),
            ("auc", "a / alpha + b / \"beta\""),
            ("k21", "(a * \"beta\" + b * alpha) / (a + b)"),
            ("k10", "alpha * \"beta\" * (a + b) / (a * \"beta\" + b * alpha)"),
            ("mean_residence_time", "(a / alpha^2 + b / \"beta\"^2) / (a / alpha + b / \"beta\")"),
        ],
    }
}

/// `(1 − exp(−z)) / z` for `z ≥ 0`, by its series where that is small: at `z = 0` it is 1, and its derivative −1/2.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn mean_decay<S: Scalar>(z: S) -> S {
    const TERMS: i32 = 14;
    let (half, one) = (S::constant(real::<S>(0.5)), real::<S>(1.0));
    // 1 − z/2 (1 − z/3 (1 − z/4 …)).
    let mut series = S::constant(one);
    for divisor in (2..=TERMS).rev() {
        series = series * z * real::<S>(-f64::from(divisor).recip()) + one;
    }
    z.select_less(half, series, -(-z).exp_m1() / z)
}
