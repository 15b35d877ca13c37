//! Capabilities of a problem besides its residuals and their Jacobian.

use std::ops::Range;

use super::{BlockJacobian, ConcurrentRows, EvaluationError, JacobianProducts};
use crate::distributed::Communicator;
use crate::real::Real;

/// Optional capabilities of a [`LeastSquares`](crate::LeastSquares) problem besides its rows. By default, each method returns that the
/// problem lacks the capability.
///
/// ```
/// use marquardt::problem::Capabilities;
/// use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt};
///
/// /// Counts with one logarithmic rate: the loss is `Σ (eˣ − y x)`, and the rows stand for its derivatives.
/// struct Poisson {
///     counts: [f64; 3],
///     loss: f64,
/// }
///
/// impl LeastSquares<f64> for Poisson {
///     fn parameter_count(&self) -> usize {
///         1
///     }
///     fn residual_count(&self) -> usize {
///         3
///     }
///     fn row_group(&self) -> usize {
///         3
///     }
///     fn residuals(&mut self, x: &[f64], _: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
///         let rate = x[0].exp();
///         self.loss = self.counts.iter().map(|y| rate - y * x[0]).sum();
///         r.iter_mut().zip(self.counts).for_each(|(r, y)| *r = (rate - y) / rate.sqrt());
///         Ok(())
///     }
///     fn linearize(
///         &mut self,
///         x: &[f64],
///         first: usize,
///         r: &mut [f64],
///         j: &mut [f64],
///     ) -> Result<(), EvaluationError> {
///         j.fill((0.5 * x[0]).exp());
///         self.residuals(x, first, r)
///     }
///     fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
///         self
///     }
/// }
///
/// impl Capabilities<f64> for Poisson {
///     fn cost_of(&mut self, _first: usize, _r: &[f64]) -> Option<f64> {
///         Some(self.loss)
///     }
/// }
///
/// let mut problem = Poisson { counts: [3.0, 7.0, 5.0], loss: 0.0 };
/// let report = LevenbergMarquardt::new().minimize(&mut problem, &[0.0])?;
/// assert!((report.x[0].exp() - 5.0).abs() < 1e-6);
/// # Ok::<(), marquardt::SolveError>(())
/// ```
pub trait Capabilities<T: Real> {
    /// The problem as one that multiplies by its Jacobian without forming it.
    fn products(&mut self) -> Option<&mut dyn JacobianProducts<T>> {
        None
    }

    /// The problem as one whose Jacobian is made of blocks.
    #[inline]
    fn blocks(&mut self) -> Option<&mut dyn BlockJacobian<T>> {
        None
    }

    /// The problem as one whose rows can be evaluated at `x` on several threads at once.
    fn concurrent(&mut self, x: &[T]) -> Option<&dyn ConcurrentRows<T>> {
        let _ = x;
        None
    }

    /// The ranks over which the rows are distributed, if this problem has the rows of one rank only. All methods that sum rows are then
    /// collective.
    #[inline]
    fn communicator(&mut self) -> Option<&Communicator> {
        None
    }

    /// Returns true if the Jacobian costs little more than the residuals. The solver then linearises a trial point that it expects to
    /// accept, without evaluating its cost first. `None`, the default, means true for up to 16 parameters.
    #[inline]
    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        None
    }

    /// Returns true if derivatives have no more than half of the digits, as forward differences. Steps of the
    /// [polish](crate::LevenbergMarquardt::with_polish) gain little by them then, and are made only if they are enabled.
    #[inline]
    fn derivatives_are_rough(&mut self) -> bool {
        false
    }

    /// Declares that the residuals depend on the parameters only from now on (`true`), as during a solve, or may change (`false`). Between
    /// these calls, a problem with expensive evaluations may keep the last ones instead of evaluating points again. The default
    /// implementation does nothing.
    #[inline]
    fn keep_evaluations(&mut self, keeps: bool) {
        let _ = keeps;
    }

    /// Cost of the rows just evaluated, `first..first + r.len()`; `None`, the default, stands for `½‖r‖²`.
    ///
    /// For a loss that is convex in the outputs of a model, return its true value here, and rows whose `Jᵀr` is its gradient and whose
    /// `JᵀJ` approximates its second derivative (generalised Gauss–Newton). Steps are then accepted by the true loss. `J` need not be the
    /// derivative of such rows, and so [`second_directional_derivative`](Self::second_directional_derivative) is not replaced by a
    /// difference of them: without one of the problem's own, steps get no geodesic acceleration. Called right after
    /// [`residuals`](crate::LeastSquares::residuals) or [`linearize`](crate::LeastSquares::linearize) for the same rows.
    #[inline]
    fn cost_of(&mut self, first: usize, r: &[T]) -> Option<T> {
        let _ = (first, r);
        None
    }

    /// Writes the residuals and some columns of the Jacobian, as [`linearize`](crate::LeastSquares::linearize) does for all: those of the
    /// parameters in `columns`, ascending ranges, side by side. Returns `false` when there is no cheaper way than to take them
    /// from the whole.
    fn linearize_columns(
        &mut self,
        x: &[T],
        first: usize,
        r: &mut [T],
        columns: &[Range<usize>],
        jacobian: &mut [T],
    ) -> Result<bool, EvaluationError> {
        let _ = (x, first, r, columns, jacobian);
        Ok(false)
    }

    /// Fills `second` with the rows of `d²r(x + tv)/dt²` at `t = 0` and returns `true`; `false` when it is not known exactly, and the
    /// solver then takes a difference of residuals, unless they represent another [loss](Self::cost_of). Used by geodesic acceleration
    /// only. For a loss of the outputs of a model, it is the root of the loss's second derivative, at `x`, times the second derivative of
    /// the outputs.
    #[inline]
    fn second_directional_derivative(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Result<bool, EvaluationError> {
        let _ = (x, v, first, second);
        Ok(false)
    }

    /// Fills `second` as [`second_directional_derivative`](Self::second_directional_derivative) does, adds
    /// `Jᵀ second` of these rows to `product`, and returns `true`; `false` when that takes the Jacobian itself.
    #[inline]
    fn second_derivative_product(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
        product: &mut [T],
    ) -> Result<bool, EvaluationError> {
        let _ = (x, v, first, second, product);
        Ok(false)
    }

    /// Adds `Jᵀu` of the rows `first..first + u.len()` at `x` to `product`, and returns `true`; `false`, the default, when that takes
    /// the Jacobian itself. Only [chord corrections](crate::LevenbergMarquardt::with_chord_corrections) ask for it, at the point of the
    /// last [`linearize`](crate::LeastSquares::linearize).
    fn transposed_product(
        &mut self,
        x: &[T],
        first: usize,
        u: &[T],
        product: &mut [T],
    ) -> Result<bool, EvaluationError> {
        let _ = (x, first, u, product);
        Ok(false)
    }
}

/// A problem without capabilities.
struct Plain;

impl<T: Real> Capabilities<T> for Plain {}

/// Returns no capabilities. The value has no size, so that no memory is taken, nor lost.
#[inline]
pub(super) fn none<'a, T: Real>() -> &'a mut dyn Capabilities<T> {
    Box::leak(Box::new(Plain))
}
