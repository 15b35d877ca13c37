//! The solver: settings and solves.

use std::any::Any;
use std::fmt;
use std::time::Duration;

use nalgebra::SVector;

use super::damping::{Damping, DampingPolicy};
use super::{Acceleration, CancelToken, Observer, Report, Scaling, Settings, SolveError, engine};
use crate::linear::{LinearSolver, Truncation};
use crate::problem::{DenseVector, LeastSquares};
use crate::real::Real;

/// Levenberg–Marquardt: minimises `½‖r(x)‖²` by damped Gauss–Newton steps.
///
/// # Algorithm
///
/// Around the current point the residuals are approximated by `r + Jδ`, and the step `δ` solves `(JᵀJ + λD²)δ = −Jᵀr`. The step is accepted
/// if it lowers the cost by a sufficient fraction of the predicted reduction. A [damping policy](crate::solver::damping) chooses `λ` anew
/// after each trial. At the end, Gauss–Newton steps that are accepted by the gradient bring the parameters to the last digits that rounding
/// allows. A point that may not be a minimum, such as a saddle, gets a [second look](super::Status#the-second-look); if it finds a lower
/// point, the solve continues from there.
///
/// A loss that is convex in the outputs of a model, such as a cross-entropy, is minimised in the same way: `r` and `J`
/// then stand for its gradient `Jᵀr` and its second derivative `JᵀJ` (generalised Gauss–Newton), while the cost that
/// steps are judged by is the loss itself. See [`nn::GaussNewton`](crate::nn::GaussNewton) and
/// [`Capabilities::cost_of`](crate::problem::Capabilities::cost_of).
///
/// # Cost
///
/// With `m` residuals and `n` parameters an iteration takes `mn² + n³/3` flops by the normal equations, twice that by QR, `m²n + m³/3` in
/// the dual form; see [`LinearSolver`]. Rows are summed one tile at a time, so that memory is `O(n²)` for any `m` (the dual form keeps its
/// `m` rows). A problem that provides products with its Jacobian without forming it, as networks do, is solved in `O(m²)` memory besides
/// its own, or without any matrix ([`LinearForm::ConjugateGradients`](crate::linear::LinearForm::ConjugateGradients)).
///
/// # Failure modes
///
/// The solver finds a minimum near the start, not the lowest one. A [`Report`] always has the best point and a [`Status`](super::Status),
/// the reason for the end; a [`SolveError`] is returned only if the solve could not start. A status counts as converged only if the
/// gradient passes the first-order test and no plain step lowers the cost noticeably.
///
/// # Large residuals
///
/// Gauss–Newton neglects the second derivatives of the residuals. After 12 trials whose gain ratio differs from 1 by more than 25 %, secant
/// updates of the neglected term are added to the normal equations (Dennis, Gay & Welsch 1981). Each step uses the model, with or without
/// this term, that predicted the last cost better. The problem of Brown and Dennis then takes 38 to 48 iterations instead of thousands. QR
/// and the dual forms do not support this.
///
/// # Bounds
///
/// If a problem has [bounds](crate::problem::ParameterDomain::with_bounds), every step is the minimum of the damped linear model within
/// them, with its own set of parameters at bounds. Tests of the gradient use the parameters that no bound holds. The solve ends at a
/// minimum within the bounds, to all digits. Parameters at a bound equal it exactly, and are listed in [`Report::active`]. No point outside
/// of the bounds is evaluated; a start outside is an error.
///
/// # Defaults
///
/// Damping by the gain ratio, scaling by the fading maximum of the column norms (none where the Jacobian is not formed),
/// acceleration where the path is curved, automatic choice of the linear solver; `gtol` and `xtol` at rounding level,
/// `ftol` 10⁻¹⁰ for [`f64`], all followed by the [polish](Self::with_polish), which needs the Jacobian; 1,000 iterations, 4 GiB (1 GiB on
/// 32 bits).
///
/// # References
///
/// Levenberg 1944; Marquardt 1963; Moré 1978, *The Levenberg–Marquardt algorithm: implementation and theory*;
/// Dennis, Gay & Welsch 1981, *An adaptive nonlinear least-squares algorithm*;
/// Fan 2012, *The modified Levenberg–Marquardt method for nonlinear equations with cubic convergence*;
/// Stark & Parker 1995, *Bounded-variable least squares*; Nielsen 1999, *Damping parameter in Marquardt's method*; Schraudolph 2002,
/// *Fast curvature matrix-vector products*; Transtrum & Sethna 2012, arXiv:1201.5885.
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::problem::FiniteDifference;
///
/// let mut problem = FiniteDifference::new(2, 2, |x: &[f64], r: &mut [f64]| {
///     r[0] = x[0] * x[0] + x[1] * x[1] - 1.0;
///     r[1] = x[0] - x[1];
///     Ok(())
/// });
/// let report =
///     LevenbergMarquardt::new().with_max_iterations(50).minimize(&mut problem, &[2.0, 0.5])?;
/// assert!(report.is_converged());
/// assert!((report.x[0] - 0.5_f64.sqrt()).abs() < 1e-9);
/// println!("{report}");
/// # Ok::<(), marquardt::SolveError>(())
/// ```
pub struct LevenbergMarquardt<T: Real, D = Damping<T>> {
    pub(crate) damping: D,
    pub(crate) settings: Settings<T>,
    /// State that an optimizer carries from minibatch to minibatch, in a type of its own; a solve carries nothing.
    pub(crate) carried: Option<Box<dyn Any + Send + Sync>>,
}

impl<T: Real> LevenbergMarquardt<T> {
    /// The defaults.
    pub fn new() -> Self {
        LevenbergMarquardt { damping: Damping::default(), settings: Settings::default(), carried: None }
    }
}

impl<T: Real> Default for LevenbergMarquardt<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real, D: DampingPolicy<T>> Clone for LevenbergMarquardt<T, D> {
    /// Copies the settings, with nothing carried over from minibatches.
    fn clone(&self) -> Self {
        LevenbergMarquardt { damping: self.damping.clone(), settings: self.settings.clone(), carried: None }
    }
}

impl<T: Real, D: fmt::Debug> fmt::Debug for LevenbergMarquardt<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LevenbergMarquardt { damping, settings, .. } = self;
        f.debug_struct("LevenbergMarquardt")
            .field("damping", damping)
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}

impl<T: Real, D> LevenbergMarquardt<T, D> {
    /// Sets the damping policy: one of the built-in [policies](Damping), or your own [`DampingPolicy`]. Default
    /// [`GainRatio`](Damping::GainRatio).
    ///
    /// ```
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::solver::damping::{Damping, GainRatio};
    ///
    /// let nielsen = LevenbergMarquardt::<f64>::new().with_damping(GainRatio::default());
    /// let chosen_later: Damping<f64> = GainRatio::new(0.1).into();
    /// let nielsen_too = LevenbergMarquardt::<f64>::new().with_damping(chosen_later);
    /// # drop((nielsen, nielsen_too));
    /// ```
    pub fn with_damping<E: DampingPolicy<T>>(self, damping: E) -> LevenbergMarquardt<T, E> {
        LevenbergMarquardt { damping, settings: self.settings, carried: None }
    }

    /// Changes the settings.
    fn set(mut self, change: impl FnOnce(&mut Settings<T>)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Sets the scaling `D` of the damping. Default [`FadingMaximum`](Scaling::FadingMaximum); [`RunningMaximum`](Scaling::RunningMaximum)
    /// for variables, such as those of a network; [`Identity`](Scaling::Identity) if the Jacobian is not formed, where no other is
    /// possible.
    pub fn with_scaling(self, scaling: Scaling) -> Self {
        self.set(|settings| settings.scaling = Some(scaling))
    }

    /// Sets the policy of the second-order step correction.
    pub fn with_acceleration(self, acceleration: Acceleration) -> Self {
        self.set(|settings| settings.acceleration = acceleration)
    }

    /// Sets the largest number of chord corrections of a trial, which full solves make; default 0.
    ///
    /// A correction `c` is a step from the trial point with its own residuals, but with the Jacobian, the damping and the factorisation
    /// that are at hand: `(JᵀJ + λD²)c = −(Jᵀr(x + δ) + λD²δ)` (Fan 2012, *The modified Levenberg–Marquardt method*). It costs an
    /// evaluation of the residuals and a product with `Jᵀ`, and is taken where it lowers the cost. Along curved valleys steps
    /// become longer, as it leads back to the floor: networks that solve differential equations need about half of the steps.
    /// Corrections end once one is shorter than 2 % of the step, or longer than half of the one before.
    ///
    /// They are made for problems that know [`transposed_product`](crate::problem::Capabilities::transposed_product), as networks do, without
    /// bounds or manifolds, by the normal equations and QR.
    pub fn with_chord_corrections(self, most: usize) -> Self {
        self.set(|settings| settings.chord_corrections = most)
    }

    /// Sets the method that solves the linear systems.
    pub fn with_linear_solver(self, linear_solver: LinearSolver) -> Self {
        self.set(|settings| settings.linear_solver = linear_solver)
    }

    /// Ends [truncated conjugate gradients](crate::linear::LinearForm::TruncatedConjugateGradients) after this number of rounds, or once
    /// the system's residual is less than `tolerance` times the gradient. By default after 20 rounds or at 1e-3.
    ///
    /// A round takes a product with `J` and one with `Jᵀ`. Fewer rounds make cheaper and worse steps: of a network of 1,441
    /// parameters, 10 to 40 rounds were each the best for some time.
    pub fn with_truncation(mut self, rounds: usize, tolerance: T) -> Self {
        self.settings.truncation = Truncation { rounds, tolerance: tolerance.to_f64() };
        self.carried = None;
        self
    }

    /// Sets the memory budget of the workspace, in bytes; default 4 GiB (1 GiB on 32 bits). A problem that needs more is refused before
    /// memory is allocated.
    pub fn with_memory_budget(self, bytes: usize) -> Self {
        self.set(|settings| settings.memory_budget = bytes)
    }

    /// Sets the forcing term, the accuracy to which conjugate gradients solve the linear systems of a Jacobian of blocks
    /// ([`LinearForm::Cgnr`](crate::linear::LinearForm::Cgnr), [`LinearForm::IterativeSchur`](crate::linear::LinearForm::IterativeSchur)):
    /// they end once an iteration adds less than this fraction of the predicted reduction, divided by the number of iterations. From 0 to
    /// less than 1; default 0.1. It is lowered as the gradient falls, so that it does not limit the accuracy of the result.
    #[doc(alias = "eta")]
    pub fn with_forcing_term(self, forcing_term: f64) -> Self {
        self.set(|settings| settings.inexact.forcing_term = forcing_term)
    }

    /// Sets the largest number of iterations of these conjugate gradients for one system; default 5000. Their last iterate is
    /// tried as the step.
    #[doc(alias = "max_linear_solver_iterations")]
    pub fn with_max_linear_iterations(self, iterations: usize) -> Self {
        self.set(|settings| settings.inexact.max_rounds = iterations)
    }

    /// Sets the tolerance of the gradient: the solve ends once the largest cosine between the residuals and a column of the Jacobian is at
    /// most `gtol`. It has no unit; default 256 `ε`.
    #[doc(alias = "gradient_tolerance")]
    pub fn with_gtol(self, gtol: T) -> Self {
        self.set(|settings| settings.gtol = gtol)
    }

    /// Sets the tolerance of the step, relative to the point: the solve ends once `‖Dδ‖ ≤ xtol ‖Dx‖`, with the scaling `D`. Default `ε`.
    #[doc(alias = "parameter_tolerance")]
    pub fn with_xtol(self, xtol: T) -> Self {
        self.set(|settings| settings.xtol = xtol)
    }

    /// Sets the tolerance of the cost: the solve ends once a step predicts and achieves a reduction of at most `ftol` times the cost.
    /// Default 10⁻¹⁰ for [`f64`]. While damping shortens the steps, only a reduction at rounding level counts.
    #[doc(alias = "function_tolerance")]
    pub fn with_ftol(self, ftol: T) -> Self {
        self.set(|settings| settings.ftol = ftol)
    }

    /// Sets the target cost: the solve ends once the cost, `½‖r‖²` or the value of the loss, is at most this. Default: none.
    pub fn with_target_cost(self, cost: T) -> Self {
        self.set(|settings| settings.target_cost = Some(cost))
    }

    /// Sets the largest number of trial steps, rejected ones included; default 1,000.
    pub fn with_max_iterations(self, iterations: usize) -> Self {
        self.set(|settings| settings.max_iterations = iterations)
    }

    /// Sets the largest number of evaluations, with and without Jacobian.
    #[doc(alias = "max_nfev")]
    pub fn with_max_evaluations(self, evaluations: usize) -> Self {
        self.set(|settings| settings.max_evaluations = evaluations)
    }

    /// Sets the time limit of a solve; a trial that is under way is finished first. A target without a clock refuses it, by
    /// [`SolveError::NoClock`](crate::SolveError::NoClock).
    pub fn with_time_limit(self, limit: Duration) -> Self {
        self.set(|settings| settings.time_limit = Some(limit))
    }

    /// Sets a token that ends the solve when it is cancelled.
    pub fn with_cancel_token(self, token: CancelToken) -> Self {
        self.set(|settings| settings.cancel = Some(token))
    }

    /// Enables or disables the polish of the parameters after convergence: further steps, accepted by the gradient, to the last digit, or
    /// to `10⁻⁷` of the standard errors if there are more than 10,000 residuals. Enabled by default, unless derivatives are
    /// [rough](crate::problem::Capabilities::derivatives_are_rough): with forward differences it would gain half a digit and double the
    /// evaluations.
    pub fn with_polish(self, polish: bool) -> Self {
        self.set(|settings| settings.polish = Some(polish))
    }

    /// Enables or disables the log of all trials in the report. On by default.
    pub fn with_log(self, log: bool) -> Self {
        self.set(|settings| settings.log = log)
    }
}

impl<T: Real, D: DampingPolicy<T>> LevenbergMarquardt<T, D> {
    /// Minimises from `start`. The solve ends at a point that passes the [first-order test](super::Status#the-first-order-test) and the
    /// [second look](super::Status#the-second-look), at a point from which no step helps, or at a limit. The [status](Report::status) is
    /// the reason.
    ///
    /// # Errors
    ///
    /// [`SolveError`] when there is no valid start: wrong length, values, residuals or derivatives that are not finite, a start outside of
    /// the bounds, an invalid setting, or a workspace over the memory budget.
    pub fn minimize<P: LeastSquares<T> + ?Sized>(&self, problem: &mut P, start: &[T]) -> Result<Report<T>, SolveError> {
        self.minimize_observed(problem, start, &mut ())
    }

    /// [`minimize`](Self::minimize) from a vector of nalgebra, ndarray or faer; the point of the report is such a vector, too.
    ///
    /// # Errors
    ///
    /// As [`minimize`](Self::minimize).
    pub fn minimize_vector<V: DenseVector<T>, P: LeastSquares<T> + ?Sized>(
        &self,
        problem: &mut P,
        start: &V,
    ) -> Result<Report<T, V>, SolveError> {
        let start: Vec<T> = (0..start.count()).map(|i| start.entry(i)).collect();
        Ok(self.minimize(problem, &start)?.map(|x| V::from_entries(&x)))
    }

    /// [`minimize`](Self::minimize) with an observer that sees each trial.
    ///
    /// # Errors
    ///
    /// As [`minimize`](Self::minimize).
    pub fn minimize_observed<P: LeastSquares<T> + ?Sized>(
        &self,
        problem: &mut P,
        start: &[T],
        observer: &mut (impl Observer<T> + ?Sized),
    ) -> Result<Report<T>, SolveError> {
        engine::minimize(&self.settings, self.damping.clone(), problem, start, observer)
    }

    /// [`minimize_observed`](Self::minimize_observed) for a problem that neither multiplies by its Jacobian nor has it in blocks: a
    /// program that calls nothing else does not contain the forms for those.
    pub(crate) fn minimize_rows(
        &self,
        problem: &mut dyn LeastSquares<T>,
        start: &[T],
        observer: &mut dyn Observer<T>,
    ) -> Result<Report<T>, SolveError> {
        engine::minimize_rows(&self.settings, self.damping.clone(), problem, start, observer)
    }

    /// Minimises over a number of parameters that is known at compile time, without touching the heap.
    ///
    /// Meant for small problems in large numbers; `problem` is best a [`FixedAutoDiff`](crate::problem::FixedAutoDiff). Rows
    /// must come in groups of at most 16, or the tile goes to the heap after all. No log is kept.
    ///
    /// # Errors
    ///
    /// As [`minimize`](Self::minimize); and a problem on a manifold is refused.
    ///
    /// ```
    /// use marquardt::{EvaluationError, LevenbergMarquardt, Residuals, Scalar};
    /// use marquardt::problem::FixedAutoDiff;
    /// use nalgebra::SVector;
    ///
    /// struct Rosenbrock;
    ///
    /// impl Residuals<f64> for Rosenbrock {
    ///     fn parameter_count(&self) -> usize {
    ///         2
    ///     }
    ///     fn residual_count(&self) -> usize {
    ///         2
    ///     }
    ///     fn row_group(&self) -> usize {
    ///         2
    ///     }
    ///     fn evaluate<S: Scalar<Real = f64>>(
    ///         &self,
    ///         x: &[S],
    ///         _: usize,
    ///         r: &mut [S],
    ///     ) -> Result<(), EvaluationError> {
    ///         r[0] = (x[1] - x[0] * x[0]) * 10.0;
    ///         r[1] = -x[0] + 1.0;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let report = LevenbergMarquardt::new()
    ///     .minimize_fixed(&mut FixedAutoDiff::<_, 2>(Rosenbrock), SVector::from([-1.2, 1.0]))?;
    /// assert!((report.x - SVector::from([1.0, 1.0])).norm() < 1e-12);
    /// # Ok::<(), marquardt::SolveError>(())
    /// ```
    pub fn minimize_fixed<const N: usize, P: LeastSquares<T> + ?Sized>(
        &self,
        problem: &mut P,
        start: SVector<T, N>,
    ) -> Result<Report<T, SVector<T, N>>, SolveError> {
        if problem.domain().manifold().is_some() {
            return Err(SolveError::OnManifold { what: "solve of a fixed size" });
        }
        let report = engine::minimize_fixed(&self.settings, self.damping.clone(), problem, start.into())?;
        Ok(report.map(SVector::from))
    }
}
