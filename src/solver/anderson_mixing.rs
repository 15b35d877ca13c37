//! Anderson mixing: the part of the polish for Gauss–Newton steps that converge slowly, or not at all.
//!
//! With large residuals the second derivative of the cost is far from `JᵀJ`, and undamped steps are repeatedly too short or too long by the
//! same fraction. The steps at two points determine this fraction: Anderson mixing takes the smallest combination of past steps (Anderson
//! 1965; Walker & Ni 2011).

use std::iter::zip;

use super::Status;
use super::damping::Trial;
use super::descent::{DescentParts, PartsVector};
use super::polish::{MAX_STEPS, WORTHWHILE, gauss_newton, highest_cost};
use super::solve::Solve;
use super::space::Space;
use crate::evaluation::Evaluation;
use crate::kernels::vector::add_scaled;
use crate::linear::LinearModel;
use crate::problem::Evaluated;
use crate::real::Real;
use crate::storage::Storage;

/// Points whose steps are mixed.
const DEPTH: usize = 3;

/// Number of stalled attempts in a row after which mixing ends.
const MOST_STALLED: usize = 3;

/// Bound of the rounding test: mixing ends where the squared cosine of the gradient (predicted reduction divided by cost) is
/// below this many squared units of rounding.
const ROUNDING: f64 = 1e3;

/// The last points, and the Gauss–Newton steps there; the latest is the last.
struct AndersonMixing<T: Real, S: Storage<T>> {
    past: [Option<(S::Vector, S::Vector)>; DEPTH],
}

/// How far a point is from the current one, how the steps there differ, and the square of that.
struct StepDifference<T: Real, S: Storage<T>> {
    x: S::Vector,
    step: S::Vector,
    square: T,
}

impl<T: Real, S: Storage<T>> AndersonMixing<T, S> {
    fn new() -> Self {
        AndersonMixing { past: [const { None }; DEPTH] }
    }

    fn remember(&mut self, x: &S::Vector, step: &S::Vector) {
        self.past.rotate_left(1);
        self.past[DEPTH - 1] = Some((x.clone(), step.clone()));
    }

    /// The step from `x`, where the plain one is `f`: to the point at which the plain steps, were they linear, would be
    /// shortest, and on by the one there. Columns are made orthogonal one after the other. `step_between` computes the step to the first of
    /// two points from the second.
    fn step(
        &self,
        step_between: impl Fn(&S::Vector, &S::Vector) -> S::Vector,
        d: &[T],
        x: &S::Vector,
        f: &S::Vector,
    ) -> S::Vector {
        let dot = |a: &S::Vector, b: &S::Vector| {
            zip(d, zip(a.as_ref(), b.as_ref())).fold(T::ZERO, |sum, (&d, (&a, &b))| sum + d * a * d * b)
        };
        let difference = |a: &S::Vector, b: &S::Vector| {
            let mut difference = a.clone();
            add_scaled(difference.as_mut(), -T::ONE, b.as_ref());
            difference
        };
        let (mut way, mut left) = (S::vector(d.len()), f.clone());
        let mut basis: [Option<StepDifference<T, S>>; DEPTH] = [const { None }; DEPTH];
        for (k, (point, step)) in self.past.iter().rev().flatten().enumerate() {
            let (mut dx, mut df) = (step_between(point, x), difference(step, f));
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
                basis[k] = Some(StepDifference { x: dx, step: df, square });
            }
        }
        add_scaled(way.as_mut(), T::ONE, left.as_ref());
        way
    }
}

/// Takes mixed steps for as long as they shrink the reduction that the gradient predicts, now `reduction`, as the plain ones of
/// the [polish](super::polish::polish) do. Returns a status if something ends the solve.
pub(super) fn mix<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    solve: &mut Solve<'_, '_, T, P, E>,
    mut reduction: T,
) -> Evaluated<Option<Status>> {
    let rounding = T::from_f64(ROUNDING) * T::EPSILON;
    let is_lost = |reduction: T, cost: T| reduction <= rounding * rounding * cost.abs();
    let Solve { descent, evaluation, ends, .. } = solve;
    if is_lost(reduction, descent.here.costs.cost) || gauss_newton(descent, *evaluation)?.is_none() {
        return Ok(None);
    }
    let mut plain = descent.step.delta.clone();
    let mut mixing = AndersonMixing::<T, P::Storage>::new();
    let mut stalled = 0;
    for _ in 0..MAX_STEPS {
        if stalled == MOST_STALLED || is_lost(reduction, descent.here.costs.cost) {
            break;
        }
        let step_between = |y: &PartsVector<T, P>, x: &PartsVector<T, P>| {
            let mut step = plain.clone();
            descent.space.minus(*evaluation, y.as_ref(), x.as_ref(), step.as_mut());
            step
        };
        let mixed = mixing.step(step_between, descent.scale.d.as_ref(), &descent.here.x, &plain);
        descent.step.delta = mixed;
        let (x, step) = (descent.here.x.as_ref(), descent.step.delta.as_ref());
        if zip(step, descent.space.sizes(x)).all(|(step, x)| step.abs() <= rounding * x.abs()) {
            break;
        }
        let (length, slope, before) = (descent.scale.length(step), descent.model.slope(step), descent.here.costs.cost);
        descent.space.plus(*evaluation, x, step, descent.trial.x.as_mut());
        let Some(cost) = descent.linearize_trial(*evaluation)? else { break };
        descent.learn_from_move(*evaluation);
        let Some(left) = gauss_newton(descent, *evaluation)? else {
            descent.return_from_trial(*evaluation)?;
            break;
        };
        stalled = if left <= T::from_f64(WORTHWHILE) * reduction { 0 } else { stalled + 1 };
        if left < reduction && cost <= highest_cost(ends.settings, ends.initial_cost, before, reduction) {
            // The trial point was exchanged with the one before.
            mixing.remember(&descent.trial.x, &plain);
            plain.as_mut().copy_from_slice(descent.step.delta.as_ref());
            let (predicted, actual) = (reduction, before - cost);
            let trial = Trial { lambda: T::ZERO, length, slope, predicted, actual, accepted: true };
            if let Some(status) = ends.enter(descent, *evaluation, &trial, true) {
                return Ok(Some(status));
            }
            reduction = left;
        } else {
            mixing.remember(&descent.here.x, &descent.step.delta);
            descent.return_from_trial(*evaluation)?;
        }
    }
    Ok(None)
}
