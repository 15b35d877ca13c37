//! The least-squares problem as the engine sees it.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use super::{BlockJacobian, Bounds, ConcurrentRows, JacobianProducts};
use crate::distributed::Communicator;
use crate::kernels::vector::dot;
use crate::manifold::Manifold;
use crate::real::Real;

/// Minimise `½‖r(x)‖²` over `x ∈ Rⁿ`, with `r: Rⁿ → Rᵐ`.
///
/// The engine asks for rows of `r` and of the Jacobian `J = ∂r/∂x` in blocks small enough for the cache, and adds them
/// up as they come, so that `J` need never be stored. Implement this trait for full control; otherwise take one of the ways in:
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
/// NaN and infinity are not errors: at a trial point they mean that the step went too far, and the engine takes a
/// shorter one. Return an [`EvaluationError`] for what should end the fit; the best point so far is kept.
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
    /// (`jacobian[i * n + j] = ∂r_{first + i}/∂x_j`, with `n` [columns](Self::column_count)).
    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError>;

    /// Writes the residuals and some columns of the Jacobian, as [`linearize`](Self::linearize) does for all: those of the
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

    /// Cost of the rows just evaluated, `first..first + r.len()`: `½‖r‖²`.
    ///
    /// A loss that is convex in the outputs of a model joins by overriding this with its true value, and giving rows whose
    /// `Jᵀr` is its gradient and whose `JᵀJ` stands for its second derivative (generalised Gauss–Newton). Steps are then
    /// judged by the true loss. `J` need not be the derivative of such rows, and so
    /// [`second_directional_derivative`](Self::second_directional_derivative) is not replaced by a difference of them: without one of
    /// the problem's own, steps get no geodesic acceleration. Called right after [`residuals`](Self::residuals) or
    /// [`linearize`](Self::linearize) for the same rows.
    #[inline]
    fn cost_of(&mut self, first: usize, r: &[T]) -> T {
        let _ = first;
        T::from_f64(0.5) * dot(r, r)
    }

    /// Fills `second` with the rows of `d²r(x + tv)/dt²` at `t = 0` and returns `true`; `false` when it is not known
    /// exactly, and the engine then takes a difference of residuals, unless they stand for a [cost](Self::cost_of) of the problem's
    /// own. Only geodesic acceleration asks for it. For a loss of the outputs of a model, it is the root of the loss's second
    /// derivative, at `x`, times the second derivative of the outputs.
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
    /// last [`linearize`](Self::linearize).
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

    /// Returns true if the Jacobian costs little more than the residuals. The engine then linearises a trial point that it expects to
    /// take at once instead of asking for its cost first.
    fn derivatives_are_cheap(&self) -> bool {
        self.parameter_count() <= 16
    }

    /// The manifold that points are on, of as many numbers as there are parameters. The solver then moves a point `x` by a step `δ`
    /// to `x ⊞ δ`, and the Jacobian has a column for each number of a step: `∂r(x ⊞ δ)/∂δ` at `δ = 0`. `None`, the default,
    /// adds the step to the point. A problem on a manifold has no bounds.
    #[inline]
    fn manifold(&self) -> Option<&dyn Manifold<T>> {
        None
    }

    /// Number of columns of the Jacobian: that of the parameters, or that of the numbers of a step on the [manifold](Self::manifold).
    #[inline]
    fn column_count(&self) -> usize {
        self.manifold().map_or_else(|| self.parameter_count(), Manifold::tangent_size)
    }

    /// The bounds that the parameters must keep; those of the minimum, and of every point that the solver evaluates. A
    /// solve reads them once, at its start.
    fn bounds(&self) -> Option<&Bounds<T>> {
        None
    }

    /// The problem as one that multiplies by its Jacobian without forming it, where it can.
    fn products(&mut self) -> Option<&mut dyn JacobianProducts<T>> {
        None
    }

    /// The problem as one whose Jacobian is made of blocks, where it is.
    #[inline]
    fn blocks(&mut self) -> Option<&mut dyn BlockJacobian<T>> {
        None
    }

    /// The problem as one whose rows can be evaluated at `x` on several threads at once, if it can be; `None` by default.
    fn concurrent(&mut self, x: &[T]) -> Option<&dyn ConcurrentRows<T>> {
        let _ = x;
        None
    }

    /// The ranks that the rows are spread over, where these are one rank's shard of them. Then everything that sums rows
    /// is collective.
    #[inline]
    fn communicator(&self) -> Option<&Communicator> {
        None
    }

    /// Name of parameter `index` in reports.
    fn parameter_name(&self, index: usize) -> String {
        format!("x[{index}]")
    }

    /// Name of column `index` of the Jacobian in reports: by default that of the parameter, or of a number of the step on a manifold.
    fn column_name(&self, index: usize) -> String {
        match self.manifold() {
            None => self.parameter_name(index),
            Some(_) => format!("δ[{index}]"),
        }
    }
}

/// Outcome of an evaluation that fills what it is given, or returns a value.
pub type Evaluated<T = ()> = Result<T, EvaluationError>;

/// A residual function could not be evaluated, and the fit should end.
///
/// Made from a message or from any error:
///
/// ```
/// use marquardt::EvaluationError;
///
/// let from_message = EvaluationError::from("the simulator is not running");
/// let from_error = EvaluationError::new("abc".parse::<f64>().unwrap_err());
/// assert_eq!(from_message.to_string(), "the simulator is not running");
/// assert_eq!(from_error.to_string(), "invalid float literal");
/// ```
pub struct EvaluationError(Box<dyn Error + Send + Sync>);

impl EvaluationError {
    /// Wraps the error that stopped the evaluation.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        EvaluationError(error.into())
    }

    /// The error inside, if it is of this type.
    ///
    /// ```
    /// use marquardt::EvaluationError;
    ///
    /// let error = EvaluationError::new("abc".parse::<f64>().unwrap_err());
    /// assert!(error.downcast_ref::<std::num::ParseFloatError>().is_some());
    /// ```
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }

    /// The error that stopped the evaluation, if it is of this type; otherwise the evaluation's error again.
    ///
    /// # Errors
    ///
    /// This error, where another type of error stopped the evaluation.
    pub fn downcast<E: Error + 'static>(self) -> Result<E, Self> {
        self.0.downcast().map(|error| *error).map_err(EvaluationError)
    }
}

impl From<&str> for EvaluationError {
    fn from(message: &str) -> Self {
        EvaluationError(message.into())
    }
}

impl From<String> for EvaluationError {
    fn from(message: String) -> Self {
        EvaluationError(message.into())
    }
}

impl fmt::Debug for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for EvaluationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
