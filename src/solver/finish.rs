//! The end of a solve: the polish, a second look at the point, and the verdict on it.

use super::damping::DampingPolicy;
use super::iteration::Iteration;
use super::trace::Trace;
use super::{Observer, Settings, Status};
use crate::clock::Stopwatch;
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Largest number of times that a second look may find a lower point.
const SECOND_LOOKS: usize = 25;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T> + Shape<f64>,
    D: DampingPolicy<T>,
{
    /// Ends a solve whose descent found nothing more to gain: polishes, and descends again from where a second look finds a
    /// lower point.
    pub(super) fn finish<P: LeastSquares<T> + ?Sized, O: Observer<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        trace: &mut Trace<'_, T, O>,
        begun: Stopwatch,
        mut status: Status,
    ) -> Result<Status, EvaluationError> {
        let mut looks = 0;
        loop {
            let mut left = None;
            if settings.polish && status.is_at_an_end() {
                (status, left) = self.polish(settings, problem, trace, status)?;
                if status.is_at_an_end() && status.is_converged() && !self.is_stationary(settings) {
                    status = self.descend(settings, problem, trace, begun)?;
                    left = None;
                }
            }
            if !status.is_at_an_end() {
                return Ok(status);
            }
            let (moved, stop) = self.look_again(settings, problem, trace, left)?;
            if let Some(stop) = stop {
                return Ok(stop);
            }
            if !moved {
                return self.verdict(settings, problem, status);
            }
            looks += 1;
            if looks == SECOND_LOOKS {
                return Ok(Status::NoProgress);
            }
            self.start_damping();
            status = self.descend(settings, problem, trace, begun)?;
        }
    }
}
