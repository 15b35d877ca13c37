//! The ends of a full solve: convergence, limits, and requests to stop.

use std::ops::ControlFlow;

use super::decline::Decline;
use crate::clock::Stopwatch;
use crate::evaluation::Evaluation;
use crate::kernels::vector::{scaled_norm, underflows};
use crate::linear::{DOUBTFUL, LinearModel, is_faithful};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::solver::damping::{DampingPolicy, Trial};
use crate::solver::derivative_check::{Derivatives, check_derivatives};
use crate::solver::descent::{Descent, DescentParts, Ends, PartsVector};
use crate::solver::first_order::{is_stationary, renew_scaling, squared_gradient_cosine};
use crate::solver::space::Space;
use crate::solver::{IterationRecord, Observer, Settings, Status};

/// Largest share of the slope along a step that damping may take for the step to count as undamped: 0.5.
pub(in crate::solver) const UNDAMPED: f64 = 0.5;

/// Residuals beside a root are up to `ε` to this power of their change if parameters change by their sizes: 5e-14 in double precision.
const VANISHED: f64 = 0.85;

/// Share of the start that steps beside a root do not exceed.
const SHORT: f64 = 1e-4;

/// Reasons why a single rank may stop, unknown to the others.
const STOP_REQUESTS: [Status; 3] = [Status::Cancelled, Status::MaxEvaluations, Status::TimeLimit];

/// Stopping criteria of a full solve, and the count of its trials.
pub(in crate::solver) struct Convergence<'s, T: Real, V> {
    pub(in crate::solver) settings: &'s Settings<T>,
    observer: Option<&'s mut dyn Observer<T>>,
    begun: Stopwatch,
    /// The cost at the start.
    pub(in crate::solver) initial_cost: T,
    /// Sizes of the parameters there.
    pub(in crate::solver) start: V,
    pub(in crate::solver) iterations: usize,
    pub(in crate::solver) accepted: usize,
    /// The damping of the last trial.
    pub(in crate::solver) damping: T,
    /// Reductions of the cost by the last steps.
    decline: Decline<T>,
    /// Trials that the linear model has not foretold.
    doubtful: usize,
}

impl<'s, T: Real, V: AsRef<[T]> + AsMut<[T]>> Convergence<'s, T, V> {
    /// For a solve that has `begun`, at a start of these sizes.
    #[inline]
    pub(in crate::solver) fn new(
        settings: &'s Settings<T>,
        observer: Option<&'s mut dyn Observer<T>>,
        begun: Stopwatch,
        (initial_cost, start): (T, V),
    ) -> Self {
        Convergence {
            settings,
            observer,
            begun,
            initial_cost,
            start,
            iterations: 0,
            accepted: 0,
            damping: T::ZERO,
            decline: Decline::default(),
            doubtful: 0,
        }
    }

    /// Enters a trial, after which the descent is at the better of both points; returns the reason to stop if the observer has seen
    /// enough.
    #[inline]
    pub(in crate::solver) fn enter<P: DescentParts<T>, E: Evaluation<T>>(
        &mut self,
        descent: &Descent<T, P>,
        evaluation: &mut E,
        trial: &Trial<T>,
        polish: bool,
    ) -> Option<Status> {
        self.iterations += 1;
        self.accepted += usize::from(trial.accepted);
        self.damping = trial.lambda;
        let observer = self.observer.as_mut()?;
        let refused = if trial.accepted { None } else { descent.step.refused };
        let here = descent.here.costs.cost;
        let cost = if trial.accepted { here } else { here - trial.actual };
        let record = IterationRecord {
            iteration: self.iterations,
            cost: refused.map_or(cost, |(_, cost)| cost),
            damping: trial.lambda,
            gain_ratio: trial.gain_ratio(),
            step_norm: trial.length,
            gradient: squared_gradient_cosine(descent).sqrt(),
            accepted: trial.accepted,
            polish,
            refusal: refused.map(|(refusal, _)| refusal),
        };
        match observer.observe(&record, descent.here.x.as_ref()) {
            ControlFlow::Continue(()) => None,
            ControlFlow::Break(()) => stop(evaluation, Status::Cancelled),
        }
    }

    /// The time since the solve began.
    pub(in crate::solver) fn elapsed(&self) -> std::time::Duration {
        self.begun.elapsed()
    }

    /// The current point is where the solve should end.
    #[inline]
    fn arrived<P: DescentParts<T>>(&self, descent: &Descent<T, P>) -> Option<Status> {
        let settings = self.settings;
        if squared_gradient_cosine(descent) <= settings.gtol * settings.gtol {
            Some(Status::GradientTolerance)
        } else if settings.target_cost.is_some_and(|target| descent.here.costs.cost <= target) {
            Some(Status::TargetCost)
        } else {
            None
        }
    }

    /// Returns the reason why this rank would stop; others need not know it.
    #[inline]
    fn stop_reason<E: Evaluation<T>>(&self, evaluation: &E) -> Option<Status> {
        let settings = self.settings;
        if settings.is_cancelled() {
            Some(Status::Cancelled)
        } else if evaluation.counts().total() >= settings.max_evaluations {
            Some(Status::MaxEvaluations)
        } else if settings.time_limit.is_some_and(|limit| self.begun.elapsed() >= limit) {
            Some(Status::TimeLimit)
        } else {
            None
        }
    }

    /// The trial leaves nothing to gain, and the point passes the [first-order test](is_stationary). Where it does not, the
    /// scaling is renewed, or damping taken back, and the solve goes on until no step is left.
    #[inline]
    fn settled<P: DescentParts<T>>(&mut self, descent: &mut Descent<T, P>, trial: &Trial<T>) -> Option<Status> {
        let costs = descent.here.costs;
        if trial.accepted && costs.cost <= T::EPSILON.sqrt() * self.initial_cost && vanishes_in_rounding(descent) {
            return Some(Status::NoProgress);
        }
        let is_zero = costs.cost == T::ZERO && underflows(costs.squares);
        if is_zero || trial.accepted && self.decline.lingers(self.is_beside_a_root(descent), costs.cost) {
            return Some(Status::ResidualsVanished);
        }
        let claim = self.claim(descent, trial)?;
        if is_stationary(descent, self.settings) {
            return Some(claim);
        }
        let goes_on = renew_scaling(descent, self.settings) || claim.is_converged() || descent.damping.relax();
        (!goes_on).then_some(claim)
    }

    /// The residuals are lost in the rounding errors of those at the start, and all but lost in their change if each parameter changes by
    /// its size at the start, of which the step is a small part.
    #[inline]
    fn is_beside_a_root<P: DescentParts<T>>(&self, descent: &Descent<T, P>) -> bool {
        let (costs, start) = (descent.here.costs, self.start.as_ref());
        costs.cost <= T::EPSILON * T::EPSILON.sqrt() * self.initial_cost && {
            let reach = T::EPSILON.powf(T::from_f64(VANISHED)) * scaled_norm(descent.scale.norms(), start);
            let largest = start.iter().fold(T::ZERO, |largest, start| largest.max(start.abs()));
            let size = |start: T| if start == T::ZERO { largest } else { start.abs() };
            let mut moves = descent.step.delta.as_ref().iter().zip(start);
            costs.squares <= reach * reach && moves.all(|(step, &x)| step.abs() <= T::from_f64(SHORT) * size(x))
        }
    }

    /// Status that the trial alone would end the solve with, before the first-order test.
    #[inline]
    fn claim<P: DescentParts<T>>(&mut self, descent: &Descent<T, P>, trial: &Trial<T>) -> Option<Status> {
        let cost = descent.here.costs.cost;
        let size = if trial.accepted { cost + trial.actual } else { cost }.abs();
        let resolution = descent.scale.length(descent.space.sizes(descent.here.x.as_ref()));
        // A step held back by damping is short for that reason, and says little of what is left.
        let held_back = trial.lambda * trial.length * trial.length > T::from_f64(-UNDAMPED) * trial.slope;
        let too_little = self.settings.ftol * size;
        self.decline.enter(trial);
        let is_within = |remainder: T| remainder <= too_little;
        if is_within(trial.predicted)
            && is_within(trial.actual.abs())
            && (!held_back || self.decline.remainder().is_some_and(is_within))
        {
            return Some(Status::CostTolerance);
        }
        if !held_back && trial.length <= self.settings.xtol * resolution && trial.actual.is_finite() {
            return Some(Status::StepTolerance);
        }
        let drowned = trial.length <= T::EPSILON * resolution || trial.predicted <= T::EPSILON * size;
        (!trial.accepted && drowned).then_some(Status::NoProgress)
    }

    /// The linear model has just failed so often that its derivatives are doubted.
    #[inline]
    fn is_time_to_check(&mut self, trial: &Trial<T>) -> bool {
        let has_a_step = trial.length.is_finite();
        if !has_a_step || is_faithful(trial.predicted, trial.actual) {
            return false;
        }
        self.doubtful = self.doubtful.saturating_add(1);
        self.doubtful == DOUBTFUL
    }
}

/// Stops at once on a single rank, and with the next message on several.
#[cold]
fn stop<T: Real, E: Evaluation<T>>(evaluation: &mut E, status: Status) -> Option<Status> {
    let reason = STOP_REQUESTS.iter().position(|&request| request == status)?;
    evaluation.stop(reason).then_some(status)
}

/// Reason why the ranks have agreed to stop.
#[inline]
pub(in crate::solver) fn agreed_stop<T: Real, E: Evaluation<T>>(evaluation: &E) -> Option<Status> {
    evaluation.stopped().map(|reason| STOP_REQUESTS[reason])
}

/// The residuals are no longer than their change if each parameter is rounded, by itself: costs that still fall do so by chance.
#[cold]
fn vanishes_in_rounding<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>) -> bool {
    let sizes = descent.space.sizes(descent.here.x.as_ref());
    let rounding = T::EPSILON * scaled_norm(descent.scale.norms(), sizes);
    !descent.model.form().multiplies() && descent.here.costs.squares <= rounding * rounding
}

impl<T: Real, P: DescentParts<T>> Ends<T, P> for Convergence<'_, T, PartsVector<T, P>> {
    type Outcome = Status;

    #[inline]
    fn before<E: Evaluation<T>>(&mut self, descent: &Descent<T, P>, evaluation: &mut E) -> Option<Status> {
        if let Some(status) = self.arrived(descent) {
            return Some(status);
        }
        if self.iterations >= self.settings.max_iterations {
            return Some(Status::MaxIterations);
        }
        self.stop_reason(evaluation).and_then(|status| stop(evaluation, status))
    }

    #[inline]
    fn after<E: Evaluation<T>>(
        &mut self,
        descent: &mut Descent<T, P>,
        evaluation: &mut E,
        trial: &Trial<T>,
    ) -> Evaluated<Option<Status>> {
        if let Some(status) = agreed_stop(evaluation) {
            return Ok(Some(status));
        }
        if let Some(status) = self.enter(descent, evaluation, trial, false) {
            return Ok(Some(status));
        }
        if let Some(status) = self.settled(descent, trial) {
            return Ok(Some(status));
        }
        let is_wrong =
            self.is_time_to_check(trial) && check_derivatives(descent, evaluation, trial.length)? == Derivatives::Wrong;
        Ok(is_wrong.then_some(Status::WrongDerivatives))
    }
}
