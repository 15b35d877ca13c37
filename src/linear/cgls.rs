//! Truncated conjugate gradients on the normal equations of a Jacobian that is only multiplied by.

use super::form::LinearForm;
use super::matrix_free::ProductSystem;
use super::model::{Unsolved, scaled_gradient_norm};
use super::product_point::{DampedProducts, ProductPoint};
use crate::kernels::vector::{add_scaled, all_finite, dot};
use crate::problem::{Evaluated, JacobianProducts};
use crate::real::Real;

/// End of the rounds of conjugate gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Truncation {
    /// Rounds at most.
    pub(crate) rounds: usize,
    /// Residual of the system, relative to its right-hand side, that is small enough.
    pub(crate) tolerance: f64,
}

impl Default for Truncation {
    fn default() -> Self {
        Truncation { rounds: 20, tolerance: 1e-3 }
    }
}

/// The step after a few rounds of conjugate gradients on `(JᵀJ + λI)δ = −Jᵀr`, with the image `Jδ` beside it.
///
/// The residual of the system is computed from that of the data, `r + Jδ` (CGLS; Björck 1996, *Numerical Methods for Least Squares
/// Problems*, 7.4.1), so that rounding counts with the condition number of `J` and not with its square. Whenever the rounds end, the
/// step is the minimum of the damped model over the directions so far, and so `δᵀ(JᵀJ + λI)δ = −δᵀJᵀr` as for the exact step: what
/// it predicts needs no correction, and more rounds only lengthen it (Steihaug 1983). A round takes one product with `J` and one with
/// `Jᵀ`.
pub(crate) struct Cgls<T> {
    truncation: Truncation,
    /// `δ`.
    step: Vec<T>,
    rounds: Rounds<T>,
}

/// Minimises `½‖r + Jδ‖² + ½λ‖δ‖²` from zero.
#[derive(Default)]
struct Rounds<T> {
    /// `δ` and `Jδ`.
    solution: Vec<T>,
    image: Vec<T>,
    /// `r + Jδ`, with its sign changed.
    data: Vec<T>,
    /// `−Jᵀ(r + Jδ) − λδ`.
    residual: Vec<T>,
    direction: Vec<T>,
    /// `J` times the direction.
    change: Vec<T>,
}

impl<T: Real> Cgls<T> {
    /// Workspace for rounds that end so.
    pub(super) fn new(truncation: Truncation) -> Self {
        Cgls { truncation, step: Vec::new(), rounds: Rounds::default() }
    }

    /// Minimises for the residuals in the `data` of the rounds.
    fn minimize(&mut self, at: &mut DampedProducts<'_, T>) -> Result<(), Unsolved> {
        at.multiply_transposed(&self.rounds.data, &mut self.rounds.residual)?;
        self.rounds.run(at, self.truncation)
    }
}

impl<T: Real> Rounds<T> {
    fn resize(&mut self, m: usize, n: usize) {
        for column in [&mut self.solution, &mut self.residual, &mut self.direction] {
            column.resize(n, T::ZERO);
        }
        for column in [&mut self.image, &mut self.data, &mut self.change] {
            column.resize(m, T::ZERO);
        }
    }

    /// Takes up the residuals `r`.
    fn begin(&mut self, r: &[T]) {
        self.data.iter_mut().zip(r).for_each(|(data, &r)| *data = -r);
    }

    /// Minimises for the residuals in `data`, where `residual` is `−Jᵀr`.
    fn run(&mut self, at: &mut DampedProducts<'_, T>, truncation: Truncation) -> Result<(), Unsolved> {
        let Rounds { solution, image, data, residual, direction, change } = self;
        let lambda = at.point.lambda;
        solution.fill(T::ZERO);
        image.fill(T::ZERO);
        direction.copy_from_slice(residual);
        let mut size = dot(residual, residual);
        let tolerance = T::from_f64(truncation.tolerance);
        let target = tolerance * tolerance * size;
        for round in 1.. {
            if size <= target {
                break;
            }
            at.multiply(direction, change)?;
            let curvature = dot(change, change) + lambda * dot(direction, direction);
            if !(curvature > T::ZERO && curvature.is_finite()) {
                return Err(Unsolved::IllConditioned);
            }
            let length = size / curvature;
            add_scaled(solution, length, direction);
            add_scaled(image, length, change);
            if round >= truncation.rounds {
                break;
            }
            add_scaled(data, -length, change);
            at.multiply_transposed(data, residual)?;
            add_scaled(residual, -lambda, solution);
            let before = std::mem::replace(&mut size, dot(residual, residual));
            let keep = size / before;
            direction.iter_mut().zip(&*residual).for_each(|(direction, &ahead)| *direction = ahead + keep * *direction);
        }
        Ok(())
    }
}

impl<T: Real> ProductSystem<T> for Cgls<T> {
    const NEEDS_GRADIENT: bool = true;

    fn form(&self) -> LinearForm {
        LinearForm::TruncatedConjugateGradients
    }

    fn resize(&mut self, m: usize, n: usize, _: usize) {
        self.step.resize(n, T::ZERO);
        self.rounds.resize(m, n);
    }

    fn linearize(&mut self, _: &mut dyn JacobianProducts<T>, _: usize) -> Evaluated<Option<T>> {
        Ok(None)
    }

    fn solve(&mut self, at: &mut DampedProducts<'_, T>, image: &mut [T]) -> Result<T, Unsolved> {
        let Cgls { truncation, step, rounds } = self;
        rounds.begin(&at.point.r);
        rounds.residual.iter_mut().zip(&at.point.gradient).for_each(|(residual, &g)| *residual = -g);
        rounds.run(at, *truncation)?;
        step.copy_from_slice(&rounds.solution);
        image.copy_from_slice(&rounds.image);
        if all_finite(step) { Ok(dot(step, step).sqrt()) } else { Err(Unsolved::IllConditioned) }
    }

    fn unknowns(&mut self) -> &mut [T] {
        &mut self.step
    }

    fn correct(&mut self, at: &mut DampedProducts<'_, T>, w: &[T]) -> Result<T, Unsolved> {
        self.rounds.begin(w);
        self.minimize(at)?;
        Ok(dot(&self.rounds.solution, &self.rounds.solution).sqrt())
    }

    fn add_correction(&mut self, factor: T, image: &mut [T]) {
        add_scaled(&mut self.step, -factor, &self.rounds.solution);
        add_scaled(image, -factor, &self.rounds.image);
    }

    fn shift(&mut self, at: &mut DampedProducts<'_, T>, a: &[T], image: &mut [T]) -> Result<(), Unsolved> {
        // λ(JᵀJ + λI)⁻¹a = a − (JᵀJ + λI)⁻¹JᵀJa.
        at.multiply(a, &mut self.rounds.change)?;
        add_scaled(&mut self.step, T::ONE, a);
        add_scaled(image, T::ONE, &self.rounds.change);
        let Rounds { data, change, .. } = &mut self.rounds;
        data.iter_mut().zip(change).for_each(|(data, &mut change)| *data = -change);
        self.minimize(at)?;
        add_scaled(&mut self.step, T::ONE, &self.rounds.solution);
        add_scaled(image, T::ONE, &self.rounds.image);
        Ok(())
    }

    fn form_step(&mut self, _: &mut DampedProducts<'_, T>, _: &[T], step: &mut [T]) -> Result<(), Unsolved> {
        step.copy_from_slice(&self.step);
        Ok(())
    }

    fn slope(&self, point: &ProductPoint<T>, _: &[T]) -> T {
        dot(&point.gradient, &self.step)
    }

    fn inverse_form(&mut self, at: &mut DampedProducts<'_, T>, image: &[T]) -> Result<T, Unsolved> {
        let lambda = at.point.lambda;
        if !(lambda > T::ZERO) {
            return Ok(T::ZERO);
        }
        // λ(JᵀJ + λI)⁻¹δ = δ − (JᵀJ + λI)⁻¹JᵀJδ.
        self.rounds.begin(image);
        self.minimize(at)?;
        Ok((dot(&self.step, &self.step) + dot(&self.step, &self.rounds.solution)) / lambda)
    }

    fn gradient_norm(&mut self, at: &mut DampedProducts<'_, T>, d: &[T]) -> Evaluated<T> {
        Ok(scaled_gradient_norm(&at.point.gradient, d))
    }
}
