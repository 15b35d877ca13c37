//! The Levenberg–Marquardt iteration of full solves and of steps of training. (Many small fits have their own, in `lockstep`.)

use std::mem::swap;

use super::damping::{DampingPolicy, IllConditioned, Trial};
use super::refinement::Refinement;
use super::scale::Scale;
use super::space::Space;
use super::system::{StepState, System};
use super::{Refusal, Scaling};
use crate::evaluation::{Costs, Evaluation};
use crate::kernels::vector::all_finite;
use crate::linear::{Lesson, LinearModel, Recovery};
use crate::problem::{Evaluated, EvaluationError};
use crate::real::Real;
use crate::storage::Storage;

/// A step is taken when it brings at least this share of the reduction that the linear model predicted.
pub(super) const SUFFICIENT_GAIN: f64 = 1e-4;

/// Gain ratio of a step from which the next is expected to be taken, and is linearised without asking for its cost first.
const PROMISING_GAIN: f64 = 0.5;

/// The types of the parts.
pub(crate) trait DescentParts<T: Real> {
    type Storage: Storage<T> + Storage<f64>;
    type Model: LinearModel<T>;
    type Space: Space<T>;
    type Refinement: Refinement<T>;
    type Damping: DampingPolicy<T>;
}

/// A vector of as many entries as the shape has.
pub(crate) type PartsVector<T, P> = <<P as DescentParts<T>>::Storage as Storage<T>>::Vector;

/// The damped system of the parts.
type PartsSystem<'a, T, P> =
    System<'a, T, PartsVector<T, P>, <P as DescentParts<T>>::Model, <P as DescentParts<T>>::Space>;

/// A zero vector.
#[inline]
pub(super) fn vector<T: Real, P: DescentParts<T>>(n: usize) -> PartsVector<T, P> {
    <P::Storage as Storage<T>>::vector(n)
}

/// A point and its costs.
#[derive(Debug, Clone)]
pub(crate) struct CostedPoint<T, V> {
    pub(super) x: V,
    pub(super) costs: Costs<T>,
}

/// The update at a point that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// None: the next step will be on another problem.
    Leave,
    /// The point is linearised once its cost is known.
    Linearize,
    /// The point is linearised; before its cost is known if the last trial went so well.
    AtOnce { promising: bool },
}

/// Reasons to end the iteration.
pub(super) trait Ends<T: Real, P: DescentParts<T>> {
    type Outcome;

    /// Looks at the current point before a trial.
    fn before<E: Evaluation<T>>(&mut self, descent: &Descent<T, P>, evaluation: &mut E) -> Option<Self::Outcome>;

    /// Looks at a trial, after which the current point is the better one.
    fn after<E: Evaluation<T>>(
        &mut self,
        descent: &mut Descent<T, P>,
        evaluation: &mut E,
        trial: &Trial<T>,
    ) -> Evaluated<Option<Self::Outcome>>;
}

/// A point, the linear model around it, and the parts that make steps.
///
/// The evaluation of the problem and the reasons to end come with each call: a full solve passes the same ones, training others for
/// every minibatch.
pub(crate) struct Descent<T: Real, P: DescentParts<T>> {
    pub(super) model: P::Model,
    pub(super) space: P::Space,
    pub(super) damping: P::Damping,
    pub(super) refinement: P::Refinement,
    pub(super) scale: Scale<T, P::Storage>,
    /// The current point, the best so far.
    pub(super) here: CostedPoint<T, PartsVector<T, P>>,
    /// The trial point; the point before where the trial was taken.
    pub(super) trial: CostedPoint<T, PartsVector<T, P>>,
    pub(super) step: StepState<T, PartsVector<T, P>>,
    pub(super) arrival: Arrival,
}

impl<T: Real, P: DescentParts<T>> Descent<T, P> {
    /// Creates a descent at the point `x`, before its first evaluation, for steps of `n` entries.
    #[inline]
    pub(super) fn new(
        (x, n): (PartsVector<T, P>, usize),
        (model, space, refinement, damping): (P::Model, P::Space, P::Refinement, P::Damping),
        scaling: Scaling,
        arrival: Arrival,
    ) -> Self {
        Descent {
            model,
            space,
            damping,
            refinement,
            scale: Scale::new(scaling, n),
            trial: CostedPoint { x: x.clone(), costs: Costs::UNKNOWN },
            here: CostedPoint { x, costs: Costs::UNKNOWN },
            step: StepState::new(vector::<T, P>(n), vector::<T, P>(n)),
            arrival,
        }
    }

    /// Linearises at the trial point, to start from there. Returns false if the point or its linear model is not finite.
    #[inline]
    pub(super) fn start<E: Evaluation<T>>(&mut self, evaluation: &mut E) -> Evaluated<bool> {
        self.here.costs = Costs::UNKNOWN;
        Ok(self.linearize_trial(evaluation)?.is_some())
    }

    /// Lets the damping start afresh.
    pub(super) fn start_damping(&mut self) {
        let reach = self.scale.length(self.space.sizes(self.here.x.as_ref()));
        self.damping.start(reach);
    }

    /// Repeats the iteration until something ends it.
    #[inline]
    pub(super) fn run<E, N>(&mut self, evaluation: &mut E, ends: &mut N) -> Evaluated<N::Outcome>
    where
        E: Evaluation<T>,
        N: Ends<T, P>,
    {
        loop {
            if let Some(end) = ends.before(self, evaluation) {
                return Ok(end);
            }
            let trial = self.iterate(evaluation)?;
            if let Some(end) = ends.after(self, evaluation, &trial)? {
                return Ok(end);
            }
        }
    }

    /// One iteration: solve the damped system, try the step, take it or damp more.
    #[inline]
    fn iterate<E: Evaluation<T>>(&mut self, evaluation: &mut E) -> Evaluated<Trial<T>> {
        let (damping, mut refinement, mut system) = self.parts(evaluation);
        let mut choice = damping.damp(&mut system);
        if choice.is_err() || system.failure.is_some() {
            let failure = system.failure.take();
            choice = self.recover(evaluation, failure)?;
            (_, refinement, system) = self.parts(evaluation);
        }
        let Ok(lambda) = choice else { return Ok(self.damp_more()) };
        let mut trial = system.predict(lambda);
        let mut refusal = refinement.refine(&mut system, &mut trial)?;
        if refusal.is_none() {
            refusal = system.complete()?;
        }
        self.step.refused = refusal.map(|refusal| (refusal, T::INFINITY));
        if refusal.is_none() {
            self.space.plus(evaluation, self.here.x.as_ref(), self.step.delta.as_ref(), self.trial.x.as_mut());
            self.judge(evaluation, &mut trial)?;
        }
        self.refinement.learn(&trial);
        self.damping.update(&trial);
        evaluation.learn(trial.gain_ratio());
        if self.arrival != Arrival::Leave {
            let Trial { predicted, actual, accepted, .. } = trial;
            self.model.learn(Lesson::Trial { step: self.step.delta.as_ref(), predicted, actual, accepted });
        }
        if let Arrival::AtOnce { promising } = &mut self.arrival {
            *promising = trial.accepted && trial.gains(PROMISING_GAIN);
        }
        Ok(trial)
    }

    /// Lets the model change until the policy finds a damping that can be solved with; the error is that of the problem that the policy
    /// was not told.
    #[cold]
    fn recover<E: Evaluation<T>>(
        &mut self,
        evaluation: &mut E,
        mut failure: Option<EvaluationError>,
    ) -> Evaluated<Result<T, IllConditioned>> {
        loop {
            if let Some(error) = failure {
                return Err(error);
            }
            match self.model.learn(Lesson::Unsolved) {
                None => return Ok(Err(IllConditioned)),
                Some(Recovery::SolveAgain) => {}
                Some(Recovery::Linearize) => {
                    self.linearize_again(evaluation)?;
                }
            }
            let (damping, _, mut system) = self.parts(evaluation);
            let choice = damping.damp(&mut system);
            failure = system.failure.take();
            if choice.is_ok() && failure.is_none() {
                return Ok(choice);
            }
        }
    }

    /// The answer to a system that cannot be solved: more damping, without a trial.
    #[cold]
    fn damp_more(&mut self) -> Trial<T> {
        self.damping.damp_more();
        self.step.refused = Some((Refusal::IllConditioned, T::INFINITY));
        Trial {
            lambda: self.step.lambda,
            length: T::INFINITY,
            slope: T::ZERO,
            predicted: T::INFINITY,
            actual: -T::INFINITY,
            accepted: false,
        }
    }

    /// Moves to the trial point if its cost is low enough.
    #[inline]
    fn judge<E: Evaluation<T>>(&mut self, evaluation: &mut E, trial: &mut Trial<T>) -> Evaluated {
        let before = self.here.costs.cost;
        if self.arrival == (Arrival::AtOnce { promising: true }) {
            let Some(cost) = self.linearize_trial(evaluation)? else {
                self.step.refused = Some((Refusal::NotFinite, T::INFINITY));
                return Ok(());
            };
            trial.actual = before - cost;
            trial.accepted = suffices(trial);
            if !trial.accepted {
                self.return_from_trial(evaluation)?;
            }
        } else {
            let mut cost = self.trial_cost(evaluation)?;
            if !cost.is_finite() {
                self.step.refused = Some((Refusal::NotFinite, T::INFINITY));
                return Ok(());
            }
            if self.refinement.corrects() {
                let (_, refinement, mut system) = self.parts(evaluation);
                cost = refinement.correct(&mut system, trial, (before, cost))?;
            }
            trial.actual = before - cost;
            trial.accepted = suffices(trial) && self.arrive(evaluation, cost)?;
            if suffices(trial) && !trial.accepted {
                self.step.refused = Some((Refusal::NotFinite, cost));
            }
        }
        if trial.accepted && self.arrival != Arrival::Leave {
            self.confirm(evaluation, trial, before)?;
        }
        Ok(())
    }

    /// Stays at the trial point, unless its linear model speaks against it.
    #[inline]
    fn confirm<E: Evaluation<T>>(&mut self, evaluation: &mut E, trial: &mut Trial<T>, before: T) -> Evaluated {
        let (now, then) = (self.here.costs, self.trial.costs);
        if now.cost > before {
            // Rounded in another way, the sum with the Jacobian is not lower.
            (trial.accepted, trial.actual) = (false, before - now.cost);
            self.return_from_trial(evaluation)
        } else if self.scale.loses_a_column(now.squares, then.squares) {
            (trial.accepted, trial.actual) = (false, -T::INFINITY);
            self.step.refused = Some((Refusal::LosesParameter, now.cost));
            self.return_from_trial(evaluation)
        } else {
            self.follow();
            Ok(())
        }
    }

    /// Brings the scaling up to date with the current point.
    #[inline]
    pub(super) fn follow(&mut self) {
        self.scale.follow(self.space.sizes(self.here.x.as_ref()));
    }

    /// Makes the trial point, whose cost is known, the current one.
    #[inline]
    fn arrive<E: Evaluation<T>>(&mut self, evaluation: &mut E, cost: T) -> Evaluated<bool> {
        if self.arrival != Arrival::Leave {
            return Ok(self.linearize_trial(evaluation)?.is_some());
        }
        self.trial.costs = Costs::of_squares(cost);
        swap(&mut self.here, &mut self.trial);
        Ok(true)
    }

    /// The cost at the trial point; infinite where that is.
    #[inline]
    pub(super) fn trial_cost<E: Evaluation<T>>(&mut self, evaluation: &mut E) -> Evaluated<T> {
        let x = self.trial.x.as_ref();
        if all_finite(x) { self.refinement.trial_cost(evaluation, x) } else { Ok(T::INFINITY) }
    }

    /// Linearises at the trial point and makes it the current one; stays, and returns `None`, where it is not finite.
    #[inline]
    pub(super) fn linearize_trial<E: Evaluation<T>>(&mut self, evaluation: &mut E) -> Evaluated<Option<T>> {
        if !all_finite(self.trial.x.as_ref()) {
            return Ok(None);
        }
        let costs = self.model.linearize(evaluation, self.trial.x.as_ref())?;
        let norms = self.scale.measure(&self.model);
        if !(costs.cost.is_finite() && all_finite(norms) && all_finite(self.model.gradient())) {
            evaluation.take_back();
            if self.here.costs.cost.is_finite() {
                self.model.take_back(evaluation, self.here.x.as_ref())?;
            }
            return Ok(None);
        }
        self.trial.costs = costs;
        self.scale.swap();
        swap(&mut self.here, &mut self.trial);
        self.space.arrive(evaluation, self.here.x.as_ref());
        Ok(Some(costs.cost))
    }

    /// Undoes a [`linearize_trial`](Self::linearize_trial) that moved.
    #[inline]
    pub(super) fn return_from_trial<E: Evaluation<T>>(&mut self, evaluation: &mut E) -> Evaluated {
        swap(&mut self.here, &mut self.trial);
        self.scale.swap();
        self.space.arrive(evaluation, self.here.x.as_ref());
        evaluation.take_back();
        self.model.take_back(evaluation, self.here.x.as_ref())
    }

    /// Linearises the current point again.
    #[cold]
    pub(super) fn linearize_again<E: Evaluation<T>>(&mut self, evaluation: &mut E) -> Evaluated<Option<T>> {
        self.trial.x = self.here.x.clone();
        self.linearize_trial(evaluation)
    }

    /// Lets the model learn from the move to the current point, which was no trial.
    pub(super) fn learn_from_move<E: Evaluation<T>>(&mut self, evaluation: &mut E) {
        let moved = self.step.workspace.as_mut();
        self.space.minus(evaluation, self.here.x.as_ref(), self.trial.x.as_ref(), moved);
        self.model.learn(Lesson::Move { step: moved });
    }

    /// The damping policy, the refinement of steps, and the damped system that both see.
    #[inline(always)]
    pub(super) fn parts<'a, E: Evaluation<T>>(
        &'a mut self,
        evaluation: &'a mut E,
    ) -> (&'a mut P::Damping, &'a mut P::Refinement, PartsSystem<'a, T, P>) {
        let (model, point) = ((&mut self.model, &mut self.space), (&self.here.x, &self.scale.d));
        let system = System::new(evaluation, model, point, &mut self.step, &mut self.trial.x);
        (&mut self.damping, &mut self.refinement, system)
    }
}

/// The trial is worth taking; a cost that rises never is, even if rounding has made the predicted reduction negative.
#[inline]
fn suffices<T: Real>(trial: &Trial<T>) -> bool {
    trial.actual > T::ZERO && trial.gains(SUFFICIENT_GAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_suffices_if_it_brings_enough_of_its_promise() {
        let suffices = |actual: f64, predicted: f64| {
            suffices(&Trial { lambda: 0.0, length: 1.0, slope: -1.0, predicted, actual, accepted: false })
        };
        assert!(suffices(1.0, 1.0) && suffices(2e-4, 1.0));
        assert!(!suffices(5e-5, 1.0), "any fall of the cost is not enough");
        assert!(!suffices(-1e-3, -1e2), "a cost that rises is never taken");
        assert!(!suffices(f64::NAN, 1.0) && !suffices(f64::NEG_INFINITY, f64::INFINITY));
    }
}
