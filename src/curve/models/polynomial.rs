//! Polynomials.

use super::compose::{Prefixed, Product, Sum, compose};
use super::formula::{Formula, in_library, only};
use super::guess::{Guess, finite};
use super::look::Look;
use crate::curve::Model;
use crate::number::ScalarOf;
use crate::real::Real;
use crate::scalar::Scalar;

/// `c`, as lmfit's `ConstantModel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Constant;

impl Formula for Constant {
    const NAME: &'static str = "constant";
    const FORMULA: &'static str = "c";
    const PARAMETERS: &'static [&'static str] = &["c"];
    const LINEAR: &'static [usize] = &[0];

    #[inline(always)]
    fn at<S: Scalar>(_x: S::Real, b: &[S]) -> S {
        b[0]
    }
}

/// `slope x + intercept`, as lmfit's `LinearModel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Linear;

impl Formula for Linear {
    const NAME: &'static str = "linear";
    const FORMULA: &'static str = "slope x + intercept";
    const PARAMETERS: &'static [&'static str] = &["slope", "intercept"];
    const LINEAR: &'static [usize] = &[0, 1];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        b[0] * x + b[1]
    }
}

/// `a x² + b x + c`, as lmfit's `QuadraticModel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quadratic;

impl Formula for Quadratic {
    const NAME: &'static str = "quadratic";
    const FORMULA: &'static str = "a x^2 + b x + c";
    const PARAMETERS: &'static [&'static str] = &["a", "b", "c"];
    const LINEAR: &'static [usize] = &[0, 1, 2];

    #[inline(always)]
    fn at<S: Scalar>(x: S::Real, b: &[S]) -> S {
        (b[0] * x + b[1]) * x + b[2]
    }
}

in_library!(Constant, Linear, Quadratic);

/// `c0 + c1 x + c2 x² + …` to a degree of one's choice, as lmfit's `PolynomialModel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Polynomial {
    /// The highest power of `x`.
    pub degree: usize,
}

impl Polynomial {
    /// Creates a polynomial of this degree.
    pub fn new(degree: usize) -> Self {
        Polynomial { degree }
    }

    /// A start for these data.
    pub(super) fn start(self, look: &Look) -> Vec<f64> {
        look.best_on(&self.linear(), self.degree + 1, Vec::new(), |x, b| self.response(&[x], b))
    }

    /// All parameters.
    pub(super) fn linear(self) -> Vec<usize> {
        (0..=self.degree).collect()
    }
}

impl<T: Real> Model<T> for Polynomial {
    fn parameter_count(&self) -> usize {
        self.degree + 1
    }

    fn parameter_name(&self, index: usize) -> String {
        format!("c{index}")
    }

    #[inline(always)]
    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        let (x, mut sum) = (only(x), b[self.degree]);
        for &coefficient in b[..self.degree].iter().rev() {
            sum = sum * x + coefficient;
        }
        sum
    }
}

impl<T: Real> Guess<T> for Polynomial {
    fn guess(&self, x: &[T], y: &[T]) -> Vec<T> {
        finite(Look::at(x, y).unscaled(&self.linear(), |look| self.start(look)))
    }

    fn linear_parameters(&self) -> Vec<usize> {
        self.linear()
    }
}

compose! { [] Polynomial; }
