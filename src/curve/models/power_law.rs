//! Power laws.

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only};
use super::guess::{Guess, finite};
use super::look::{Look, spaced};
use crate::curve::Model;
use crate::real::Real;
use crate::scalar::Scalar;

/// `amplitude x^exponent` for `x > 0`, as lmfit's `PowerLawModel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PowerLaw;

impl Formula for PowerLaw {
    const NAME: &'static str = "power_law";
    const FORMULA: &'static str = "amplitude x^exponent";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "exponent"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * S::constant(x).pow(b[1])
    }

    fn axes(_look: &Look) -> Vec<Vec<f64>> {
        vec![exponents()]
    }
}

/// `offset + amplitude x^exponent` for `x > 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PowerLawOffset;

impl Formula for PowerLawOffset {
    const NAME: &'static str = "power_law_offset";
    const FORMULA: &'static str = "offset + amplitude x^exponent";
    const PARAMETERS: &'static [&'static str] = &["amplitude", "exponent", "offset"];
    const LINEAR: &'static [usize] = &[0, 2];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * S::constant(x).pow(b[1]) + b[2]
    }

    fn axes(_look: &Look) -> Vec<Vec<f64>> {
        vec![exponents()]
    }
}

/// `a + b ln x` for `x > 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logarithmic;

impl Formula for Logarithmic {
    const NAME: &'static str = "logarithmic";
    const FORMULA: &'static str = "a + b ln(x)";
    const PARAMETERS: &'static [&'static str] = &["a", "b"];
    const LINEAR: &'static [usize] = &[0, 1];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] + b[1] * x.ln()
    }
}

in_library!(PowerLaw, PowerLawOffset, Logarithmic);

/// Exponents from −8 to 8, without zero.
fn exponents() -> Vec<f64> {
    spaced(-7.9, 8.1, 81)
}
