//! Peaks with a longer tail on one side.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::formula::{Formula, library, real};
use super::look::{Look, geometric, multiples, spaced};
use super::peak::{Gaussian, gaussian};
use super::polish::better_on;
use super::special::{erf, exp_times_erfc};
use crate::scalar::Scalar;

library! {
    /// `amplitude gamma / 2 · exp(gamma (center − x + gamma sigma² / 2)) · erfc((center + gamma sigma² − x) / (sigma √2))`, as
    /// lmfit's `ExponentialGaussianModel`: a Gaussian, smeared to the right by an exponential decay of rate `gamma`, with
    /// `amplitude` for the area. Known to chromatographers as EMG.
    ExponentialGaussian(
        "exponential_gaussian",
        "amplitude gamma / 2 exp(gamma (center - x + gamma sigma^2 / 2)) erfc((center + gamma sigma^2 - x) / (sigma sqrt(2)))"
    ) {
        response: |x; amplitude, center, sigma, gamma| {
            let half = real::<S>(0.5);
            let before = center - x;
            let smear = gamma * sigma * sigma;
            let exponent = gamma * (before + smear * half);
            let argument = (before + smear) / sigma * real::<S>(FRAC_1_SQRT_2);
            let away = before / sigma;
            amplitude * gamma * half * exp_times_erfc(exponent, argument, -(away * away) * half)
        },
        linear: [0],
        axes: |look| {
            let [center, sigma] = as_gaussian(look);
            let centers = spaced(center - 2.0 * sigma, center + sigma, 9);
            [centers, multiples(0.5 * sigma, 2.5, 6), geometric(0.3 / sigma, 10.0 / sigma, 7)]
        },
        derived: [
            ("area", "amplitude"),
            ("mean", "center + 1 / \"gamma\""),
            ("deviation", "sqrt(sigma^2 + 1 / \"gamma\"^2)"),
        ],
    }

    /// `amplitude / (sigma √(2π)) · exp(−(x − center)² / (2 sigma²)) · (1 + erf(gamma (x − center) / (sigma √2)))`, as lmfit's
    /// `SkewedGaussianModel`: `amplitude` is the area, `gamma` the skewness.
    SkewedGaussian(
        "skewed_gaussian",
        "amplitude / (sigma sqrt(2 pi)) exp(-(x - center)^2 / (2 sigma^2)) (1 + erf(gamma (x - center) / (sigma sqrt(2))))"
    ) {
        response: |x; amplitude, center, sigma, gamma| {
            let away = (-center + x) / sigma * real::<S>(FRAC_1_SQRT_2);
            amplitude * gaussian(x, center, sigma) * (erf(gamma * away) + real::<S>(1.0))
        },
        linear: [0],
        start: |look| {
            let [center, sigma] = as_gaussian(look);
            let grids = [1.0, -1.0].map(|sign| {
                let centers = spaced(center - sign * 1.8 * sigma, center + sign * 0.3 * sigma, 8);
                vec![centers, multiples(1.5 * sigma, 1.8, 5), vec![sign * 0.7, sign * 1.5, sign * 3.0, sign * 8.0]]
            });
            better_on::<Self>(look, grids, 1.0)
        },
        derived: [
            ("area", "amplitude"),
            ("mean", "center + sigma * \"gamma\" * sqrt(2 / (pi * (1 + \"gamma\"^2)))"),
            ("deviation", "sigma * sqrt(1 - 2 * \"gamma\"^2 / (pi * (1 + \"gamma\"^2)))"),
        ],
    }

    /// `amplitude / (x sigma √(2π)) · exp(−(ln x − center)² / (2 sigma²))` for `x > 0`, as lmfit's `LognormalModel`: `amplitude`
    /// is the area. At `x ≤ 0` it is zero.
    LogNormal("log_normal", "amplitude / (x sigma sqrt(2 pi)) exp(-(ln(x) - center)^2 / (2 sigma^2))") {
        response: |x; amplitude, center, sigma| {
            let zero = S::constant(real::<S>(0.0));
            let away = (-center + x.ln()) / sigma;
            let peak = amplitude * (away * away * real::<S>(-0.5)).exp() / sigma * (x * real::<S>((2.0 * PI).sqrt())).recip();
            #[expect(clippy::eq_op, reason = "zero, but NaN where `x` is NaN")]
            let elsewhere = S::constant(x - x);
            zero.select_less(S::constant(x), peak, elsewhere)
        },
        linear: [0],
        axes: |look| [look.positive().into_iter().map(f64::ln).collect(), geometric(0.02, 3.0, 12)],
        derived: [
            ("area", "amplitude"),
            ("mode", "exp(center - sigma^2)"),
            ("median", "exp(center)"),
            ("mean", "exp(center + sigma^2 / 2)"),
            ("height", "amplitude / (sigma * sqrt(2 * pi)) * exp(sigma^2 / 2 - center)"),
            ("fwhm", "2 * exp(center - sigma^2) * sinh(1.1774100225154747 * sigma)"),
        ],
    }
}

/// Center and sigma of the Gaussian that is most like the data.
fn as_gaussian(look: &Look) -> [f64; 2] {
    let start = Gaussian::start(look);
    [start[1], start[2]]
}
