//! Peaks with a longer tail on one side.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only, real};
use super::guess::{Guess, finite};
use super::look::{Look, geometric, multiples, spaced};
use super::peak::{Gaussian, gaussian};
use super::polish::better_on;
use super::special::{erf, exp_times_erfc};
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// `amplitude gamma / 2 · exp(gamma (center − x + gamma sigma² / 2)) · erfc((center + gamma sigma² − x) / (sigma √2))`, as
/// lmfit's `ExponentialGaussianModel`: a Gaussian, smeared to the right by an exponential decay of rate `gamma`, with
/// `amplitude` for the area. Known to chromatographers as EMG.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExponentialGaussian;

impl Formula for ExponentialGaussian {
    const NAME: &'static str = "exponential_gaussian";
    const FORMULA: &'static str = "amplitude gamma / 2 exp(gamma (center - x + gamma sigma^2 / 2)) erfc((center + gamma sigma^2 - x) / (sigma sqrt(2)))";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma", "gamma"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        let (center, sigma, gamma) = (b[1], b[2], b[3]);
        let half = real::<S>(0.5);
        let before = center - x;
        let smear = gamma * sigma * sigma;
        let exponent = gamma * (before + smear * half);
        let argument = (before + smear) / sigma * real::<S>(FRAC_1_SQRT_2);
        let away = before / sigma;
        b[0] * gamma * half * exp_times_erfc(exponent, argument, -(away * away) * half)
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        let [center, sigma] = as_gaussian(look);
        let centers = spaced(center - 2.0 * sigma, center + sigma, 9);
        vec![centers, multiples(0.5 * sigma, 2.5, 6), geometric(0.3 / sigma, 10.0 / sigma, 7)]
    }
}

/// `amplitude / (sigma √(2π)) · exp(−(x − center)² / (2 sigma²)) · (1 + erf(gamma (x − center) / (sigma √2)))`, as lmfit's
/// `SkewedGaussianModel`: `amplitude` is the area, `gamma` the skewness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkewedGaussian;

impl Formula for SkewedGaussian {
    const NAME: &'static str = "skewed_gaussian";
    const FORMULA: &'static str = "amplitude / (sigma sqrt(2 pi)) exp(-(x - center)^2 / (2 sigma^2)) (1 + erf(gamma (x - center) / (sigma sqrt(2))))";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma", "gamma"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        let away = (-b[1] + x) / b[2] * real::<S>(FRAC_1_SQRT_2);
        b[0] * gaussian(x, b[1], b[2]) * (erf(b[3] * away) + real::<S>(1.0))
    }

    fn start(look: &Look) -> Vec<f64> {
        let [center, sigma] = as_gaussian(look);
        let grids = [1.0, -1.0].map(|sign| {
            let centers = spaced(center - sign * 1.8 * sigma, center + sign * 0.3 * sigma, 8);
            vec![centers, multiples(1.5 * sigma, 1.8, 5), vec![sign * 0.7, sign * 1.5, sign * 3.0, sign * 8.0]]
        });
        better_on::<Self>(look, grids, 1.0)
    }
}

/// `amplitude / (x sigma √(2π)) · exp(−(ln x − center)² / (2 sigma²))` for `x > 0`, as lmfit's `LognormalModel`: `amplitude`
/// is the area. At `x ≤ 0` it is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogNormal;

impl Formula for LogNormal {
    const NAME: &'static str = "log_normal";
    const FORMULA: &'static str = "amplitude / (x sigma sqrt(2 pi)) exp(-(ln(x) - center)^2 / (2 sigma^2))";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    #[expect(clippy::eq_op, reason = "zero, but NaN where `x` is NaN")]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        let zero = S::constant(real::<S>(0.0));
        let away = (-b[1] + x.ln()) / b[2];
        let peak = b[0] * (away * away * real::<S>(-0.5)).exp() / b[2] * (x * real::<S>((2.0 * PI).sqrt())).recip();
        zero.select_less(S::constant(x), peak, S::constant(x - x))
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.positive().into_iter().map(f64::ln).collect(), geometric(0.02, 3.0, 12)]
    }
}

in_library!(ExponentialGaussian, SkewedGaussian, LogNormal);

/// Center and sigma of the Gaussian that is most like the data.
fn as_gaussian(look: &Look) -> [f64; 2] {
    let start = Gaussian::start(look);
    [start[1], start[2]]
}
