//! The end of a solve: the polish, a second look at the point, and the verdict on it.

use std::time::Instant;

use super::damping::DampingPolicy;
use super::iteration::Iteration;
use super::trace::Trace;
use super::{Observer, Settings, Status};
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Descents from points that a second look found to be none to end at, at most.
const SECOND_LOOKS: usize = 20;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Ends a solve whose descent found nothing more to gain: polishes, and descends again from where a second look finds a
    /// lower point, be it [beside a saddle](Self::leave_saddle) or by [plain steps](Self::take_plain_steps).
    pub(super) fn finish<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
        begun: Instant,
        mut status: Status,
    ) -> Result<Status, EvaluationError> {
        for _ in 0..SECOND_LOOKS {
            if settings.polish && status.is_at_an_end() {
                status = self.polish(settings, problem, trace, status)?;
                if status.is_at_an_end() && status.is_converged() && !self.is_stationary(settings) {
                    status = self.descend(settings, problem, trace, begun)?;
                }
            }
            if !status.is_at_an_end() {
                return Ok(status);
            }
            let (moved, stop) = if self.is_stationary(settings) {
                self.leave_saddle(problem, trace)?
            } else {
                self.take_plain_steps(settings, problem, trace, begun)?
            };
            if let Some(stop) = stop {
                return Ok(stop);
            }
            if !moved {
                break;
            }
            self.start_damping();
            status = self.descend(settings, problem, trace, begun)?;
        }
        if status.is_at_an_end() { self.verdict(settings, problem, status) } else { Ok(status) }
    }
}
