//! Rates as they depend on the temperature.

use super::formula::{library, real};
use super::look::{both_signs, geometric};
use crate::scalar::Scalar;

/// The gas constant in joules for each mole and kelvin, exact since 2019.
const GAS_CONSTANT: f64 = 8.314_462_618_153_24;

library! {
    /// `prefactor exp(−energy / (R x))` at absolute temperatures `x` in kelvin, with the gas constant `R = 8.314462618 J/(mol K)`:
    /// `energy` is the activation energy in joules per mole.
    ///
    /// Over a narrow range of temperatures the two are almost the same to the data: expect a correlation near one.
    Arrhenius("arrhenius", "prefactor exp(-energy / (8.314462618 x))") {
        response: |x; prefactor, energy| prefactor * (energy * -(x * real::<S>(GAS_CONSTANT)).recip()).exp(),
        linear: [0],
        axes: |look| {
            let thermal = GAS_CONSTANT * (look.first() + look.span() / 2.0).abs();
            [both_signs(&geometric(0.05 * thermal, 150.0 * thermal, 40))]
        },
    }
}
