//! The least-squares problem as the engine sees it.

use super::capabilities::none;
use super::{Capabilities, EvaluationError, ParameterDomain};
use crate::kernels::vector::dot;
use crate::manifold::Manifold;
use crate::real::Real;

/// Minimise `½‖r(x)‖²` over `x ∈ Rⁿ`, with `r: Rⁿ → Rᵐ`.
///
/// The solver requests rows of `r` and of the Jacobian `J = ∂r/∂x` in blocks that fit into the cache, and sums them block by block, so that
/// `J` need not be stored. Four methods define a problem: its two counts, [`residuals`](Self::residuals) and
/// [`linearize`](Self::linearize). The others have defaults: [`domain`](Self::domain) returns the domain of the parameters, and
/// [`capabilities`](Self::capabilities) the optional capabilities. Implement this trait for full control; otherwise use one of these types:
///
/// | you have | use |
/// |---|---|
/// | a residual function that can be generic over its scalar | [`AutoDiff`](crate::AutoDiff), exact derivatives |
/// | a closure over floats | [`FiniteDifference`](crate::problem::FiniteDifference) |
/// | a closure and its derivatives | [`Analytic`](crate::problem::Analytic) |
/// | a curve and data | [`CurveFit`](crate::CurveFit) |
///
/// # Rows
///
/// A call for `r.len()` rows starting at `first` fills rows `first..first + r.len()`. Where rows are computed together
/// (a point with two coordinates, an integration that gives all residuals at once) override
/// [`row_group`](Self::row_group): blocks then start and end at whole groups.
///
/// # Non-finite values
///
/// NaN and infinity are not errors: at a trial point they mean that the step was too long, and the solver takes a shorter one. Return an
/// [`EvaluationError`] to end the fit; the best point is kept.
///
/// ```
/// use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt};
///
/// /// Rosenbrock's valley: r = (10 (x₁ − x₀²), 1 − x₀).
/// struct Rosenbrock;
///
/// impl LeastSquares<f64> for Rosenbrock {
///     fn parameter_count(&self) -> usize {
///         2
///     }
///     fn residual_count(&self) -> usize {
///         2
///     }
///     fn row_group(&self) -> usize {
///         2
///     }
///     fn residuals(
///         &mut self,
///         x: &[f64],
///         _first: usize,
///         r: &mut [f64],
///     ) -> Result<(), EvaluationError> {
///         r.copy_from_slice(&[10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]);
///         Ok(())
///     }
///     fn linearize(
///         &mut self,
///         x: &[f64],
///         first: usize,
///         r: &mut [f64],
///         j: &mut [f64],
///     ) -> Result<(), EvaluationError> {
///         j.copy_from_slice(&[-20.0 * x[0], 10.0, -1.0, 0.0]);
///         self.residuals(x, first, r)
///     }
/// }
///
/// let report = LevenbergMarquardt::new().minimize(&mut Rosenbrock, &[-1.2, 1.0])?;
/// assert!((report.x[0] - 1.0).abs() < 1e-12 && (report.x[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), marquardt::SolveError>(())
/// ```
pub trait LeastSquares<T: Real> {
    /// Number of parameters, `n`.
    fn parameter_count(&self) -> usize;

    /// Number of residuals, `m`. It may be smaller than `n`.
    fn residual_count(&self) -> usize;

    /// Number of rows that have to be computed together; a divisor of [`residual_count`](Self::residual_count).
    fn row_group(&self) -> usize {
        1
    }

    /// Fills `r` with the residuals `first..first + r.len()` at `x`.
    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError>;

    /// Fills `r` as [`residuals`](Self::residuals) does, and `jacobian` with the same rows of `J`, row after row
    /// (`jacobian[i * n + j] = ∂r_{first + i}/∂x_j`). On a [manifold](ParameterDomain::with_manifold), `J` has a column for each entry of a step.
    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError>;

    /// Domain of the parameters: all of `Rⁿ` (the default), a box with [bounds](crate::Bounds), or a [manifold](crate::manifold::Manifold).
    #[inline]
    fn domain(&self) -> ParameterDomain<'_, T> {
        ParameterDomain::default()
    }

    /// Optional capabilities of the problem: blocks, products, rows on several threads, its own loss; default: none. A problem with
    /// capabilities implements [`Capabilities`] and returns itself.
    #[inline]
    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        none()
    }

    /// Name of parameter `index` in reports.
    fn parameter_name(&self, index: usize) -> String {
        format!("x[{index}]")
    }
}

/// Properties that follow from those of a problem.
pub(crate) trait LeastSquaresExt<T: Real>: LeastSquares<T> {
    /// Number of columns of the Jacobian: the parameters, or the entries of a step on a manifold.
    #[inline]
    fn column_count(&self) -> usize {
        self.domain().manifold().map_or_else(|| self.parameter_count(), Manifold::tangent_size)
    }

    /// Name of column `index` of the Jacobian in reports.
    fn column_name(&self, index: usize) -> String {
        match self.domain().manifold() {
            None => self.parameter_name(index),
            Some(_) => format!("δ[{index}]"),
        }
    }

    /// Cost of the rows just evaluated: the problem's own, or else `½‖r‖²`.
    #[inline]
    fn cost_of_rows(&mut self, first: usize, r: &[T]) -> T {
        self.capabilities().cost_of(first, r).unwrap_or_else(|| T::from_f64(0.5) * dot(r, r))
    }

    /// Returns true if a Jacobian costs little more than the residuals: by the problem's own judgement, or else with up to 16 parameters.
    #[inline]
    fn derivatives_are_cheap(&mut self) -> bool {
        let few = self.parameter_count() <= 16;
        self.capabilities().derivatives_are_cheap().unwrap_or(few)
    }
}

impl<T: Real, P: LeastSquares<T> + ?Sized> LeastSquaresExt<T> for P {}
