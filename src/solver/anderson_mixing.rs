//! The part of the polish where Gauss–Newton steps converge slowly, or not at all.
//!
//! With large residuals the second derivative of the cost is far from `JᵀJ`, and undamped steps fall short or overshoot by
//! the same share again and again. What a step is at two points tells by how much: Anderson mixing takes the combination
//! of past steps that is smallest (Anderson 1965; Walker & Ni 2011).

use std::iter::zip;

use super::damping::{DampingPolicy, Trial};
use super::iteration::Iteration;
use super::polish::{MAX_STEPS, WORTHWHILE};
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
const ROUNDING: f64 = 1e3;

/// The last points, and the Gauss–Newton steps there; the latest is the last.
struct AndersonMixing<T: Real, S: Shape<T>> {
    past: [Option<(S::Vector, S::Vector)>; DEPTH],
}

/// How far a point is from the current one, how the steps there differ, and the square of that.
struct Difference<T: Real, S: Shape<T>> {
    x: S::Vector,
    step: S::Vector,
    square: T,
}

impl<T: Real, S: Shape<T>> AndersonMixing<T, S> {
    fn new() -> Self {
        AndersonMixing { past: [const { None }; DEPTH] }
    }

    fn remember(&mut self, x: &S::Vector, step: &S::Vector) {
        self.past.rotate_left(1);
        self.past[DEPTH - 1] = Some((x.clone(), step.clone()));
    }

    /// The step from `x`, where the plain one is `f`: to the point at which the plain steps, were they linear, would be
    /// shortest, and on by the one there. Columns are made orthogonal one after the other.
    fn step(&self, manifold: Option<&dyn Manifold<T>>, d: &[T], x: &S::Vector, f: &S::Vector) -> S::Vector {
        let dot = |a: &S::Vector, b: &S::Vector| {
            zip(d, zip(a.as_ref(), b.as_ref())).fold(T::ZERO, |sum, (&d, (&a, &b))| sum + d * a * d * b)
        };
        let difference = |a: &S::Vector, b: &S::Vector| {
            let mut difference = a.clone();
            add_scaled(difference.as_mut(), -T::ONE, b.as_ref());
            difference
        };
        let step_to = |point: &S::Vector| match manifold {
            None => difference(point, x),
            Some(manifold) => {
                let mut step = S::vector(d.len());
                manifold.minus(point.as_ref(), x.as_ref(), step.as_mut());
                step
            }
        };
        let (mut way, mut left) = (S::vector(d.len()), f.clone());
        let mut basis: [Option<Difference<T, S>>; DEPTH] = [const { None }; DEPTH];
        for (k, (point, step)) in self.past.iter().rev().flatten().enumerate() {
            let (mut dx, mut df) = (step_to(point), difference(step, f));
            let size = dot(&df, &df);
            for other in basis.iter().flatten() {
                let share = -dot(&df, &other.step) / other.square;
                add_scaled(dx.as_mut(), share, other.x.as_ref());
                add_scaled(df.as_mut(), share, other.step.as_ref());
            }
            let square = dot(&df, &df);
            // What is left of a column that depends on the others is noise.
            if square > T::EPSILON * size {
                let share = -dot(&left, &df) / square;
                add_scaled(way.as_mut(), share, dx.as_ref());
                add_scaled(left.as_mut(), share, df.as_ref());
                basis[k] = Some(Difference { x: dx, step: df, square });
            }
        }
        add_scaled(way.as_mut(), T::ONE, left.as_ref());
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
    /// [`polish`](Self::polish) do. Returns a status if something ends the solve.
    pub(super) fn mix<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
        mut reduction: T,
    ) -> Result<Option<Status>, EvaluationError> {
        let rounding = T::from_f64(ROUNDING) * T::EPSILON;
        let is_lost = |reduction: T, cost: T| reduction <= rounding * rounding * cost.abs();
        if is_lost(reduction, self.cost) || self.gauss_newton(problem).is_none() {
            return Ok(None);
        }
        let mut plain = self.step.clone();
        let mut mixing = AndersonMixing::<T, S>::new();
        let mut stalled = 0;
        for _ in 0..MAX_STEPS {
            if stalled == MOST_STALLED || is_lost(reduction, self.cost) {
                break;
            }
            self.step = mixing.step(problem.manifold(), self.d.as_ref(), &self.x, &plain);
            let step = self.step.as_ref();
            if zip(step, self.sizes()).all(|(step, x)| step.abs() <= rounding * x.abs()) {
                break;
            }
            let length = scaled_norm(self.d.as_ref(), step);
            let slope = self.model.slope(step);
            let before = self.cost;
            self.move_trial(problem);
            let Some(cost) = self.linearize_trial(problem)? else { break };
            self.learn_from_move(problem);
            let Some(left) = self.gauss_newton(problem) else {
                self.return_from_trial(before);
                break;
            };
            stalled = if left <= T::from_f64(WORTHWHILE) * reduction { 0 } else { stalled + 1 };
            if left < reduction && cost <= self.highest_cost(settings, before, reduction) {
                // The trial point was exchanged with the one before.
                mixing.remember(&self.trial, &plain);
                plain.as_mut().copy_from_slice(self.step.as_ref());
                let (predicted, actual) = (reduction, before - cost);
                let trial = Trial { lambda: T::ZERO, length, slope, predicted, actual, accepted: true };
                if let Some(status) = self.enter(trace, &trial, true) {
                    return Ok(Some(status));
                }
                reduction = left;
            } else {
                mixing.remember(&self.x, &self.step);
                self.return_from_trial(before);
            }
        }
        Ok(None)
    }

    /// Returns the highest cost at which a step of the polish may be taken: differences of costs say nothing below what is left
    /// to gain and below rounding, but the end is never above the start.
    pub(super) fn highest_cost(&self, settings: &Settings<T>, before: T, reduction: T) -> T {
        let rounding = settings.ftol.max(T::EPSILON) * before.abs();
        (before + reduction + rounding).min(self.initial_cost)
    }
}
