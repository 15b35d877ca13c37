//! Symmetric peaks.

use std::f64::consts::{FRAC_1_PI, LN_2, PI};

use super::formula::{library, real};
use super::look::geometric;
use super::special::voigt;
use crate::scalar::Scalar;

library! {
    /// `amplitude / (sigma √(2π)) · exp(−(x − center)² / (2 sigma²))`, as lmfit's `GaussianModel`: `amplitude` is the area, the
    /// height is `amplitude / (sigma √(2π))`, the full width at half maximum `2.3548 sigma`.
    Gaussian("gaussian", "amplitude / (sigma sqrt(2 pi)) exp(-(x - center)^2 / (2 sigma^2))") {
        response: |x; amplitude, center, sigma| amplitude * gaussian(x, center, sigma),
        linear: [0],
        axes: |look| [look.places(), look.widths()],
        derived: [
            ("fwhm", "2.3548200450309493 * sigma"),
            ("height", "amplitude / (sigma * sqrt(2 * pi))"),
            ("area", "amplitude"),
        ],
    }

    /// `amplitude / π · sigma / ((x − center)² + sigma²)`, as lmfit's `LorentzianModel`: `amplitude` is the area, `sigma` half of
    /// the full width at half maximum. Also known as Cauchy's or Breit and Wigner's.
    Lorentzian("lorentzian", "amplitude / pi sigma / ((x - center)^2 + sigma^2)") {
        response: |x; amplitude, center, sigma| amplitude * lorentzian(x, center, sigma),
        linear: [0],
        axes: |look| [look.places(), look.widths()],
        derived: [("fwhm", "2 * sigma"), ("height", "amplitude / (pi * sigma)"), ("area", "amplitude")],
    }

    /// `amplitude Re w(z) / (sigma √(2π))` with `z = (x − center + i gamma) / (sigma √2)` and the Faddeeva function `w`, as
    /// lmfit's `VoigtModel`: a Gaussian of `sigma`, widened by a Lorentzian of `gamma`, with `amplitude` for the area.
    ///
    /// Accurate to about 1e-14 of the height, derivatives too. It is the same for `−sigma`, and goes on smoothly to negative
    /// `gamma`.
    Voigt(
        "voigt",
        "amplitude Re[w(z)] / (sigma sqrt(2 pi)), z = (x - center + i gamma) / (sigma sqrt(2)), w(z) = exp(-z^2) erfc(-i z)"
    ) {
        response: |x; amplitude, center, sigma, gamma| {
            amplitude * voigt([-center + x, sigma, gamma])
        },
        linear: [0],
        // Starts from the best pseudo-Voigt, which is quicker to search.
        start: |look| {
            let axes = vec![look.places(), look.widths(), vec![0.1, 0.3, 0.5, 0.7, 0.9]];
            let pseudo = PseudoVoigt::best_on(look, axes);
            let [amplitude, center, half_width, fraction] = pseudo[..] else { return pseudo };
            vec![amplitude, center, half_width * (1.0 - fraction) / (2.0 * LN_2).sqrt(), half_width * fraction]
        },
        derived: [
            ("fwhm", "1.0692 * \"gamma\" + sqrt(0.86639 * \"gamma\"^2 + 5.545083 * sigma^2)"),
            (
                "height",
                "\"gamma\" < 30 * sigma ? \
                amplitude / (sigma * sqrt(2 * pi)) * exp((\"gamma\" / sigma)^2 / 2) * erfc(\"gamma\" / (sigma * sqrt(2))) : \
                amplitude / (pi * \"gamma\") * (1 - (sigma / \"gamma\")^2 + 3 * (sigma / \"gamma\")^4)"
            ),
            ("area", "amplitude"),
        ],
    }

    /// `amplitude ((1 − fraction) G + fraction L)`, as lmfit's `PseudoVoigtModel`: a Lorentzian `L` of `sigma` and a Gaussian `G`
    /// of `sigma / √(2 ln 2)`, which have the same full width `2 sigma` at half maximum; `amplitude` is the area.
    PseudoVoigt(
        "pseudo_voigt",
        "amplitude ((1 - fraction) gaussian(x; center, sigma / sqrt(2 ln 2)) + fraction lorentzian(x; center, sigma)), each of area 1"
    ) {
        response: |x; amplitude, center, sigma, fraction| {
            let gaussian = gaussian(x, center, sigma * real::<S>((2.0 * LN_2).sqrt().recip()));
            amplitude * (gaussian + fraction * (lorentzian(x, center, sigma) - gaussian))
        },
        linear: [0],
        axes: |look| [look.places(), look.widths(), vec![0.1, 0.5, 0.9]],
        derived: [
            ("fwhm", "2 * sigma"),
            ("height", "amplitude / sigma * ((1 - fraction) * sqrt(ln(2) / pi) + fraction / pi)"),
            ("area", "amplitude"),
        ],
    }

    /// `amplitude (1 + ((x − center) / sigma)²)^(−beta)`, as lmfit's `MoffatModel`: here `amplitude` is the height.
    Moffat("moffat", "amplitude (1 + ((x - center) / sigma)^2)^(-beta)") {
        response: |x; amplitude, center, sigma, beta| {
            let away = (-center + x) / sigma;
            amplitude * (-beta * (away * away).ln_1p()).exp()
        },
        linear: [0],
        axes: |look| [look.places(), look.widths(), geometric(0.5, 8.0, 7)],
        derived: [
            ("fwhm", "2 * sigma * sqrt(2^(1 / \"beta\") - 1)"),
            ("height", "amplitude"),
            ("area", "amplitude * sigma * sqrt(pi) * exp(lgamma(\"beta\" - 0.5) - lgamma(\"beta\"))"),
        ],
    }
}

/// The normal density.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(super) fn gaussian<S: Scalar>(x: S::Real, center: S, sigma: S) -> S {
    let away = (-center + x) / sigma;
    (away * away * real::<S>(-0.5)).exp() / sigma * real::<S>((2.0 * PI).sqrt().recip())
}

/// Cauchy's density.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn lorentzian<S: Scalar>(x: S::Real, center: S, sigma: S) -> S {
    let away = -center + x;
    sigma / (away * away + sigma * sigma) * real::<S>(FRAC_1_PI)
}
