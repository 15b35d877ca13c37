//! Fits a model that is a system of differential equations: a drug by mouth, absorbed from the gut in proportion to what is left there,
//! and eliminated from the blood by an enzyme that saturates.
//!
//! ```text
//! cargo run --release --example kinetics
//! ```
//!
//! Beside it, with SciPy's `solve_ivp` and `curve_fit`: `examples/python/kinetics.py`.

use marquardt::{CurveError, CurveFit, FittedCurve};

/// When the blood was looked at, after 100 mg were taken. The data are simulated with normal errors: absorption = 0.8, vmax = 11, km = 9,
/// standard deviation 0.5.
const HOURS: [f64; 12] = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0];
const MILLIGRAMS: [f64; 12] = [17.9, 28.5, 47.6, 57.2, 62.4, 64.0, 58.5, 52.2, 43.6, 28.8, 12.5, 2.9];

fn fit() -> Result<FittedCurve<'static, f64>, CurveError> {
    let fit = CurveFit::differential_equations(
        |_, [gut, blood], [absorption, vmax, km]| [-absorption * gut, absorption * gut - vmax * blood / (km + blood)],
        |_| [100.0, 0.0],
        &HOURS,
        &MILLIGRAMS,
        [1.0, 10.0, 10.0],
    );
    let fit = fit.observed(|_, [_, blood], _| [blood]).names(["absorption", "vmax", "km"]);
    fit.bounds("absorption", 0.0..).bounds("vmax", 0.0..).bounds("km", 1e-3..).fit()
}

fn main() -> Result<(), CurveError> {
    fit().map(|fit| println!("{fit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values and standard errors of `examples/python/kinetics.py`, by SciPy.
    #[test]
    fn the_fit_is_that_of_scipy() {
        let fit = fit().unwrap();
        let expected = [(0.791607026053, 0.00998935), (10.9566178945, 0.426196), (8.97192980844, 1.95906)];
        for (parameter, (value, error)) in fit.parameters().iter().zip(expected) {
            assert!((parameter.value / value - 1.0).abs() < 1e-6, "{parameter:?}");
            assert!((parameter.standard_error / error - 1.0).abs() < 1e-4, "{parameter:?}");
        }
    }
}
