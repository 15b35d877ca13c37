//! The final polish: Gauss–Newton steps that are accepted by the gradient.
//!
//! Differences of costs fall below rounding errors at half of the digits of the parameters. The reduction `½ (Jᵀr)ᵀ(JᵀJ)⁻¹Jᵀr` that the
//! gradient predicts does not.

use super::anderson_mixing::mix;
use super::damping::{DampedSystem, Trial};
use super::descent::{Descent, DescentParts};
use super::first_order::is_stationary;
use super::solve::Solve;
use super::space::Space;
use super::{Settings, Status};
use crate::evaluation::Evaluation;
use crate::linear::{Lesson, LinearModel, Recovery};
use crate::problem::Evaluated;
use crate::real::Real;

/// Largest number of steps of the polish.
pub(super) const MAX_STEPS: usize = 30;

/// A step that moves every parameter by less than this many units of its last digit is not worth taking.
const LAST_DIGITS: f64 = 64.0;

/// Residuals from which a step has to be longer, as linearisations are the work of a long fit.
const MANY_RESIDUALS: usize = 10_000;

/// Shortest step that is worth the linearisation of many residuals, in standard errors along it.
const SHORTEST: f64 = 1e-7;

/// Continue only while the predicted reduction at least halves.
pub(super) const WORTHWHILE: f64 = 0.5;

/// A predicted reduction that falls to no less than this share is that of steps which are short by about the same share each time.
const SLOW: f64 = 1e-3;

/// Takes Gauss–Newton steps for as long as they shrink the reduction that the gradient predicts and do not lead above the start;
/// where they do so slowly, or come to an end before rounding does, steps are [mixed](mix). Where the
/// data do not determine all parameters there is no such step, and the point is left as it is. Returns a bound on what the
/// undamped step predicts at the end, too, if one is known.
pub(super) fn polish<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    solve: &mut Solve<'_, '_, T, P, E>,
    status: Status,
) -> Evaluated<(Status, Option<T>)> {
    if solve.descent.model.form().multiplies() {
        // There is no going back from a linearisation.
        return Ok((status, None));
    }
    let Some(mut reduction) = first_step(solve)? else { return Ok((status, None)) };
    let mut has_mixed = false;
    for _ in 0..MAX_STEPS {
        let Solve { descent, evaluation, ends, .. } = solve;
        let is_over = is_at_last_digits(descent) || is_too_short(descent, reduction, evaluation.size().0);
        if is_over && is_stationary(descent, ends.settings) {
            return Ok((status, Some(reduction)));
        }
        let (before, length) = (descent.here.costs.cost, descent.scale.length(descent.step.delta.as_ref()));
        descent.space.plus(*evaluation, descent.here.x.as_ref(), descent.step.delta.as_ref(), descent.trial.x.as_mut());
        let Some(cost) = descent.linearize_trial(*evaluation)? else { return Ok((status, None)) };
        descent.learn_from_move(*evaluation);
        let is_low = cost <= highest_cost(ends.settings, ends.initial_cost, before, reduction);
        let left = if is_low { gauss_newton(descent, *evaluation)? } else { None };
        let Some(left) = left.filter(|&left| left < reduction) else {
            descent.return_from_trial(*evaluation)?;
            break;
        };
        let (slope, actual) = (-(reduction + reduction), before - cost);
        let trial = Trial { lambda: T::ZERO, length, slope, predicted: reduction, actual, accepted: true };
        if let Some(status) = ends.enter(descent, *evaluation, &trial, true) {
            return Ok((status, None));
        }
        let is_at_least = |share: f64| left > T::from_f64(share) * reduction;
        let (is_worthwhile, is_slow) = (!is_at_least(WORTHWHILE), is_at_least(SLOW));
        reduction = left;
        if !is_worthwhile {
            break;
        }
        if is_slow && !has_mixed {
            has_mixed = true;
            if let Some(status) = mix(solve, reduction)? {
                return Ok((status, None));
            }
            let Some(left) = gauss_newton(&mut solve.descent, solve.evaluation)? else { return Ok((status, None)) };
            reduction = left;
        }
    }
    Ok((mix(solve, reduction)?.unwrap_or(status), Some(reduction)))
}

/// Solves for the first undamped step, exactly from now on, by another system if need be.
fn first_step<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    solve: &mut Solve<'_, '_, T, P, E>,
) -> Evaluated<Option<T>> {
    let Solve { descent, evaluation, .. } = solve;
    descent.step.exact = true;
    let mut reduction = gauss_newton(descent, *evaluation)?;
    while reduction.is_none()
        && let Some(recovery) = descent.model.learn(Lesson::Unsolved)
    {
        // Without the curvature, the normal equations would be as close to singular.
        if recovery == Recovery::Linearize {
            descent.linearize_again(*evaluation)?;
            reduction = gauss_newton(descent, *evaluation)?;
        }
    }
    Ok(reduction)
}

/// The step moves no parameter by more than its last digits.
fn is_at_last_digits<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>) -> bool {
    let mut moves = descent.step.delta.as_ref().iter().zip(descent.space.sizes(descent.here.x.as_ref()));
    moves.all(|(step, x)| step.abs() <= T::from_f64(LAST_DIGITS) * T::EPSILON * x.abs())
}

/// The step is too short a part of the standard errors for as many residuals: `δᵀJᵀJδ` is twice the reduction that it predicts, and
/// twice the cost over `m` is a variance.
fn is_too_short<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>, reduction: T, m: usize) -> bool {
    let variance = descent.here.costs.cost / T::from_f64(m as f64);
    m > MANY_RESIDUALS && reduction <= T::from_f64(SHORTEST * SHORTEST) * variance
}

/// Solves for the undamped step and returns the reduction it predicts; `None` where there is none.
pub(super) fn gauss_newton<T: Real, P: DescentParts<T>, E: Evaluation<T>>(
    descent: &mut Descent<T, P>,
    evaluation: &mut E,
) -> Evaluated<Option<T>> {
    let (_, _, mut system) = descent.parts(evaluation);
    let solved = system.solve(T::ZERO);
    if let Some(error) = system.failure.take() {
        return Err(error);
    }
    Ok(solved.ok().map(|_| system.predict(T::ZERO).predicted).filter(|reduction| reduction.is_finite()))
}

/// Returns the highest cost at which a step of the polish may be taken: differences of costs say nothing below what is left
/// to gain and below rounding, but the end is never above the start.
pub(super) fn highest_cost<T: Real>(settings: &Settings<T>, initial_cost: T, before: T, reduction: T) -> T {
    let rounding = settings.ftol.max(T::EPSILON) * before.abs();
    (before + reduction + rounding).min(initial_cost)
}
