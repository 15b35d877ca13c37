//! Steps from zero to `amplitude`, as lmfit's `StepModel` has them.

use std::f64::consts::FRAC_1_PI;

use super::formula::{library, real, sigmoid};
use super::look::{about, both_signs, multiples};
use super::special::erf;

library! {
    /// `amplitude (1/2 + arctan((x − center) / sigma) / π)`, as lmfit's `StepModel(form='arctan')`.
    ArctanStep("arctan_step", "amplitude (1/2 + atan((x - center) / sigma) / pi)") {
        response: |x; amplitude, center, sigma|
            amplitude * (((-center + x) / sigma).atan() * real::<S>(FRAC_1_PI) + real::<S>(0.5)),
        linear: [0],
        axes: |look| [look.places(), both_signs(&look.widths())],
        derived: [("slope_at_center", "amplitude / (pi * sigma)"), ("width_25_75", "2 * sigma")],
    }

    /// `amplitude (1 + erf((x − center) / sigma)) / 2`, as lmfit's `StepModel(form='erf')`.
    ErfStep("erf_step", "amplitude (1 + erf((x - center) / sigma)) / 2") {
        response: |x; amplitude, center, sigma|
            amplitude * (erf((-center + x) / sigma) + real::<S>(1.0)) * real::<S>(0.5),
        linear: [0],
        // Searches about the logistic step, whose slope is the same with a `sigma` of `√π / 4` times this one.
        axes: |look| {
            let logistic = LogisticStep::start(look);
            let (center, sigma) = (logistic[1], 2.26 * logistic[2]);
            [about(center, sigma.abs(), 5), multiples(sigma, 2.0, 5)]
        },
        derived: [("slope_at_center", "amplitude / (sigma * sqrt(pi))"), ("width_10_90", "1.8123876048736464 * sigma")],
    }

    /// `amplitude (1 − 1 / (1 + exp((x − center) / sigma)))`, as lmfit's `StepModel(form='logistic')`. It is
    /// [`Logistic`](super::Logistic) with `sigma = 1 / rate`.
    LogisticStep("logistic_step", "amplitude (1 - 1 / (1 + exp((x - center) / sigma)))") {
        response: |x; amplitude, center, sigma| amplitude * sigmoid((-center + x) / sigma),
        linear: [0],
        axes: |look| [look.places(), both_signs(&look.widths())],
        derived: [("slope_at_center", "amplitude / (4 * sigma)"), ("width_10_90", "4.394449154672439 * sigma")],
    }
}
