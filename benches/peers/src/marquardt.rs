//! `marquardt`: this library, at its default settings.

use marquardt::{EvaluationError, FixedAutoDiff, LeastSquares, LevenbergMarquardt, Residuals, Scalar};
use nalgebra_of_marquardt::SVector;

use crate::contest::Fit;
use crate::workloads::{Misra1a, Workload};

/// Any workload, with its derivatives by hand.
pub fn analytic<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    let solver = LevenbergMarquardt::new().with_log(false);
    let report = solver.minimize(&mut Analytic(workload), start).expect("the start is valid");
    let evaluations = report.evaluations.residuals + report.evaluations.jacobians;
    Fit { parameters: report.x, evaluations: Some(evaluations) }
}

/// Misra1a with its size known to the compiler and dual numbers: nothing is allocated.
pub fn misra1a(workload: &Misra1a, start: &[f64]) -> Fit {
    let mut problem = FixedAutoDiff::<_, 2>(Duals(workload));
    let start = SVector::from([start[0], start[1]]);
    let report = LevenbergMarquardt::new().minimize_fixed(&mut problem, start).expect("the start is valid");
    let evaluations = report.evaluations.residuals + report.evaluations.jacobians;
    Fit { parameters: report.x.as_slice().to_vec(), evaluations: Some(evaluations) }
}

struct Analytic<'a, W>(&'a W);

impl<W: Workload> LeastSquares<f64> for Analytic<'_, W> {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.0.residual_count()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.residuals(x, first, r);
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.linearize(x, first, r, j);
        Ok(())
    }
}

struct Duals<'a>(&'a Misra1a);

impl Residuals<f64> for Duals<'_> {
    fn parameter_count(&self) -> usize {
        Misra1a::PARAMETERS
    }

    fn residual_count(&self) -> usize {
        Misra1a::POINTS
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let samples = self.0.samples();
        for (r, (&x, &y)) in r.iter_mut().zip(samples.x[first..].iter().zip(&samples.y[first..])) {
            *r = b[0] * (-(-b[1] * x).exp() + 1.0) - y;
        }
        Ok(())
    }
}
