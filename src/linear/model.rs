//! The linear model of the residuals around a point, in whichever form was chosen.

use super::choice::{LinearForm, Plan};
use super::normal::NormalEquations;
use super::orthogonal::Orthogonal;
use super::row_gram::RowGram;
use super::shape::Shape;
use crate::Real;
use crate::kernels::vector::add_rows_times;

/// The damped system is singular to working precision: its solution would be noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllConditioned;

/// `r(x + δ) ≈ r + Jδ` around the current point, with a candidate for the next point beside it.
///
/// Rows go in with [`begin`](Self::begin) and [`add_rows`](Self::add_rows) and make the candidate;
/// [`swap`](Self::swap) makes it the current point, and a second swap undoes that.
#[allow(clippy::large_enum_variant, reason = "one lives at a time, and boxing would put fixed sizes on the heap")]
pub(crate) enum LinearModel<T: Real, S: Shape<T>> {
    Normal(NormalEquations<T, S>, S::Vector),
    Orthogonal(Orthogonal<T, S>, S::Vector),
    RowGram(RowGram<T>, Vec<T>),
}

use LinearModel::{Normal, Orthogonal as Triangular, RowGram as Rows};

impl<T: Real, S: Shape<T>> LinearModel<T, S> {
    /// Room for a problem as planned.
    #[inline]
    pub(crate) fn new(plan: &Plan) -> Self {
        match plan.form {
            LinearForm::Cholesky => Normal(NormalEquations::new(plan.n), S::vector(plan.n)),
            LinearForm::Qr => Triangular(Orthogonal::new(plan.n), S::vector(plan.n)),
            LinearForm::Dual => Rows(RowGram::new(plan.m, plan.n), Vec::new()),
        }
    }

    /// The form in use.
    pub(crate) fn form(&self) -> LinearForm {
        match self {
            Normal(..) => LinearForm::Cholesky,
            Triangular(..) => LinearForm::Qr,
            Rows(..) => LinearForm::Dual,
        }
    }

    /// Starts a new candidate.
    #[inline]
    pub(crate) fn begin(&mut self) {
        match self {
            Normal(model, _) => model.begin(),
            Triangular(model, _) => model.begin(),
            Rows(model, _) => model.begin(),
        }
    }

    /// Adds rows to the candidate; they may be overwritten.
    #[inline]
    pub(crate) fn add_rows(&mut self, r: &mut [T], jacobian: &mut [T]) {
        match self {
            Normal(model, _) => model.add_rows(r, jacobian),
            Triangular(model, _) => model.add_rows(r, jacobian),
            Rows(model, _) => model.add_rows(r, jacobian),
        }
    }

    /// Exchanges the current point with the candidate.
    #[inline]
    pub(crate) fn swap(&mut self) {
        match self {
            Normal(model, _) => model.swap(),
            Triangular(model, _) => model.swap(),
            Rows(model, _) => model.swap(),
        }
    }

    /// The gradient `Jᵀr` of the cost.
    #[inline]
    pub(crate) fn gradient(&self) -> &[T] {
        match self {
            Normal(model, _) => model.gradient(),
            Triangular(model, _) => model.gradient(),
            Rows(model, _) => model.gradient(),
        }
    }

    /// `‖J_j‖` of every column.
    #[inline]
    pub(crate) fn column_norms(&self, norms: &mut [T]) {
        match self {
            Normal(model, _) => model.squared_column_norms(norms),
            Triangular(model, _) => model.squared_column_norms(norms),
            Rows(model, _) => model.squared_column_norms(norms),
        }
        for norm in norms {
            *norm = norm.sqrt();
        }
    }

    /// The step of `(JᵀJ + λD²)δ = −Jᵀr`.
    #[inline]
    pub(crate) fn solve(&mut self, lambda: T, d: &[T], step: &mut [T]) -> Result<(), IllConditioned> {
        match self {
            Normal(model, _) => model.solve(lambda, d, step),
            Triangular(model, _) => model.solve(lambda, d, step),
            Rows(model, _) => model.solve(lambda, d, step),
        }
    }

    /// `vᵀ(JᵀJ + λD²)⁻¹v` for `v = D²δ`, right after the [`solve`](Self::solve) that gave `δ`.
    #[inline]
    pub(crate) fn inverse_form(&mut self, d: &[T], step: &[T]) -> T {
        match self {
            Normal(model, _) => model.inverse_form(d, step),
            Triangular(model, _) => model.inverse_form(d, step),
            Rows(model, _) => model.inverse_form(),
        }
    }

    /// Starts another right-hand side `Jᵀw` for [`solve_forcing`](Self::solve_forcing).
    pub(crate) fn begin_forcing(&mut self) {
        match self {
            Normal(_, forcing) | Triangular(_, forcing) => forcing.as_mut().fill(T::ZERO),
            Rows(_, forcing) => forcing.clear(),
        }
    }

    /// The other right-hand side itself, to add `Jᵀw` to; `None` in the dual form, which takes the rows `w`.
    pub(crate) fn forcing_mut(&mut self) -> Option<&mut [T]> {
        match self {
            Normal(_, forcing) | Triangular(_, forcing) => Some(forcing.as_mut()),
            Rows(..) => None,
        }
    }

    /// Adds rows `w` of the other right-hand side, with the rows of `J` they belong to.
    pub(crate) fn add_forcing(&mut self, w: &[T], jacobian: &[T]) {
        match self {
            Normal(_, forcing) | Triangular(_, forcing) => add_rows_times(forcing.as_mut(), jacobian, w),
            Rows(_, forcing) => forcing.extend_from_slice(w),
        }
    }

    /// `‖Jv‖²` at the current point.
    pub(crate) fn quadratic_form(&self, v: &[T]) -> T {
        match self {
            Normal(model, _) => model.quadratic_form(v),
            Triangular(model, _) => model.quadratic_form(v),
            Rows(model, _) => model.quadratic_form(v),
        }
    }

    /// Adds the ridge `½ Σ w_j x_j²` to the candidate. Not in the dual form, which has no place for it.
    pub(crate) fn add_ridge(&mut self, weights: &[T], x: &[T]) {
        match self {
            Normal(model, _) => model.add_ridge(weights, x),
            Triangular(model, _) => model.add_ridge(weights, x),
            Rows(..) => debug_assert!(false, "a problem with a ridge is not planned in the dual form"),
        }
    }

    /// Makes room for another number of rows.
    pub(crate) fn resize(&mut self, m: usize) {
        if let Rows(model, _) = self {
            model.resize(m);
        }
    }

    /// `(JᵀJ + λD²)⁻¹Jᵀw` with the factor of the last [`solve`](Self::solve).
    pub(crate) fn solve_forcing(&mut self, solution: &mut [T]) {
        match self {
            Normal(model, forcing) => {
                solution.copy_from_slice(forcing.as_ref());
                model.solve_again(solution);
            }
            Triangular(model, forcing) => {
                solution.copy_from_slice(forcing.as_ref());
                model.solve_again(solution);
            }
            Rows(model, forcing) => model.solve_again(forcing, solution),
        }
    }
}
