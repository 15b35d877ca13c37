//! A full solve: descent, polish, and a second look at where they end.

use super::active_bounds::active_bounds;
use super::descent::{Descent, DescentParts, PartsVector, vector};
use super::ends::{Convergence, agreed_stop};
use super::first_order::{gradient_norm, is_stationary, squared_gradient_cosine, verdict};
use super::polish::polish;
use super::second_look::look_again;
use super::space::Space;
use super::{Evaluations, Observer, Report, Settings, Status};
use crate::clock::Stopwatch;
use crate::evaluation::Evaluation;
use crate::linear::LinearModel;
use crate::problem::Evaluated;
use crate::real::Real;

/// Largest number of times that a second look may find a lower point.
const SECOND_LOOKS: usize = 25;

/// A solve under way, and the problem that it evaluates.
pub(super) struct Solve<'e, 's, T: Real, P: DescentParts<T>, E> {
    pub(super) descent: Descent<T, P>,
    pub(super) evaluation: &'e mut E,
    pub(super) ends: Convergence<'s, T, PartsVector<T, P>>,
    /// The end is polished.
    pub(super) polishes: bool,
}

impl<'e, 's, T: Real, P: DescentParts<T>, E: Evaluation<T>> Solve<'e, 's, T, P, E> {
    /// From the point where a descent has started.
    #[inline]
    pub(super) fn new(
        mut descent: Descent<T, P>,
        evaluation: &'e mut E,
        settings: &'s Settings<T>,
        observer: Option<&'s mut dyn Observer<T>>,
        begun: Stopwatch,
    ) -> Self {
        descent.start_damping();
        let sizes = descent.space.sizes(descent.here.x.as_ref());
        let mut start = vector::<T, P>(sizes.len());
        start.as_mut().copy_from_slice(sizes);
        let ends = Convergence::new(settings, observer, begun, (descent.here.costs.cost, start));
        let polishes = settings.polish.unwrap_or_else(|| !evaluation.is_rough());
        Solve { descent, evaluation, ends, polishes }
    }

    /// Descends, and reports.
    #[inline]
    pub(super) fn run(mut self) -> Report<T, PartsVector<T, P>> {
        let (status, error) = match self.descend().and_then(|status| self.finish(status)) {
            Ok(status) => (agreed_stop(self.evaluation).unwrap_or(status), None),
            Err(error) => (Status::EvaluationFailed, Some(error)),
        };
        let Solve { descent, evaluation, ends, .. } = self;
        let counts = evaluation.counts();
        Report {
            status,
            cost: descent.here.costs.cost,
            initial_cost: ends.initial_cost,
            gradient_norm: gradient_norm(&descent),
            gradient_cosine: squared_gradient_cosine(&descent).sqrt(),
            active: active_bounds(&descent),
            relations: Vec::new(),
            damping: ends.damping,
            iterations: ends.iterations,
            accepted: ends.accepted,
            evaluations: Evaluations {
                residuals: counts.residuals,
                jacobians: counts.jacobians,
                factorizations: descent.step.factorizations,
            },
            linear_form: descent.model.form(),
            elapsed: ends.elapsed(),
            log: Vec::new(),
            error,
            x: descent.here.x,
        }
    }

    /// Repeats the iteration until something ends it.
    #[inline]
    fn descend(&mut self) -> Evaluated<Status> {
        self.descent.run(self.evaluation, &mut self.ends)
    }

    /// Ends a solve whose descent found nothing more to gain: polishes, and descends again from where a second look finds a
    /// lower point.
    fn finish(&mut self, mut status: Status) -> Evaluated<Status> {
        let settings = self.ends.settings;
        let mut looks = 0;
        loop {
            let mut left = None;
            if self.polishes && status.is_at_an_end() {
                (status, left) = polish(self, status)?;
                if status.is_at_an_end() && status.is_converged() && !is_stationary(&self.descent, settings) {
                    status = self.descend()?;
                    left = None;
                }
            }
            if !status.is_at_an_end() {
                return Ok(status);
            }
            if looks == SECOND_LOOKS {
                // From the last point, too, a look might have led lower.
                let end = verdict(&mut self.descent, self.evaluation, settings, status)?;
                return Ok(if end.is_converged() { Status::NoProgress } else { end });
            }
            let (moved, stop) = look_again(self, left)?;
            if let Some(stop) = stop {
                return Ok(stop);
            }
            if !moved {
                return verdict(&mut self.descent, self.evaluation, settings, status);
            }
            looks += 1;
            self.descent.start_damping();
            status = self.descend()?;
        }
    }
}
