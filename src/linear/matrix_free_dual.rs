//! The dual of a Jacobian that is not formed: all that the iteration asks for, from numbers for each residual.

use super::choice::Plan;
use super::conjugate_gradients::ConjugateGradients;
use super::form::LinearForm;
use super::forward_product::{BothProducts, ForwardProduct};
use super::held::Held;
use super::matrix_free::{MatrixFree, Unsolved, estimate_trace, keep_failure, squared_mean_cosine};
use super::model::{IllConditioned, LinearModel, Products};
use crate::kernels::Scratch;
use crate::kernels::product::symmetric_times;
use crate::kernels::triangular::solve_cholesky;
use crate::kernels::vector::{add_scaled, all_finite, dot};
use crate::problem::{EvaluationError, JacobianProducts};
use crate::real::Real;

/// `δ = a − Jᵀu` for coefficients `u` of the rows and a shift `a` of the parameters, with the image `Jδ` beside it.
///
/// With `D = I` the damped step is `δ = −Jᵀw`, `(K + λI)w = r`, `K = JJᵀ`, and everything that is asked about it is a
/// product of numbers for each residual: `‖δ‖² = wᵀKw`, its slope `−rᵀKw`, and `‖Jδ‖² = ‖Kw‖²`. The step itself is one
/// product with `Jᵀ`, made when it is wanted.
pub(crate) struct MatrixFreeDual<T> {
    m: usize,
    n: usize,
    solver: Solver<T>,
    r: Vec<T>,
    forward: ForwardProduct<T>,
    /// `Jᵀr`, where it was asked for.
    gradient: Vec<T>,
    /// `‖J‖²`, the sum of squares; `None` until it is estimated where the blocks of `K` are not known.
    trace: Option<T>,
    /// `λ`, and the weight of the ridge on top of it.
    lambda: T,
    /// `ω` of the ridge `½ω‖x‖²`.
    ridge: T,
    /// `u`.
    coefficients: Vec<T>,
    /// `Jδ`.
    image: Vec<T>,
    /// `‖δ‖²` of the damped step.
    squared_length: T,
    /// Another right-hand side, as far as it has come.
    forcing: Vec<T>,
    /// Room for the solution of a right-hand side, and for its product with `K`.
    work: Vec<T>,
    product: Vec<T>,
    /// The error of the product that failed last.
    failure: Option<EvaluationError>,
}

/// Solver of `(K + λI)w = b`.
enum Solver<T> {
    /// A Cholesky factorisation.
    Dense(Dense<T>),
    /// Products with `J` and `Jᵀ`.
    Iterative(ConjugateGradients<T>),
}

/// `K`, lower triangle, and the factor of `K + λI`.
#[derive(Default)]
struct Dense<T> {
    gram: Vec<T>,
    factor: Vec<T>,
    inverse_pivots: Vec<T>,
    scratch: Scratch<T>,
}

impl<T: Real> MatrixFreeDual<T> {
    /// Room for a problem as planned.
    pub(crate) fn new(plan: &Plan) -> Self {
        let solver = match plan.form {
            LinearForm::ConjugateGradients => Solver::Iterative(ConjugateGradients::default()),
            _ => Solver::Dense(Dense::default()),
        };
        let mut dual = MatrixFreeDual {
            m: plan.m,
            n: plan.n,
            solver,
            r: Vec::new(),
            forward: ForwardProduct::new(),
            gradient: Vec::new(),
            trace: None,
            lambda: T::ZERO,
            ridge: T::ZERO,
            coefficients: Vec::new(),
            image: Vec::new(),
            squared_length: T::ZERO,
            forcing: Vec::new(),
            work: Vec::new(),
            product: Vec::new(),
            failure: None,
        };
        dual.resize(plan.m, plan.group);
        dual
    }
}

impl<T: Real> MatrixFree<T> for MatrixFreeDual<T> {
    fn linearize(&mut self, products: &mut dyn JacobianProducts<T>, x: &[T]) -> Result<Option<T>, EvaluationError> {
        let cost = products.linearize_products(x, std::slice::from_ref(&(0..self.n)), &mut self.r)?;
        self.forward.linearize(x, &self.r, cost);
        self.trace = match &mut self.solver {
            Solver::Dense(dense) => {
                products.row_gram(&mut dense.gram)?;
                Some(dense.gram.iter().step_by(self.m + 1).copied().sum())
            }
            Solver::Iterative(gradients) => gradients.linearize(products)?,
        };
        let finite = cost.is_finite() && self.trace.is_none_or(T::is_finite) && all_finite(&self.r);
        Ok(finite.then_some(cost))
    }

    fn set_ridge(&mut self, weight: T) {
        self.ridge = weight;
    }

    fn form_gradient(&mut self, products: &mut dyn JacobianProducts<T>) -> Result<(), EvaluationError> {
        self.gradient.resize(self.n, T::ZERO);
        if self.trace.is_none() {
            self.trace = Some(estimate_trace(products, &mut self.work, &mut self.gradient)?);
        }
        products.multiply_transposed(&self.r, &mut self.gradient)
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

impl<T: Real> LinearModel<T> for MatrixFreeDual<T> {
    fn form(&self) -> LinearForm {
        match self.solver {
            Solver::Dense(_) => LinearForm::FactoredDual,
            Solver::Iterative(_) => LinearForm::ConjugateGradients,
        }
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
        let products = products.ok_or(IllConditioned)?;
        self.lambda = lambda + self.ridge;
        self.solver.damp(self.lambda)?;
        let MatrixFreeDual { solver, failure, coefficients, image, forward, r, .. } = self;
        let products = &mut forward.with(products, r);
        coefficients.copy_from_slice(r);
        keep_failure(failure, solver.solve(products, self.lambda, coefficients))?;
        keep_failure(failure, solver.multiply(products, coefficients, image))?;
        self.squared_length = dot(&self.coefficients, &self.image).max(T::ZERO);
        self.image.iter_mut().for_each(|image| *image = -*image);
        if self.squared_length.is_finite() { Ok(()) } else { Err(IllConditioned) }
    }

    fn length(&self, _: &[T], _: &[T]) -> T {
        self.squared_length.sqrt()
    }

    fn slope(&self, _: &[T]) -> T {
        dot(&self.r, &self.image)
    }

    fn quadratic_form(&self, _: &[T]) -> T {
        dot(&self.image, &self.image)
    }

    fn inverse_form(&mut self, products: Products<'_, T>, _: &[T], _: Held<'_>, _: &[T]) -> T {
        let Some(products) = products else { return T::ZERO };
        // wᵀK(K + λI)⁻¹w.
        self.work.copy_from_slice(&self.coefficients);
        let products = &mut self.forward.with(products, &self.r);
        match keep_failure(&mut self.failure, self.solver.solve(products, self.lambda, &mut self.work)) {
            Ok(()) => -dot(&self.image, &self.work),
            Err(IllConditioned) => T::ZERO,
        }
    }

    fn gradient_norm(&mut self, products: Products<'_, T>, _: &[T]) -> T {
        let Some(products) = products else { return T::ZERO };
        let products = &mut self.forward.with(products, &self.r);
        match keep_failure(&mut self.failure, self.solver.multiply(products, &self.r, &mut self.product)) {
            Ok(()) => dot(&self.r, &self.product).max(T::ZERO).sqrt(),
            Err(IllConditioned) => T::ZERO,
        }
    }

    fn squared_mean_cosine(&self, cost: T) -> Option<T> {
        Some(squared_mean_cosine(dot(&self.gradient, &self.gradient), self.trace?, cost))
    }

    fn scale(&mut self, factor: T, _: &mut [T]) {
        for numbers in [&mut self.coefficients, &mut self.image] {
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
        // λ(JᵀJ + λI)⁻¹a = a − Jᵀ(K + λI)⁻¹Ja, of which a itself is added where the step is formed.
        let MatrixFreeDual { solver, failure, work, product, forward, r, .. } = self;
        let products = &mut forward.with(products.ok_or(IllConditioned)?, r);
        keep_failure(failure, products.multiply(a, product))?;
        work.copy_from_slice(product);
        keep_failure(failure, solver.solve(products, self.lambda, work))?;
        add_scaled(&mut self.image, T::ONE, product);
        add_scaled(&mut self.coefficients, T::ONE, work);
        keep_failure(failure, solver.multiply(products, work, product))?;
        add_scaled(&mut self.image, -T::ONE, product);
        Ok(())
    }

    fn form_step(&mut self, products: Products<'_, T>, shift: &[T], step: &mut [T]) -> Result<(), IllConditioned> {
        let products = products.ok_or(IllConditioned)?;
        keep_failure(&mut self.failure, products.multiply_transposed(&self.coefficients, step))?;
        step.iter_mut().for_each(|step| *step = -*step);
        add_scaled(step, T::ONE, shift);
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
        let MatrixFreeDual { solver, failure, work, product, forward, r, .. } = self;
        let products = &mut forward.with(products.ok_or(IllConditioned)?, r);
        work.copy_from_slice(&self.forcing);
        keep_failure(failure, solver.solve(products, self.lambda, work))?;
        keep_failure(failure, solver.multiply(products, work, product))?;
        let length = dot(&self.work, &self.product).max(T::ZERO).sqrt();
        if length.is_finite() {
            let half = T::from_f64(0.5);
            add_scaled(&mut self.coefficients, half, &self.work);
            add_scaled(&mut self.image, -half, &self.product);
        }
        Ok(length)
    }

    fn resize(&mut self, m: usize, group: usize) {
        self.m = m;
        let columns = [&mut self.r, &mut self.coefficients, &mut self.image, &mut self.work, &mut self.product];
        columns.into_iter().for_each(|column| column.resize(m, T::ZERO));
        self.forcing.reserve(m.saturating_sub(self.forcing.len()));
        match &mut self.solver {
            Solver::Dense(dense) => {
                dense.gram.resize(m * m, T::ZERO);
                dense.factor.resize(m * m, T::ZERO);
                dense.inverse_pivots.resize(m, T::ZERO);
            }
            Solver::Iterative(gradients) => gradients.resize(m, self.n, group),
        }
    }

    fn matrix_free(&mut self) -> Option<&mut dyn MatrixFree<T>> {
        Some(self)
    }
}

impl<T: Real> Solver<T> {
    /// Takes up the damping.
    fn damp(&mut self, lambda: T) -> Result<(), IllConditioned> {
        match self {
            Solver::Dense(Dense { gram, factor, inverse_pivots, scratch }) => {
                let n = inverse_pivots.len();
                let rows = factor.chunks_exact_mut(n).zip(gram.chunks_exact(n)).enumerate();
                rows.for_each(|(i, (factor, gram))| factor[..=i].copy_from_slice(&gram[..=i]));
                factor.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal += lambda);
                if T::cholesky(factor, inverse_pivots, scratch) { Ok(()) } else { Err(IllConditioned) }
            }
            Solver::Iterative(gradients) => gradients.damp(lambda),
        }
    }

    /// Overwrites `b` with `(K + λI)⁻¹b`.
    fn solve(&mut self, products: &mut BothProducts<'_, T>, lambda: T, b: &mut [T]) -> Result<(), Unsolved> {
        match self {
            Solver::Dense(dense) => {
                solve_cholesky(&dense.factor, &dense.inverse_pivots, b);
                Ok(())
            }
            Solver::Iterative(gradients) => gradients.solve(products, lambda, b),
        }
    }

    /// `Ku`.
    fn multiply(
        &mut self,
        products: &mut BothProducts<'_, T>,
        u: &[T],
        product: &mut [T],
    ) -> Result<(), EvaluationError> {
        match self {
            Solver::Dense(dense) => {
                symmetric_times(&dense.gram, u, product);
                Ok(())
            }
            Solver::Iterative(gradients) => gradients.multiply(products, u, product),
        }
    }
}
