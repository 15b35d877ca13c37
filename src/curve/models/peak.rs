//! Symmetric peaks.

use std::f64::consts::{FRAC_1_PI, LN_2, PI, SQRT_2};

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only, real};
use super::guess::{Guess, finite};
use super::look::{Look, geometric};
use super::special::faddeeva;
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// `amplitude / (sigma √(2π)) · exp(−(x − center)² / (2 sigma²))`, as lmfit's `GaussianModel`: `amplitude` is the area, the
/// height is `amplitude / (sigma √(2π))`, the full width at half maximum `2.3548 sigma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gaussian;

impl Formula for Gaussian {
    const NAME: &'static str = "gaussian";
    const FORMULA: &'static str = "amplitude / (sigma sqrt(2 pi)) exp(-(x - center)^2 / (2 sigma^2))";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * gaussian(x, b[1], b[2])
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.places(), look.widths()]
    }
}

/// `amplitude / π · sigma / ((x − center)² + sigma²)`, as lmfit's `LorentzianModel`: `amplitude` is the area, `sigma` half of
/// the full width at half maximum. Also known as Cauchy's or Breit and Wigner's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lorentzian;

impl Formula for Lorentzian {
    const NAME: &'static str = "lorentzian";
    const FORMULA: &'static str = "amplitude / pi sigma / ((x - center)^2 + sigma^2)";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * lorentzian(x, b[1], b[2])
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.places(), look.widths()]
    }
}

/// `amplitude Re w(z) / (sigma √(2π))` with `z = (x − center + i gamma) / (sigma √2)` and the Faddeeva function `w`, as
/// lmfit's `VoigtModel`: a Gaussian of `sigma`, widened by a Lorentzian of `gamma`, with `amplitude` for the area.
///
/// Accurate to about 1e-14 of the height, derivatives too. It is the same for `−sigma`, and goes on smoothly to negative
/// `gamma`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Voigt;

impl Formula for Voigt {
    const NAME: &'static str = "voigt";
    const FORMULA: &'static str = "amplitude Re[w(z)] / (sigma sqrt(2 pi)), z = (x - center + i gamma) / (sigma sqrt(2)), w(z) = exp(-z^2) erfc(-i z)";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma", "gamma"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        let scale = (b[2].abs() * real::<S>(SQRT_2)).recip();
        let profile = faddeeva((-b[1] + x) * scale, b[3] * scale);
        b[0] * profile * scale * real::<S>(PI.sqrt().recip())
    }

    /// Starts from the best pseudo-Voigt, which is quicker to search.
    fn start(look: &Look) -> Vec<f64> {
        let axes = vec![look.places(), look.widths(), vec![0.1, 0.3, 0.5, 0.7, 0.9]];
        let pseudo = look.best_on(&[0], 4, axes, PseudoVoigt::at);
        let [amplitude, center, half_width, fraction] = pseudo[..] else { return pseudo };
        vec![amplitude, center, half_width * (1.0 - fraction) / (2.0 * LN_2).sqrt(), half_width * fraction]
    }
}

/// `amplitude ((1 − fraction) G + fraction L)`, as lmfit's `PseudoVoigtModel`: a Lorentzian `L` of `sigma` and a Gaussian `G`
/// of `sigma / √(2 ln 2)`, which have the same full width `2 sigma` at half maximum; `amplitude` is the area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PseudoVoigt;

impl Formula for PseudoVoigt {
    const NAME: &'static str = "pseudo_voigt";
    const FORMULA: &'static str = "amplitude ((1 - fraction) gaussian(x; center, sigma / sqrt(2 ln 2)) + fraction lorentzian(x; center, sigma)), each of area 1";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma", "fraction"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        let gaussian = gaussian(x, b[1], b[2] * real::<S>((2.0 * LN_2).sqrt().recip()));
        b[0] * (gaussian + b[3] * (lorentzian(x, b[1], b[2]) - gaussian))
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.places(), look.widths(), vec![0.1, 0.5, 0.9]]
    }
}

/// `amplitude (1 + ((x − center) / sigma)²)^(−beta)`, as lmfit's `MoffatModel`: here `amplitude` is the height.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moffat;

impl Formula for Moffat {
    const NAME: &'static str = "moffat";
    const FORMULA: &'static str = "amplitude (1 + ((x - center) / sigma)^2)^(-beta)";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma", "beta"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        let away = (-b[1] + x) / b[2];
        b[0] * (-b[3] * (away * away).ln_1p()).exp()
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.places(), look.widths(), geometric(0.5, 8.0, 7)]
    }
}

in_library!(Gaussian, Lorentzian, Voigt, PseudoVoigt, Moffat);

/// The normal density.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn gaussian<S: Scalar>(x: S::Real, center: S, sigma: S) -> S {
    let away = (-center + x) / sigma;
    (away * away * real::<S>(-0.5)).exp() / sigma * real::<S>((2.0 * PI).sqrt().recip())
}

/// Cauchy's density.
#[cfg_attr(not(debug_assertions), inline(always))]
fn lorentzian<S: Scalar>(x: S::Real, center: S, sigma: S) -> S {
    let away = -center + x;
    sigma / (away * away + sigma * sigma) * real::<S>(FRAC_1_PI)
}
