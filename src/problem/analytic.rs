//! Residuals and their Jacobian given by a closure.

use super::{EvaluationError, LeastSquares};
use crate::real::Real;

/// The least-squares problem of a closure that also writes its Jacobian.
///
/// The closure `|x, r, jacobian|` fills all residuals and, when `jacobian` is given, all its rows
/// (`jacobian[i * n + j] = ∂r_i/∂x_j`), so both share their common work.
/// [`check_derivatives`](crate::problem::check_derivatives) compares what it writes with differences.
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::problem::Analytic;
///
/// // A circle through three points: r_i = |p_i − centre| − radius.
/// let points = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0_f64]];
/// let mut circle =
///     Analytic::new(3, 3, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
///         let distance = points.map(|p| (p[0] - x[0]).hypot(p[1] - x[1]));
///         for i in 0..3 {
///             r[i] = distance[i] - x[2];
///         }
///         if let Some(jacobian) = jacobian {
///             for (i, row) in jacobian.chunks_exact_mut(3).enumerate() {
///                 let p = points[i];
///                 row.copy_from_slice(&[
///                     (x[0] - p[0]) / distance[i],
///                     (x[1] - p[1]) / distance[i],
///                     -1.0,
///                 ]);
///             }
///         }
///         Ok(())
///     });
/// let report = LevenbergMarquardt::new().minimize(&mut circle, &[0.3, -0.4, 2.0])?;
/// assert!((report.x[2] - 1.0).abs() < 1e-12);
/// # Ok::<(), marquardt::SolveError>(())
/// ```
///
/// The whole Jacobian is one block here. To stream it, implement [`LeastSquares`].
#[derive(Debug, Clone)]
pub struct Analytic<F> {
    parameters: usize,
    residuals: usize,
    function: F,
}

impl<F> Analytic<F> {
    /// Creates a problem of this number of parameters and residuals.
    pub fn new<T: Real>(parameters: usize, residuals: usize, function: F) -> Self
    where
        F: FnMut(&[T], &mut [T], Option<&mut [T]>) -> Result<(), EvaluationError>,
    {
        Analytic { parameters, residuals, function }
    }
}

impl<T: Real, F> LeastSquares<T> for Analytic<F>
where
    F: FnMut(&[T], &mut [T], Option<&mut [T]>) -> Result<(), EvaluationError>,
{
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    fn residual_count(&self) -> usize {
        self.residuals
    }

    fn row_group(&self) -> usize {
        self.residuals
    }

    fn residuals(&mut self, x: &[T], _first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        (self.function)(x, r, None)
    }

    fn linearize(&mut self, x: &[T], _first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        (self.function)(x, r, Some(jacobian))
    }
}
