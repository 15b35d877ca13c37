//! Quotients of polynomials.

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only, real};
use super::guess::{Guess, finite};
use super::look::{Look, both_signs, geometric};
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// `(a0 + a1 x) / (1 + b1 x)`: a hyperbola with any two asymptotes along the axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rational;

impl Formula for Rational {
    const NAME: &'static str = "rational";
    const FORMULA: &'static str = "(a0 + a1 x) / (1 + b1 x)";
    const PARAMETERS: &'static [&'static str] = &["a0", "a1", "b1"];
    const LINEAR: &'static [usize] = &[0, 1];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        (b[0] + b[1] * x) / (b[2] * x + real::<S>(1.0))
    }

    fn axes(look: &Look) -> Vec<Vec<f64>> {
        let reach = look.x.iter().fold(0.0_f64, |reach, x| reach.max(x.abs()));
        let reach = if reach > 0.0 { reach } else { 1.0 };
        vec![both_signs(&geometric(0.01 / reach, 1000.0 / reach, 40))]
    }
}

in_library!(Rational);
