//! Growth towards a limit, by curves of the shape of an S.

use super::compose::{Prefixed, Product, Sum, compose};
use super::exponential::scaled_power;
use super::formula::{Formula, in_library, only, real, sigmoid};
use super::guess::{Guess, finite};
use super::look::{Look, about, both_signs, geometric, multiples};
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// `limit / (1 + exp(−rate (x − center)))`: the logistic curve of three parameters, `center` being where half of `limit` is
/// reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logistic;

impl Formula for Logistic {
    const NAME: &'static str = "logistic";
    const FORMULA: &'static str = "limit / (1 + exp(-rate (x - center)))";
    const PARAMETERS: &'static [&'static str] = &["limit", "center", "rate"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * sigmoid(b[2] * (-b[1] + x))
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.wider_places(), rates(look)]
    }
}

/// `limit exp(−exp(−rate (x − center)))`, `center` being the point of inflection, where `limit / e` is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gompertz;

impl Formula for Gompertz {
    const NAME: &'static str = "gompertz";
    const FORMULA: &'static str = "limit exp(-exp(-rate (x - center)))";
    const PARAMETERS: &'static [&'static str] = &["limit", "center", "rate"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * exp_of_minus((b[2] * (b[1] - x)).exp())
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.wider_places(), rates(look)]
    }
}

/// `limit (1 + shape exp(−rate (x − center)))^(−1 / shape)`, `center` being the point of inflection: the generalised logistic
/// curve, which for `shape = 1` is the [`Logistic`] and for `shape → 0` the [`Gompertz`] curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Richards;

impl Formula for Richards {
    const NAME: &'static str = "richards";
    const FORMULA: &'static str = "limit (1 + shape exp(-rate (x - center)))^(-1 / shape)";
    const PARAMETERS: &'static [&'static str] = &["limit", "center", "rate", "shape"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        let (before, shape) = (b[2] * (b[1] - x), b[3]);
        let zero = S::constant(real::<S>(0.0));
        // ln(1 + shape eᵘ), the same in both ways.
        let where_large = before + shape.ln() + ((-before).exp() / shape).ln_1p();
        let elsewhere = (shape * before.exp()).ln_1p();
        let logarithm = zero.select_less(before.min(shape), where_large, elsewhere);
        b[0] * (-logarithm / shape).exp()
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        let logistic = Logistic::start(look);
        let (center, rate) = (logistic[1], logistic[2]);
        vec![about(center, 3.0 / rate.abs(), 9), multiples(rate, 3.0, 7), geometric(0.1, 8.0, 7)]
    }
}

/// `limit (1 − exp(−(x / scale)^shape))` for `x ≥ 0`: growth as Weibull's distribution has it, `scale` being where 63 % of
/// `limit` are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WeibullGrowth;

impl Formula for WeibullGrowth {
    const NAME: &'static str = "weibull_growth";
    const FORMULA: &'static str = "limit (1 - exp(-(x / scale)^shape))";
    const PARAMETERS: &'static [&'static str] = &["limit", "scale", "shape"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * (-exp_of_minus(scaled_power(x, b[1], b[2])) + real::<S>(1.0))
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.lengths(), geometric(0.3, 10.0, 12)]
    }
}

in_library!(Logistic, Gompertz, Richards, WeibullGrowth);

/// Rates of both signs, of curves as wide as a feature of the data can be.
fn rates(look: &Look) -> Vec<f64> {
    both_signs(&look.widths().iter().rev().map(|width| 0.5 / width).collect::<Vec<f64>>())
}

/// `exp(−u)`, a flat zero where it underflows in either float, as `u` may be infinite there.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn exp_of_minus<S: Scalar>(u: S) -> S {
    S::constant(real::<S>(1e3)).select_less(u, S::constant(real::<S>(0.0)), (-u).exp())
}
