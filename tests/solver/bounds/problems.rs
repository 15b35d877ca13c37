//! Problems and solvers that several of the tests share.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::problem::ParameterDomain;
use marquardt::solver::Acceleration;
use marquardt::solver::damping::{Damping, GainRatio, Multiplicative, TrustRegion};
use marquardt::{AutoDiff, Bounds, EvaluationError, LeastSquares, LevenbergMarquardt, Residuals, Scalar};

use crate::common::linearized;

/// A problem that must never be asked for anything outside of its bounds.
pub struct Fenced<F> {
    pub problem: AutoDiff<F>,
    pub bounds: Bounds<f64>,
}

impl<F: Residuals<f64>> Fenced<F> {
    pub fn new(function: F, bounds: &Bounds<f64>) -> Self {
        Fenced { problem: AutoDiff(function), bounds: bounds.clone() }
    }

    fn check(&self, x: &[f64]) {
        assert!(self.bounds.contains(x), "{x:?} is outside of {:?}", self.bounds);
    }
}

impl<F: Residuals<f64>> LeastSquares<f64> for Fenced<F> {
    fn domain(&self) -> ParameterDomain<'_, f64> {
        ParameterDomain::default().with_bounds(&self.bounds)
    }

    fn parameter_count(&self) -> usize {
        self.problem.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.problem.residual_count()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.check(x);
        self.problem.residuals(x, first, r)
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.check(x);
        self.problem.linearize(x, first, r, j)
    }
}

/// Rosenbrock's valley.
#[derive(Debug, Clone, Copy)]
pub struct Rosenbrock;

impl Residuals<f64> for Rosenbrock {
    fn parameter_count(&self) -> usize {
        2
    }

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let all = [(x[1] - x[0] * x[0]) * 10.0, -x[0] + 1.0];
        r.copy_from_slice(&all[first..first + r.len()]);
        Ok(())
    }

    fn parameter_name(&self, index: usize) -> String {
        ["east", "north"][index].into()
    }
}

/// How far `x` is from a minimum within the bounds: the largest cosine between the residuals and a column of the Jacobian
/// along which `x` could move downhill.
pub fn kkt_residual(problem: &mut impl LeastSquares<f64>, bounds: &Bounds<f64>, x: &[f64]) -> f64 {
    let (r, jacobian) = linearized(problem, x);
    let free_cosine = |j: usize| {
        let gradient = jacobian.column(j).dot(&r);
        let (at_lower, at_upper) = (x[j] == bounds.lower()[j], x[j] == bounds.upper()[j]);
        let uphill = (at_lower && gradient >= 0.0) || (at_upper && gradient <= 0.0) || (at_lower && at_upper);
        let size = jacobian.column(j).norm() * r.norm();
        if uphill || size == 0.0 { 0.0 } else { gradient.abs() / size }
    };
    (0..x.len()).map(free_cosine).fold(0.0, f64::max)
}

pub fn policies() -> [Damping<f64>; 3] {
    [GainRatio::default().into(), TrustRegion::default().into(), Multiplicative::default().into()]
}

pub fn solvers() -> impl Iterator<Item = LevenbergMarquardt<f64>> {
    let forms = [LinearSolver::Always(LinearForm::Cholesky), LinearSolver::Always(LinearForm::Qr), LinearSolver::Auto];
    let accelerations = [Acceleration::WhereCurved, Acceleration::Always, Acceleration::Never];
    policies().into_iter().flat_map(move |policy| {
        forms.into_iter().zip(accelerations).map(move |(form, acceleration)| {
            LevenbergMarquardt::new().with_damping(policy).with_linear_solver(form).with_acceleration(acceleration)
        })
    })
}
