//! The final polish: Gauss–Newton steps judged by the gradient.
//!
//! Differences of costs drown in rounding at half the digits of the parameters. What is left of the gradient, measured
//! by the reduction `½ (Jᵀr)ᵀ(JᵀJ)⁻¹Jᵀr` that it still predicts, does not.

use super::damping::{DampedSystem, DampingPolicy, Trial};
use super::iteration::Iteration;
use super::trace::Trace;
use super::{Observer, Settings, Status};
use crate::kernels::vector::scaled_norm;
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Largest number of steps of the polish.
pub(super) const MAX_STEPS: usize = 30;

/// A step that moves every parameter by less than this many units of its last digit is not worth taking.
const LAST_DIGITS: f64 = 64.0;

/// Continue only while the predicted reduction at least halves.
pub(super) const WORTHWHILE: f64 = 0.5;

/// A predicted reduction that falls to no less than this share is that of steps which are short by about the same share each time.
const SLOW: f64 = 1e-3;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Takes Gauss–Newton steps for as long as they shrink the reduction that the gradient predicts and do not lead above the start;
    /// where they do so slowly, or come to an end before rounding does, steps are [mixed](Self::mix). Where the
    /// data do not determine all parameters there is no such step, and the point is left as it is. Returns a bound on what the
    /// undamped step predicts at the end, too, if one is known.
    pub(super) fn polish<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
        status: Status,
    ) -> Result<(Status, Option<T>), EvaluationError> {
        if self.plan.form.multiplies() {
            // There is no going back from a linearisation.
            return Ok((status, None));
        }
        self.model.solve_exactly();
        let mut reduction = self.gauss_newton(problem);
        if reduction.is_none() && self.plan.may_orthogonalize {
            self.orthogonalize(problem)?;
            reduction = self.gauss_newton(problem);
        }
        let Some(mut reduction) = reduction else { return Ok((status, None)) };
        let mut has_mixed = false;
        for _ in 0..MAX_STEPS {
            let length = scaled_norm(self.d.as_ref(), self.step.as_ref());
            let mut moves = self.step.as_ref().iter().zip(self.sizes());
            if moves.all(|(step, x)| step.abs() <= T::from_f64(LAST_DIGITS) * T::EPSILON * x.abs())
                && self.is_stationary(settings)
            {
                return Ok((status, Some(reduction)));
            }
            let before = self.cost;
            self.move_trial(problem);
            let Some(cost) = self.linearize_trial(problem)? else { return Ok((status, None)) };
            self.learn_from_move(problem);
            let is_low = cost <= self.highest_cost(settings, before, reduction);
            let left = if is_low { self.gauss_newton(problem) } else { None };
            let Some(left) = left.filter(|&left| left < reduction) else {
                self.return_from_trial(before);
                break;
            };
            let (slope, actual) = (-(reduction + reduction), before - cost);
            let trial = Trial { lambda: T::ZERO, length, slope, predicted: reduction, actual, accepted: true };
            if let Some(status) = self.enter(trace, &trial, true) {
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
                if let Some(status) = self.mix(settings, problem, trace, reduction)? {
                    return Ok((status, None));
                }
                let Some(left) = self.gauss_newton(problem) else { return Ok((status, None)) };
                reduction = left;
            }
        }
        Ok((self.mix(settings, problem, trace, reduction)?.unwrap_or(status), Some(reduction)))
    }

    /// Solves for the undamped step and returns the reduction it predicts.
    pub(super) fn gauss_newton<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Option<T> {
        let mut length = self.system(problem).1.solve(T::ZERO);
        if self.model.lacks_rows() && self.linearize_again(problem).is_ok() {
            length = self.system(problem).1.solve(T::ZERO);
        }
        let length = length.ok()?;
        let reduction = self.predicted_reduction(T::ZERO, length, self.model.slope(self.step.as_ref()));
        reduction.is_finite().then_some(reduction)
    }
}
