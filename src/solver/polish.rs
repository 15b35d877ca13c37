//! The final polish: Gauss–Newton steps judged by the gradient.
//!
//! Differences of costs drown in rounding at half the digits of the parameters. What is left of the gradient, measured
//! by the reduction `½ (Jᵀr)ᵀ(JᵀJ)⁻¹Jᵀr` that it still promises, does not.

use super::damping::{DampedSystem, DampingPolicy, Trial};
use super::iteration::Iteration;
use super::journal::Journal;
use super::{Observer, Settings, Status};
use crate::kernels::vector::scaled_norm;
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Steps after which the polish ends whatever it gains.
pub(super) const MAX_STEPS: usize = 30;

/// A step that moves every parameter by less than so many units of its last digit is not worth taking, and a cost above
/// the start's by less than that is none.
pub(super) const LAST_DIGITS: f64 = 64.0;

/// A step must leave less than this share of the promise to be worth another.
pub(super) const WORTHWHILE: f64 = 0.5;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Takes Gauss–Newton steps for as long as they shrink what the gradient promises and keep the cost below the start's,
    /// but for rounding; where that comes to an end before rounding does, steps are [mixed](Self::mix). Where the data do not
    /// determine all parameters there is no such step, and the point is left as it is.
    pub(super) fn polish<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        journal: &mut Journal<'_, T, O>,
        status: Status,
    ) -> Result<Status, EvaluationError> {
        if self.plan.form.multiplies() {
            // There is no going back from a linearisation.
            return Ok(status);
        }
        self.model.solve_exactly();
        let mut promise = self.gauss_newton(problem);
        if promise.is_none() && self.plan.may_orthogonalize {
            self.orthogonalize(problem)?;
            promise = self.gauss_newton(problem);
        }
        let Some(mut promise) = promise else { return Ok(status) };
        for _ in 0..MAX_STEPS {
            let length = scaled_norm(self.d.as_ref(), self.step.as_ref());
            let mut moves = self.step.as_ref().iter().zip(self.sizes());
            if moves.all(|(step, x)| step.abs() <= T::from_f64(LAST_DIGITS) * T::EPSILON * x.abs())
                && self.is_stationary(settings)
            {
                return Ok(status);
            }
            let before = self.cost;
            self.move_trial(problem);
            let Some(cost) = self.linearize_trial(problem)? else { return Ok(status) };
            self.learn_from_move(problem);
            let is_low = cost <= self.highest_cost(settings, before, promise);
            let left = if is_low { self.gauss_newton(problem) } else { None };
            let Some(left) = left.filter(|&left| left < promise) else {
                self.return_from_trial(before);
                break;
            };
            let (slope, actual) = (-(promise + promise), before - cost);
            let trial = Trial { lambda: T::ZERO, length, slope, predicted: promise, actual, accepted: true };
            if let Some(status) = self.enter(journal, &trial, true) {
                return Ok(status);
            }
            let is_worthwhile = left <= T::from_f64(WORTHWHILE) * promise;
            promise = left;
            if !is_worthwhile {
                break;
            }
        }
        self.mix(settings, problem, journal, status, promise)
    }

    /// Solves for the undamped step and returns the reduction it promises.
    pub(super) fn gauss_newton<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Option<T> {
        let length = self.system(problem).1.solve(T::ZERO).ok()?;
        let promise = self.promise(T::ZERO, length, self.model.slope(self.step.as_ref()));
        promise.is_finite().then_some(promise)
    }
}
