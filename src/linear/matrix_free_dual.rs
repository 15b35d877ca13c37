//! The dual of a Jacobian that is not formed: all that the iteration asks for, from numbers for each residual.

use super::choice::Plan;
use super::conjugate_gradients::ConjugateGradients;
use super::forcing::ForcingRows;
use super::form::LinearForm;
use super::forward_product::{BothProducts, ForwardProduct};
use super::matrix_free::{IsotropicRidge, estimate_trace};
use super::model::{Damped, Drawn, IllConditioned, LinearModel, Unsolved};
use crate::evaluation::{Along, Costs, Evaluation, Forcing, LinearChange};
use crate::kernels::Scratch;
use crate::kernels::product::symmetric_times;
use crate::kernels::triangular::solve_cholesky;
use crate::kernels::vector::{add_scaled, all_finite, dot};
use crate::problem::EvaluationError;
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
    ridge: IsotropicRidge<T>,
    /// The gradient is computed at each point.
    forms_gradient: bool,
    /// Once residuals have stood for another loss.
    has_own_cost: bool,
    /// `u`.
    coefficients: Vec<T>,
    /// `Jδ`.
    image: Vec<T>,
    /// Another right-hand side, as far as it has come.
    forcing: Vec<T>,
    /// Room for the solution of a right-hand side, and for its product with `K`.
    work: Vec<T>,
    product: Vec<T>,
}

/// Solver of `(K + λI)w = b`.
enum Solver<T> {
    /// A Cholesky factorisation.
    DenseGram(DenseGram<T>),
    /// Products with `J` and `Jᵀ`.
    Iterative(ConjugateGradients<T>),
}

/// `K`, lower triangle, and the factor of `K + λI`.
#[derive(Default)]
struct DenseGram<T> {
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
            _ => Solver::DenseGram(DenseGram::default()),
        };
        MatrixFreeDual {
            m: 0,
            n: plan.n,
            solver,
            r: Vec::new(),
            forward: ForwardProduct::new(),
            gradient: Vec::new(),
            trace: None,
            lambda: T::ZERO,
            ridge: IsotropicRidge::NONE,
            forms_gradient: plan.forms_gradient,
            has_own_cost: false,
            coefficients: Vec::new(),
            image: Vec::new(),
            forcing: Vec::new(),
            work: Vec::new(),
            product: Vec::new(),
        }
    }

    /// Makes room for another number of rows.
    fn resize(&mut self, (m, group): (usize, usize)) {
        self.m = m;
        let columns = [&mut self.r, &mut self.coefficients, &mut self.image, &mut self.work, &mut self.product];
        columns.into_iter().for_each(|column| column.resize(m, T::ZERO));
        self.forcing.reserve(m.saturating_sub(self.forcing.len()));
        match &mut self.solver {
            Solver::DenseGram(dense) => {
                dense.gram.resize(m * m, T::ZERO);
                dense.factor.resize(m * m, T::ZERO);
                dense.inverse_pivots.resize(m, T::ZERO);
            }
            Solver::Iterative(gradients) => gradients.resize(m, self.n, group),
        }
    }

    /// Linearises at `x`; returns infinity where something is not finite.
    fn linearize_at(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Result<T, EvaluationError> {
        self.ridge = IsotropicRidge::new(evaluation.ridge());
        self.resize(evaluation.size());
        let products = evaluation.products()?;
        let cost = products.linearize_products(x, std::slice::from_ref(&(0..self.n)), &mut self.r)?;
        self.has_own_cost |= !self.forward.linearize(x, &self.r, cost);
        self.trace = match &mut self.solver {
            Solver::DenseGram(dense) => {
                products.row_gram(&mut dense.gram)?;
                Some(dense.gram.iter().step_by(self.m + 1).copied().sum())
            }
            Solver::Iterative(gradients) => gradients.linearize(products)?,
        };
        let cost = cost + self.ridge.cost(x);
        if !(cost.is_finite() && self.trace.is_none_or(T::is_finite) && all_finite(&self.r)) {
            return Ok(T::INFINITY);
        }
        if self.forms_gradient {
            self.gradient.resize(self.n, T::ZERO);
            if self.trace.is_none() {
                self.trace = Some(estimate_trace(products, &mut self.work, &mut self.gradient)?);
            }
            products.multiply_transposed(&self.r, &mut self.gradient)?;
        }
        Ok(cost)
    }

    /// Multiplies the step.
    fn scale(&mut self, factor: T) {
        for column in [&mut self.coefficients, &mut self.image] {
            column.iter_mut().for_each(|entry| *entry *= factor);
        }
    }

    /// Shifts the step by `λ(JᵀJ + λI)⁻¹a`, but for the `a` in it.
    fn shift(&mut self, evaluation: &mut dyn Evaluation<T>, a: &[T]) -> Result<(), Unsolved> {
        // λ(JᵀJ + λI)⁻¹a = a − Jᵀ(K + λI)⁻¹Ja.
        let MatrixFreeDual { solver, work, product, forward, r, .. } = self;
        let products = &mut forward.with(evaluation.products()?, r);
        products.multiply(a, product)?;
        work.copy_from_slice(product);
        solver.solve(products, self.lambda, work)?;
        add_scaled(&mut self.image, T::ONE, product);
        add_scaled(&mut self.coefficients, T::ONE, work);
        solver.multiply(products, work, product)?;
        add_scaled(&mut self.image, -T::ONE, product);
        Ok(())
    }
}

impl<T: Real> LinearModel<T> for MatrixFreeDual<T> {
    fn form(&self) -> LinearForm {
        match self.solver {
            Solver::DenseGram(_) => LinearForm::FactoredDual,
            Solver::Iterative(_) => LinearForm::ConjugateGradients,
        }
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
        self.trace
    }

    fn solve(&mut self, damped: &mut Damped<'_, T>, _: &mut [T]) -> Result<T, Unsolved> {
        self.ridge = IsotropicRidge::new(self.ridge.weight);
        self.lambda = damped.lambda + self.ridge.weight;
        self.solver.damp(self.lambda)?;
        let MatrixFreeDual { solver, coefficients, image, forward, r, .. } = self;
        let products = &mut forward.with(damped.evaluation.products()?, r);
        coefficients.copy_from_slice(r);
        solver.solve(products, self.lambda, coefficients)?;
        solver.multiply(products, coefficients, image)?;
        let squared_length = dot(&self.coefficients, &self.image).max(T::ZERO);
        self.image.iter_mut().for_each(|image| *image = -*image);
        if squared_length.is_finite() { Ok(squared_length.sqrt()) } else { Err(Unsolved::IllConditioned) }
    }

    fn correct(
        &mut self,
        damped: &mut Damped<'_, T>,
        &Along { x, v, by }: &Along<'_, T>,
        _: &mut [T],
    ) -> Result<T, Unsolved> {
        let MatrixFreeDual { solver, work, product, forward, r, image, forcing, has_own_cost, .. } = self;
        let Forcing::Curvature { ahead, probe, .. } = by else { return Err(Unsolved::IllConditioned) };
        let linear = Some(LinearChange { residuals: r, image, is_exact: !*has_own_cost });
        let along = Along { x, v, by: Forcing::Curvature { ahead, probe, linear } };
        damped.force(&along, &mut ForcingRows(forcing))?;
        let products = &mut forward.with(damped.evaluation.products()?, r);
        work.copy_from_slice(forcing);
        solver.solve(products, self.lambda, work)?;
        solver.multiply(products, work, product)?;
        Ok(dot(work, product).max(T::ZERO).sqrt())
    }

    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        if drawn.correction != T::ZERO {
            add_scaled(&mut self.coefficients, -drawn.correction, &self.work);
            add_scaled(&mut self.image, drawn.correction, &self.product);
        }
        if drawn.factor != T::ONE {
            self.scale(drawn.factor);
        }
        if !drawn.towards.is_empty() {
            self.shift(damped.evaluation, drawn.towards)?;
        }
        let products = &mut self.forward.with(damped.evaluation.products()?, &self.r);
        products.multiply_transposed(&self.coefficients, step)?;
        step.iter_mut().for_each(|step| *step = -*step);
        add_scaled(step, T::ONE, drawn.towards);
        let factor = drawn.shorten(step);
        if factor != T::ONE {
            self.scale(factor);
        }
        self.ridge.take_up(damped.x, step);
        Ok(())
    }

    fn slope(&self, _: &[T]) -> T {
        dot(&self.r, &self.image) + self.ridge.slope
    }

    fn quadratic_form(&self, _: &[T]) -> T {
        dot(&self.image, &self.image) + self.ridge.curvature
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, _: &[T]) -> Result<T, Unsolved> {
        // wᵀK(K + λI)⁻¹w.
        self.work.copy_from_slice(&self.coefficients);
        let products = &mut self.forward.with(damped.evaluation.products()?, &self.r);
        self.solver.solve(products, self.lambda, &mut self.work)?;
        Ok(-dot(&self.image, &self.work))
    }

    fn gradient_norm(&mut self, evaluation: &mut dyn Evaluation<T>, _: &[T]) -> Result<T, EvaluationError> {
        let products = &mut self.forward.with(evaluation.products()?, &self.r);
        self.solver.multiply(products, &self.r, &mut self.product)?;
        Ok(dot(&self.r, &self.product).max(T::ZERO).sqrt())
    }
}

impl<T: Real> Solver<T> {
    /// Takes up the damping.
    fn damp(&mut self, lambda: T) -> Result<(), IllConditioned> {
        match self {
            Solver::DenseGram(DenseGram { gram, factor, inverse_pivots, scratch }) => {
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
            Solver::DenseGram(dense) => {
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
            Solver::DenseGram(dense) => {
                symmetric_times(&dense.gram, u, product);
                Ok(())
            }
            Solver::Iterative(gradients) => gradients.multiply(products, u, product),
        }
    }
}
