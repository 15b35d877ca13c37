//! A problem in one of its sizes, with its minima.

use marquardt::{EvaluationError, Residuals, Scalar};

use super::problem::Problem;

/// The starts are these multiples of the paper's.
pub const FACTORS: [f64; 3] = [1.0, 10.0, 100.0];

/// A problem with `n` parameters and `m` residuals.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub problem: Problem,
    pub n: usize,
    pub m: usize,
    /// `‖r‖²` at the global minimum.
    pub minimum: f64,
    /// `‖r‖²` at known local minima, in the limit where one lies at infinity.
    pub local: &'static [f64],
    /// For each of the [`FACTORS`]: `+` where the global minimum is reached, `-` where it is not, `x` where the cost of the
    /// start overflows.
    pub reached: &'static str,
}

impl Case {
    /// The paper's start times `factor`. A start at zero is `factor` in every parameter, as in MINPACK's tests.
    pub fn start(&self, factor: f64) -> Vec<f64> {
        let start = self.problem.start(self.n);
        let is_zero = start.iter().all(|&x| x == 0.0);
        if is_zero && factor != 1.0 { vec![factor; self.n] } else { start.iter().map(|x| x * factor).collect() }
    }

    /// The largest `‖r‖²` that counts as the global minimum: a relative 10⁻⁶ above it. Where the residuals vanish, 10⁻¹², which
    /// is six digits of residuals that are of the order of one in all of these problems. The sum of squares of Watson's problem
    /// with 20 parameters is 2.5·10⁻²⁰ and counts as such a zero, but six orders lower, since 10⁻¹² is far from its minimum.
    pub fn threshold(&self) -> f64 {
        let floor = match self.minimum {
            0.0 => 1e-12,
            tiny if tiny < 1e-18 => 1e-18,
            _ => 0.0,
        };
        self.minimum * (1.0 + 1e-6) + floor
    }
}

impl Residuals<f64> for Case {
    fn parameter_count(&self) -> usize {
        self.n
    }

    fn residual_count(&self) -> usize {
        self.m
    }

    fn row_group(&self) -> usize {
        self.m
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], _: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        r.copy_from_slice(&self.problem.residuals(x, self.m));
        Ok(())
    }
}
