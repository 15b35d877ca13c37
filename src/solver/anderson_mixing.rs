//! The end of the polish where Gauss–Newton steps converge slowly, or not at all.
//!
//! With large residuals the second derivative of the cost is far from `JᵀJ`, and undamped steps fall short or overshoot by
//! the same share again and again. What a step is at two points tells by how much: Anderson mixing takes the combination
//! of past steps that is smallest (Anderson 1965; Walker & Ni 2011).

use std::iter::zip;

use super::damping::{DampingPolicy, Trial};
use super::iteration::Iteration;
use super::polish::{LAST_DIGITS, MAX_STEPS, WORTHWHILE};
use super::trace::Trace;
use super::{Observer, Settings, Status};
use crate::kernels::vector::{add_scaled, scaled_norm};
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::manifold::Manifold;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Points whose steps are mixed.
const DEPTH: usize = 3;

/// Number of stalled attempts in a row after which mixing ends.
const MOST_STALLED: usize = 3;

/// Bound of the rounding test: mixing ends where the squared cosine of the gradient (predicted reduction divided by cost) is
/// below this many squared units of rounding.
const ROUNDING: f64 = 1e5;

/// Points, and the Gauss–Newton steps there.
#[derive(Debug, Default)]
struct AndersonMixing<T> {
    past: Vec<(Vec<T>, Vec<T>)>,
}

impl<T: Real> AndersonMixing<T> {
    fn remember(&mut self, x: &[T], step: &[T]) {
        if self.past.len() == DEPTH {
            self.past.remove(0);
        }
        self.past.push((x.to_vec(), step.to_vec()));
    }

    /// The step from `x`, where the plain one is `f`: to the point at which the plain steps, were they linear, would be
    /// shortest, and on by the one there. Columns are made orthogonal one after the other.
    fn step(&self, manifold: Option<&dyn Manifold<T>>, d: &[T], x: &[T], f: &[T]) -> Vec<T> {
        let dot = |a: &[T], b: &[T]| zip(d, zip(a, b)).fold(T::ZERO, |sum, (&d, (&a, &b))| sum + d * a * d * b);
        let difference = |a: &[T], b: &[T]| zip(a, b).map(|(&a, &b)| a - b).collect::<Vec<T>>();
        let step_to = |point: &[T]| match manifold {
            None => difference(point, x),
            Some(manifold) => {
                let mut step = vec![T::ZERO; f.len()];
                manifold.minus(point, x, &mut step);
                step
            }
        };
        let (mut way, mut left) = (vec![T::ZERO; f.len()], f.to_vec());
        let mut basis: Vec<(Vec<T>, Vec<T>, T)> = Vec::with_capacity(DEPTH);
        for (point, step) in self.past.iter().rev() {
            let (mut dx, mut df) = (step_to(point), difference(step, f));
            let size = dot(&df, &df);
            for (other_x, other_f, square) in &basis {
                let share = -dot(&df, other_f) / *square;
                add_scaled(&mut dx, share, other_x);
                add_scaled(&mut df, share, other_f);
            }
            let square = dot(&df, &df);
            // What is left of a column that depends on the others is noise.
            if square > T::EPSILON * size {
                let share = -dot(&left, &df) / square;
                add_scaled(&mut way, share, &dx);
                add_scaled(&mut left, share, &df);
                basis.push((dx, df, square));
            }
        }
        add_scaled(&mut way, T::ONE, &left);
        way
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Takes mixed steps for as long as they shrink the reduction that the gradient predicts, now `reduction`, as the plain ones of
    /// [`polish`](Self::polish) do.
    pub(super) fn mix<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
        status: Status,
        mut reduction: T,
    ) -> Result<Status, EvaluationError> {
        let rounding = T::from_f64(ROUNDING) * T::EPSILON;
        let is_lost = |reduction: T, cost: T| reduction <= rounding * rounding * cost.abs();
        if is_lost(reduction, self.cost) || self.gauss_newton(problem).is_none() {
            return Ok(status);
        }
        let mut plain = self.step.as_ref().to_vec();
        let mut mixing = AndersonMixing::default();
        let mut stalled = 0;
        for _ in 0..MAX_STEPS {
            if stalled == MOST_STALLED || is_lost(reduction, self.cost) {
                break;
            }
            let step = mixing.step(problem.manifold(), self.d.as_ref(), self.x.as_ref(), &plain);
            if zip(&step, self.sizes()).all(|(step, x)| step.abs() <= rounding * x.abs()) {
                break;
            }
            self.step.as_mut().copy_from_slice(&step);
            let length = scaled_norm(self.d.as_ref(), &step);
            let slope = self.model.slope(&step);
            let before = self.cost;
            self.move_trial(problem);
            let Some(cost) = self.linearize_trial(problem)? else { break };
            self.learn_from_move(problem);
            let Some(left) = self.gauss_newton(problem) else {
                self.return_from_trial(before);
                break;
            };
            stalled = if left <= T::from_f64(WORTHWHILE) * reduction { 0 } else { stalled + 1 };
            // The trial point was exchanged with the one before.
            let (here, there) = (self.x.as_ref(), self.trial.as_ref());
            if left < reduction && cost <= self.highest_cost(settings, before, reduction) {
                mixing.remember(there, &plain);
                plain.copy_from_slice(self.step.as_ref());
                let (predicted, actual) = (reduction, before - cost);
                let trial = Trial { lambda: T::ZERO, length, slope, predicted, actual, accepted: true };
                if let Some(status) = self.enter(trace, &trial, true) {
                    return Ok(status);
                }
                reduction = left;
            } else {
                mixing.remember(here, self.step.as_ref());
                self.return_from_trial(before);
            }
        }
        Ok(status)
    }

    /// Returns the highest cost at which a step of the polish may be taken: differences of costs say nothing below what is left
    /// to gain and below rounding, but the start is not to be lost.
    pub(super) fn highest_cost(&self, settings: &Settings<T>, before: T, reduction: T) -> T {
        let rounding = settings.ftol.max(T::EPSILON) * before.abs();
        let start = self.initial_cost + T::from_f64(LAST_DIGITS) * T::EPSILON * self.initial_cost.abs();
        (before + reduction + rounding).min(start)
    }
}
