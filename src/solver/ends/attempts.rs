//! The ends of a step of training.

use crate::evaluation::Evaluation;
use crate::problem::Evaluated;
use crate::real::Real;
use crate::solver::damping::Trial;
use crate::solver::descent::{Descent, DescentParts, Ends};

/// An accepted trial ends the step; so does the largest number of rejected trials.
pub(in crate::solver) struct BatchAttempts {
    /// Trials at most.
    pub(in crate::solver) most: usize,
    pub(in crate::solver) made: usize,
    /// The first trial has momentum, which damping does not shorten.
    pub(in crate::solver) has_momentum: bool,
}

impl<T: Real, P: DescentParts<T>> Ends<T, P> for BatchAttempts {
    type Outcome = Trial<T>;

    fn before<E: Evaluation<T>>(&mut self, _: &Descent<T, P>, _: &mut E) -> Option<Trial<T>> {
        None
    }

    fn after<E: Evaluation<T>>(
        &mut self,
        descent: &mut Descent<T, P>,
        _: &mut E,
        trial: &Trial<T>,
    ) -> Evaluated<Option<Trial<T>>> {
        self.made += 1;
        if trial.accepted {
            return Ok(Some(*trial));
        }
        let has_a_step = trial.length.is_finite();
        let had_momentum = self.made == 1 && self.has_momentum;
        // Rounding swallows what the step would bring.
        let is_lost = has_a_step && !had_momentum && trial.slope.abs() <= T::EPSILON * descent.here.costs.cost.abs();
        let is_last = self.made >= self.most;
        if is_lost || is_last && !has_a_step {
            // No more damping would have helped, and as much might keep later batches from learning anything.
            descent.start_damping();
            return Ok(Some(*trial));
        }
        Ok(is_last.then_some(*trial))
    }
}
