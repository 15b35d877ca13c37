//! Normal equations, and what may take their place for a Jacobian of rows.

use super::choice::Plan;
use super::dual::DualForm;
use super::form::LinearForm;
use super::model::{Damped, Drawn, Lesson, LinearModel, Recovery, Unsolved};
use super::normal::DenseNormal;
use super::orthogonal::Orthogonal;
use super::pass_on::pass_on_model;
use crate::evaluation::{Along, Costs, Evaluation};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::storage::Storage;

/// The normal equations until they are too badly conditioned, then QR; or another form from the start.
pub(crate) struct RowModel<T: Real, S: Storage<T>> {
    normal: DenseNormal<T, S>,
    other: Other<T, S>,
    /// QR may still take over.
    may_orthogonalize: bool,
    /// Points that the other form has linearised, up to two.
    points: usize,
}

/// The form in the place of the normal equations.
#[allow(clippy::large_enum_variant, reason = "boxing would put fixed sizes on the heap")]
enum Other<T: Real, S: Storage<T>> {
    None,
    Orthogonal(Orthogonal<T, S>),
    Dual(DualForm<T>),
}

impl<T: Real, S: Storage<T>> RowModel<T, S> {
    /// Makes a model as planned, for rows.
    #[inline]
    pub(crate) fn new(plan: &Plan) -> Self {
        let other = match plan.form {
            LinearForm::Qr => Other::Orthogonal(Orthogonal::new(plan.n)),
            LinearForm::Dual => Other::Dual(DualForm::new(plan.n)),
            _ => Other::None,
        };
        // The normal equations know no point that another form could return to.
        let points = if matches!(other, Other::None) { 0 } else { 2 };
        RowModel { normal: DenseNormal::new(plan.n), other, may_orthogonalize: plan.may_orthogonalize, points }
    }
}

macro_rules! in_use {
    ($this:expr, $($call:tt)+) => {
        match $this {
            RowModel { other: Other::None, normal, .. } => normal.$($call)+,
            RowModel { other: Other::Orthogonal(model), .. } => model.$($call)+,
            RowModel { other: Other::Dual(model), .. } => model.$($call)+,
        }
    };
}

impl<T: Real, S: Storage<T>> LinearModel<T> for RowModel<T, S> {
    #[inline(always)]
    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>> {
        if let Other::None = self.other {
            return self.normal.linearize(evaluation, x);
        }
        let costs = in_use!(self, linearize(evaluation, x));
        match &costs {
            Ok(_) => self.points = (self.points + 1).min(2),
            Err(_) if self.points == 0 => self.other = Other::None,
            Err(_) => {}
        }
        costs
    }

    #[inline(always)]
    fn take_back(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated {
        if self.points == 1 {
            // The normal equations are still those of the point before.
            (self.other, self.points) = (Other::None, 0);
            return Ok(());
        }
        in_use!(self, take_back(evaluation, x))
    }

    #[inline(always)]
    fn learn(&mut self, lesson: Lesson<'_, T>) -> Option<Recovery> {
        let recovery = in_use!(self, learn(lesson));
        let gives_up = matches!(lesson, Lesson::Unsolved) && recovery.is_none();
        if !(gives_up && std::mem::take(&mut self.may_orthogonalize)) {
            return recovery;
        }
        self.other = Other::Orthogonal(Orthogonal::new(self.normal.gradient().len()));
        Some(Recovery::Linearize)
    }

    pass_on_model!(solve in_use);
}
