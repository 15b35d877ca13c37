//! Refinements: changes of a step before it is tried, and of a trial point before it is judged.

mod acceleration;
mod chord;
mod step_rule;

pub use acceleration::Acceleration;
pub(super) use acceleration::GeodesicAcceleration;
pub(super) use chord::ChordCorrections;
pub(super) use step_rule::StepRule;

use super::Refusal;
use super::damping::Trial;
use super::system::StepSystem;
use crate::evaluation::Evaluation;
use crate::problem::Evaluated;
use crate::real::Real;

pub(super) trait Refinement<T: Real> {
    /// Changes the step before it is tried; returns the reason why it must not be.
    fn refine(&mut self, system: &mut impl StepSystem<T>, trial: &mut Trial<T>) -> Evaluated<Option<Refusal>>;

    /// The cost at the trial point.
    #[inline(always)]
    fn trial_cost(&mut self, evaluation: &mut impl Evaluation<T>, x: &[T]) -> Evaluated<T> {
        evaluation.cost(x)
    }

    /// Changes the trial point, where the costs at the current point and there are known, and returns the cost.
    #[inline(always)]
    fn correct(&mut self, system: &mut impl StepSystem<T>, trial: &Trial<T>, (before, cost): (T, T)) -> Evaluated<T> {
        let _ = (system, trial, before);
        Ok(cost)
    }

    /// Trial points may be changed.
    #[inline(always)]
    fn corrects(&self) -> bool {
        false
    }

    /// Learns the result of a trial.
    fn learn(&mut self, trial: &Trial<T>);
}

/// One after the other; the second may change trial points.
impl<T: Real, A: Refinement<T>, B: Refinement<T>> Refinement<T> for (A, B) {
    #[inline]
    fn refine(&mut self, system: &mut impl StepSystem<T>, trial: &mut Trial<T>) -> Evaluated<Option<Refusal>> {
        match self.0.refine(system, trial)? {
            None => self.1.refine(system, trial),
            refusal => Ok(refusal),
        }
    }

    #[inline(always)]
    fn trial_cost(&mut self, evaluation: &mut impl Evaluation<T>, x: &[T]) -> Evaluated<T> {
        self.1.trial_cost(evaluation, x)
    }

    #[inline(always)]
    fn correct(&mut self, system: &mut impl StepSystem<T>, trial: &Trial<T>, costs: (T, T)) -> Evaluated<T> {
        self.1.correct(system, trial, costs)
    }

    #[inline(always)]
    fn corrects(&self) -> bool {
        self.1.corrects()
    }

    #[inline]
    fn learn(&mut self, trial: &Trial<T>) {
        self.0.learn(trial);
        self.1.learn(trial);
    }
}
