//! The linear model of the residuals around a point, in whichever form was chosen.

use super::choice::Plan;
use super::form::LinearForm;
use super::held::{Held, free_part};
use super::normal::NormalEquations;
use super::orthogonal::Orthogonal;
use super::product_dual::ProductDual;
use super::row_gram::RowGram;
use super::shape::Shape;
use crate::kernels::vector::{add_rows_times, add_scaled, dot, scale_twice, scaled_norm};
use crate::{JacobianProducts, LeastSquares, Real};

/// The damped system is singular to working precision: its solution would be noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllConditioned;

/// `r(x + δ) ≈ r + Jδ` around the current point, with a candidate for the next point beside it.
///
/// Rows go in with [`begin`](Self::begin) and [`add_rows`](Self::add_rows) and make the candidate;
/// [`swap`](Self::swap) makes it the current point, and a second swap undoes that. Where `J` is not formed, the problem
/// [linearises](Self::linearize) itself, there is no candidate, and `D = I`.
#[allow(clippy::large_enum_variant, reason = "one lives at a time, and boxing would put fixed sizes on the heap")]
pub(crate) enum LinearModel<T: Real, S: Shape<T>> {
    Normal(NormalEquations<T, S>, S::Vector),
    Orthogonal(Orthogonal<T, S>, S::Vector),
    RowGram(RowGram<T>, Vec<T>),
    Products(ProductDual<T>),
}

use LinearModel::{Normal, Orthogonal as Triangular, Products, RowGram as Rows};

impl<T: Real, S: Shape<T>> LinearModel<T, S> {
    /// Room for a problem as planned.
    #[inline]
    pub(crate) fn new(plan: &Plan) -> Self {
        match plan.form {
            LinearForm::Cholesky => Normal(NormalEquations::new(plan.n), S::vector(plan.n)),
            LinearForm::Qr => Triangular(Orthogonal::new(plan.n), S::vector(plan.n)),
            LinearForm::Dual => Rows(RowGram::new(plan.m, plan.n), Vec::new()),
            LinearForm::FactoredDual | LinearForm::ConjugateGradients => Products(ProductDual::new(plan)),
        }
    }

    /// The form in use.
    pub(crate) fn form(&self) -> LinearForm {
        match self {
            Normal(..) => LinearForm::Cholesky,
            Triangular(..) => LinearForm::Qr,
            Rows(..) => LinearForm::Dual,
            Products(model) => model.form(),
        }
    }

    /// The model of a Jacobian that is not formed, if that is what it is.
    #[inline]
    pub(crate) fn of_products(&mut self) -> Option<&mut ProductDual<T>> {
        match self {
            Products(model) => Some(model),
            _ => None,
        }
    }

    /// Starts a new candidate.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        match self {
            Normal(model, _) => model.begin(),
            Triangular(model, _) => model.begin(),
            Rows(model, _) => model.begin(),
            Products(_) => {}
        }
    }

    /// Adds rows to the candidate; they may be overwritten.
    #[inline(always)]
    pub(crate) fn add_rows(&mut self, r: &mut [T], jacobian: &mut [T]) {
        match self {
            Normal(model, _) => model.add_rows(r, jacobian),
            Triangular(model, _) => model.add_rows(r, jacobian),
            Rows(model, _) => model.add_rows(r, jacobian),
            Products(_) => {}
        }
    }

    /// Appends what the candidate is made of, for other ranks. The dual forms are not made of sums.
    pub(crate) fn write_candidate(&self, numbers: &mut Vec<T>) {
        match self {
            Normal(model, _) => model.write_candidate(numbers),
            Triangular(model, _) => model.write_candidate(numbers),
            Rows(..) | Products(_) => debug_assert!(false, "rows that are spread over ranks are not kept"),
        }
    }

    /// Makes the candidate of sums of what ranks have [written](Self::write_candidate); the normal equations do.
    pub(crate) fn read_candidate(&mut self, sums: &[T]) {
        match self {
            Normal(model, _) => model.read_candidate(sums),
            Triangular(..) | Rows(..) | Products(_) => debug_assert!(false, "only normal equations add up"),
        }
    }

    /// Adds to the candidate the rows that a rank has [written](Self::write_candidate) its own for; a triangle does.
    pub(crate) fn absorb_candidate(&mut self, numbers: &[T]) {
        match self {
            Triangular(model, _) => model.absorb_candidate(numbers),
            Normal(..) | Rows(..) | Products(_) => debug_assert!(false, "only triangles are absorbed"),
        }
    }

    /// Exchanges the current point with the candidate.
    #[inline(always)]
    pub(crate) fn swap(&mut self) {
        match self {
            Normal(model, _) => model.swap(),
            Triangular(model, _) => model.swap(),
            Rows(model, _) => model.swap(),
            Products(_) => {}
        }
    }

    /// The gradient `Jᵀr` of the cost; nothing where `J` is not formed and nobody has asked for it.
    #[inline(always)]
    pub(crate) fn gradient(&self) -> &[T] {
        match self {
            Normal(model, _) => model.gradient(),
            Triangular(model, _) => model.gradient(),
            Rows(model, _) => model.gradient(),
            Products(model) => model.gradient(),
        }
    }

    /// `‖J_j‖` of every column; nothing where `J` is not formed.
    #[inline(always)]
    pub(crate) fn column_norms(&self, norms: &mut [T]) {
        match self {
            Normal(model, _) => model.squared_column_norms(norms),
            Triangular(model, _) => model.squared_column_norms(norms),
            Rows(model, _) => model.squared_column_norms(norms),
            Products(_) => return,
        }
        for norm in norms {
            *norm = norm.sqrt();
        }
    }

    /// Solves for the step of `(JᵀJ + λD²)δ = −Jᵀr`. Variables that are held keep their steps; the dual forms hold none.
    #[inline]
    pub(crate) fn solve<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        lambda: T,
        d: &[T],
        held: Held,
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        match self {
            Normal(model, _) => model.solve(lambda, d, held, step),
            Triangular(model, _) => model.solve(lambda, d, held, step),
            Rows(model, _) => model.solve(lambda, d, step),
            Products(model) => model.solve(products(problem)?, lambda),
        }
    }

    /// `‖Dδ‖` of the step just solved for.
    #[inline(always)]
    pub(crate) fn length(&self, d: &[T], step: &[T]) -> T {
        match self {
            Products(model) => model.length(),
            _ => scaled_norm(d, step),
        }
    }

    /// The slope `(Jᵀr)ᵀδ` along the step.
    #[inline(always)]
    pub(crate) fn slope(&self, step: &[T]) -> T {
        match self {
            Products(model) => model.slope(),
            _ => dot(&self.gradient()[..step.len()], step),
        }
    }

    /// Where `J` is not formed, the mean over its columns, weighted by their squared lengths, of the squared cosine between
    /// the column and the residuals, for `½‖r‖² = cost`.
    pub(crate) fn squared_mean_cosine(&self, cost: T) -> Option<T> {
        match self {
            Products(model) => Some(model.squared_mean_cosine(cost)),
            _ => None,
        }
    }

    /// `‖D⁻¹Jᵀr‖`.
    pub(crate) fn gradient_norm<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P, d: &[T]) -> T {
        match self {
            Products(model) => products(problem).map_or(T::ZERO, |products| model.gradient_norm(products)),
            _ => {
                let scaled = self.gradient().iter().zip(d);
                scaled.fold(T::ZERO, |sum, (&g, &d)| sum + (g / d) * (g / d)).sqrt()
            }
        }
    }

    /// `vᵀ(JᵀJ + λD²)⁻¹v` for `v = D²δ` in the variables that are free, right after the [`solve`](Self::solve) that gave
    /// `δ`.
    #[inline]
    pub(crate) fn inverse_form<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        d: &[T],
        held: Held,
        step: &[T],
    ) -> T {
        match self {
            Normal(model, _) => model.inverse_form(d, held, step),
            Triangular(model, _) => model.inverse_form(d, held, step),
            Rows(model, _) => model.inverse_form(),
            Products(model) => products(problem).map_or(T::ZERO, |products| model.inverse_form(products)),
        }
    }

    /// Multiplies the step.
    pub(crate) fn scale(&mut self, factor: T, step: &mut [T]) {
        match self {
            Products(model) => model.scale(factor),
            _ => step.iter_mut().for_each(|step| *step *= factor),
        }
    }

    /// Adds `λ(JᵀJ + λD²)⁻¹D²a` to the step, which was damped with `λ`: the difference that it makes to damp towards `a`,
    /// `λ‖D(δ − a)‖²`, instead of towards nothing.
    pub(crate) fn pull<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        lambda: T,
        d: &[T],
        a: &[T],
        room: &mut [T],
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        match self {
            Products(model) => return model.pull(products(problem)?, a),
            Rows(model, _) => model.pull(a, room),
            Normal(model, _) => {
                scale_twice(room, d, a);
                model.solve_again(room);
                room.iter_mut().for_each(|number| *number *= lambda);
            }
            Triangular(model, _) if lambda > T::ZERO => {
                scale_twice(room, d, a);
                model.solve_again(room);
                room.iter_mut().for_each(|number| *number *= lambda);
            }
            Triangular(..) => return Ok(()),
        }
        add_scaled(step, T::ONE, room);
        Ok(())
    }

    /// Where `J` is not formed, writes the step out, which the other forms have done long since. `shift` is what it was
    /// [pulled](Self::pull) towards; without a pull it is empty.
    #[inline]
    pub(crate) fn unfold<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        shift: &[T],
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        if let Products(model) = self {
            model.unfold(products(problem)?, step);
            add_scaled(step, T::ONE, shift);
        }
        Ok(())
    }

    /// Starts another right-hand side `Jᵀw` for [`solve_forcing`](Self::solve_forcing).
    #[inline]
    pub(crate) fn begin_forcing(&mut self) {
        match self {
            Normal(_, forcing) | Triangular(_, forcing) => forcing.as_mut().fill(T::ZERO),
            Rows(_, forcing) => forcing.clear(),
            Products(model) => model.begin_forcing(),
        }
    }

    /// The other right-hand side itself, to add `Jᵀw` to; `None` in the dual forms, which take the rows `w`.
    #[inline]
    pub(crate) fn forcing_mut(&mut self) -> Option<&mut [T]> {
        match self {
            Normal(_, forcing) | Triangular(_, forcing) => Some(forcing.as_mut()),
            Rows(..) | Products(_) => None,
        }
    }

    /// Adds rows `w` of the other right-hand side, with the rows of `J` they belong to.
    #[inline]
    pub(crate) fn add_forcing(&mut self, w: &[T], jacobian: &[T]) {
        match self {
            Normal(_, forcing) | Triangular(_, forcing) => add_rows_times(forcing.as_mut(), jacobian, w),
            Rows(_, forcing) => forcing.extend_from_slice(w),
            Products(model) => model.add_forcing(w),
        }
    }

    /// Adds `−½(JᵀJ + λD²)⁻¹Jᵀw`, in the variables that are free, to the step with the factor of the last
    /// [`solve`](Self::solve), and returns the length `‖D·‖` of twice of what was added; where that is not finite, nothing
    /// is added. `room` is for a step.
    #[inline]
    pub(crate) fn bend<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        d: &[T],
        held: Held,
        room: &mut [T],
        step: &mut [T],
    ) -> Result<T, IllConditioned> {
        match self {
            Normal(model, forcing) => {
                room.copy_from_slice(forcing.as_ref());
                free_part(room, held);
                model.solve_again(room);
            }
            Triangular(model, forcing) => {
                room.copy_from_slice(forcing.as_ref());
                free_part(room, held);
                model.solve_again(room);
            }
            Rows(model, forcing) => model.solve_again(forcing, room),
            Products(model) => return model.bend(products(problem)?),
        }
        let length = scaled_norm(d, room);
        if length.is_finite() {
            add_scaled(step, T::from_f64(-0.5), room);
        }
        Ok(length)
    }

    /// `‖Jv‖²` at the current point; where `J` is not formed, `v` is the step.
    pub(crate) fn quadratic_form(&self, v: &[T]) -> T {
        match self {
            Normal(model, _) => model.quadratic_form(v),
            Triangular(model, _) => model.quadratic_form(v),
            Rows(model, _) => model.quadratic_form(v),
            Products(model) => model.squared_image(),
        }
    }

    /// Learns the curvature that `JᵀJ` leaves out from the step that was taken last. Only the normal equations have room for it.
    pub(crate) fn learn_curvature(&mut self, step: &[T]) {
        if let Normal(model, _) = self {
            model.learn_curvature(step);
        }
    }

    /// The curvature that was learnt is part of the linear system.
    pub(crate) fn uses_curvature(&self) -> bool {
        matches!(self, Normal(model, _) if model.uses_curvature())
    }

    /// Share `½δᵀSδ` of the learnt curvature in the cost after a step; `None` before any is learnt.
    pub(crate) fn curvature_along(&self, step: &[T]) -> Option<T> {
        match self {
            Normal(model, _) => model.curvature_along(step),
            _ => None,
        }
    }

    /// Takes the curvature that was learnt into the linear system, or leaves it out.
    pub(crate) fn use_curvature(&mut self, is_used: bool) {
        if let Normal(model, _) = self {
            model.use_curvature(is_used);
        }
    }

    /// `JᵀJv` at the current point; not in the dual forms.
    pub(crate) fn gram_times(&self, v: &[T], product: &mut [T]) {
        match self {
            Normal(model, _) => model.gram_times(v, product),
            Triangular(model, _) => model.gram_times(v, product),
            Rows(..) | Products(_) => {
                debug_assert!(false, "a problem with bounds is not planned in the dual forms");
            }
        }
    }

    /// Adds the ridge `½ Σ w_j x_j²` to the candidate. Not in the dual forms, which have no place for it but where the
    /// [`ProductDual`] has: all weights the same.
    pub(crate) fn add_ridge(&mut self, weights: &[T], x: &[T]) {
        match self {
            Normal(model, _) => model.add_ridge(weights, x),
            Triangular(model, _) => model.add_ridge(weights, x),
            Rows(..) | Products(_) => {
                debug_assert!(false, "a problem with a ridge is not planned in the dual forms");
            }
        }
    }

    /// Makes room for another number of rows.
    pub(crate) fn resize(&mut self, m: usize, group: usize) {
        match self {
            Normal(..) | Triangular(..) => {}
            Rows(model, _) => model.resize(m),
            Products(model) => model.resize(m, group),
        }
    }
}

/// The problem's products, which the iteration has made sure of.
fn products<T: Real, P: LeastSquares<T> + ?Sized>(
    problem: &mut P,
) -> Result<&mut dyn JacobianProducts<T>, IllConditioned> {
    problem.products().ok_or(IllConditioned)
}
