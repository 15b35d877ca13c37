//! Steps from zero to `amplitude`, as lmfit's `StepModel` has them.

use std::f64::consts::FRAC_1_PI;

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only, real, sigmoid};
use super::guess::{Guess, finite};
use super::look::{Look, about, both_signs, multiples};
use super::special::erf;
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// `amplitude (1/2 + arctan((x − center) / sigma) / π)`, as lmfit's `StepModel(form='arctan')`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ArctanStep;

impl Formula for ArctanStep {
    const NAME: &'static str = "arctan_step";
    const FORMULA: &'static str = "amplitude (1/2 + atan((x - center) / sigma) / pi)";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * (((-b[1] + x) / b[2]).atan() * real::<S>(FRAC_1_PI) + real::<S>(0.5))
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        steps(look)
    }
}

/// `amplitude (1 + erf((x − center) / sigma)) / 2`, as lmfit's `StepModel(form='erf')`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErfStep;

impl Formula for ErfStep {
    const NAME: &'static str = "erf_step";
    const FORMULA: &'static str = "amplitude (1 + erf((x - center) / sigma)) / 2";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * (erf((-b[1] + x) / b[2]) + real::<S>(1.0)) * real::<S>(0.5)
    }

    /// Searches about the logistic step, whose slope is the same with a `sigma` of `√π / 4` times this one.
    fn axes(look: &Look) -> Vec<Vec<f64>> {
        let logistic = LogisticStep::start(look);
        let (center, sigma) = (logistic[1], 2.26 * logistic[2]);
        vec![about(center, sigma.abs(), 5), multiples(sigma, 2.0, 5)]
    }
}

/// `amplitude (1 − 1 / (1 + exp((x − center) / sigma)))`, as lmfit's `StepModel(form='logistic')`. It is
/// [`Logistic`](super::Logistic) with `sigma = 1 / rate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogisticStep;

impl Formula for LogisticStep {
    const NAME: &'static str = "logistic_step";
    const FORMULA: &'static str = "amplitude (1 - 1 / (1 + exp((x - center) / sigma)))";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "center", "sigma"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * sigmoid((-b[1] + x) / b[2])
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        steps(look)
    }
}

in_library!(ArctanStep, ErfStep, LogisticStep);

/// Places and widths of steps up and down.
fn steps(look: &Look) -> Vec<Vec<f64>> {
    vec![look.places(), both_signs(&look.widths())]
}
