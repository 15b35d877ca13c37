//! Rates as they depend on the temperature.

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only, real};
use super::guess::{Guess, finite};
use super::look::{Look, both_signs, geometric};
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// The gas constant in joules for each mole and kelvin, exact since 2019.
const GAS_CONSTANT: f64 = 8.314_462_618_153_24;

/// `prefactor exp(−energy / (R x))` at absolute temperatures `x` in kelvin, with the gas constant `R = 8.314462618 J/(mol K)`:
/// `energy` is the activation energy in joules per mole.
///
/// Over a narrow range of temperatures the two are almost the same to the data: expect a correlation near one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Arrhenius;

impl Formula for Arrhenius {
    const NAME: &'static str = "arrhenius";
    const FORMULA: &'static str = "prefactor exp(-energy / (8.314462618 x))";
    const PARAMETERS: &'static [&'static str] = &["prefactor", "energy"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * (b[1] * -(x * real::<S>(GAS_CONSTANT)).recip()).exp()
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        let thermal = GAS_CONSTANT * (look.first() + look.span() / 2.0).abs();
        vec![both_signs(&geometric(0.05 * thermal, 150.0 * thermal, 40))]
    }
}

in_library!(Arrhenius);
