//! Observers of a solve, and tokens that end it.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One trial step of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationRecord<T> {
    /// Number of the trial, from 1.
    pub iteration: usize,
    /// The cost at the trial point; infinite where it was not finite, or not evaluated.
    pub cost: T,
    /// The damping `λ`; zero for a Gauss–Newton step.
    pub damping: T,
    /// Actual over predicted reduction of the cost; `-∞` where the step was refused.
    pub gain_ratio: T,
    /// Length `‖Dδ‖` of the step in the scaled variables.
    pub step_norm: T,
    /// Largest cosine between the residuals and a column of the Jacobian, at the current point after the trial.
    pub gradient: T,
    /// The step was taken.
    pub accepted: bool,
    /// The step belongs to the final polish, where the gradient decides on acceptance, not the cost.
    pub polish: bool,
    /// Reason why the step was refused without regard to its cost; `None` if the cost decided.
    pub refusal: Option<Refusal>,
}

/// Reason why a step is refused without regard to its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The damped system was too close to singular, and there was no step.
    IllConditioned,
    /// The geodesic correction was longer than three quarters of the step, and the cost was not evaluated.
    TooCurved,
    /// The cost or a derivative at the trial point was not finite.
    NotFinite,
    /// The column of a parameter became negligible at the trial point.
    LosesParameter,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::IllConditioned => "the damped system is too close to singular",
            Refusal::TooCurved => "not evaluated, as the geodesic correction is too long",
            Refusal::NotFinite => "not finite there",
            Refusal::LosesParameter => "a parameter would lose its influence",
        })
    }
}

/// Observer of a solve: it is called after every trial with the current (best) point, and may end the solve.
///
/// Any closure `|record, x| -> ControlFlow<()>` is an observer:
///
/// ```
/// use std::ops::ControlFlow;
/// use marquardt::LevenbergMarquardt;
/// use marquardt::problem::FiniteDifference;
/// use marquardt::solver::{IterationRecord, Status};
///
/// let mut problem = FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| {
///     r[0] = x[0].exp() - 2.0;
///     Ok(())
/// });
/// let mut watch = |record: &IterationRecord<f64>, x: &[f64]| {
///     println!("{}: cost {} at {:?}", record.iteration, record.cost, x);
///     if record.iteration == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
/// };
/// let report = LevenbergMarquardt::new().minimize_observed(&mut problem, &[3.0], &mut watch)?;
/// assert_eq!(report.status, Status::Cancelled);
/// # Ok::<(), marquardt::SolveError>(())
/// ```
pub trait Observer<T> {
    /// Called after every trial; [`ControlFlow::Break`] ends the solve with [`Status::Cancelled`](crate::solver::Status).
    fn observe(&mut self, record: &IterationRecord<T>, x: &[T]) -> ControlFlow<()>;
}

impl<T, F: FnMut(&IterationRecord<T>, &[T]) -> ControlFlow<()>> Observer<T> for F {
    fn observe(&mut self, record: &IterationRecord<T>, x: &[T]) -> ControlFlow<()> {
        self(record, x)
    }
}

/// Observes nothing.
impl<T> Observer<T> for () {
    fn observe(&mut self, _record: &IterationRecord<T>, _x: &[T]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Token that ends solves, also from other threads. Clones share one flag.
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::solver::CancelToken;
///
/// let token = CancelToken::new();
/// let solver = LevenbergMarquardt::<f64>::new().with_cancel_token(token.clone());
/// std::thread::spawn(move || token.cancel());
/// # drop(solver);
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that has not been used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks every solve that holds the token to end after its current trial.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Withdraws the request, so that later solves with this token run.
    ///
    /// ```
    /// # use marquardt::{LevenbergMarquardt, solver::{CancelToken, Status}, problem::FiniteDifference};
    /// # let mut root = FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| { r[0] = x[0] - 2.0; Ok(()) });
    /// let token = CancelToken::new();
    /// let solver = LevenbergMarquardt::new().with_cancel_token(token.clone());
    /// token.cancel();
    /// assert_eq!(solver.minimize(&mut root, &[1.0])?.status, Status::Cancelled);
    /// token.reset();
    /// assert!(solver.minimize(&mut root, &[1.0])?.is_converged());
    /// # Ok::<(), marquardt::SolveError>(())
    /// ```
    pub fn reset(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// [`cancel`](Self::cancel) was called, and [`reset`](Self::reset) has not been since.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
