//! Resonances that interfere with a background.

use super::formula::{library, real};
use super::look::{both_signs, geometric};

library! {
    /// `amplitude (q sigma / 2 + x − center)² / ((sigma / 2)² + (x − center)²)`, as lmfit's `BreitWignerModel`: the profile of Breit
    /// and Wigner, and of Fano, who has `amplitude (q + ε)² / (1 + ε²)` with `ε = 2 (x − center) / sigma`.
    ///
    /// `amplitude` is the level far away (unit of `y`), `center` the energy of the resonance, `sigma` its full width (both in the unit
    /// of `x`), `q` the asymmetry (no unit). It is zero at `center − q sigma / 2` and highest at `center + sigma / (2 q)`. For `q = 0`
    /// it is a dip, for large `q` a peak. U. Fano, Phys. Rev. 124 (1961) 1866.
    BreitWigner("breit_wigner", "amplitude (q sigma / 2 + x - center)^2 / ((sigma / 2)^2 + (x - center)^2)") {
        response: |x; amplitude, center, sigma, q| {
            let away = (-center + x) / sigma * real::<S>(2.0);
            let shifted = q + away;
            amplitude * (shifted * shifted) / (away * away + real::<S>(1.0))
        },
        linear: [0],
        axes: |look| [look.places(), look.widths(), both_signs(&geometric(0.2, 8.0, 6))],
        derived: [
            ("zero", "center - q * sigma / 2"),
            ("maximum_at", "center + sigma / (2 * q)"),
            ("height", "amplitude * (1 + q^2)"),
        ],
    }
}
