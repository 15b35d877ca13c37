//! Plain steps from a point where the descent has ended, although the gradient is not zero there.
//!
//! Rounding errors may explain the gradient, but only if they leave no step visible. One ill-conditioned parameter, whose last digit
//! moves some residuals more than any step does, ruins each step in all parameters, and hides what the others have to gain. So
//! steps are tried in all parameters, in those that are not coarse, and in all but one.

use std::time::Instant;

use super::damping::{DampedSystem, DampingPolicy, Trial};
use super::iteration::Iteration;
use super::trace::Trace;
use super::{Observer, Settings, Status};
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Dampings that are tried, in units of the squared column norms.
const DAMPINGS: [f64; 6] = [0.0, 1e-8, 1e-5, 1e-3, 1e-1, 1e1];

/// A step has to lower the cost by more than `ε` to this power of itself: 4e-10 in double precision, 7e-5 in single.
const NOTICEABLE: f64 = 0.6;

/// A parameter is coarse if the step along it that its derivative asks for is no longer than this many units of its last digit.
const COARSE: f64 = 8.0;

/// Largest number of parameters that are left out one by one.
const FEW_PARAMETERS: usize = 16;

/// Plain steps in a row, at most.
const STEPS: usize = 40;

/// Parameters that a plain step leaves where they are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LeftOut {
    Nothing,
    Coarse,
    One(usize),
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Takes plain steps for as long as they lower the cost noticeably. Returns true if there was any, and the reason to stop if there
    /// is one.
    pub(super) fn take_plain_steps<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
        begun: Instant,
    ) -> Result<(bool, Option<Status>), EvaluationError> {
        if self.plan.form.multiplies() {
            return Ok((false, None));
        }
        let kept = self.d.clone();
        let mut moved = false;
        for _ in 0..STEPS {
            if let Some(status) = self.exhausted(settings, trace.iterations, begun) {
                return Ok((moved, Some(status)));
            }
            let Some((trial, point)) = self.best_plain_step(problem)? else { break };
            let before = self.cost;
            self.trial = point;
            let Some(cost) = self.linearize_trial(problem)? else { break };
            if !(cost < before) {
                self.return_from_trial(before);
                break;
            }
            moved = true;
            if let Some(status) = self.enter(trace, &Trial { actual: before - cost, accepted: true, ..trial }, false) {
                return Ok((moved, Some(status)));
            }
        }
        self.d = kept;
        Ok((moved, None))
    }

    /// The plain step that lowers the cost most and noticeably, with the point where it leads.
    fn best_plain_step<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
    ) -> Result<Option<(Trial<T>, S::Vector)>, EvaluationError> {
        let noticeable = T::EPSILON.powf(T::from_f64(NOTICEABLE)) * self.cost.abs();
        let mut best: Option<(Trial<T>, S::Vector)> = None;
        let few = if self.plan.n <= FEW_PARAMETERS { self.plan.n } else { 0 };
        for left_out in [LeftOut::Nothing, LeftOut::Coarse].into_iter().chain((0..few).map(LeftOut::One)) {
            self.scale_plainly(left_out);
            // Nothing is held where there is no damping.
            let least = usize::from(left_out != LeftOut::Nothing);
            for lambda in DAMPINGS[least..].iter().map(|&lambda| T::from_f64(lambda)) {
                let Ok(length) = self.system(problem).1.solve(lambda) else { continue };
                let slope = self.model.slope(self.step.as_ref());
                let predicted = self.predicted_reduction(lambda, length, slope);
                if !(predicted > noticeable) {
                    break;
                }
                self.move_trial(problem);
                let actual = self.cost - self.trial_cost(problem)?;
                if actual > best.as_ref().map_or(noticeable, |(best, _)| best.actual) {
                    let trial = Trial { lambda, length, slope, predicted, actual, accepted: false };
                    best = Some((trial, self.trial.clone()));
                }
            }
        }
        Ok(best)
    }

    /// Scales by the norms of the columns, and holds parameters by much larger numbers.
    fn scale_plainly(&mut self, left_out: LeftOut) {
        let hold = T::EPSILON.recip();
        for j in 0..self.plan.n {
            let is_left_out = match left_out {
                LeftOut::Nothing => false,
                LeftOut::Coarse => self.coarseness(j) <= T::from_f64(COARSE),
                LeftOut::One(one) => one == j,
            };
            let norm = self.column_norms.as_ref()[j];
            let norm = if norm > T::ZERO { norm } else { T::ONE };
            self.d.as_mut()[j] = if is_left_out { hold * norm } else { norm };
        }
    }

    /// Length of the step along parameter `j` that its derivative asks for, in units of the parameter's last digit.
    fn coarseness(&self, j: usize) -> T {
        let (norm, unit) = (self.column_norms.as_ref()[j], T::EPSILON * self.sizes()[j].abs());
        (self.model.gradient()[j] / norm / norm).abs() / unit
    }
}
