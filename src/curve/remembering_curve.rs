//! A curve whose responses cost a call of a user's function each.

use std::sync::Mutex;

use super::any_curve::pass_on_description;
use super::{AnyCurve, Curve};
use crate::problem::{Evaluated, RecentEvaluations};
use crate::real::Real;

/// A curve with the last evaluations of it at the data that it is fitted to. The solve, its checks, the covariance and the statistics of
/// the fit ask for many points twice.
pub(super) struct RememberingCurve<'a, T> {
    curve: AnyCurve<'a, T>,
    /// Predictors of the data, and the number of responses to them.
    x: Vec<T>,
    responses: usize,
    recent: Mutex<RecentEvaluations<T>>,
}

impl<'a, T: Real> RememberingCurve<'a, T> {
    pub(super) fn new(curve: AnyCurve<'a, T>, x: &[T], responses: usize) -> Self {
        RememberingCurve { curve, x: x.to_vec(), responses, recent: Mutex::default() }
    }

    /// Returns true for the predictors and responses of all the data. Parts of them, and other predictors, pass by.
    fn knows(&self, x: &[T], y: &[T]) -> bool {
        y.len() == self.responses && x == self.x
    }

    /// Access to the known evaluations, by one thread at a time; never while a user's function runs.
    fn recent<R>(&self, work: impl FnOnce(&mut RecentEvaluations<T>) -> R) -> R {
        work(&mut self.recent.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

/// Calls a method of the curve inside.
macro_rules! inside {
    ($self:ident, $method:ident($($argument:ident),*)) => {
        $self.curve.$method($($argument),*)
    };
}

impl<T: Real> Curve<T> for RememberingCurve<'_, T> {
    pass_on_description!(inside);

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        if !self.knows(x, y) {
            return self.curve.responses(x, width, b, y);
        }
        if !self.recent(|recent| recent.recall(b, y, &mut [])) {
            self.curve.responses(x, width, b, y)?;
            self.recent(|recent| recent.keep(b, y, &[]));
        }
        Ok(())
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        if !self.knows(x, y) {
            return self.curve.linearize(x, width, b, y, jacobian);
        }
        if self.recent(|recent| recent.recall(b, y, jacobian)) {
            return Ok(());
        }
        let is_differentiated =
            self.recent(|recent| recent.recall(b, y, &mut [])) && self.curve.differentiate(x, width, b, y, jacobian)?;
        if !is_differentiated {
            self.curve.linearize(x, width, b, y, jacobian)?;
        }
        self.recent(|recent| recent.keep(b, y, jacobian));
        Ok(())
    }

    fn fitted_predictors(&self, x: &[T], width: usize, b: &[T], fitted: &mut [T]) -> Evaluated<bool> {
        self.curve.fitted_predictors(x, width, b, fitted)
    }

    fn keep_within(&mut self, lower: &[T], upper: &[T]) {
        self.curve.keep_within(lower, upper);
        self.recent(RecentEvaluations::forget);
    }

    fn note_start(&mut self, start: &[T]) {
        self.curve.note_start(start);
        self.recent(RecentEvaluations::forget);
    }
}
