//! Quotients of polynomials.

use super::formula::{library, real};
use super::look::{both_signs, geometric};

library! {
    /// `(a0 + a1 x) / (1 + b1 x)`: a hyperbola with any two asymptotes along the axes.
    Rational("rational", "(a0 + a1 x) / (1 + b1 x)") {
        response: |x; a0, a1, b1| (a0 + a1 * x) / (b1 * x + real::<S>(1.0)),
        linear: [0, 1],
        axes: |look| {
            let reach = look.x.iter().fold(0.0_f64, |reach, x| reach.max(x.abs()));
            let reach = if reach > 0.0 { reach } else { 1.0 };
            [both_signs(&geometric(0.01 / reach, 1000.0 / reach, 40))]
        },
        derived: [("root", "-a0 / a1"), ("pole", "-1 / b1"), ("asymptote", "a1 / b1")],
    }
}
