//! Linear models of a type that is known late: any form on the heap, or one of those that have room on the stack.
//!
//! A program contains the code of a form if it can come to need it. The forms for a Jacobian of rows are always there; those that multiply
//! or take blocks are where [`Forms::ALL`] is named, which the fit of a curve does not.

use super::block_choice::of_blocks;
use super::cgls::Cgls;
use super::choice::{Plan, PlanError};
use super::dual::Dual;
use super::fallback::Fallback;
use super::form::LinearForm;
use super::matrix_free_dual::MatrixFreeDual;
use super::model::{Damped, Drawn, Lesson, LinearModel, Recovery, Unsolved};
use super::orthogonal::Orthogonal;
use super::pass_on::pass_on;
use crate::evaluation::{Along, Costs, Evaluation};
use crate::problem::{BlockJacobian, EvaluationError};
use crate::real::Real;
use crate::shape::{Dynamic, Shape};

/// A linear model of any form.
pub type BoxedModel<T> = Box<dyn LinearModel<T> + Send + Sync>;

/// Makes a model as planned, for a problem whose Jacobian is made of these blocks, if it is.
type Constructor<T> = fn(&Plan, Option<&dyn BlockJacobian<T>>) -> Result<BoxedModel<T>, PlanError>;

/// The forms beside those for a Jacobian of rows; `None` in a solve whose problem cannot need them.
#[derive(Clone, Copy)]
pub struct Forms<T: Real>(Option<Constructor<T>>);

impl<T: Real> Forms<T> {
    /// No others.
    pub const ROWS: Self = Forms(None);
    /// All of them.
    pub const ALL: Self = Forms(Some(beside_rows));

    /// Makes a model as planned, on the heap; `blocks` is the problem where its Jacobian is made of blocks.
    ///
    /// # Errors
    ///
    /// Blocks whose matrices do not fit the memory budget, no blocks where the plan has them, or a form that is not there.
    pub fn model(self, plan: &Plan, blocks: Option<&dyn BlockJacobian<T>>) -> Result<BoxedModel<T>, PlanError> {
        Ok(match plan.form {
            LinearForm::Cholesky => Box::new(Fallback::<T, Dynamic>::new(plan)),
            LinearForm::Qr => Box::new(Orthogonal::<T, Dynamic>::new(plan.n)),
            LinearForm::Dual => Box::new(Dual::new(plan.n)),
            _ => self.0.ok_or(PlanError::Form(plan.form))?(plan, blocks)?,
        })
    }
}

/// Makes a model as planned, in the other forms.
fn beside_rows<T: Real>(plan: &Plan, blocks: Option<&dyn BlockJacobian<T>>) -> Result<BoxedModel<T>, PlanError> {
    Ok(match plan.form {
        LinearForm::FactoredDual | LinearForm::ConjugateGradients => Box::new(MatrixFreeDual::new(plan)),
        LinearForm::TruncatedConjugateGradients => Box::new(Cgls::new(plan)),
        _ => of_blocks(plan, blocks.ok_or(PlanError::Form(plan.form))?)?,
    })
}

/// The forms for a number of parameters that is known at compile time, by static calls.
#[allow(clippy::large_enum_variant, reason = "one lives at a time, and boxing would put fixed sizes on the heap")]
pub enum Stacked<T: Real, S: Shape<T>> {
    Normal(Fallback<T, S>),
    Orthogonal(Orthogonal<T, S>),
    Dual(Dual<T>),
}

impl<T: Real, S: Shape<T>> Stacked<T, S> {
    /// Makes a model as planned, which no plan for such problems makes matrix-free.
    #[inline]
    pub fn new(plan: &Plan) -> Self {
        match plan.form {
            LinearForm::Qr => Stacked::Orthogonal(Orthogonal::new(plan.n)),
            LinearForm::Dual => Stacked::Dual(Dual::new(plan.n)),
            _ => Stacked::Normal(Fallback::new(plan)),
        }
    }
}

macro_rules! behind_the_box {
    ($this:expr, $($call:tt)+) => {
        (**$this).$($call)+
    };
}

macro_rules! on_the_stack {
    ($this:expr, $($call:tt)+) => {
        match $this {
            Stacked::Normal(model) => model.$($call)+,
            Stacked::Orthogonal(model) => model.$($call)+,
            Stacked::Dual(model) => model.$($call)+,
        }
    };
}

impl<T: Real> LinearModel<T> for BoxedModel<T> {
    pass_on!(linearize behind_the_box);
    pass_on!(solve behind_the_box);
    pass_on!(learn behind_the_box);
}

impl<T: Real, S: Shape<T>> LinearModel<T> for Stacked<T, S> {
    pass_on!(linearize on_the_stack);
    pass_on!(solve on_the_stack);
    pass_on!(learn on_the_stack);
}
