//! The result of a solve.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use thiserror::Error;

use super::{ActiveBound, IterationRecord, Refusal, SolveError, Status};
use crate::linear::LinearForm;
use crate::problem::{BoundSide, EvaluationError};
use crate::real::Real;

/// Work done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evaluations {
    /// Evaluations of all residuals without derivatives.
    pub residuals: usize,
    /// Evaluations of all residuals with their Jacobian.
    pub jacobians: usize,
    /// Number of factorisations of damped systems.
    pub factorizations: usize,
}

impl Evaluations {
    /// Evaluations of all residuals, with their Jacobian or without.
    pub(crate) fn total(&self) -> usize {
        self.residuals + self.jacobians
    }
}

impl AddAssign for Evaluations {
    fn add_assign(&mut self, other: Self) {
        self.residuals += other.residuals;
        self.jacobians += other.jacobians;
        self.factorizations += other.factorizations;
    }
}

/// Result of a solve: the best point and the reason for its end.
///
/// `V` is `Vec<T>`, or `SVector<T, N>` from [`minimize_fixed`](crate::LevenbergMarquardt::minimize_fixed).
#[derive(Debug)]
pub struct Report<T, V = Vec<T>> {
    /// The best point found, for every status.
    pub x: V,
    /// Reason why the solve ended.
    pub status: Status,
    /// `½‖r‖²` at [`x`](Self::x), or the value of the problem's own loss.
    pub cost: T,
    /// Cost at the start.
    pub initial_cost: T,
    /// `‖Jᵀr‖∞` at [`x`](Self::x), over the parameters that no bound holds.
    pub gradient_norm: T,
    /// Largest cosine between the residuals and a column of the Jacobian at [`x`](Self::x), of those that no bound holds:
    /// scale-free, zero at a stationary point.
    pub gradient_cosine: T,
    /// The bounds that hold parameters at [`x`](Self::x): the cost would fall beyond them.
    pub active: Vec<ActiveBound<T>>,
    /// Indices of the relations between parameters of a curve that hold as equations; empty for other problems.
    pub(crate) relations: Vec<usize>,
    /// The damping `λ` of the last trial.
    pub damping: T,
    /// Number of trial steps, accepted and rejected, including the final polish.
    pub iterations: usize,
    /// Number of accepted steps.
    pub accepted: usize,
    /// Work done.
    pub evaluations: Evaluations,
    /// Form of the linear systems at the end.
    pub linear_form: LinearForm,
    /// Duration of the solve; 0 on a target without a clock.
    pub elapsed: Duration,
    /// Every trial, unless turned off by [`with_log`](crate::LevenbergMarquardt::with_log); empty for fixed sizes.
    pub log: Vec<IterationRecord<T>>,
    /// Error of the residual function, or of a further solve that a [robust](crate::CurveFit::robust) fit could not begin, when the status
    /// is [`Status::EvaluationFailed`].
    pub error: Option<EvaluationError>,
}

impl<T: Real, V> Report<T, V> {
    /// `‖r‖²`, twice the cost.
    pub fn sum_of_squares(&self) -> T {
        self.cost + self.cost
    }

    /// Converts the container of the point.
    pub(super) fn map<W>(self, convert: impl FnOnce(V) -> W) -> Report<T, W> {
        Report {
            x: convert(self.x),
            status: self.status,
            cost: self.cost,
            initial_cost: self.initial_cost,
            gradient_norm: self.gradient_norm,
            gradient_cosine: self.gradient_cosine,
            active: self.active,
            relations: self.relations,
            damping: self.damping,
            iterations: self.iterations,
            accepted: self.accepted,
            evaluations: self.evaluations,
            linear_form: self.linear_form,
            elapsed: self.elapsed,
            log: self.log,
            error: self.error,
        }
    }

    /// Adds the work of an earlier solve, after which this one began.
    pub(crate) fn after(mut self, earlier: Report<T, V>) -> Self {
        self.iterations += earlier.iterations;
        self.accepted += earlier.accepted;
        self.evaluations += earlier.evaluations;
        self.elapsed += earlier.elapsed;
        let renumbered = self.log.into_iter().map(|mut record| {
            record.iteration += earlier.iterations;
            record
        });
        self.log = earlier.log.into_iter().chain(renumbered).collect();
        self
    }

    /// The report of a solve after which another could not begin.
    pub(crate) fn ended_by(self, error: SolveError) -> Self {
        self.failed(EvaluationError::new(NoFurtherSolve(error)))
    }

    /// The report of a solve after which an evaluation failed.
    pub(super) fn failed(self, error: EvaluationError) -> Self {
        Report { status: Status::EvaluationFailed, error: self.error.or(Some(error)), ..self }
    }

    /// The solve ended at a minimum; short for `status.is_converged()`.
    pub fn is_converged(&self) -> bool {
        self.status.is_converged()
    }
}

/// Reason why a solve is the last of several.
#[derive(Debug, Error)]
#[error("a further solve could not begin: {0}")]
struct NoFurtherSolve(#[source] SolveError);

impl<T: Real, V: AsRef<[T]>> fmt::Display for Report<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.is_converged() { "converged" } else { "not converged" };
        writeln!(f, "{verdict}: {}", self.status)?;
        if let Some(error) = &self.error {
            writeln!(f, "  error         {error}")?;
        }
        writeln!(f, "  cost          {:.6e}, from {:.6e}", self.cost, self.initial_cost)?;
        writeln!(f, "  gradient      {:.2e} (cosine {:.1e})", self.gradient_norm, self.gradient_cosine)?;
        writeln!(f, "  iterations    {}, {} accepted", self.iterations, self.accepted)?;
        let Evaluations { residuals, jacobians, factorizations } = self.evaluations;
        writeln!(f, "  evaluations   {residuals} of residuals, {jacobians} of the Jacobian")?;
        writeln!(f, "  factorised    {factorizations} times, {}", self.linear_form)?;
        write!(f, "  time          {:.3?}", self.elapsed)?;
        for (j, x) in self.x.as_ref().iter().enumerate() {
            write!(f, "\n  x[{j}] = {x:.10e}")?;
            match self.active.iter().find(|active| active.parameter == j).map(|active| active.side) {
                Some(BoundSide::Lower) => write!(f, ", its lower bound")?,
                Some(BoundSide::Upper) => write!(f, ", its upper bound")?,
                None => {}
            }
        }
        if !self.log.is_empty() {
            write!(f, "\n\n  trial          cost    damping  gain ratio        step   gradient")?;
        }
        self.log.iter().try_for_each(|record| write!(f, "\n{record}"))
    }
}

impl<T: Real> fmt::Display for IterationRecord<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let IterationRecord { iteration, cost, damping, gain_ratio, step_norm, gradient, .. } = *self;
        let if_known = |is_known: bool, text: String| if is_known { text } else { "-".to_owned() };
        let cost = if_known(cost.is_finite() || self.refusal == Some(Refusal::NotFinite), format!("{cost:.5e}"));
        write!(f, "  {iteration:>5}  {cost:>12}  {damping:>9.2e}")?;
        match (self.polish, gain_ratio.is_finite()) {
            (true, _) => write!(f, "  {:>10}", "polish")?,
            (false, true) if gain_ratio.abs() < T::from_f64(1e4) => write!(f, "  {gain_ratio:>10.4}")?,
            (false, true) => write!(f, "  {gain_ratio:>10.2e}")?,
            (false, false) => write!(f, "  {:>10}", "-")?,
        }
        let step = if_known(step_norm.is_finite(), format!("{step_norm:.3e}"));
        write!(f, "  {step:>10}  {gradient:>9.2e}{}", if self.accepted { "" } else { "  rejected" })?;
        self.refusal.map_or(Ok(()), |refusal| write!(f, ": {refusal}"))
    }
}
