//! LinearChange models of any form, on the heap.
//!
//! A program contains the code of a form if it can come to need it. The forms for a Jacobian of rows are always there; those that multiply
//! or take blocks are where [`Forms::ALL`] is named, which the fit of a curve does not.

use super::block_choice::of_blocks;
use super::cgls::Cgls;
use super::choice::{Plan, PlanError};
use super::dual::DualForm;
use super::form::LinearForm;
use super::matrix_free::MatrixFree;
use super::matrix_free_dual::MatrixFreeDual;
use super::model::{Damped, Drawn, Lesson, LinearModel, Recovery, Unsolved};
use super::orthogonal::Orthogonal;
use super::pass_on::pass_on_model;
use super::row_model::RowModel;
use crate::evaluation::{Along, Costs, Evaluation};
use crate::pass_on::behind_pointer;
use crate::problem::BlockJacobian;
use crate::real::Real;
use crate::storage::Dynamic;

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
            LinearForm::Cholesky => Box::new(RowModel::<T, Dynamic>::new(plan)),
            LinearForm::Qr => Box::new(Orthogonal::<T, Dynamic>::new(plan.n)),
            LinearForm::Dual => Box::new(DualForm::new(plan.n)),
            _ => self.0.ok_or(PlanError::Form(plan.form))?(plan, blocks)?,
        })
    }
}

/// Makes a model as planned, in the other forms.
fn beside_rows<T: Real>(plan: &Plan, blocks: Option<&dyn BlockJacobian<T>>) -> Result<BoxedModel<T>, PlanError> {
    Ok(match plan.form {
        LinearForm::FactoredDual | LinearForm::ConjugateGradients => {
            Box::new(MatrixFree::new(plan, MatrixFreeDual::new(plan)))
        }
        LinearForm::TruncatedConjugateGradients => Box::new(MatrixFree::new(plan, Cgls::new(plan.truncation))),
        _ => of_blocks(plan, blocks.ok_or(PlanError::Form(plan.form))?)?,
    })
}

impl<T: Real> LinearModel<T> for BoxedModel<T> {
    pass_on_model!(linearize behind_pointer);
    pass_on_model!(solve behind_pointer);
    pass_on_model!(learn behind_pointer);
}
