//! Rates as they depend on the temperature.

use std::iter::zip;

use super::formula::{library, real};
use super::grid::Grid;
use super::look::{Look, both_signs, geometric};
use crate::scalar::Scalar;

/// The gas constant in joules for each mole and kelvin, exact since 2019.
const GAS_CONSTANT: f64 = 8.314_462_618_153_24;
/// Boltzmann's constant divided by Planck's in hertz per kelvin, exact since 2019.
const BOLTZMANN_BY_PLANCK: f64 = 2.083_661_912_332_757_4e10;

library! {
    /// `prefactor exp(−energy / (R x))` at absolute temperatures `x` in kelvin, with the gas constant `R = 8.314462618 J/(mol K)`:
    /// `energy` is the activation energy in joules per mole.
    ///
    /// Over a narrow range of temperatures the two parameters are strongly correlated, with a correlation near 1.
    Arrhenius("arrhenius", "prefactor exp(-energy / (8.314462618 x))") {
        response: |x; prefactor, energy| prefactor * (energy * -(x * real::<S>(GAS_CONSTANT)).recip()).exp(),
        linear: [0],
        axes: |look| [energies(look)],
        derived: [("rate_298", "prefactor * exp(-energy / (8.31446261815324 * 298.15))")],
    }

    /// `kB x / h · exp((entropy − enthalpy / x) / R)` at absolute temperatures `x > 0` in kelvin: rate constant in 1/s by the theory of
    /// the transition state (Eyring), with Boltzmann's and Planck's constants and a transmission coefficient of 1.
    ///
    /// `enthalpy` is the enthalpy of activation in J/mol, `entropy` its entropy in J/(mol K). Over a narrow range of temperatures the two
    /// parameters are strongly correlated. H. Eyring, J. Chem. Phys. 3 (1935) 107.
    Eyring("eyring", "2.083661912e10 x exp((entropy - enthalpy / x) / 8.314462618)") {
        response: |x; enthalpy, entropy| {
            let attempts = (x * real::<S>(BOLTZMANN_BY_PLANCK)).ln();
            ((entropy - enthalpy * x.recip()) / real::<S>(GAS_CONSTANT) + attempts).exp()
        },
        linear: [],
        // The first parameter of the grid is the rate by temperature at the last `x`.
        start: |look| {
            let last = look.first() + look.span();
            let grid = Grid { name: None, linear: &[0], parameters: 2, axes: vec![energies(look)] };
            let best = look.best_on(grid, &|x, b, column| {
                let rate = |x: f64| b[0] * x * (-b[1] / GAS_CONSTANT * (x.recip() - last.recip())).exp();
                zip(column, x).for_each(|(value, &x)| *value = rate(x));
            });
            let logarithm = (best[0].abs().max(f64::MIN_POSITIVE) / BOLTZMANN_BY_PLANCK).ln();
            vec![best[1], GAS_CONSTANT * logarithm + best[1] / last]
        },
        scale: |start, factor| start[1] += GAS_CONSTANT * factor.ln(),
        derived: [("free_energy_298", "enthalpy - 298.15 * entropy")],
    }
}

/// Energies of activation, from a twentieth of the thermal energy on, with both signs.
fn energies(look: &Look) -> Vec<f64> {
    let thermal = GAS_CONSTANT * (look.first() + look.span() / 2.0).abs();
    both_signs(&geometric(0.05 * thermal, 150.0 * thermal, 40))
}
