//! Forms that multiply by a Jacobian and do not form it.

use super::choice::Plan;
use super::forcing::ForcingRows;
use super::form::LinearForm;
use super::model::{Damped, Drawn, LinearModel, Unsolved};
use super::product_point::{DampedProducts, ProductPoint};
use crate::evaluation::{Along, Costs, Evaluation, Forcing, LinearChange};
use crate::kernels::vector::{all_finite, dot};
use crate::problem::{Evaluated, JacobianProducts};
use crate::real::Real;

/// A way to solve `(JᵀJ + λI)δ = −Jᵀr` by products with `J`, with the image `Jδ` beside the unknowns.
pub(super) trait ProductSystem<T: Real> {
    /// True if every step needs the gradient.
    const NEEDS_GRADIENT: bool;

    fn form(&self) -> LinearForm;

    /// Makes room for `m` rows in groups, of `n` parameters.
    fn resize(&mut self, m: usize, n: usize, group: usize);

    /// Takes up a new `J` of `n` columns, and returns `‖J‖²`; `None` where that is not known.
    fn linearize(&mut self, products: &mut dyn JacobianProducts<T>, n: usize) -> Evaluated<Option<T>>;

    /// Solves for the step and its image, and returns its length.
    fn solve(&mut self, at: &mut DampedProducts<'_, T>, image: &mut [T]) -> Result<T, Unsolved>;

    /// The unknowns of the step, which it is linear in.
    fn unknowns(&mut self) -> &mut [T];

    /// Solves for the correction `(JᵀJ + λI)⁻¹Jᵀw`, and returns its length.
    fn correct(&mut self, at: &mut DampedProducts<'_, T>, w: &[T]) -> Result<T, Unsolved>;

    /// Adds the correction, times a factor.
    fn add_correction(&mut self, factor: T, image: &mut [T]);

    /// Shifts the step by `λ(JᵀJ + λI)⁻¹a`.
    fn shift(&mut self, at: &mut DampedProducts<'_, T>, a: &[T], image: &mut [T]) -> Result<(), Unsolved>;

    /// Forms the step, which has been shifted towards `a`.
    fn form_step(&mut self, at: &mut DampedProducts<'_, T>, a: &[T], step: &mut [T]) -> Result<(), Unsolved>;

    /// `(Jᵀr)ᵀδ`.
    fn slope(&self, point: &ProductPoint<T>, image: &[T]) -> T;

    /// `δᵀ(JᵀJ + λI)⁻¹δ`.
    fn inverse_form(&mut self, at: &mut DampedProducts<'_, T>, image: &[T]) -> Result<T, Unsolved>;

    /// `‖D⁻¹Jᵀr‖`.
    fn gradient_norm(&mut self, at: &mut DampedProducts<'_, T>, d: &[T]) -> Evaluated<T>;
}

/// A linear model that multiplies by `J`.
pub(crate) struct MatrixFree<T, S> {
    n: usize,
    point: ProductPoint<T>,
    /// `‖J‖²`, the sum of squares; `None` until it is estimated where the system does not know it.
    trace: Option<T>,
    ridge: IsotropicRidge<T>,
    /// The gradient is computed at each point.
    forms_gradient: bool,
    /// Once residuals have stood for another loss.
    has_own_cost: bool,
    /// `Jδ`.
    image: Vec<T>,
    /// Another right-hand side, as far as it has come.
    forcing: Vec<T>,
    system: S,
}

impl<T: Real, S: ProductSystem<T>> MatrixFree<T, S> {
    /// Workspace for a problem as planned.
    pub(super) fn new(plan: &Plan, system: S) -> Self {
        MatrixFree {
            n: plan.n,
            point: ProductPoint::default(),
            trace: None,
            ridge: IsotropicRidge::NONE,
            forms_gradient: plan.forms_gradient,
            has_own_cost: false,
            image: Vec::new(),
            forcing: Vec::new(),
            system,
        }
    }

    /// Linearises at `x`; returns infinity where something is not finite.
    fn linearize_at(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<T> {
        self.ridge = IsotropicRidge::new(evaluation.ridge());
        let (m, group) = evaluation.size();
        let MatrixFree { point, trace, image, forcing, system, .. } = self;
        [&mut point.r, &mut *image].into_iter().for_each(|column| column.resize(m, T::ZERO));
        forcing.reserve(m.saturating_sub(forcing.len()));
        system.resize(m, self.n, group);
        let products = evaluation.products()?;
        let cost = products.linearize_products(x, std::slice::from_ref(&(0..self.n)), &mut point.r)?;
        let with_ridge = cost + self.ridge.cost(x);
        if !(with_ridge.is_finite() && all_finite(&point.r)) {
            return Ok(T::INFINITY);
        }
        self.has_own_cost |= !point.take_up(x, cost);
        *trace = system.linearize(products, self.n)?;
        if !trace.is_none_or(T::is_finite) {
            return Ok(T::INFINITY);
        }
        if self.forms_gradient || S::NEEDS_GRADIENT {
            point.gradient.resize(self.n, T::ZERO);
            if self.forms_gradient && trace.is_none() {
                *trace = Some(estimate_trace(products, image, &mut point.gradient)?);
            }
            products.multiply_transposed(&point.r, &mut point.gradient)?;
        }
        Ok(if all_finite(&point.gradient) { with_ridge } else { T::INFINITY })
    }

    /// Multiplies the step.
    fn scale(&mut self, factor: T) {
        if factor != T::ONE {
            let entries = self.system.unknowns().iter_mut().chain(&mut self.image);
            entries.for_each(|entry| *entry *= factor);
        }
    }
}

impl<T: Real, S: ProductSystem<T>> LinearModel<T> for MatrixFree<T, S> {
    fn form(&self) -> LinearForm {
        self.system.form()
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>> {
        evaluation.count_linearization();
        self.linearize_at(evaluation, x).map(Costs::of_squares)
    }

    fn take_back(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated {
        self.linearize_at(evaluation, x).map(|_| ())
    }

    fn gradient(&self) -> &[T] {
        &self.point.gradient
    }

    fn column_norms(&self, _: &mut [T]) -> Option<T> {
        Some(self.trace.unwrap_or(T::ZERO))
    }

    fn solve(&mut self, damped: &mut Damped<'_, T>, _: &mut [T]) -> Result<T, Unsolved> {
        self.ridge = IsotropicRidge::new(self.ridge.weight);
        self.point.lambda = damped.lambda + self.ridge.weight;
        self.system.solve(&mut self.point.with(damped.evaluation.products()?), &mut self.image)
    }

    fn correct(
        &mut self,
        damped: &mut Damped<'_, T>,
        &Along { x, v, by }: &Along<'_, T>,
        _: &mut [T],
    ) -> Result<T, Unsolved> {
        let Forcing::Curvature { ahead, probe, .. } = by else { return Err(Unsolved::IllConditioned) };
        let MatrixFree { system, point, image, forcing, .. } = self;
        let linear = Some(LinearChange { residuals: &point.r, image, is_exact: !self.has_own_cost });
        let along = Along { x, v, by: Forcing::Curvature { ahead, probe, linear } };
        damped.force(&along, &mut ForcingRows(forcing))?;
        system.correct(&mut point.with(damped.evaluation.products()?), forcing)
    }

    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        if drawn.correction != T::ZERO {
            self.system.add_correction(drawn.correction, &mut self.image);
        }
        self.scale(drawn.factor);
        let at = &mut self.point.with(damped.evaluation.products()?);
        if !drawn.towards.is_empty() {
            self.system.shift(at, drawn.towards, &mut self.image)?;
        }
        self.system.form_step(at, drawn.towards, step)?;
        self.scale(drawn.shorten(step));
        self.ridge.take_up(damped.x, step);
        Ok(())
    }

    fn slope(&self, _: &[T]) -> T {
        self.system.slope(&self.point, &self.image) + self.ridge.slope
    }

    fn quadratic_form(&self, _: &[T]) -> T {
        dot(&self.image, &self.image) + self.ridge.curvature
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, _: &[T]) -> Result<T, Unsolved> {
        self.system.inverse_form(&mut self.point.with(damped.evaluation.products()?), &self.image)
    }

    fn gradient_norm(&mut self, evaluation: &mut dyn Evaluation<T>, d: &[T]) -> Evaluated<T> {
        self.system.gradient_norm(&mut self.point.with(evaluation.products()?), d)
    }
}

/// The ridge `½ω‖x‖²` of weight decay, on top of the damping: the systems become `(JᵀJ + (λ + ω)I)δ = −Jᵀr − ωx`.
///
/// Its own gradient `ωx` is left to the step that the damping is [drawn towards](super::model::Drawn::towards), so that a damping policy sees
/// the length of the step without it.
#[derive(Debug, Clone, Copy)]
struct IsotropicRidge<T> {
    /// `ω`.
    weight: T,
    /// `ωxᵀδ` and `ω‖δ‖²` of the step that is tried.
    slope: T,
    curvature: T,
}

impl<T: Real> IsotropicRidge<T> {
    const NONE: Self = IsotropicRidge { weight: T::ZERO, slope: T::ZERO, curvature: T::ZERO };

    /// A ridge of this weight, and no step.
    fn new(weight: T) -> Self {
        IsotropicRidge { weight, ..Self::NONE }
    }

    /// The cost of the ridge at `x`.
    fn cost(&self, x: &[T]) -> T {
        T::from_f64(0.5) * x.iter().fold(T::ZERO, |sum, &x| sum + self.weight * x * x)
    }

    /// Takes up the step from `x` that is tried.
    fn take_up(&mut self, x: &[T], step: &[T]) {
        if self.weight > T::ZERO {
            (self.slope, self.curvature) = (self.weight * dot(x, step), self.weight * dot(step, step));
        }
    }
}

/// `‖J‖²`, estimated by the mean of `‖Jᵀz‖²` over a few `z` of random signs (Hutchinson 1990). `signs` and `product` are room
/// for as many numbers as there are rows and columns.
fn estimate_trace<T: Real>(products: &mut dyn JacobianProducts<T>, signs: &mut [T], product: &mut [T]) -> Evaluated<T> {
    let mut sum = T::ZERO;
    // Any odd number: the same signs at every point, so that solves can be repeated to the last bit.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..TRACE_PROBES {
        for sign in &mut *signs {
            // Xorshift (Marsaglia 2003).
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *sign = if state >> 63 == 0 { T::ONE } else { -T::ONE };
        }
        products.multiply_transposed(signs, product)?;
        sum += product.iter().fold(T::ZERO, |sum, &derivative| sum + derivative * derivative);
    }
    Ok(sum / T::from_f64(f64::from(TRACE_PROBES)))
}

/// Products for an estimate of the trace, whose relative standard deviation is then at most `√(2/4)`.
const TRACE_PROBES: u32 = 4;
