//! Residuals given by closures over floats.

use super::{Bounds, EvaluationError, LeastSquares};
use crate::Real;
use crate::autodiff::Difference;

/// The least-squares problem of a plain closure, differentiated by finite differences.
///
/// The closure `|x, r|` fills all residuals `r` at `x`. Its derivatives cost one evaluation a parameter
/// ([`Difference::Forward`], about 8 correct digits) or two ([`Difference::Central`], about 10, the default), and the
/// whole Jacobian is in memory; prefer [`AutoDiff`](super::AutoDiff) where the function can be written generically.
///
/// ```
/// use marquardt::{FiniteDifference, LevenbergMarquardt};
///
/// let t = [0.0, 1.0, 2.0, 3.0_f64];
/// let y = [2.0, 1.2, 0.75, 0.45];
/// let mut decay = FiniteDifference::new(2, 4, |b: &[f64], r: &mut [f64]| {
///     for i in 0..4 {
///         r[i] = b[0] * (-b[1] * t[i]).exp() - y[i];
///     }
///     Ok(())
/// });
/// let report = LevenbergMarquardt::new().minimize(&mut decay, &[1.0, 1.0])?;
/// assert!((report.x[1] - 0.5).abs() < 0.02);
/// # Ok::<(), marquardt::SolveError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FiniteDifference<T, F> {
    parameters: usize,
    residuals: usize,
    function: F,
    difference: Difference,
    bounds: Option<Bounds<T>>,
    x: Vec<T>,
    ahead: Vec<T>,
    behind: Vec<T>,
}

impl<T: Real, F: FnMut(&[T], &mut [T]) -> Result<(), EvaluationError>> FiniteDifference<T, F> {
    /// A problem of so many parameters and residuals.
    pub fn new(parameters: usize, residuals: usize, function: F) -> Self {
        FiniteDifference {
            parameters,
            residuals,
            function,
            difference: Difference::default(),
            bounds: None,
            x: Vec::new(),
            ahead: Vec::new(),
            behind: Vec::new(),
        }
    }

    /// Chooses forward or central differences.
    pub fn with_difference(mut self, difference: Difference) -> Self {
        self.difference = difference;
        self
    }

    /// Bounds on the parameters, which differences keep, too: the closure is never called outside.
    ///
    /// ```
    /// use marquardt::{Bounds, FiniteDifference, LevenbergMarquardt};
    ///
    /// let root = FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| {
    ///     assert!(x[0] >= 0.0);
    ///     r[0] = x[0].sqrt() + x[0] + 1.0;
    ///     Ok(())
    /// });
    /// let mut root = root.with_bounds(Bounds::new([0.0], [4.0])?);
    /// let report = LevenbergMarquardt::new().minimize(&mut root, &[3.0])?;
    /// assert_eq!(report.x, [0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_bounds(mut self, bounds: Bounds<T>) -> Self {
        self.bounds = Some(bounds);
        self
    }
}

impl<T: Real, F: FnMut(&[T], &mut [T]) -> Result<(), EvaluationError>> LeastSquares<T> for FiniteDifference<T, F> {
    fn bounds(&self) -> Option<&Bounds<T>> {
        self.bounds.as_ref()
    }

    fn derivatives_are_cheap(&self) -> bool {
        false
    }

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
        (self.function)(x, r)
    }

    fn linearize(&mut self, x: &[T], _first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        (self.function)(x, r)?;
        self.x.clear();
        self.x.extend_from_slice(x);
        self.ahead.resize(r.len(), T::ZERO);
        self.behind.resize(r.len(), T::ZERO);
        for (j, &center) in x.iter().enumerate() {
            let range = self.bounds.as_ref().map_or((-T::INFINITY, T::INFINITY), |bounds| bounds.of(j));
            let FiniteDifference { function, x: moved, ahead, behind, .. } = self;
            self.difference.fill_column(x, j, range, r, jacobian, |stencil, jacobian| {
                for (point, values) in stencil.points().into_iter().zip([&mut *ahead, &mut *behind]) {
                    let Some(point) = point else { continue };
                    moved[j] = point;
                    let outcome = function(moved, values);
                    moved[j] = center;
                    outcome?;
                }
                let values = r.iter().zip(ahead.iter().zip(&*behind));
                for (row, (&here, (&ahead, &behind))) in jacobian.chunks_exact_mut(x.len()).zip(values) {
                    row[j] = stencil.slope(center, here, ahead, behind);
                }
                Ok::<(), EvaluationError>(())
            })?;
        }
        Ok(())
    }
}

/// The least-squares problem of a closure that also writes its Jacobian.
///
/// The closure `|x, r, jacobian|` fills all residuals and, when `jacobian` is given, all its rows
/// (`jacobian[i * n + j] = ∂r_i/∂x_j`), so both share their common work.
/// [`check_derivatives`](crate::check_derivatives) compares what it writes with differences.
///
/// ```
/// use marquardt::{Analytic, LevenbergMarquardt};
///
/// // A circle through three points: r_i = |p_i − centre| − radius.
/// let points = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0_f64]];
/// let mut circle = Analytic::new(3, 3, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
///     let distance = points.map(|p| (p[0] - x[0]).hypot(p[1] - x[1]));
///     for i in 0..3 {
///         r[i] = distance[i] - x[2];
///     }
///     if let Some(jacobian) = jacobian {
///         for (i, row) in jacobian.chunks_exact_mut(3).enumerate() {
///             row.copy_from_slice(&[(x[0] - points[i][0]) / distance[i], (x[1] - points[i][1]) / distance[i], -1.0]);
///         }
///     }
///     Ok(())
/// });
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
    /// A problem of so many parameters and residuals.
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
