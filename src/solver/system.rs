//! The damped system at the current point, as damping policies, spaces and refinements of a step see it.

use super::Refusal;
use super::damping::{DampedSystem, IllConditioned, Trial};
use super::space::{Faces, Space};
use crate::evaluation::{Along, Evaluation, Forcing};
use crate::kernels::vector::{add_scaled, all_finite};
use crate::linear::{Damped, Drawn, Held, LinearModel, Unsolved};
use crate::problem::{Evaluated, EvaluationError};
use crate::real::Real;

/// A step, and the numbers of the system that it solves.
pub(super) struct StepState<T, V> {
    /// The step `δ`.
    pub(super) delta: V,
    /// The correction of the step, and scratch memory between steps.
    pub(super) workspace: V,
    /// The damping of the last system, whether it could be solved or not.
    pub(super) lambda: T,
    /// `‖Dδ‖` of the last step that was solved for.
    pub(super) length: T,
    pub(super) factorizations: usize,
    /// Systems are solved to rounding accuracy.
    pub(super) exact: bool,
    /// Reason why the last step was refused whatever its cost, and that cost; infinite where it is not known.
    pub(super) refused: Option<(Refusal, T)>,
}

impl<T: Real, V> StepState<T, V> {
    /// No step yet.
    #[inline]
    pub(super) fn new(delta: V, workspace: V) -> Self {
        let (lambda, length) = (T::ZERO, T::ZERO);
        StepState { delta, workspace, lambda, length, factorizations: 0, exact: false, refused: None }
    }
}

/// Borrows of the parts that a step is made of.
pub(super) struct System<'a, T: Real, V, M, G> {
    evaluation: &'a mut dyn Evaluation<T>,
    model: &'a mut M,
    space: &'a mut G,
    /// The current point.
    x: &'a V,
    d: &'a V,
    step: &'a mut StepState<T, V>,
    /// The trial point.
    trial: &'a mut V,
    /// Share of the correction that the step takes.
    share: T,
    /// The step is the one that is tried.
    is_drawn: bool,
    /// Error of an evaluation, of which a policy is told only that the system has no solution.
    pub(super) failure: Option<EvaluationError>,
}

/// The damped system as refinements of a step see it.
pub(super) trait StepSystem<T: Real> {
    /// The step.
    fn step(&mut self) -> &mut [T];

    /// Solves for the second-order correction of the step, with the point ahead a share `probe` of the way, and returns its length
    /// relative to the step; zero where there is none.
    fn bend(&mut self, probe: T) -> Evaluated<T>;

    /// Takes this share of the correction, unless that would cross a bound.
    fn take_correction(&mut self, share: T);

    /// Draws the step that is tried, by a factor, a step to draw towards and the largest norm, and the trial's slope and predicted
    /// reduction with it.
    fn draw(&mut self, rule: (T, &[T], T), trial: &mut Trial<T>) -> Evaluated<Option<Refusal>>;

    /// The current point.
    fn x(&self) -> &[T];

    /// Weight of a ridge that is in the damping, and not in the linear model.
    fn ridge(&self) -> T;

    /// Solves for the chord correction by these residuals of the trial point, and returns its length; `None` where there is none.
    fn chord(&mut self, residuals: &[T]) -> Evaluated<Option<T>>;

    /// Subtracts the chord correction from the step.
    fn take_chord(&mut self);

    /// Moves the trial point to the end of the step.
    fn move_trial(&mut self);

    /// Moves the trial point to the end of the step, and returns the cost there, whose residuals are kept.
    fn try_again(&mut self, residuals: &mut [T]) -> Evaluated<T>;
}

impl<'a, T: Real, V: AsRef<[T]> + AsMut<[T]>, M: LinearModel<T>, G: Space<T>> System<'a, T, V, M, G> {
    #[inline(always)]
    pub(super) fn new(
        evaluation: &'a mut dyn Evaluation<T>,
        (model, space): (&'a mut M, &'a mut G),
        (x, d): (&'a V, &'a V),
        step: &'a mut StepState<T, V>,
        trial: &'a mut V,
    ) -> Self {
        System { evaluation, model, space, x, d, step, trial, share: T::ZERO, is_drawn: false, failure: None }
    }

    /// The step that was solved for with this damping, and the reduction of the cost that the linear model predicts for it,
    /// `−(Jᵀr)ᵀδ − ½‖Jδ‖²`.
    #[inline(always)]
    pub(super) fn predict(&self, lambda: T) -> Trial<T> {
        let (length, delta, half) = (self.step.length, self.step.delta.as_ref(), T::from_f64(0.5));
        let slope = self.model.slope(delta);
        let predicted = if self.space.is_bounded() {
            -slope - half * self.model.quadratic_form(delta)
        } else {
            // (JᵀJ + λD²)δ = −Jᵀr makes it a sum of positive terms.
            half * (lambda * length * length - slope)
        };
        Trial { lambda, length, slope, predicted, actual: -T::INFINITY, accepted: false }
    }

    /// Draws the step that is tried, unless a refinement has.
    #[inline(always)]
    pub(super) fn complete(&mut self) -> Evaluated<Option<Refusal>> {
        if self.is_drawn { Ok(None) } else { self.draw_step((T::ONE, &[], T::INFINITY)) }
    }

    /// Makes the step the one that is tried.
    #[inline(always)]
    fn draw_step(&mut self, (factor, towards, longest): (T, &[T], T)) -> Evaluated<Option<Refusal>> {
        self.is_drawn = true;
        let StepState { delta, workspace, lambda, exact, .. } = &mut *self.step;
        let drawn = Drawn { correction: self.share, factor, towards, longest, workspace: workspace.as_mut() };
        let damped = &mut damped(self.evaluation, (self.x, self.d), self.space.held(), (*lambda, *exact));
        match self.model.complete(damped, drawn, delta.as_mut()) {
            Ok(()) => Ok(None),
            Err(Unsolved::IllConditioned) => Ok(Some(Refusal::IllConditioned)),
            Err(Unsolved::Failed(error)) => Err(error),
        }
    }

    /// Solves for a correction of the step, into the workspace, and returns its length; `None` where there is none.
    #[inline]
    fn correct(&mut self, by: Correction<'_, T>) -> Evaluated<Option<T>> {
        let StepState { delta, workspace, lambda, exact, .. } = &mut *self.step;
        let damped = &mut damped(self.evaluation, (self.x, self.d), self.space.held(), (*lambda, *exact));
        let by = match by {
            Correction::Geodesic { probe } => Forcing::Curvature { ahead: self.trial.as_ref(), probe, linear: None },
            Correction::Chord { residuals } => Forcing::Residuals(residuals),
        };
        let along = &Along { x: self.x.as_ref(), v: delta.as_ref(), by };
        match self.model.correct(damped, along, workspace.as_mut()) {
            Ok(length) => Ok(Some(length)),
            Err(Unsolved::IllConditioned) => Ok(None),
            Err(Unsolved::Failed(error)) => Err(error),
        }
    }

    /// A number that an evaluation may fail to give; zero, and the error is kept, where it does.
    fn keep_failure(&mut self, outcome: Result<T, Unsolved>) -> T {
        match outcome {
            Ok(number) => number,
            Err(Unsolved::IllConditioned) => T::ZERO,
            Err(Unsolved::Failed(error)) => {
                self.failure = Some(error);
                T::ZERO
            }
        }
    }
}

/// Corrections of a step.
enum Correction<'a, T> {
    /// By the second derivatives along the step.
    Geodesic { probe: T },
    /// By the residuals of the trial point.
    Chord { residuals: &'a [T] },
}

/// The matrix of the last system.
#[inline(always)]
fn damped<'a, T: Real, V: AsRef<[T]>>(
    evaluation: &'a mut dyn Evaluation<T>,
    (x, d): (&'a V, &'a V),
    held: Held<'a>,
    (lambda, exact): (T, bool),
) -> Damped<'a, T> {
    Damped { evaluation, x: x.as_ref(), lambda, d: d.as_ref(), held, exact }
}

impl<T: Real, V: AsRef<[T]> + AsMut<[T]>, M: LinearModel<T>, G: Space<T>> DampedSystem<T> for System<'_, T, V, M, G> {
    #[inline(always)]
    fn solve(&mut self, lambda: T) -> Result<T, IllConditioned> {
        self.step.lambda = lambda;
        let StepState { delta, length, factorizations, exact, .. } = &mut *self.step;
        let (evaluation, model, failure) = (&mut *self.evaluation, &mut *self.model, &mut self.failure);
        let (x, d, exact) = (self.x.as_ref(), self.d.as_ref(), *exact);
        let mut faces = AtLambda { evaluation, model, x, lambda, d, exact, factorizations, failure };
        *length = self.space.solve(&mut faces, self.x.as_ref(), delta.as_mut())?;
        if length.is_finite() { Ok(*length) } else { Err(IllConditioned) }
    }

    #[inline]
    fn shrink_rate(&mut self) -> T {
        let StepState { delta, lambda, exact, .. } = &*self.step;
        let damped = &mut damped(self.evaluation, (self.x, self.d), self.space.held(), (*lambda, *exact));
        let form = self.model.inverse_form(damped, delta.as_ref());
        self.keep_failure(form) / self.step.length
    }

    #[inline]
    fn gradient_norm(&mut self) -> T {
        if !self.space.is_bounded() {
            let norm = self.model.gradient_norm(&mut *self.evaluation, self.d.as_ref());
            return self.keep_failure(norm.map_err(Unsolved::Failed));
        }
        let (columns, x) = (self.model.gradient().iter().zip(self.d.as_ref()).enumerate(), self.x.as_ref());
        let free = columns.filter(|&(j, (&derivative, _))| self.space.holds(j, x, derivative).is_none());
        free.fold(T::ZERO, |sum, (_, (&derivative, &d))| sum + (derivative / d) * (derivative / d)).sqrt()
    }

    fn is_bounded(&self) -> bool {
        self.space.is_bounded()
    }

    fn is_cheap(&self) -> bool {
        !(self.model.form().multiplies() || self.model.form().iterates())
    }
}

/// The system with its damping, for the faces of a box.
struct AtLambda<'s, T: Real, M> {
    evaluation: &'s mut dyn Evaluation<T>,
    model: &'s mut M,
    x: &'s [T],
    lambda: T,
    d: &'s [T],
    exact: bool,
    factorizations: &'s mut usize,
    failure: &'s mut Option<EvaluationError>,
}

impl<T: Real, M: LinearModel<T>> Faces<T> for AtLambda<'_, T, M> {
    #[inline(always)]
    fn solve_face(&mut self, held: Held<'_>, step: &mut [T]) -> Result<T, IllConditioned> {
        *self.factorizations += 1;
        let &mut AtLambda { x, lambda, d, exact, .. } = self;
        let damped = &mut Damped { evaluation: &mut *self.evaluation, x, lambda, d, held, exact };
        self.model.solve(damped, step).map_err(|unsolved| {
            if let Unsolved::Failed(error) = unsolved {
                *self.failure = Some(error);
            }
            IllConditioned
        })
    }

    fn gradient(&self) -> &[T] {
        self.model.gradient()
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        self.model.quadratic_form(v)
    }

    fn gram_times(&self, v: &[T], product: &mut [T]) {
        self.model.gram_times(v, product);
    }

    fn damping(&self) -> (T, &[T]) {
        (self.lambda, self.d)
    }
}

impl<T: Real, V: AsRef<[T]> + AsMut<[T]>, M: LinearModel<T>, G: Space<T>> StepSystem<T> for System<'_, T, V, M, G> {
    fn step(&mut self) -> &mut [T] {
        self.step.delta.as_mut()
    }

    #[inline]
    fn bend(&mut self, probe: T) -> Evaluated<T> {
        if self.model.form().multiplies() && self.draw_step((T::ONE, &[], T::INFINITY))?.is_some() {
            return Ok(T::ZERO);
        }
        self.is_drawn = false;
        let (x, delta) = (self.x.as_ref(), self.step.delta.as_ref());
        self.space.look_ahead(&*self.evaluation, x, probe, delta, self.trial.as_mut());
        let length = self.correct(Correction::Geodesic { probe })?.unwrap_or(T::ZERO);
        let ratio = length / self.step.length;
        Ok(if ratio.is_finite() { ratio } else { T::ZERO })
    }

    fn take_correction(&mut self, share: T) {
        let StepState { delta, workspace, .. } = &mut *self.step;
        if self.space.is_bounded() {
            let corrected = self.trial.as_mut().iter_mut().zip(delta.as_ref()).zip(workspace.as_ref());
            corrected.for_each(|((corrected, &step), &correction)| *corrected = step + share * correction);
            if !self.space.allows(self.x.as_ref(), self.trial.as_ref()) {
                return;
            }
        }
        self.share = share;
    }

    fn draw(&mut self, rule: (T, &[T], T), trial: &mut Trial<T>) -> Evaluated<Option<Refusal>> {
        let refusal = self.draw_step(rule)?;
        let delta = self.step.delta.as_ref();
        let (slope, curvature) = (self.model.slope(delta), self.model.quadratic_form(delta));
        trial.slope = slope;
        // A rise that was foreseen is no reduction that could be predicted.
        trial.predicted = (-(slope + T::from_f64(0.5) * curvature)).max(T::ZERO);
        Ok(refusal)
    }

    fn x(&self) -> &[T] {
        self.x.as_ref()
    }

    fn ridge(&self) -> T {
        if self.model.form().multiplies() { self.evaluation.ridge() } else { T::ZERO }
    }

    fn chord(&mut self, residuals: &[T]) -> Evaluated<Option<T>> {
        self.correct(Correction::Chord { residuals })
    }

    fn take_chord(&mut self) {
        let StepState { delta, workspace, .. } = &mut *self.step;
        add_scaled(delta.as_mut(), -T::ONE, workspace.as_ref());
    }

    fn move_trial(&mut self) {
        let (x, delta) = (self.x.as_ref(), self.step.delta.as_ref());
        self.space.plus(&*self.evaluation, x, delta, self.trial.as_mut());
    }

    fn try_again(&mut self, residuals: &mut [T]) -> Evaluated<T> {
        self.move_trial();
        let trial = self.trial.as_ref();
        if all_finite(trial) { self.evaluation.residuals(trial, residuals) } else { Ok(T::INFINITY) }
    }
}
