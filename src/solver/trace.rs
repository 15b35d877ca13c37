//! The trace of a solve: counts of evaluations, and the optional log of trials.

use std::ops::ControlFlow;

use super::damping::{DampingPolicy, Trial};
use super::iteration::Iteration;
use super::{IterationRecord, Observer, Status};
use crate::linear::shape::Shape;
use crate::real::Real;

/// Keeps count of the trials and passes each on to the observer.
pub(super) struct Trace<'o, T, O: ?Sized> {
    observer: Option<&'o mut O>,
    pub(super) iterations: usize,
    pub(super) accepted: usize,
    /// The damping of the last trial.
    pub(super) damping: T,
}

impl<'o, T: Real, O: Observer<T> + ?Sized> Trace<'o, T, O> {
    pub(super) fn new(observer: Option<&'o mut O>) -> Self {
        Trace { observer, iterations: 0, accepted: 0, damping: T::ZERO }
    }

    /// Enters a trial, after which `iteration` stands at the better of both points; `Break` when the observer has seen
    /// enough.
    #[inline]
    fn enter<S, D>(&mut self, iteration: &Iteration<T, S, D>, trial: &Trial<T>, polish: bool) -> ControlFlow<()>
    where
        S: Shape<T>,
        D: DampingPolicy<T>,
    {
        self.iterations += 1;
        self.accepted += usize::from(trial.accepted);
        self.damping = trial.lambda;
        let Some(observer) = &mut self.observer else { return ControlFlow::Continue(()) };
        let refused = if trial.accepted { None } else { iteration.refused };
        let cost = if trial.accepted { iteration.cost } else { iteration.cost - trial.actual };
        let record = IterationRecord {
            iteration: self.iterations,
            cost: refused.map_or(cost, |(_, cost)| cost),
            damping: trial.lambda,
            gain_ratio: trial.gain_ratio(),
            step_norm: trial.length,
            gradient: iteration.squared_gradient_cosine().sqrt(),
            accepted: trial.accepted,
            polish,
            refusal: refused.map(|(refusal, _)| refusal),
        };
        observer.observe(&record, iteration.x.as_ref())
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Enters a trial; why to stop, if the observer has seen enough.
    #[inline]
    pub(super) fn enter<O: Observer<T> + ?Sized>(
        &mut self,
        trace: &mut Trace<'_, T, O>,
        trial: &Trial<T>,
        polish: bool,
    ) -> Option<Status> {
        if trace.enter(self, trial, polish).is_break() { self.stop(Status::Cancelled) } else { None }
    }
}

/// Keeps every record on its way to another observer.
pub(super) struct Log<'o, T, O: ?Sized> {
    pub(super) records: Vec<IterationRecord<T>>,
    pub(super) observer: &'o mut O,
}

impl<T: Real, O: Observer<T> + ?Sized> Observer<T> for Log<'_, T, O> {
    fn observe(&mut self, record: &IterationRecord<T>, x: &[T]) -> ControlFlow<()> {
        self.records.push(*record);
        self.observer.observe(record, x)
    }
}
