//! The dual of a Jacobian that is not formed: all that the iteration asks for, from numbers for each residual.

use super::choice::Plan;
use super::conjugate_gradients::{Accuracy, ConjugateGradients};
use super::cost::StandIn;
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

/// Part of the residual that conjugate gradients may leave where they stand in for a factorisation in a step of training, which is then
/// the same to three digits or more.
const TRAINING_TOLERANCE: f64 = 1e-4;

/// Solver of `(K + λI)w = b`: conjugate gradients, where they are the form, or may stand in for it and need fewer rounds than a Cholesky
/// factorisation is worth; else that factorisation.
struct Solver<T> {
    /// `None` where conjugate gradients are the form.
    dense: Option<DenseGram<T>>,
    gradients: ConjugateGradients<T>,
    /// Conjugate gradients may stand in.
    may_iterate: bool,
    /// Rounds that they may take at the point at hand; zero once they have taken more.
    rounds: usize,
    /// The right-hand side.
    b: Vec<T>,
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
    /// Workspace for a problem as planned.
    pub(super) fn new(plan: &Plan) -> Self {
        let is_dense = plan.form == LinearForm::FactoredDual;
        let solver = Solver {
            dense: is_dense.then(DenseGram::default),
            gradients: ConjugateGradients::default(),
            may_iterate: is_dense && plan.may_iterate && !plan.forms_gradient,
            rounds: 0,
            b: Vec::new(),
        };
        MatrixFreeDual { solver, coefficients: Vec::new(), work: Vec::new(), product: Vec::new() }
    }
}

impl<T: Real> ProductSystem<T> for MatrixFreeDual<T> {
    const NEEDS_GRADIENT: bool = false;

    fn form(&self) -> LinearForm {
        if self.solver.is_dense() { LinearForm::FactoredDual } else { LinearForm::ConjugateGradients }
    }

    fn resize(&mut self, m: usize, n: usize, group: usize) {
        let MatrixFreeDual { solver, coefficients, work, product } = self;
        let columns = [coefficients, work, product, &mut solver.b];
        columns.into_iter().for_each(|column| column.resize(m, T::ZERO));
        if let Some(DenseGram { gram, factor, inverse_pivots, .. }) = &mut solver.dense {
            gram.resize(m * m, T::ZERO);
            factor.resize(m * m, T::ZERO);
            inverse_pivots.resize(m, T::ZERO);
        }
        if solver.may_iterate || solver.dense.is_none() {
            solver.gradients.resize(m, n, group);
        }
    }

    fn linearize(&mut self, products: &mut dyn JacobianProducts<T>, n: usize) -> Evaluated<Option<T>> {
        let Solver { dense, gradients, may_iterate, rounds, .. } = &mut self.solver;
        let Some(dense) = dense else { return gradients.linearize(products, false) };
        let work = if *may_iterate { products.work(std::slice::from_ref(&(0..n))) } else { None };
        let stand_in = work.and_then(|work| StandIn::new(&work, self.coefficients.len(), products.row_group()));
        *rounds = stand_in.map_or(0, |stand_in| stand_in.rounds);
        if *rounds > 0 {
            return gradients.linearize(products, true);
        }
        products.row_gram(&mut dense.gram)?;
        Ok(Some(dense.gram.iter().step_by(self.coefficients.len() + 1).copied().sum()))
    }

    fn solve(&mut self, at: &mut DampedProducts<'_, T>, image: &mut [T]) -> Result<T, Unsolved> {
        let MatrixFreeDual { solver, coefficients, .. } = self;
        coefficients.copy_from_slice(&at.point.r);
        solver.damp(at.point.lambda)?;
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
    fn is_dense(&self) -> bool {
        self.dense.is_some() && self.rounds == 0
    }

    /// Takes up the damping.
    fn damp(&mut self, lambda: T) -> Result<(), IllConditioned> {
        match &mut self.dense {
            Some(dense) if self.rounds == 0 => dense.damp(lambda),
            _ => self.gradients.damp(lambda),
        }
    }

    /// Overwrites `b` with `(K + λI)⁻¹b`.
    fn solve(&mut self, products: &mut DampedProducts<'_, T>, b: &mut [T]) -> Result<(), Unsolved> {
        let Solver { dense, gradients, rounds, b: right, .. } = self;
        right.copy_from_slice(b);
        let Some(dense) = dense else {
            let is_solved = gradients.solve(products, Accuracy::exact(), right, b)?;
            return if is_solved { Ok(()) } else { Err(Unsolved::IllConditioned) };
        };
        if *rounds > 0 {
            let tolerance = T::from_f64(TRAINING_TOLERANCE).max(T::EPSILON.sqrt());
            if gradients.solve(products, Accuracy { rounds: *rounds, tolerance }, right, b)? {
                return Ok(());
            }
            *rounds = 0;
            products.row_gram(&mut dense.gram)?;
            dense.damp(products.point.lambda)?;
            b.copy_from_slice(right);
        }
        solve_cholesky(&dense.factor, &dense.inverse_pivots, b);
        Ok(())
    }

    /// `Ku`.
    fn multiply(&mut self, products: &mut DampedProducts<'_, T>, u: &[T], product: &mut [T]) -> Evaluated {
        match &self.dense {
            Some(dense) if self.rounds == 0 => {
                symmetric_times(&dense.gram, u, product);
                Ok(())
            }
            _ => self.gradients.multiply(products, u, product),
        }
    }
}

impl<T: Real> DenseGram<T> {
    /// Factorises `K + λI`.
    fn damp(&mut self, lambda: T) -> Result<(), IllConditioned> {
        let DenseGram { gram, factor, inverse_pivots, scratch } = self;
        let n = inverse_pivots.len();
        let rows = factor.chunks_exact_mut(n).zip(gram.chunks_exact(n)).enumerate();
        rows.for_each(|(i, (factor, gram))| factor[..=i].copy_from_slice(&gram[..=i]));
        factor.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal += lambda);
        if T::cholesky(factor, inverse_pivots, scratch) { Ok(()) } else { Err(IllConditioned) }
    }
}
