//! Saturation: responses to doses and rates of reactions.

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only, real, sigmoid};
use super::guess::{Guess, finite};
use super::look::{Look, both_signs, geometric, multiples};
use super::polish::better_on;
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// `vmax x / (km + x)`: the rate of an enzyme at a concentration `x`.
///
/// The same curve is known as Monod's of growth, as Holling's second of predation, as binding to one kind of site (`vmax` is
/// `Bmax`, `km` is `Kd`), and as Langmuir's isotherm, whose constant is `1 / km`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MichaelisMenten;

impl Formula for MichaelisMenten {
    const NAME: &'static str = "michaelis_menten";
    const FORMULA: &'static str = "vmax x / (km + x)";
    const PARAMETERS: &'static [&'static str] = &["vmax", "km"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * x / (b[1] + x)
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.positive()]
    }
}

/// `vmax x^n / (k^n + x^n)` for `x ≥ 0`: cooperative binding, `k` being where half of `vmax` is reached.
///
/// The same curve is known as Sips' (Langmuir–Freundlich) isotherm and, with `n = 2`, as Holling's third of predation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hill;

impl Formula for Hill {
    const NAME: &'static str = "hill";
    const FORMULA: &'static str = "vmax x^n / (k^n + x^n)";
    const PARAMETERS: &'static [&'static str] = &["vmax", "k", "n"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * occupied(x, b[1], b[2])
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.positive(), both_signs(&slopes())]
    }
}

/// `bottom + (top − bottom) / (1 + (ec50 / x)^hill)` for `x ≥ 0`: the logistic curve of four parameters (4PL) over the
/// logarithm of a dose. With a negative `hill` it falls, which is how the guess describes falling data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logistic4;

impl Formula for Logistic4 {
    const NAME: &'static str = "logistic4";
    const FORMULA: &'static str = "bottom + (top - bottom) / (1 + (ec50 / x)^hill)";
    const PARAMETERS: &'static [&'static str] = &["bottom", "top", "ec50", "hill"];
    const LINEAR: &'static [usize] = &[0, 1];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] + (b[1] - b[0]) * occupied(x, b[2], b[3])
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.positive(), slopes()]
    }

    fn start(look: &Look) -> Vec<f64> {
        let start = look.best_on(Self::LINEAR, Self::PARAMETERS.len(), Self::axes(look), Self::at);
        let [bottom, top, ec50, hill] = start[..] else { return start };
        if bottom > top { vec![top, bottom, ec50, -hill] } else { start }
    }
}

/// `bottom + (top − bottom) / (1 + (ec50 / x)^hill)^asymmetry` for `x ≥ 0`: the logistic curve of five parameters (5PL),
/// which for `asymmetry = 1` is [`Logistic4`]. Only there is `ec50` where half is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logistic5;

impl Formula for Logistic5 {
    const NAME: &'static str = "logistic5";
    const FORMULA: &'static str = "bottom + (top - bottom) / (1 + (ec50 / x)^hill)^asymmetry";
    const PARAMETERS: &'static [&'static str] = &["bottom", "top", "ec50", "hill", "asymmetry"];
    const LINEAR: &'static [usize] = &[0, 1];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] + (b[1] - b[0]) * occupied(x, b[2], b[3]).pow(b[4])
    }

    /// Starts from the curve of four parameters, once as it is and once upside down. The two differ here, but little: only data
    /// that clearly show it have their `bottom` above their `top`.
    fn start(look: &Look) -> Vec<f64> {
        let symmetric = Logistic4::start(look);
        let (ec50, hill) = (symmetric[2], symmetric[3]);
        let grids =
            [hill, -hill].map(|hill| vec![multiples(ec50, 10.0, 9), multiples(hill, 2.5, 7), geometric(0.25, 4.0, 5)]);
        better_on::<Self>(look, grids, 0.5)
    }
}

/// `bottom + (top − bottom) / (1 + exp(−(x − center) / width))`: between two levels, as Boltzmann's distribution over two
/// states goes; with a negative `width` it falls, which is how the guess describes falling data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Boltzmann;

impl Formula for Boltzmann {
    const NAME: &'static str = "boltzmann";
    const FORMULA: &'static str = "bottom + (top - bottom) / (1 + exp(-(x - center) / width))";
    const PARAMETERS: &'static [&'static str] = &["bottom", "top", "center", "width"];
    const LINEAR: &'static [usize] = &[0, 1];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] + (b[1] - b[0]) * sigmoid((-b[2] + x) / b[3])
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.wider_places(), look.widths()]
    }

    fn start(look: &Look) -> Vec<f64> {
        let start = look.best_on(Self::LINEAR, Self::PARAMETERS.len(), Self::axes(look), Self::at);
        let [bottom, top, center, width] = start[..] else { return start };
        if bottom > top { vec![top, bottom, center, -width] } else { start }
    }
}

in_library!(MichaelisMenten, Hill, Logistic4, Logistic5, Boltzmann);

/// `x^n / (k^n + x^n)`, with all its derivatives zero at `x = 0`; NaN where `x` is.
#[cfg_attr(not(debug_assertions), inline(always))]
fn occupied<S: Scalar>(x: S::Real, half: S, slope: S) -> S {
    let (zero, one) = (S::constant(real::<S>(0.0)), S::constant(real::<S>(1.0)));
    let at_zero = zero.select_less(slope, zero, one) + x;
    zero.select_less(S::constant(x.abs()), sigmoid(slope * (S::constant(x) / half).ln()), at_zero)
}

/// Hill's slopes.
fn slopes() -> Vec<f64> {
    geometric(0.25, 15.0, 13)
}
