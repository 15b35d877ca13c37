//! The dual of a Jacobian that is not formed: all that the iteration asks for, from numbers for each residual.

use super::conjugate_gradients::ConjugateGradients;
use super::form::LinearForm;
use super::matrix_free::ProductSystem;
use super::model::{IllConditioned, Unsolved};
use super::product_point::{DampedProducts, ProductPoint};
use crate::kernels::Scratch;
use crate::kernels::product::symmetric_times;
use crate::kernels::triangular::solve_cholesky;
use crate::kernels::vector::{add_scaled, dot};
use crate::problem::{Evaluated, JacobianProducts};
use crate::real::Real;

/// `δ = a − Jᵀu` for coefficients `u` of the rows and a shift `a` of the parameters, with the image `Jδ` beside it.
///
/// With `D = I` the damped step is `δ = −Jᵀw`, `(K + λI)w = r`, `K = JJᵀ`, and everything that is asked about it is a
/// product of numbers for each residual: `‖δ‖² = wᵀKw`, its slope `−rᵀKw`, and `‖Jδ‖² = ‖Kw‖²`. The step itself is one
/// product with `Jᵀ`, made when it is wanted.
pub(crate) struct MatrixFreeDual<T> {
    solver: Solver<T>,
    /// `u`.
    coefficients: Vec<T>,
    /// Solution of another right-hand side, and its product with `K`.
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
    /// Workspace for this form.
    pub(super) fn new(form: LinearForm) -> Self {
        let solver = match form {
            LinearForm::ConjugateGradients => Solver::Iterative(ConjugateGradients::default()),
            _ => Solver::DenseGram(DenseGram::default()),
        };
        MatrixFreeDual { solver, coefficients: Vec::new(), work: Vec::new(), product: Vec::new() }
    }
}

impl<T: Real> ProductSystem<T> for MatrixFreeDual<T> {
    const NEEDS_GRADIENT: bool = false;

    fn form(&self) -> LinearForm {
        match self.solver {
            Solver::DenseGram(_) => LinearForm::FactoredDual,
            Solver::Iterative(_) => LinearForm::ConjugateGradients,
        }
    }

    fn resize(&mut self, m: usize, n: usize, group: usize) {
        let columns = [&mut self.coefficients, &mut self.work, &mut self.product];
        columns.into_iter().for_each(|column| column.resize(m, T::ZERO));
        match &mut self.solver {
            Solver::DenseGram(dense) => {
                dense.gram.resize(m * m, T::ZERO);
                dense.factor.resize(m * m, T::ZERO);
                dense.inverse_pivots.resize(m, T::ZERO);
            }
            Solver::Iterative(gradients) => gradients.resize(m, n, group),
        }
    }

    fn linearize(&mut self, products: &mut dyn JacobianProducts<T>) -> Evaluated<Option<T>> {
        match &mut self.solver {
            Solver::DenseGram(DenseGram { gram, inverse_pivots, .. }) => {
                products.row_gram(gram)?;
                Ok(Some(gram.iter().step_by(inverse_pivots.len() + 1).copied().sum()))
            }
            Solver::Iterative(gradients) => gradients.linearize(products),
        }
    }

    fn solve(&mut self, at: &mut DampedProducts<'_, T>, image: &mut [T]) -> Result<T, Unsolved> {
        let MatrixFreeDual { solver, coefficients, .. } = self;
        solver.damp(at.point.lambda)?;
        coefficients.copy_from_slice(&at.point.r);
        solver.solve(at, coefficients)?;
        solver.multiply(at, coefficients, image)?;
        let squared_length = dot(coefficients, image).max(T::ZERO);
        image.iter_mut().for_each(|image| *image = -*image);
        if squared_length.is_finite() { Ok(squared_length.sqrt()) } else { Err(Unsolved::IllConditioned) }
    }

    fn unknowns(&mut self) -> &mut [T] {
        &mut self.coefficients
    }

    fn correct(&mut self, at: &mut DampedProducts<'_, T>, w: &[T]) -> Result<T, Unsolved> {
        let MatrixFreeDual { solver, work, product, .. } = self;
        work.copy_from_slice(w);
        solver.solve(at, work)?;
        solver.multiply(at, work, product)?;
        Ok(dot(work, product).max(T::ZERO).sqrt())
    }

    fn add_correction(&mut self, factor: T, image: &mut [T]) {
        add_scaled(&mut self.coefficients, -factor, &self.work);
        add_scaled(image, factor, &self.product);
    }

    fn shift(&mut self, at: &mut DampedProducts<'_, T>, a: &[T], image: &mut [T]) -> Result<(), Unsolved> {
        // λ(JᵀJ + λI)⁻¹a = a − Jᵀ(K + λI)⁻¹Ja; the step gets `a` itself when it is formed.
        let MatrixFreeDual { solver, coefficients, work, product } = self;
        at.multiply(a, product)?;
        work.copy_from_slice(product);
        solver.solve(at, work)?;
        add_scaled(image, T::ONE, product);
        add_scaled(coefficients, T::ONE, work);
        solver.multiply(at, work, product)?;
        add_scaled(image, -T::ONE, product);
        Ok(())
    }

    fn form_step(&mut self, at: &mut DampedProducts<'_, T>, a: &[T], step: &mut [T]) -> Result<(), Unsolved> {
        at.multiply_transposed(&self.coefficients, step)?;
        step.iter_mut().for_each(|step| *step = -*step);
        add_scaled(step, T::ONE, a);
        Ok(())
    }

    fn slope(&self, point: &ProductPoint<T>, image: &[T]) -> T {
        dot(&point.r, image)
    }

    fn inverse_form(&mut self, at: &mut DampedProducts<'_, T>, image: &[T]) -> Result<T, Unsolved> {
        // wᵀK(K + λI)⁻¹w.
        self.work.copy_from_slice(&self.coefficients);
        self.solver.solve(at, &mut self.work)?;
        Ok(-dot(image, &self.work))
    }

    fn gradient_norm(&mut self, at: &mut DampedProducts<'_, T>, _: &[T]) -> Evaluated<T> {
        self.work.copy_from_slice(&at.point.r);
        self.solver.multiply(at, &self.work, &mut self.product)?;
        Ok(dot(&self.work, &self.product).max(T::ZERO).sqrt())
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
    fn solve(&mut self, products: &mut DampedProducts<'_, T>, b: &mut [T]) -> Result<(), Unsolved> {
        match self {
            Solver::DenseGram(dense) => {
                solve_cholesky(&dense.factor, &dense.inverse_pivots, b);
                Ok(())
            }
            Solver::Iterative(gradients) => gradients.solve(products, b),
        }
    }

    /// `Ku`.
    fn multiply(&mut self, products: &mut DampedProducts<'_, T>, u: &[T], product: &mut [T]) -> Evaluated {
        match self {
            Solver::DenseGram(dense) => {
                symmetric_times(&dense.gram, u, product);
                Ok(())
            }
            Solver::Iterative(gradients) => gradients.multiply(products, u, product),
        }
    }
}
