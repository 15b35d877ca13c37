//! Linear models of a type that is known late: any form on the heap, or one of those that have room on the stack.
//!
//! A program contains the code of a form if it can come to need it. The forms for a Jacobian of rows are always there; those that multiply
//! or take blocks are where [`Forms::ALL`] is named, which the fit of a curve does not.

use super::block_choice::of_blocks;
use super::cgls::Cgls;
use super::choice::{Plan, PlanError};
use super::dual::Dual;
use super::form::LinearForm;
use super::held::Held;
use super::matrix_free::MatrixFree;
use super::matrix_free_dual::MatrixFreeDual;
use super::model::{HoldsVariables, IllConditioned, LinearModel, Products, SpansRanks, TakesBlocks, TakesRidge};
use super::normal::NormalEquations;
use super::orthogonal::Orthogonal;
use super::shape::{Dynamic, Shape};
use crate::problem::BlockJacobian;
use crate::real::Real;

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

    /// Room for a problem as planned, on the heap; `blocks` is the problem where its Jacobian is made of blocks.
    ///
    /// # Errors
    ///
    /// Blocks whose matrices do not fit the memory budget, no blocks where the plan has them, or a form that is not there.
    pub fn model(self, plan: &Plan, blocks: Option<&dyn BlockJacobian<T>>) -> Result<BoxedModel<T>, PlanError> {
        Ok(match plan.form {
            LinearForm::Cholesky => Box::new(NormalEquations::<T, Dynamic>::new(plan.n)),
            LinearForm::Qr => Box::new(Orthogonal::<T, Dynamic>::new(plan.n)),
            LinearForm::Dual => Box::new(Dual::new(plan.m, plan.n)),
            _ => self.0.ok_or(PlanError::Form(plan.form))?(plan, blocks)?,
        })
    }
}

/// Room for a problem as planned, in the other forms.
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
    Normal(NormalEquations<T, S>),
    Orthogonal(Orthogonal<T, S>),
    Dual(Dual<T>),
}

impl<T: Real, S: Shape<T>> Stacked<T, S> {
    /// Room for a problem as planned, which no plan for such problems makes matrix-free.
    #[inline]
    pub fn new(plan: &Plan) -> Self {
        match plan.form {
            LinearForm::Qr => Stacked::Orthogonal(Orthogonal::new(plan.n)),
            LinearForm::Dual => Stacked::Dual(Dual::new(plan.m, plan.n)),
            _ => Stacked::Normal(NormalEquations::new(plan.n)),
        }
    }
}

/// Passes every method on to the model that `$each!` finds in `self`.
macro_rules! pass_on {
    ($each:ident) => {
        pass_on! { $each
            ref form() -> LinearForm;
            mut begin();
            mut add_rows(r: &mut [T], jacobian: &mut [T]);
            mut sums_mut() -> Option<(&mut [T], &mut [T])>;
            ref overwrites_rows() -> bool;
            mut swap();
            ref gradient() -> &[T];
            ref column_norms(norms: &mut [T]);
            mut solve(products: Products<'_, T>, lambda: T, d: &[T], held: Held<'_>, step: &mut [T]) -> Result<(), IllConditioned>;
            mut solve_and_measure(products: Products<'_, T>, lambda: T, d: &[T], held: Held<'_>, step: &mut [T]) -> Result<T, IllConditioned>;
            ref length(d: &[T], step: &[T]) -> T;
            ref slope(step: &[T]) -> T;
            ref quadratic_form(v: &[T]) -> T;
            mut inverse_form(products: Products<'_, T>, d: &[T], held: Held<'_>, step: &[T]) -> T;
            mut gradient_norm(products: Products<'_, T>, d: &[T]) -> T;
            ref squared_mean_cosine(cost: T) -> Option<T>;
            mut scale(factor: T, step: &mut [T]);
            mut shift(products: Products<'_, T>, lambda: T, d: &[T], a: &[T], room: &mut [T], step: &mut [T]) -> Result<(), IllConditioned>;
            mut form_step(products: Products<'_, T>, shift: &[T], step: &mut [T]) -> Result<(), IllConditioned>;
            mut begin_forcing();
            mut forcing_mut() -> Option<&mut [T]>;
            mut add_forcing(w: &[T], jacobian: &[T]);
            mut add_correction(products: Products<'_, T>, d: &[T], held: Held<'_>, room: &mut [T], step: &mut [T]) -> Result<T, IllConditioned>;
            mut learn_curvature(step: &[T]);
            ref uses_curvature() -> bool;
            ref curvature_along(step: &[T]) -> Option<T>;
            mut use_curvature(is_used: bool);
            mut solve_exactly();
            ref lacks_rows() -> bool;
            mut resize(m: usize, group: usize);
            mut matrix_free() -> Option<&mut dyn MatrixFree<T>>;
            mut taking_blocks() -> Option<&mut dyn TakesBlocks<T>>;
            mut holding_variables() -> Option<&mut dyn HoldsVariables<T>>;
            mut taking_ridge() -> Option<&mut dyn TakesRidge<T>>;
            mut spanning_ranks() -> Option<&mut dyn SpansRanks<T>>;
        }
    };
    ($each:ident $($kind:ident $method:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*) => {
        $(pass_on!(@$kind $each $method($($argument: $type),*) $(-> $output)?);)*
    };
    (@ref $each:ident $method:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        #[inline(always)]
        fn $method(&self $(, $argument: $type)*) $(-> $output)? {
            $each!(self, $method($($argument),*))
        }
    };
    (@mut $each:ident $method:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        #[inline(always)]
        fn $method(&mut self $(, $argument: $type)*) $(-> $output)? {
            $each!(self, $method($($argument),*))
        }
    };
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
    pass_on!(behind_the_box);
}

impl<T: Real, S: Shape<T>> LinearModel<T> for Stacked<T, S> {
    pass_on!(on_the_stack);
}
