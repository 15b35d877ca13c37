//! The solver: its settings, and the two ways to call it.

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
/// Around the current point the residuals are taken as linear, `r + Jδ`, and the step solves
/// `(JᵀJ + λD²)δ = −Jᵀr`. It is taken if it lowers the cost by enough of the reduction that the linear model predicted, and `λ` is
/// chosen anew by a [damping policy](crate::solver::damping) that learns from each trial. At the end Gauss–Newton steps judged
/// by the gradient bring the parameters to the last digits that rounding allows. A point that may be no minimum all the same, such as a
/// saddle, gets a [second look](super::Status#the-second-look), from which the solve goes on if it finds a lower point.
///
/// A loss that is convex in the outputs of a model, such as a cross-entropy, is minimised in the same way: `r` and `J`
/// then stand for its gradient `Jᵀr` and its second derivative `JᵀJ` (generalised Gauss–Newton), while the cost that
/// steps are judged by is the loss itself. See [`nn::GaussNewton`](crate::nn::GaussNewton) and
/// [`Capabilities::cost_of`](crate::problem::Capabilities::cost_of).
///
/// # Cost
///
/// With `m` residuals and `n` parameters an iteration takes `mn² + n³/3` flops by the normal equations, twice that by
/// QR, `m²n + m³/3` in the dual form; see [`LinearSolver`]. Rows are summed as they come, so that memory is
/// `O(n²)` whatever `m` is (the dual form keeps its few rows). A problem that multiplies by its Jacobian without forming it,
/// as networks do, is solved in `O(m²)` memory besides what it keeps, or without any matrix
/// ([`LinearForm::ConjugateGradients`](crate::linear::LinearForm::ConjugateGradients)).
///
/// # Failure modes
///
/// It finds a minimum near the start, not the lowest one. A [`Report`] always holds the best point so far and a
/// [`Status`](super::Status) that says why the solve ended there; only what prevents a start is a [`SolveError`]. A status
/// counts as converged only where the gradient says so, and no plain step lowers the cost noticeably.
///
/// # Large residuals
///
/// Gauss–Newton leaves out the second derivatives of the residuals. After twelve trials whose gain ratio is off by more than 25 %, the
/// normal equations learn what is left out by secant updates (Dennis, Gay & Welsch 1981), and the model with or without it
/// makes the next step, whichever has foretold the last cost better. Brown and Dennis' problem then takes 38 to 48 iterations
/// instead of thousands. QR and the dual forms have no room for it.
///
/// # Bounds
///
/// Where a problem has [bounds](crate::problem::ParameterDomain::with_bounds), every step is the minimum of the damped linear model within them,
/// with its own set of parameters at bounds, and all that is said of the gradient is said of the parameters that no bound
/// holds. So the solve ends at a minimum within the bounds, to all digits; parameters that end at one are exactly there,
/// and in [`Report::active`]. No point outside is evaluated. A start outside is refused.
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
    /// Sets the damping policy: one of the built-in [policies](Damping), or one's own [`DampingPolicy`].
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

    /// The scaling `D` of the damping. By default it is the [`FadingMaximum`](Scaling::FadingMaximum); the
    /// [`RunningMaximum`](Scaling::RunningMaximum) for variables, as of a network; and the [`Identity`](Scaling::Identity) where the
    /// Jacobian is not formed, which allows for no other.
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

    /// Bytes that the workspace may take; a problem that needs more is refused before anything is allocated.
    pub fn with_memory_budget(self, bytes: usize) -> Self {
        self.set(|settings| settings.memory_budget = bytes)
    }

    /// Sets the forcing term, the accuracy to which conjugate gradients solve the linear systems of a Jacobian of blocks
    /// ([`LinearForm::Cgnr`](crate::linear::LinearForm::Cgnr),
    /// [`LinearForm::IterativeSchur`](crate::linear::LinearForm::IterativeSchur)): they end once an iteration adds less than this
    /// share of the predicted reduction, divided by the number of iterations. From 0 to less than 1; default 0.1. It falls as the
    /// gradient does, so that the end of a solve is exact whatever it is.
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

    /// Ends when the largest cosine between the residuals and a column of the Jacobian is this small. Scale-free.
    #[doc(alias = "gradient_tolerance")]
    pub fn with_gtol(self, gtol: T) -> Self {
        self.set(|settings| settings.gtol = gtol)
    }

    /// Ends when a step is this short relative to the point, in the scaled variables: `‖Dδ‖ ≤ xtol ‖Dx‖`.
    #[doc(alias = "parameter_tolerance")]
    pub fn with_xtol(self, xtol: T) -> Self {
        self.set(|settings| settings.xtol = xtol)
    }

    /// Ends when a step predicts and brings a reduction of the cost this small relative to the cost. While damping holds
    /// the steps back, only a reduction at rounding level counts.
    #[doc(alias = "function_tolerance")]
    pub fn with_ftol(self, ftol: T) -> Self {
        self.set(|settings| settings.ftol = ftol)
    }

    /// Ends the solve when the cost, `½‖r‖²` or the value of the loss, is this low.
    pub fn with_target_cost(self, cost: T) -> Self {
        self.set(|settings| settings.target_cost = Some(cost))
    }

    /// Sets the largest number of trial steps, rejected ones included.
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

    /// Ends when the token says so.
    pub fn with_cancel_token(self, token: CancelToken) -> Self {
        self.set(|settings| settings.cancel = Some(token))
    }

    /// Enables or disables the polish of the parameters after convergence: further steps, judged by the gradient, to the last digit, or to
    /// `10⁻⁷` of the standard errors where there are more than 10,000 residuals. By default it is on, unless derivatives are
    /// [rough](crate::problem::Capabilities::derivatives_are_rough): by forward differences it would gain half a digit and double the
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
    /// Minimises from `start`. The solve ends where a point passes the [first-order test](super::Status#the-first-order-test) and the
    /// [second look](super::Status#the-second-look), where nothing helps, or at a limit; the [status](Report::status) says which.
    ///
    /// # Errors
    ///
    /// [`SolveError`] when there is no valid start: wrong length, values, residuals or derivatives that are not finite, a
    /// start outside of the bounds, a senseless setting, or a workspace over the memory budget.
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
