//! Polynomials.

use super::compose::compose;
use super::formula::{library, only};
use super::grid::Grid;
use super::guess::{Guess, finite};
use super::guess_cache::GuessCache;
use super::look::Look;
use crate::curve::Model;
use crate::curve::model_rows::responses;
use crate::number::ScalarOf;
use crate::real::Real;

library! {
    /// `c`, as lmfit's `ConstantModel`.
    Constant("constant", "c") {
        response: |_x; c| c,
        linear: [0],
    }

    /// `slope x + intercept`, as lmfit's `LinearModel`.
    Linear("linear", "slope x + intercept") {
        response: |x; slope, intercept| slope * x + intercept,
        linear: [0, 1],
        derived: [("root", "-intercept / slope")],
    }

    /// `a x² + b x + c`, as lmfit's `QuadraticModel`.
    Quadratic("quadratic", "a x^2 + b x + c") {
        response: |x; a, b, c| (a * x + b) * x + c,
        linear: [0, 1, 2],
        derived: [("vertex", "-b / (2 * a)"), ("extremum", "c - b^2 / (4 * a)")],
    }
}

/// `c0 + c1 x + c2 x² + …` of any degree, as lmfit's `PolynomialModel`.
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
        let grid = Grid { name: None, linear: &self.linear(), parameters: self.degree + 1, axes: Vec::new() };
        look.best_on(grid, &|x, b, column| responses(&self, x, 1, b, column))
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
        let scale = |b: &mut [f64], factor| b.iter_mut().for_each(|b| *b *= factor);
        finite(Look::at(x, y, &GuessCache::default()).unscaled(scale, |look| self.start(look)))
    }

    fn linear_parameters(&self) -> Vec<usize> {
        self.linear()
    }
}

compose! { [] Polynomial; }
