//! The linear model of the residuals around a point, for all forms of its system.

use super::form::LinearForm;
use super::held::Held;
use super::matrix_free::MatrixFree;
use crate::kernels::vector::{add_scaled, dot, scale_twice, scaled_norm};
use crate::problem::{BlockJacobian, EvaluationError, JacobianProducts};
use crate::real::Real;

/// The damped system is singular to working precision: its solution would be noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllConditioned;

/// Products of the problem with its Jacobian; `None` where it has none, and for the forms that do not ask for them.
pub type Products<'a, T> = Option<&'a mut dyn JacobianProducts<T>>;

/// `r(x + δ) ≈ r + Jδ` around the current point, with a candidate for the next point beside it.
///
/// Rows go in with [`begin`](Self::begin) and [`add_rows`](Self::add_rows) and make the candidate;
/// [`swap`](Self::swap) makes it the current point, and a second swap undoes that. The [matrix-free](Self::matrix_free) form takes no
/// rows, has no candidate, and `D = I`; those that [take blocks](Self::taking_blocks) take blocks in place of rows.
///
/// A form that can do more than every form must says so by a trait of its own: [`TakesBlocks`], [`HoldsVariables`],
/// [`TakesRidge`], [`SpansRanks`].
pub trait LinearModel<T: Real> {
    /// Its name.
    fn form(&self) -> LinearForm;

    /// Starts a new candidate.
    fn begin(&mut self);

    /// Adds rows to the candidate; they may be overwritten.
    fn add_rows(&mut self, r: &mut [T], jacobian: &mut [T]);

    /// Lower triangle of `JᵀJ`, and `Jᵀr`, of a candidate that consists of these sums; `None` in other forms.
    #[inline]
    fn sums_mut(&mut self) -> Option<(&mut [T], &mut [T])> {
        None
    }

    /// Returns true if [`add_rows`](Self::add_rows) overwrites the rows.
    fn overwrites_rows(&self) -> bool {
        false
    }

    /// Exchanges the current point with the candidate.
    fn swap(&mut self);

    /// The gradient `Jᵀr` of the cost; empty where `J` is not formed and the gradient was not asked for.
    fn gradient(&self) -> &[T];

    /// `‖J_j‖` of every column; nothing where `J` is not formed.
    fn column_norms(&self, norms: &mut [T]);

    /// Solves for the step of `(JᵀJ + λD²)δ = −Jᵀr`. Variables that are held keep their steps; only forms that
    /// [hold variables](Self::holding_variables) are given any.
    fn solve(
        &mut self,
        products: Products<'_, T>,
        lambda: T,
        d: &[T],
        held: Held<'_>,
        step: &mut [T],
    ) -> Result<(), IllConditioned>;

    /// [Solves](Self::solve) for the step and returns its length `‖Dδ‖`. One method, so that a step of few numbers is still in registers
    /// when it is measured.
    #[inline(always)]
    fn solve_and_measure(
        &mut self,
        products: Products<'_, T>,
        lambda: T,
        d: &[T],
        held: Held<'_>,
        step: &mut [T],
    ) -> Result<T, IllConditioned> {
        self.solve(products, lambda, d, held, step)?;
        Ok(self.length(d, step))
    }

    /// `‖Dδ‖` of the step just solved for.
    #[inline(always)]
    fn length(&self, d: &[T], step: &[T]) -> T {
        scaled_norm(d, step)
    }

    /// The slope `(Jᵀr)ᵀδ` along the step.
    #[inline(always)]
    fn slope(&self, step: &[T]) -> T {
        dot(&self.gradient()[..step.len()], step)
    }

    /// `‖Jv‖²` at the current point; where `J` is not formed, `v` is the step.
    fn quadratic_form(&self, v: &[T]) -> T;

    /// `vᵀ(JᵀJ + λD²)⁻¹v` for `v = D²δ` in the variables that are free, right after the [`solve`](Self::solve) that gave
    /// `δ`.
    fn inverse_form(&mut self, products: Products<'_, T>, d: &[T], held: Held<'_>, step: &[T]) -> T;

    /// `‖D⁻¹Jᵀr‖`.
    fn gradient_norm(&mut self, products: Products<'_, T>, d: &[T]) -> T {
        let _ = products;
        let scaled = self.gradient().iter().zip(d);
        scaled.fold(T::ZERO, |sum, (&g, &d)| sum + (g / d) * (g / d)).sqrt()
    }

    /// For a `J` that is not formed, returns the mean over its columns, weighted by their squared lengths, of the squared cosine
    /// between the column and the residuals, for `½‖r‖² = cost`.
    #[inline]
    fn squared_mean_cosine(&self, cost: T) -> Option<T> {
        let _ = cost;
        None
    }

    /// Multiplies the step.
    fn scale(&mut self, factor: T, step: &mut [T]) {
        step.iter_mut().for_each(|step| *step *= factor);
    }

    /// Adds `λ(JᵀJ + λD²)⁻¹D²a` to the step, which was damped with `λ`: the difference that it makes to damp towards `a`,
    /// `λ‖D(δ − a)‖²`, instead of towards nothing. `room` is for a step. A form that is not trained with cannot.
    fn shift(
        &mut self,
        products: Products<'_, T>,
        lambda: T,
        d: &[T],
        a: &[T],
        room: &mut [T],
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        let _ = (products, lambda, d, a, room, step);
        Err(IllConditioned)
    }

    /// Writes the step of a matrix-free form; the other forms have already written it. `shift` is what it was
    /// [shifted](Self::shift) towards; without a shift it is empty.
    #[inline]
    fn form_step(&mut self, products: Products<'_, T>, shift: &[T], step: &mut [T]) -> Result<(), IllConditioned> {
        let _ = (products, shift, step);
        Ok(())
    }

    /// Starts another right-hand side `Jᵀw` for the [correction](Self::add_correction), in the forms that take one.
    fn begin_forcing(&mut self) {}

    /// Second right-hand side, to which `Jᵀw` is added; `None` in the dual forms, which take the rows `w`.
    fn forcing_mut(&mut self) -> Option<&mut [T]> {
        None
    }

    /// Adds rows `w` of the other right-hand side, with the rows of `J` they belong to.
    fn add_forcing(&mut self, w: &[T], jacobian: &[T]) {
        let _ = (w, jacobian);
    }

    /// Adds `−½(JᵀJ + λD²)⁻¹Jᵀw`, in the variables that are free, to the step with the factor of the last
    /// [`solve`](Self::solve), and returns the length `‖D·‖` of twice of what was added; where that is not finite, nothing
    /// is added. `room` is for a step.
    fn add_correction(
        &mut self,
        products: Products<'_, T>,
        d: &[T],
        held: Held<'_>,
        room: &mut [T],
        step: &mut [T],
    ) -> Result<T, IllConditioned> {
        let _ = (products, d, held, room, step);
        Err(IllConditioned)
    }

    /// Updates the estimate of the curvature that `JᵀJ` leaves out, from the last step taken, if it is in use.
    fn learn_curvature(&mut self, step: &[T]) {
        let _ = step;
    }

    /// The curvature that was learnt is part of the linear system.
    #[inline]
    fn uses_curvature(&self) -> bool {
        false
    }

    /// Share `½δᵀSδ` of the learnt curvature in the cost after a step; `None` before any is learnt.
    fn curvature_along(&self, step: &[T]) -> Option<T> {
        let _ = step;
        None
    }

    /// Takes the curvature that was learnt into the linear system, or leaves it out.
    fn use_curvature(&mut self, is_used: bool) {
        let _ = is_used;
    }

    /// Solves to rounding accuracy from now on, in the forms that solve to a tolerance.
    fn solve_exactly(&mut self) {}

    /// Returns true if the last step would have been solved for by rows that were not kept: the point has to be linearised again.
    #[inline]
    fn lacks_rows(&self) -> bool {
        false
    }

    /// Makes room for another number of rows.
    fn resize(&mut self, m: usize, group: usize) {
        let _ = (m, group);
    }

    /// The model as a matrix-free one; `None` in other forms.
    #[inline]
    fn matrix_free(&mut self) -> Option<&mut dyn MatrixFree<T>> {
        None
    }

    /// The model as one of a Jacobian of blocks; `None` in other forms.
    #[inline]
    fn taking_blocks(&mut self) -> Option<&mut dyn TakesBlocks<T>> {
        None
    }

    /// The model as one that holds variables at bounds, if it can.
    #[inline]
    fn holding_variables(&mut self) -> Option<&mut dyn HoldsVariables<T>> {
        None
    }

    /// The model as one that takes a ridge, if it can.
    #[inline]
    fn taking_ridge(&mut self) -> Option<&mut dyn TakesRidge<T>> {
        None
    }

    /// The model as one of rows that are spread over ranks, if it can be.
    fn spanning_ranks(&mut self) -> Option<&mut dyn SpansRanks<T>> {
        None
    }
}

/// A model of a Jacobian of blocks.
pub trait TakesBlocks<T: Real>: LinearModel<T> {
    /// Adds the residual blocks of the problem at `x` to the candidate; returns their cost, and the sum of the squares of the rows.
    fn add_blocks(&mut self, problem: &mut dyn BlockJacobian<T>, x: &[T]) -> Result<(T, T), EvaluationError>;
}

/// A model in which variables can be held while the system is solved for the others.
pub trait HoldsVariables<T: Real>: LinearModel<T> {
    /// `JᵀJv` at the current point.
    fn gram_times(&self, v: &[T], product: &mut [T]);
}

/// A model with room for the ridge of weight decay.
pub trait TakesRidge<T: Real>: LinearModel<T> {
    /// Adds the ridge `½ Σ w_j x_j²` to the candidate.
    fn add_ridge(&mut self, weights: &[T], x: &[T]);
}

/// A model whose candidate can be combined from those of ranks, each with its own rows.
pub trait SpansRanks<T: Real>: LinearModel<T> {
    /// Appends the numbers of the candidate, for other ranks.
    fn write_candidate(&self, numbers: &mut Vec<T>);

    /// Returns true if candidates are made of sums over ranks; otherwise they are made of each rank's numbers, one after the
    /// other.
    fn adds_up(&self) -> bool;

    /// Builds the candidate from the sums of the numbers that ranks have [written](Self::write_candidate), or adds those of one
    /// rank.
    fn read_candidate(&mut self, numbers: &[T]);
}

/// Adds `λ(JᵀJ + λD²)⁻¹D²a` to a step, where `solve` overwrites a vector with its product with the inverse.
pub(super) fn add_shift<T: Real>(
    (lambda, d): (T, &[T]),
    a: &[T],
    room: &mut [T],
    step: &mut [T],
    solve: impl FnOnce(&mut [T]),
) {
    if lambda > T::ZERO {
        scale_twice(room, d, a);
        solve(room);
        add_scaled(step, lambda, room);
    }
}

/// Adds `−½a` to the step and returns `‖Da‖`; adds nothing where that is not finite.
#[inline(always)]
pub(super) fn add_half<T: Real>(d: &[T], a: &[T], step: &mut [T]) -> T {
    let length = scaled_norm(d, a);
    if length.is_finite() {
        add_scaled(step, T::from_f64(-0.5), a);
    }
    length
}
