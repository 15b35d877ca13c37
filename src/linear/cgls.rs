//! Truncated conjugate gradients on the normal equations of a Jacobian that is only multiplied by.

use super::choice::Plan;
use super::form::LinearForm;
use super::forward_product::{BothProducts, ForwardProduct};
use super::held::Held;
use super::matrix_free::{MatrixFree, Unsolved, estimate_trace, keep_failure, squared_mean_cosine};
use super::model::{IllConditioned, LinearModel, Products};
use crate::kernels::vector::{add_scaled, all_finite, dot};
use crate::problem::{EvaluationError, JacobianProducts};
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
    /// `ω` of the ridge `½ω‖x‖²`.
    ridge: T,
    /// `δ` and `Jδ`.
    step: Vec<T>,
    image: Vec<T>,
    /// Another right-hand side, as far as it has come.
    forcing: Vec<T>,
    descent: Descent<T>,
    /// The error of the product that failed last.
    failure: Option<EvaluationError>,
}

/// Minimises `½‖r + Jδ‖² + ½λ‖δ‖²` from zero.
#[derive(Default)]
struct Descent<T> {
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
        let mut model = Cgls {
            n: plan.n,
            truncation: plan.truncation,
            r: Vec::new(),
            forward: ForwardProduct::new(),
            gradient: Vec::new(),
            trace: T::ZERO,
            lambda: T::ZERO,
            ridge: T::ZERO,
            step: Vec::new(),
            image: Vec::new(),
            forcing: Vec::new(),
            descent: Descent::default(),
            failure: None,
        };
        model.resize(plan.m, plan.group);
        model
    }

    /// Minimises for the residuals in the descent's `data`, which are those of the point itself if their gradient is known.
    fn descend(&mut self, products: &mut dyn JacobianProducts<T>, is_point: bool) -> Result<(), IllConditioned> {
        let gradient = if is_point { Some(self.gradient.as_slice()) } else { None };
        let mut products = self.forward.with(products, &self.r);
        let outcome = self.descent.run(&mut products, self.truncation, self.lambda, gradient);
        keep_failure(&mut self.failure, outcome)
    }
}

impl<T: Real> Descent<T> {
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
        let Descent { solution, image, data, residual, direction, change } = self;
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

impl<T: Real> MatrixFree<T> for Cgls<T> {
    fn linearize(&mut self, products: &mut dyn JacobianProducts<T>, x: &[T]) -> Result<Option<T>, EvaluationError> {
        let cost = products.linearize_products(x, std::slice::from_ref(&(0..self.n)), &mut self.r)?;
        if !(cost.is_finite() && all_finite(&self.r)) {
            return Ok(None);
        }
        self.forward.linearize(x, &self.r, cost);
        products.multiply_transposed(&self.r, &mut self.gradient)?;
        Ok(all_finite(&self.gradient).then_some(cost))
    }

    fn set_ridge(&mut self, weight: T) {
        self.ridge = weight;
    }

    fn form_gradient(&mut self, products: &mut dyn JacobianProducts<T>) -> Result<(), EvaluationError> {
        let Descent { data, residual, .. } = &mut self.descent;
        self.trace = estimate_trace(products, data, residual)?;
        Ok(())
    }

    fn residuals(&self) -> &[T] {
        &self.r
    }

    fn image(&self) -> &[T] {
        &self.image
    }

    fn forcing(&self) -> &[T] {
        &self.forcing
    }

    fn take_failure(&mut self) -> Option<EvaluationError> {
        self.failure.take()
    }
}

impl<T: Real> LinearModel<T> for Cgls<T> {
    fn form(&self) -> LinearForm {
        LinearForm::TruncatedConjugateGradients
    }

    fn begin(&mut self) {}

    fn add_rows(&mut self, _: &mut [T], _: &mut [T]) {}

    fn swap(&mut self) {}

    fn gradient(&self) -> &[T] {
        &self.gradient
    }

    fn column_norms(&self, _: &mut [T]) {}

    fn solve(
        &mut self,
        products: Products<'_, T>,
        lambda: T,
        _: &[T],
        _: Held<'_>,
        _: &mut [T],
    ) -> Result<(), IllConditioned> {
        self.lambda = lambda + self.ridge;
        self.descent.begin(&self.r);
        self.descend(products.ok_or(IllConditioned)?, true)?;
        self.step.copy_from_slice(&self.descent.solution);
        self.image.copy_from_slice(&self.descent.image);
        if all_finite(&self.step) { Ok(()) } else { Err(IllConditioned) }
    }

    fn length(&self, _: &[T], _: &[T]) -> T {
        dot(&self.step, &self.step).sqrt()
    }

    fn slope(&self, _: &[T]) -> T {
        dot(&self.gradient, &self.step)
    }

    fn quadratic_form(&self, _: &[T]) -> T {
        dot(&self.image, &self.image)
    }

    fn inverse_form(&mut self, products: Products<'_, T>, _: &[T], _: Held<'_>, _: &[T]) -> T {
        // λ(JᵀJ + λI)⁻¹δ = δ − (JᵀJ + λI)⁻¹JᵀJδ.
        let Some(products) = products.filter(|_| self.lambda > T::ZERO) else { return T::ZERO };
        self.descent.begin(&self.image);
        match self.descend(products, false) {
            Ok(()) => (dot(&self.step, &self.step) + dot(&self.step, &self.descent.solution)) / self.lambda,
            Err(IllConditioned) => T::ZERO,
        }
    }

    fn squared_mean_cosine(&self, cost: T) -> Option<T> {
        Some(squared_mean_cosine(dot(&self.gradient, &self.gradient), self.trace, cost))
    }

    fn scale(&mut self, factor: T, _: &mut [T]) {
        for numbers in [&mut self.step, &mut self.image] {
            numbers.iter_mut().for_each(|number| *number *= factor);
        }
    }

    fn shift(
        &mut self,
        products: Products<'_, T>,
        _: T,
        _: &[T],
        a: &[T],
        _: &mut [T],
        _: &mut [T],
    ) -> Result<(), IllConditioned> {
        // λ(JᵀJ + λI)⁻¹a = a − (JᵀJ + λI)⁻¹JᵀJa.
        let products = products.ok_or(IllConditioned)?;
        let product = self.forward.with(products, &self.r).multiply(a, &mut self.descent.change);
        keep_failure(&mut self.failure, product)?;
        add_scaled(&mut self.step, T::ONE, a);
        add_scaled(&mut self.image, T::ONE, &self.descent.change);
        let Descent { data, change, .. } = &mut self.descent;
        data.iter_mut().zip(change).for_each(|(data, &mut change)| *data = -change);
        self.descend(products, false)?;
        add_scaled(&mut self.step, T::ONE, &self.descent.solution);
        add_scaled(&mut self.image, T::ONE, &self.descent.image);
        Ok(())
    }

    fn form_step(&mut self, _: Products<'_, T>, _: &[T], step: &mut [T]) -> Result<(), IllConditioned> {
        step.copy_from_slice(&self.step);
        Ok(())
    }

    fn begin_forcing(&mut self) {
        self.forcing.clear();
    }

    fn add_forcing(&mut self, w: &[T], _: &[T]) {
        self.forcing.extend_from_slice(w);
    }

    fn add_correction(
        &mut self,
        products: Products<'_, T>,
        _: &[T],
        _: Held<'_>,
        _: &mut [T],
        _: &mut [T],
    ) -> Result<T, IllConditioned> {
        self.descent.begin(&self.forcing);
        self.descend(products.ok_or(IllConditioned)?, false)?;
        let length = dot(&self.descent.solution, &self.descent.solution).sqrt();
        if length.is_finite() {
            let half = T::from_f64(0.5);
            add_scaled(&mut self.step, half, &self.descent.solution);
            add_scaled(&mut self.image, half, &self.descent.image);
        }
        Ok(length)
    }

    fn resize(&mut self, m: usize, _: usize) {
        for column in [&mut self.r, &mut self.image] {
            column.resize(m, T::ZERO);
        }
        for column in [&mut self.gradient, &mut self.step] {
            column.resize(self.n, T::ZERO);
        }
        self.forcing.reserve(m.saturating_sub(self.forcing.len()));
        self.descent.resize(m, self.n);
    }

    fn matrix_free(&mut self) -> Option<&mut dyn MatrixFree<T>> {
        Some(self)
    }
}
