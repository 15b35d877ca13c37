//! Starts that only a fit can tell the better of.

use std::iter::zip;
use std::marker::PhantomData;

use super::formula::{Formula, real};
use super::look::Look;
use crate::problem::{AutoDiff, Evaluated, Residuals};
use crate::scalar::Scalar;
use crate::solver::LevenbergMarquardt;

/// Iterations that a start is worth.
const ITERATIONS: usize = 30;

/// Least-squares problem of a model and data.
struct StartProblem<'a, F> {
    look: &'a Look,
    model: PhantomData<F>,
}

impl<F: Formula> Residuals<f64> for StartProblem<'_, F> {
    fn parameter_count(&self) -> usize {
        F::PARAMETERS.len()
    }

    fn residual_count(&self) -> usize {
        self.look.x.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Evaluated {
        for (r, (&x, &y)) in zip(r, zip(&self.look.x[first..], &self.look.y[first..])) {
            *r = F::at(real::<S>(x), b) - real::<S>(y);
        }
        Ok(())
    }
}

/// The better of the best points of two grids, after a short fit from either: the second if its sum of squares is less than this
/// part of the first's.
pub(super) fn better_on<F: Formula>(look: &Look, grids: [Vec<Vec<f64>>; 2], part: f64) -> Vec<f64> {
    let [first, second] = grids.map(|axes| {
        let start = F::best_on(look, axes);
        let mut curve_problem = AutoDiff(StartProblem { look, model: PhantomData::<F> });
        let solver = LevenbergMarquardt::new().with_max_iterations(ITERATIONS);
        match solver.minimize_rows(&mut curve_problem, &start, &mut ()) {
            Ok(report) => (report.sum_of_squares(), report.x),
            Err(_) => (f64::INFINITY, start),
        }
    });
    if second.0 < part * first.0 { second.1 } else { first.1 }
}
