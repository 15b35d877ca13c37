//! Truncated conjugate gradients on the normal equations of a Jacobian that is only multiplied by.

use super::choice::Plan;
use super::forcing::ForcingRows;
use super::form::LinearForm;
use super::forward_product::{BothProducts, ForwardProduct};
use super::matrix_free::{IsotropicRidge, estimate_trace};
use super::model::{Damped, Drawn, LinearModel, Unsolved};
use crate::evaluation::{Along, Costs, Evaluation, Forcing, LinearChange};
use crate::kernels::vector::{add_scaled, all_finite, dot};
use crate::problem::EvaluationError;
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
    n: usize,
    truncation: Truncation,
    r: Vec<T>,
    forward: ForwardProduct<T>,
    /// `Jᵀr`.
    gradient: Vec<T>,
    /// `‖J‖²`, estimated, where a full solve has asked for it.
    trace: T,
    /// `λ`, and the weight of the ridge on top of it.
    lambda: T,
    ridge: IsotropicRidge<T>,
    /// The trace is estimated at each point.
    forms_gradient: bool,
    /// Once residuals have stood for another loss.
    has_own_cost: bool,
    /// `δ` and `Jδ`.
    step: Vec<T>,
    image: Vec<T>,
    /// Another right-hand side, as far as it has come.
    forcing: Vec<T>,
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
    /// Room for a problem as planned.
    pub(crate) fn new(plan: &Plan) -> Self {
        Cgls {
            n: plan.n,
            truncation: plan.truncation,
            r: Vec::new(),
            forward: ForwardProduct::new(),
            gradient: Vec::new(),
            trace: T::ZERO,
            lambda: T::ZERO,
            ridge: IsotropicRidge::NONE,
            forms_gradient: plan.forms_gradient,
            has_own_cost: false,
            step: Vec::new(),
            image: Vec::new(),
            forcing: Vec::new(),
            rounds: Rounds::default(),
        }
    }

    /// Makes room for another number of rows.
    fn resize(&mut self, m: usize) {
        for column in [&mut self.r, &mut self.image] {
            column.resize(m, T::ZERO);
        }
        for column in [&mut self.gradient, &mut self.step] {
            column.resize(self.n, T::ZERO);
        }
        self.forcing.reserve(m.saturating_sub(self.forcing.len()));
        self.rounds.resize(m, self.n);
    }

    /// Linearises at `x`; returns infinity where something is not finite.
    fn linearize_at(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Result<T, EvaluationError> {
        self.ridge = IsotropicRidge::new(evaluation.ridge());
        self.resize(evaluation.size().0);
        let products = evaluation.products()?;
        let cost = products.linearize_products(x, std::slice::from_ref(&(0..self.n)), &mut self.r)?;
        let with_ridge = cost + self.ridge.cost(x);
        if !(with_ridge.is_finite() && all_finite(&self.r)) {
            return Ok(T::INFINITY);
        }
        self.has_own_cost |= !self.forward.linearize(x, &self.r, cost);
        products.multiply_transposed(&self.r, &mut self.gradient)?;
        if !all_finite(&self.gradient) {
            return Ok(T::INFINITY);
        }
        if self.forms_gradient {
            let Rounds { data, residual, .. } = &mut self.rounds;
            self.trace = estimate_trace(products, data, residual)?;
        }
        Ok(with_ridge)
    }

    /// Minimises for the residuals in the `data` of the rounds, which are those of the point itself if their gradient is known.
    fn minimize(&mut self, evaluation: &mut dyn Evaluation<T>, is_point: bool) -> Result<(), Unsolved> {
        let gradient = if is_point { Some(self.gradient.as_slice()) } else { None };
        let mut products = self.forward.with(evaluation.products()?, &self.r);
        self.rounds.run(&mut products, self.truncation, self.lambda, gradient)
    }

    /// Shifts the step by `λ(JᵀJ + λI)⁻¹a`.
    fn shift(&mut self, evaluation: &mut dyn Evaluation<T>, a: &[T]) -> Result<(), Unsolved> {
        // λ(JᵀJ + λI)⁻¹a = a − (JᵀJ + λI)⁻¹JᵀJa.
        self.forward.with(evaluation.products()?, &self.r).multiply(a, &mut self.rounds.change)?;
        add_scaled(&mut self.step, T::ONE, a);
        add_scaled(&mut self.image, T::ONE, &self.rounds.change);
        let Rounds { data, change, .. } = &mut self.rounds;
        data.iter_mut().zip(change).for_each(|(data, &mut change)| *data = -change);
        self.minimize(evaluation, false)?;
        add_scaled(&mut self.step, T::ONE, &self.rounds.solution);
        add_scaled(&mut self.image, T::ONE, &self.rounds.image);
        Ok(())
    }

    /// Multiplies the step.
    fn scale(&mut self, factor: T) {
        for column in [&mut self.step, &mut self.image] {
            column.iter_mut().for_each(|entry| *entry *= factor);
        }
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

    /// Minimises for the residuals that it has [begun](Self::begin) with, whose `gradient` `Jᵀr` may be known.
    fn run(
        &mut self,
        products: &mut BothProducts<'_, T>,
        truncation: Truncation,
        lambda: T,
        gradient: Option<&[T]>,
    ) -> Result<(), Unsolved> {
        let Rounds { solution, image, data, residual, direction, change } = self;
        solution.fill(T::ZERO);
        image.fill(T::ZERO);
        match gradient {
            Some(gradient) => residual.iter_mut().zip(gradient).for_each(|(residual, &g)| *residual = -g),
            None => products.multiply_transposed(data, residual)?,
        }
        direction.copy_from_slice(residual);
        let mut size = dot(residual, residual);
        let tolerance = T::from_f64(truncation.tolerance);
        let target = tolerance * tolerance * size;
        for round in 1.. {
            if size <= target {
                break;
            }
            products.multiply(direction, change)?;
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
            products.multiply_transposed(data, residual)?;
            add_scaled(residual, -lambda, solution);
            let before = std::mem::replace(&mut size, dot(residual, residual));
            let keep = size / before;
            direction.iter_mut().zip(&*residual).for_each(|(direction, &ahead)| *direction = ahead + keep * *direction);
        }
        Ok(())
    }
}

impl<T: Real> LinearModel<T> for Cgls<T> {
    fn form(&self) -> LinearForm {
        LinearForm::TruncatedConjugateGradients
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Result<Costs<T>, EvaluationError> {
        evaluation.count_linearization();
        self.linearize_at(evaluation, x).map(Costs::of_squares)
    }

    fn take_back(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Result<(), EvaluationError> {
        self.linearize_at(evaluation, x).map(|_| ())
    }

    fn gradient(&self) -> &[T] {
        &self.gradient
    }

    fn column_norms(&self, _: &mut [T]) -> Option<T> {
        Some(self.trace)
    }

    fn solve(&mut self, damped: &mut Damped<'_, T>, _: &mut [T]) -> Result<T, Unsolved> {
        self.ridge = IsotropicRidge::new(self.ridge.weight);
        self.lambda = damped.lambda + self.ridge.weight;
        self.rounds.begin(&self.r);
        self.minimize(damped.evaluation, true)?;
        self.step.copy_from_slice(&self.rounds.solution);
        self.image.copy_from_slice(&self.rounds.image);
        if all_finite(&self.step) { Ok(dot(&self.step, &self.step).sqrt()) } else { Err(Unsolved::IllConditioned) }
    }

    fn correct(
        &mut self,
        damped: &mut Damped<'_, T>,
        &Along { x, v, by }: &Along<'_, T>,
        _: &mut [T],
    ) -> Result<T, Unsolved> {
        let Forcing::Curvature { ahead, probe, .. } = by else { return Err(Unsolved::IllConditioned) };
        let linear = Some(LinearChange { residuals: &self.r, image: &self.image, is_exact: !self.has_own_cost });
        let along = Along { x, v, by: Forcing::Curvature { ahead, probe, linear } };
        damped.force(&along, &mut ForcingRows(&mut self.forcing))?;
        self.rounds.begin(&self.forcing);
        self.minimize(damped.evaluation, false)?;
        Ok(dot(&self.rounds.solution, &self.rounds.solution).sqrt())
    }

    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        if drawn.correction != T::ZERO {
            add_scaled(&mut self.step, -drawn.correction, &self.rounds.solution);
            add_scaled(&mut self.image, -drawn.correction, &self.rounds.image);
        }
        if drawn.factor != T::ONE {
            self.scale(drawn.factor);
        }
        if !drawn.towards.is_empty() {
            self.shift(damped.evaluation, drawn.towards)?;
        }
        step.copy_from_slice(&self.step);
        let factor = drawn.shorten(step);
        if factor != T::ONE {
            self.scale(factor);
        }
        self.ridge.take_up(damped.x, step);
        Ok(())
    }

    fn slope(&self, _: &[T]) -> T {
        dot(&self.gradient, &self.step) + self.ridge.slope
    }

    fn quadratic_form(&self, _: &[T]) -> T {
        dot(&self.image, &self.image) + self.ridge.curvature
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, _: &[T]) -> Result<T, Unsolved> {
        // λ(JᵀJ + λI)⁻¹δ = δ − (JᵀJ + λI)⁻¹JᵀJδ.
        if !(self.lambda > T::ZERO) {
            return Ok(T::ZERO);
        }
        self.rounds.begin(&self.image);
        self.minimize(damped.evaluation, false)?;
        Ok((dot(&self.step, &self.step) + dot(&self.step, &self.rounds.solution)) / self.lambda)
    }
}
