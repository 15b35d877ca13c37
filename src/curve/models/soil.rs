//! Water in soils.

use super::formula::{library, real, softplus, unless_zero};
use super::look::{geometric, reciprocals};

library! {
    /// `theta_r + (theta_s − theta_r) / (1 + (alpha x)^n)^(1 − 1 / n)`: water retained by a soil (van Genuchten, with Mualem's
    /// `m = 1 − 1 / n`).
    ///
    /// `x ≥ 0` is the suction (cm, or kPa), `theta_r` and `theta_s` are the residual and the saturated water content (unit of `y`),
    /// `alpha` is a reciprocal suction, `n > 1` the width of the distribution of pores (no unit). M. T. van Genuchten, Soil Sci. Soc.
    /// Am. J. 44 (1980) 892.
    VanGenuchten("van_genuchten", "theta_r + (theta_s - theta_r) / (1 + (alpha x)^n)^(1 - 1 / n)") {
        response: |x; theta_r, theta_s, alpha, n| {
            let one = S::constant(real::<S>(1.0));
            let saturation = ((n.recip() - one) * softplus(n * (alpha * x).ln())).exp();
            theta_r + (theta_s - theta_r) * unless_zero(x, saturation, one)
        },
        linear: [0, 1],
        axes: |look| [reciprocals(&look.positive()), geometric(0.06, 10.0, 16).into_iter().map(|n| 1.0 + n).collect()],
        derived: [("inflection", "(1 - 1 / n)^(1 / n) / alpha"), ("m", "1 - 1 / n")],
    }
}
