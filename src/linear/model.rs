//! The linear model of the residuals around a point, for all forms of its system.

use super::forcing::ForcingSums;
use super::form::LinearForm;
use super::held::{Held, free_part};
use crate::evaluation::{Along, Costs, Evaluation, Forcing, RightHandSide};
use crate::kernels::vector::{add_scaled, dot, scale_twice};
use crate::problem::{Evaluated, EvaluationError};
use crate::real::Real;

/// The damped system is singular to working precision: its solution would be noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllConditioned;

/// A system has not been solved.
#[derive(Debug)]
pub enum Unsolved {
    /// It is singular to working precision.
    IllConditioned,
    /// The problem could not be evaluated.
    Failed(EvaluationError),
}

impl From<EvaluationError> for Unsolved {
    fn from(error: EvaluationError) -> Self {
        Unsolved::Failed(error)
    }
}

impl From<IllConditioned> for Unsolved {
    fn from(_: IllConditioned) -> Self {
        Unsolved::IllConditioned
    }
}

/// The matrix `JᵀJ + λD²` at the current point.
pub struct Damped<'a, T> {
    pub evaluation: &'a mut dyn Evaluation<T>,
    /// The current point.
    pub x: &'a [T],
    pub lambda: T,
    pub d: &'a [T],
    /// Variables that keep their steps; none in forms that do not [hold variables](LinearForm::holds_variables).
    pub held: Held<'a>,
    /// Forms that solve to a tolerance solve to rounding accuracy.
    pub exact: bool,
}

impl<T: Real> Damped<'_, T> {
    /// Computes the right-hand side of a correction. That a problem cannot is told as a system without solution.
    #[inline]
    pub(super) fn force(&mut self, along: &Along<'_, T>, rhs: &mut dyn RightHandSide<T>) -> Result<(), Unsolved> {
        if self.evaluation.force(along, rhs)? { Ok(()) } else { Err(Unsolved::IllConditioned) }
    }
}

/// The step `η(δ + κc) + λ(JᵀJ + λD²)⁻¹D²a`, no longer than the limit, made of the step `δ` of the damped system and its last
/// correction `c`.
pub struct Drawn<'a, T> {
    /// `κ`; zero if there is no correction.
    pub correction: T,
    /// The learning rate `η`.
    pub factor: T,
    /// The step `a` that the damping draws towards; empty for zero.
    pub towards: &'a [T],
    /// Largest norm.
    pub longest: T,
    /// The last correction; scratch memory from then on.
    pub workspace: &'a mut [T],
}

impl<T: Real> Drawn<'_, T> {
    /// Draws a step, where `solve` overwrites a vector with its product with `(JᵀJ + λD²)⁻¹`.
    #[inline]
    pub(super) fn draw(self, damped: &Damped<'_, T>, step: &mut [T], solve: impl FnOnce(&mut [T])) {
        self.correct(self.workspace, step);
        if !self.towards.is_empty() && damped.lambda > T::ZERO {
            scale_twice(self.workspace, damped.d, self.towards);
            solve(self.workspace);
            add_scaled(step, damped.lambda, self.workspace);
        }
        self.shorten(step);
    }

    /// Adds the share of the correction, and multiplies by the factor.
    #[inline]
    pub(super) fn correct(&self, correction: &[T], step: &mut [T]) {
        if self.correction != T::ZERO {
            add_scaled(step, self.correction, correction);
        }
        if self.factor != T::ONE {
            step.iter_mut().for_each(|step| *step *= self.factor);
        }
    }

    /// Shortens the step to the limit; returns the factor.
    #[inline]
    pub(super) fn shorten(&self, step: &mut [T]) -> T {
        let norm = if self.longest.is_finite() { dot(step, step).sqrt() } else { T::ZERO };
        if norm > self.longest {
            let factor = self.longest / norm;
            step.iter_mut().for_each(|step| *step *= factor);
            return factor;
        }
        T::ONE
    }
}

/// News that a model learns from.
#[derive(Clone, Copy)]
pub enum Lesson<'a, T> {
    /// A trial of the step.
    Trial { step: &'a [T], predicted: T, actual: T, accepted: bool },
    /// A move to the current point that was no trial.
    Move { step: &'a [T] },
    /// The damped system could not be solved, and the damping policy has given up.
    Unsolved,
}

/// Another system, in place of one that could not be solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// It can be solved at once.
    SolveAgain,
    /// The current point has to be linearised again first.
    Linearize,
}

/// `r(x + δ) ≈ r + Jδ` around the current point.
///
/// A model pulls what it is made of from the evaluation: rows, blocks or products.
pub trait LinearModel<T: Real> {
    /// Its name.
    fn form(&self) -> LinearForm;

    /// Linearises at `x`, which is the current point from then on, unless there is an error. A model that is not finite has to be
    /// [taken back](Self::take_back).
    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>>;

    /// Returns to the point `x` before the last [`linearize`](Self::linearize).
    fn take_back(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated;

    /// The gradient `Jᵀr` of the cost; empty where `J` is not formed and a step of training does not ask for it.
    fn gradient(&self) -> &[T];

    /// Computes `‖J_j‖` of every column. A model that does not form `J` leaves them, and returns `‖J‖²`.
    fn column_norms(&self, norms: &mut [T]) -> Option<T>;

    /// Solves for the step of `(JᵀJ + λD²)δ = −Jᵀr` and returns its length `‖Dδ‖`. A form that multiplies by `J` may leave the step to
    /// [`complete`](Self::complete).
    fn solve(&mut self, damped: &mut Damped<'_, T>, step: &mut [T]) -> Result<T, Unsolved>;

    /// Solves for the correction `c = (JᵀJ + λD²)⁻¹Jᵀw`, in the variables that are free, with the factor of the last
    /// [`solve`](Self::solve), and returns its length `‖Dc‖`. A system of blocks takes none.
    fn correct(
        &mut self,
        damped: &mut Damped<'_, T>,
        along: &Along<'_, T>,
        correction: &mut [T],
    ) -> Result<T, Unsolved> {
        let _ = (damped, along, correction);
        Err(Unsolved::IllConditioned)
    }

    /// Draws the step that is tried.
    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved>;

    /// The slope `(Jᵀr)ᵀδ` along the step.
    #[inline(always)]
    fn slope(&self, step: &[T]) -> T {
        dot(&self.gradient()[..step.len()], step)
    }

    /// `‖Jv‖²`; where `J` is not formed, `v` is the step.
    fn quadratic_form(&self, v: &[T]) -> T;

    /// `JᵀJv`, in the forms that [hold variables](LinearForm::holds_variables).
    fn gram_times(&self, v: &[T], product: &mut [T]) {
        let _ = (v, product);
    }

    /// `vᵀ(JᵀJ + λD²)⁻¹v` for `v = D²δ` in the variables that are free, with the factor of the last [`solve`](Self::solve).
    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, step: &[T]) -> Result<T, Unsolved>;

    /// `‖D⁻¹Jᵀr‖`.
    fn gradient_norm(&mut self, evaluation: &mut dyn Evaluation<T>, d: &[T]) -> Evaluated<T> {
        let _ = evaluation;
        Ok(scaled_gradient_norm(self.gradient(), d))
    }

    /// Learns from a trial, or changes after one that could not be made.
    #[inline]
    fn learn(&mut self, lesson: Lesson<'_, T>) -> Option<Recovery> {
        let _ = lesson;
        None
    }
}

/// `‖D⁻¹g‖`.
pub(super) fn scaled_gradient_norm<T: Real>(gradient: &[T], d: &[T]) -> T {
    gradient.iter().zip(d).fold(T::ZERO, |sum, (&g, &d)| sum + (g / d) * (g / d)).sqrt()
}

/// Computes the right-hand side of a correction, summed in `work`, in the variables that are free.
#[inline]
pub(super) fn sum_forcing<T: Real, V: AsRef<[T]> + AsMut<[T]>>(
    damped: &mut Damped<'_, T>,
    along: &Along<'_, T>,
    work: &mut V,
    correction: &mut [T],
) -> Result<(), Unsolved> {
    damped.force(along, &mut ForcingSums(work))?;
    correction.copy_from_slice(work.as_ref());
    if let Forcing::Residuals(_) = along.by {
        // The damping pulls back, too.
        for ((sum, &d), &step) in correction.iter_mut().zip(damped.d).zip(along.v) {
            *sum += damped.lambda * d * d * step;
        }
    }
    free_part(correction, damped.held);
    Ok(())
}
