//! Power laws.

use super::formula::library;
use super::look::spaced;
use crate::scalar::Scalar;

library! {
    /// `amplitude x^exponent` for `x > 0`, as lmfit's `PowerLawModel`.
    PowerLaw("power_law", "amplitude x^exponent") {
        response: |x; amplitude, exponent| amplitude * S::constant(x).pow(exponent),
        linear: [0],
        axes: |_look| [exponents()],
    }

    /// `offset + amplitude x^exponent` for `x > 0`.
    PowerLawOffset("power_law_offset", "offset + amplitude x^exponent") {
        response: |x; amplitude, exponent, offset| amplitude * S::constant(x).pow(exponent) + offset,
        linear: [0, 2],
        axes: |_look| [exponents()],
    }

    /// `a + b ln x` for `x > 0`.
    Logarithmic("logarithmic", "a + b ln(x)") {
        response: |x; a, b| a + b * x.ln(),
        linear: [0, 1],
        derived: [("root", "exp(-a / b)")],
    }
}

/// Exponents from −8 to 8, without zero.
fn exponents() -> Vec<f64> {
    spaced(-7.9, 8.1, 81)
}
