//! Normal equations until they are too badly conditioned, then QR.

use super::choice::Plan;
use super::form::LinearForm;
use super::model::{Damped, Drawn, Lesson, LinearModel, Recovery, Unsolved};
use super::normal::NormalEquations;
use super::orthogonal::Orthogonal;
use super::pass_on::pass_on;
use crate::evaluation::{Along, Costs, Evaluation};
use crate::problem::EvaluationError;
use crate::real::Real;
use crate::shape::Shape;

/// The normal equations, and QR once it has taken over.
pub(crate) struct Fallback<T: Real, S: Shape<T>> {
    normal: NormalEquations<T, S>,
    orthogonal: Option<Orthogonal<T, S>>,
    /// QR may still take over.
    may_orthogonalize: bool,
    /// Points that QR has linearised, up to two.
    points: usize,
}

impl<T: Real, S: Shape<T>> Fallback<T, S> {
    #[inline]
    pub(crate) fn new(plan: &Plan) -> Self {
        let normal = NormalEquations::new(plan.n);
        Fallback { normal, orthogonal: None, may_orthogonalize: plan.may_orthogonalize, points: 0 }
    }
}

macro_rules! in_use {
    ($this:expr, $($call:tt)+) => {
        match $this {
            Fallback { orthogonal: None, normal, .. } => normal.$($call)+,
            Fallback { orthogonal: Some(model), .. } => model.$($call)+,
        }
    };
}

impl<T: Real, S: Shape<T>> LinearModel<T> for Fallback<T, S> {
    #[inline(always)]
    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Result<Costs<T>, EvaluationError> {
        let costs = in_use!(self, linearize(evaluation, x));
        if self.orthogonal.is_some() {
            match &costs {
                Ok(_) => self.points = (self.points + 1).min(2),
                Err(_) if self.points == 0 => self.orthogonal = None,
                Err(_) => {}
            }
        }
        costs
    }

    #[inline(always)]
    fn take_back(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Result<(), EvaluationError> {
        if self.points == 1 {
            // The normal equations are still those of the point before.
            (self.orthogonal, self.points) = (None, 0);
            return Ok(());
        }
        in_use!(self, take_back(evaluation, x))
    }

    #[inline]
    fn learn(&mut self, lesson: Lesson<'_, T>) -> Option<Recovery> {
        let recovery = in_use!(self, learn(lesson));
        let gives_up = matches!(lesson, Lesson::Unsolved) && recovery.is_none();
        if !(gives_up && std::mem::take(&mut self.may_orthogonalize)) {
            return recovery;
        }
        self.orthogonal = Some(Orthogonal::new(self.normal.gradient().len()));
        Some(Recovery::Linearize)
    }

    pass_on!(solve in_use);
}
