//! The solver: its settings, and the two ways to call it.

use std::time::{Duration, Instant};

use nalgebra::SVector;

use super::damping::{Damping, DampingPolicy};
use super::iteration::Iteration;
use super::journal::{Journal, Log};
use super::{Acceleration, CancelToken, Observer, Report, Scaling, SolveError, Status};
use crate::linear::shape::{Dynamic, Fixed, Shape};
use crate::linear::{LinearSolver, Plan, PlanError};
use crate::{LeastSquares, Real};

/// Levenberg–Marquardt: minimises `½‖r(x)‖²` by damped Gauss–Newton steps.
///
/// # Algorithm
///
/// Around the current point the residuals are taken as linear, `r + Jδ`, and the step solves
/// `(JᵀJ + λD²)δ = −Jᵀr`. It is taken if it lowers the cost by enough of what the linear model promised, and `λ` is
/// chosen anew by a [damping policy](crate::damping) that learns from each trial. At the end Gauss–Newton steps judged
/// by the gradient bring the parameters to the last digits that rounding allows.
///
/// # Cost
///
/// With `m` residuals and `n` parameters an iteration takes `mn² + n³/3` flops by the normal equations, twice that by
/// QR, `m²n + m³/3` in the dual form; see [`LinearSolver`]. Rows are summed as they come, so that memory is
/// `O(n²)` whatever `m` is (the dual form keeps its few rows).
///
/// # Failure modes
///
/// It finds a minimum near the start, not the lowest one. A [`Report`] always holds the best point so far and a
/// [`Status`] that says why the solve ended there; only what prevents a start is a [`SolveError`].
///
/// # Defaults
///
/// Damping by the gain ratio, scaling by the fading maximum of the column norms, acceleration where the path is curved,
/// automatic choice of the linear solver; `gtol` and `xtol` at rounding level, `ftol` 10⁻¹⁰ for [`f64`], all followed
/// by the polish; 1,000 iterations, 4 GiB.
///
/// # References
///
/// Levenberg 1944; Marquardt 1963; Moré 1978, *The Levenberg–Marquardt algorithm: implementation and theory*;
/// Nielsen 1999, *Damping parameter in Marquardt's method*; Transtrum & Sethna 2012, arXiv:1201.5885.
///
/// ```
/// use marquardt::{FiniteDifference, LevenbergMarquardt};
///
/// let mut problem = FiniteDifference::new(2, 2, |x: &[f64], r: &mut [f64]| {
///     r[0] = x[0] * x[0] + x[1] * x[1] - 1.0;
///     r[1] = x[0] - x[1];
///     Ok(())
/// });
/// let report = LevenbergMarquardt::new().with_max_iterations(50).minimize(&mut problem, &[2.0, 0.5])?;
/// assert!(report.is_converged());
/// assert!((report.x[0] - 0.5_f64.sqrt()).abs() < 1e-9);
/// println!("{report}");
/// # Ok::<(), marquardt::SolveError>(())
/// ```
#[derive(Debug, Clone)]
pub struct LevenbergMarquardt<T, D = Damping<T>> {
    pub(super) damping: D,
    pub(super) scaling: Scaling,
    pub(super) acceleration: Acceleration,
    pub(super) linear_solver: LinearSolver,
    pub(super) memory_budget: usize,
    pub(super) gtol: T,
    pub(super) xtol: T,
    pub(super) ftol: T,
    pub(super) target_cost: Option<T>,
    pub(super) max_iterations: usize,
    pub(super) max_evaluations: usize,
    pub(super) time_limit: Option<Duration>,
    pub(super) cancel: Option<CancelToken>,
    pub(super) polish: bool,
    pub(super) log: bool,
}

impl<T: Real> LevenbergMarquardt<T> {
    /// The defaults.
    pub fn new() -> Self {
        LevenbergMarquardt {
            damping: Damping::default(),
            scaling: Scaling::default(),
            acceleration: Acceleration::default(),
            linear_solver: LinearSolver::default(),
            memory_budget: 4 << 30,
            gtol: T::from_f64(256.0) * T::EPSILON,
            xtol: T::EPSILON,
            ftol: T::EPSILON.powf(T::from_f64(2.0 / 3.0)),
            target_cost: None,
            max_iterations: 1000,
            max_evaluations: usize::MAX,
            time_limit: None,
            cancel: None,
            polish: true,
            log: true,
        }
    }
}

impl<T: Real> Default for LevenbergMarquardt<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real, D> LevenbergMarquardt<T, D> {
    /// How much to damp: one of the built-in [policies](Damping), or one's own [`DampingPolicy`].
    ///
    /// ```
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::damping::{Damping, GainRatio};
    ///
    /// let nielsen = LevenbergMarquardt::<f64>::new().with_damping(GainRatio::default());
    /// let chosen_later: Damping<f64> = GainRatio::new(0.1).into();
    /// let nielsen_too = LevenbergMarquardt::<f64>::new().with_damping(chosen_later);
    /// # drop((nielsen, nielsen_too));
    /// ```
    pub fn with_damping<E: DampingPolicy<T>>(self, damping: E) -> LevenbergMarquardt<T, E> {
        LevenbergMarquardt {
            damping,
            scaling: self.scaling,
            acceleration: self.acceleration,
            linear_solver: self.linear_solver,
            memory_budget: self.memory_budget,
            gtol: self.gtol,
            xtol: self.xtol,
            ftol: self.ftol,
            target_cost: self.target_cost,
            max_iterations: self.max_iterations,
            max_evaluations: self.max_evaluations,
            time_limit: self.time_limit,
            cancel: self.cancel,
            polish: self.polish,
            log: self.log,
        }
    }

    /// The scaling `D` of the damping.
    pub fn with_scaling(self, scaling: Scaling) -> Self {
        LevenbergMarquardt { scaling, ..self }
    }

    /// When steps get a second-order correction.
    pub fn with_acceleration(self, acceleration: Acceleration) -> Self {
        LevenbergMarquardt { acceleration, ..self }
    }

    /// How the linear systems are solved.
    pub fn with_linear_solver(self, linear_solver: LinearSolver) -> Self {
        LevenbergMarquardt { linear_solver, ..self }
    }

    /// Bytes that the workspace may take; a problem that needs more is refused before anything is allocated.
    pub fn with_memory_budget(self, bytes: usize) -> Self {
        LevenbergMarquardt { memory_budget: bytes, ..self }
    }

    /// Ends when the largest cosine between the residuals and a column of the Jacobian is this small. Scale-free.
    #[doc(alias = "gradient_tolerance")]
    pub fn with_gtol(self, gtol: T) -> Self {
        LevenbergMarquardt { gtol, ..self }
    }

    /// Ends when a step is this short relative to the point, in the scaled variables: `‖Dδ‖ ≤ xtol ‖Dx‖`.
    #[doc(alias = "parameter_tolerance")]
    pub fn with_xtol(self, xtol: T) -> Self {
        LevenbergMarquardt { xtol, ..self }
    }

    /// Ends when a step promises and brings a reduction of the cost this small relative to the cost. While damping holds
    /// the steps back, only a reduction at rounding level counts.
    #[doc(alias = "function_tolerance")]
    pub fn with_ftol(self, ftol: T) -> Self {
        LevenbergMarquardt { ftol, ..self }
    }

    /// Ends when the cost `½‖r‖²` is this low.
    pub fn with_target_cost(self, cost: T) -> Self {
        LevenbergMarquardt { target_cost: Some(cost), ..self }
    }

    /// Ends after so many trial steps, rejected ones included.
    pub fn with_max_iterations(self, iterations: usize) -> Self {
        LevenbergMarquardt { max_iterations: iterations, ..self }
    }

    /// Ends after so many evaluations, with and without Jacobian.
    #[doc(alias = "max_nfev")]
    pub fn with_max_evaluations(self, evaluations: usize) -> Self {
        LevenbergMarquardt { max_evaluations: evaluations, ..self }
    }

    /// Ends after so much time; a trial that is under way is finished first.
    pub fn with_time_limit(self, limit: Duration) -> Self {
        LevenbergMarquardt { time_limit: Some(limit), ..self }
    }

    /// Ends when the token says so.
    pub fn with_cancel_token(self, token: CancelToken) -> Self {
        LevenbergMarquardt { cancel: Some(token), ..self }
    }

    /// Whether to polish the parameters to the last digit after convergence. On by default.
    pub fn with_polish(self, polish: bool) -> Self {
        LevenbergMarquardt { polish, ..self }
    }

    /// Whether to keep the log of all trials in the report. On by default.
    pub fn with_log(self, log: bool) -> Self {
        LevenbergMarquardt { log, ..self }
    }
}

impl<T: Real, D: DampingPolicy<T>> LevenbergMarquardt<T, D> {
    /// Minimises from `start`.
    ///
    /// # Errors
    ///
    /// [`SolveError`] when there is no valid start: wrong length, values, residuals or derivatives that are not finite, a
    /// senseless setting, or a workspace over the memory budget.
    pub fn minimize<P: LeastSquares<T> + ?Sized>(&self, problem: &mut P, start: &[T]) -> Result<Report<T>, SolveError> {
        self.minimize_observed(problem, start, &mut ())
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
        let plan = self.plan(problem, start)?;
        if !self.log {
            return self.run::<Dynamic, P, _>(problem, plan, start.to_vec(), observer);
        }
        let mut log = Log { records: Vec::new(), observer };
        let report = self.run::<Dynamic, P, _>(problem, plan, start.to_vec(), &mut log)?;
        Ok(Report { log: log.records, ..report })
    }

    /// Minimises over a number of parameters that is known at compile time, without touching the heap.
    ///
    /// Meant for small problems in large numbers; `problem` is best a [`FixedAutoDiff`](crate::FixedAutoDiff). Rows
    /// must come in groups of at most 16, or the tile goes to the heap after all. No log is kept.
    ///
    /// # Errors
    ///
    /// As [`minimize`](Self::minimize).
    ///
    /// ```
    /// use marquardt::{EvaluationError, FixedAutoDiff, LevenbergMarquardt, Residuals, Scalar};
    /// use nalgebra::SVector;
    ///
    /// struct Rosenbrock;
    ///
    /// impl Residuals<f64> for Rosenbrock {
    ///     fn parameter_count(&self) -> usize { 2 }
    ///     fn residual_count(&self) -> usize { 2 }
    ///     fn row_group(&self) -> usize { 2 }
    ///     fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], _: usize, r: &mut [S]) -> Result<(), EvaluationError> {
    ///         r[0] = (x[1] - x[0] * x[0]) * 10.0;
    ///         r[1] = -x[0] + 1.0;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let report = LevenbergMarquardt::new().minimize_fixed(&mut FixedAutoDiff::<_, 2>(Rosenbrock), SVector::from([-1.2, 1.0]))?;
    /// assert!((report.x - SVector::from([1.0, 1.0])).norm() < 1e-12);
    /// # Ok::<(), marquardt::SolveError>(())
    /// ```
    pub fn minimize_fixed<const N: usize, P: LeastSquares<T> + ?Sized>(
        &self,
        problem: &mut P,
        start: SVector<T, N>,
    ) -> Result<Report<T, SVector<T, N>>, SolveError> {
        let start: [T; N] = start.into();
        let plan = Plan::stacked(self.linear_solver, self.check(problem, &start)?, N);
        let report = self.run::<Fixed<N>, P, _>(problem, plan, start, &mut ())?;
        Ok(report.map(SVector::from))
    }

    /// Checks settings and problem, and returns the number of residuals.
    fn check<P: LeastSquares<T> + ?Sized>(&self, problem: &P, start: &[T]) -> Result<usize, SolveError> {
        let tolerances = [("gtol", self.gtol), ("xtol", self.xtol), ("ftol", self.ftol)];
        for (setting, value) in tolerances {
            if !(value >= T::ZERO) {
                let requirement = "zero or positive";
                return Err(SolveError::Setting { setting, requirement, value: value.to_f64() });
            }
        }
        if let Some(target) = self.target_cost.filter(|target| !(*target >= T::ZERO)) {
            let (setting, requirement) = ("target_cost", "zero or positive");
            return Err(SolveError::Setting { setting, requirement, value: target.to_f64() });
        }
        let (m, n, group) = (problem.residual_count(), problem.parameter_count(), problem.row_group());
        if n == 0 {
            return Err(SolveError::NoParameters);
        }
        if m == 0 {
            return Err(SolveError::NoResiduals);
        }
        if start.len() != n {
            return Err(SolveError::WrongStartLength { expected: n, found: start.len() });
        }
        if group == 0 || m % group != 0 {
            return Err(SolveError::UnevenGroups { residuals: m, group });
        }
        if let Some(index) = start.iter().position(|x| !x.is_finite()) {
            let (name, value) = (problem.parameter_name(index), start[index].to_f64());
            return Err(SolveError::NonFiniteStart { name, value });
        }
        Ok(m)
    }

    /// Checks everything and chooses how to solve the linear systems.
    fn plan<P: LeastSquares<T> + ?Sized>(&self, problem: &P, start: &[T]) -> Result<Plan, SolveError> {
        let m = self.check(problem, start)?;
        Plan::new::<T>(self.linear_solver, m, start.len(), problem.row_group(), self.memory_budget)
            .map_err(|PlanError { needed }| SolveError::MemoryBudget { needed, budget: self.memory_budget })
    }

    /// Descends, polishes, and reports.
    #[inline]
    fn run<S: Shape<T>, P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &self,
        problem: &mut P,
        plan: Plan,
        start: S::Vector,
        observer: &mut O,
    ) -> Result<Report<T, S::Vector>, SolveError> {
        let begun = Instant::now();
        let mut iteration = Iteration::<T, S, D, P>::start(self, problem, plan, start)?;
        let mut journal = Journal::new(observer);
        let ending = iteration.descend(&mut journal, begun).and_then(|status| {
            let polish = self.polish && status.is_converged() && status != Status::TargetCost;
            if polish { iteration.polish(&mut journal, status) } else { Ok(status) }
        });
        let (status, error) = match ending {
            Ok(status) => (status, None),
            Err(error) => (Status::EvaluationFailed, Some(error)),
        };
        let gradient = iteration.model.gradient().iter();
        Ok(Report {
            status,
            cost: iteration.cost,
            initial_cost: iteration.initial_cost,
            gradient_norm: gradient.fold(T::ZERO, |largest, &gradient| largest.max(gradient.abs())),
            gradient_cosine: iteration.squared_gradient_cosine().sqrt(),
            damping: journal.damping,
            iterations: journal.iterations,
            accepted: journal.accepted,
            evaluations: iteration.evaluations,
            linear_form: iteration.model.form(),
            elapsed: begun.elapsed(),
            log: Vec::new(),
            error,
            x: iteration.x,
        })
    }
}
