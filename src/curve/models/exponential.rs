//! Exponential decays and rises.

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only, real};
use super::growth::exp_of_minus;
use super::guess::{Guess, finite};
use super::look::{Look, geometric};
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// `amplitude exp(−x / decay)`, as lmfit's `ExponentialModel`; with a negative `decay` it grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExponentialDecay;

impl Formula for ExponentialDecay {
    const NAME: &'static str = "exponential_decay";
    const FORMULA: &'static str = "amplitude exp(-x / decay)";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "decay"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * decayed(x, b[1])
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.signed_lengths()]
    }
}

/// `offset + amplitude exp(−x / decay)`; with a negative `decay` it grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExponentialDecayOffset;

impl Formula for ExponentialDecayOffset {
    const NAME: &'static str = "exponential_decay_offset";
    const FORMULA: &'static str = "offset + amplitude exp(-x / decay)";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "decay", "offset"];
    const LINEAR: &'static [usize] = &[0, 2];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * decayed(x, b[1]) + b[2]
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.signed_lengths()]
    }
}

/// `amplitude (1 − exp(−x / decay))`: a rise from zero at `x = 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExponentialRise;

impl Formula for ExponentialRise {
    const NAME: &'static str = "exponential_rise";
    const FORMULA: &'static str = "amplitude (1 - exp(-x / decay))";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "decay"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * risen(x, b[1])
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.signed_lengths()]
    }
}

/// `offset + amplitude (1 − exp(−x / decay))`: a rise from `offset` at `x = 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExponentialRiseOffset;

impl Formula for ExponentialRiseOffset {
    const NAME: &'static str = "exponential_rise_offset";
    const FORMULA: &'static str = "offset + amplitude (1 - exp(-x / decay))";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "decay", "offset"];
    const LINEAR: &'static [usize] = &[0, 2];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * risen(x, b[1]) + b[2]
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.signed_lengths()]
    }
}

/// `amplitude1 exp(−x / decay1) + amplitude2 exp(−x / decay2)`. The guess puts the faster decay first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BiExponential;

impl Formula for BiExponential {
    const NAME: &'static str = "bi_exponential";
    const FORMULA: &'static str = "amplitude1 exp(-x / decay1) + amplitude2 exp(-x / decay2)";
    const PARAMETERS: &'static [&'static str] = &["amplitude1", "decay1", "amplitude2", "decay2"];
    const LINEAR: &'static [usize] = &[0, 2];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * decayed(x, b[1]) + b[2] * decayed(x, b[3])
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.lengths(), look.lengths()]
    }

    fn start(look: &Look) -> Vec<f64> {
        let start = look.best_on(Self::LINEAR, Self::PARAMETERS.len(), Self::axes(look), Self::at);
        let [first, second] = [[start[0], start[1]], [start[2], start[3]]];
        if first[1] > second[1] { [second, first].concat() } else { start }
    }
}

/// `amplitude exp(−(x / decay)^beta)` for `x ≥ 0`: the stretched exponential of Kohlrausch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StretchedExponential;

impl Formula for StretchedExponential {
    const NAME: &'static str = "stretched_exponential";
    const FORMULA: &'static str = "amplitude exp(-(x / decay)^beta)";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "decay", "beta"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * exp_of_minus(scaled_power(x, b[1], b[2]))
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        vec![look.lengths(), geometric(0.2, 4.0, 10)]
    }
}

in_library!(
    ExponentialDecay,
    ExponentialDecayOffset,
    ExponentialRise,
    ExponentialRiseOffset,
    BiExponential,
    StretchedExponential
);

/// `exp(−x / decay)`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn decayed<S: Scalar>(x: S::Real, decay: S) -> S {
    (decay.recip() * -x).exp()
}

/// `1 − exp(−x / decay)`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn risen<S: Scalar>(x: S::Real, decay: S) -> S {
    -(decay.recip() * -x).exp_m1()
}

/// `(x / scale)^power`, which at `x = 0` is zero whatever the power, and so are its derivatives.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn scaled_power<S: Scalar>(x: S::Real, scale: S, power: S) -> S {
    let zero = S::constant(real::<S>(0.0));
    zero.select_less(S::constant(x.abs()), ((S::constant(x) / scale).ln() * power).exp(), S::constant(x))
}
