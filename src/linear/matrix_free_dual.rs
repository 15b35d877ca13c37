//! The dual of a Jacobian that is not formed: all that the iteration asks for, from numbers for each residual.

use super::choice::Plan;
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

/// Solver of `(K + λI)w = b`: conjugate gradients, a Cholesky factorisation, or the former until they fail and then the latter.
struct Solver<T> {
    iterative: Option<ConjugateGradients<T>>,
    dense: Option<DenseGram<T>>,
    /// True if the last system was factorised.
    is_dense: bool,
}

/// Largest share of its reduction of the damped model that a step of training may be short of: such steps are within 1 % of the exact
/// ones, in the norm of `JᵀJ + λI`. With a thousandth there were fewer rounds by a quarter, but of eight trainings by cross-entropy some ended
/// with larger losses.
const STEP_TOLERANCE: f64 = 1e-4;

/// `K`, lower triangle, and the factor of `K + λI`.
#[derive(Default)]
struct DenseGram<T> {
    /// True if the matrix is that of this point.
    is_formed: bool,
    gram: Vec<T>,
    factor: Vec<T>,
    inverse_pivots: Vec<T>,
    scratch: Scratch<T>,
}

impl<T: Real> MatrixFreeDual<T> {
    /// Workspace for a problem as planned.
    pub(super) fn new(plan: &Plan) -> Self {
        let tolerance = if plan.forms_gradient { T::EPSILON } else { T::from_f64(STEP_TOLERANCE) };
        let iterative = match plan.form {
            LinearForm::ConjugateGradients => Some(ConjugateGradients::default()),
            LinearForm::IterativeDual => Some(ConjugateGradients::to_tolerance(tolerance)),
            _ => None,
        };
        let dense = (plan.form != LinearForm::ConjugateGradients).then(DenseGram::default);
        let solver = Solver { is_dense: iterative.is_none(), iterative, dense };
        MatrixFreeDual { solver, coefficients: Vec::new(), work: Vec::new(), product: Vec::new() }
    }
}

impl<T: Real> ProductSystem<T> for MatrixFreeDual<T> {
    const NEEDS_GRADIENT: bool = false;

    fn form(&self) -> LinearForm {
        match &self.solver {
            Solver { is_dense: true, .. } => LinearForm::FactoredDual,
            Solver { dense: Some(_), .. } => LinearForm::IterativeDual,
            Solver { dense: None, .. } => LinearForm::ConjugateGradients,
        }
    }

    fn resize(&mut self, m: usize, n: usize, group: usize) {
        let columns = [&mut self.coefficients, &mut self.work, &mut self.product];
        columns.into_iter().for_each(|column| column.resize(m, T::ZERO));
        if let Some(DenseGram { gram, factor, inverse_pivots, .. }) = &mut self.solver.dense {
            // Reserved, and touched only if it is needed.
            for matrix in [gram, factor] {
                matrix.reserve_exact((m * m).saturating_sub(matrix.len()));
            }
            inverse_pivots.resize(m, T::ZERO);
        }
        if let Some(iterative) = &mut self.solver.iterative {
            iterative.resize(m, n, group);
        }
    }

    fn linearize(&mut self, products: &mut dyn JacobianProducts<T>) -> Evaluated<Option<T>> {
        let Solver { iterative, dense, is_dense } = &mut self.solver;
        *is_dense = iterative.is_none();
        if let Some(dense) = dense {
            dense.is_formed = false;
        }
        match (iterative, dense) {
            (Some(iterative), _) => iterative.linearize(products),
            (None, Some(dense)) => {
                dense.form(|gram| products.row_gram(gram))?;
                Ok(Some(dense.gram.iter().step_by(dense.inverse_pivots.len() + 1).copied().sum()))
            }
            (None, None) => Ok(None),
        }
    }

    fn solve(&mut self, at: &mut DampedProducts<'_, T>, image: &mut [T]) -> Result<T, Unsolved> {
        let MatrixFreeDual { solver, coefficients, .. } = self;
        solver.damp(at)?;
        loop {
            coefficients.copy_from_slice(&at.point.r);
            solver.solve(at, coefficients)?;
            solver.multiply(at, coefficients, image)?;
            if solver.refine(at.point, coefficients, image) {
                break;
            }
            solver.factorise(at)?;
        }
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

impl<T: Real> DenseGram<T> {
    /// Forms the matrix.
    fn form(&mut self, row_gram: impl FnOnce(&mut [T]) -> Evaluated) -> Evaluated {
        let m = self.inverse_pivots.len();
        self.gram.resize(m * m, T::ZERO);
        self.factor.resize(m * m, T::ZERO);
        row_gram(&mut self.gram)?;
        self.is_formed = true;
        Ok(())
    }

    /// Factorises the matrix with this damping.
    fn factorise(&mut self, lambda: T) -> Result<(), IllConditioned> {
        let DenseGram { gram, factor, inverse_pivots, scratch, .. } = self;
        let n = inverse_pivots.len();
        let rows = factor.chunks_exact_mut(n).zip(gram.chunks_exact(n)).enumerate();
        rows.for_each(|(i, (factor, gram))| factor[..=i].copy_from_slice(&gram[..=i]));
        factor.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal += lambda);
        if T::cholesky(factor, inverse_pivots, scratch) { Ok(()) } else { Err(IllConditioned) }
    }
}

impl<T: Real> Solver<T> {
    /// Takes up the damping.
    fn damp(&mut self, at: &mut DampedProducts<'_, T>) -> Result<(), Unsolved> {
        match self.iterative.as_mut().map(|iterative| iterative.damp(at.point.lambda)) {
            Some(Ok(())) => self.is_dense = false,
            _ => self.factorise(at)?,
        }
        Ok(())
    }

    /// Factorises the system, if there is memory to.
    fn factorise(&mut self, at: &mut DampedProducts<'_, T>) -> Result<(), Unsolved> {
        let dense = self.dense.as_mut().ok_or(Unsolved::IllConditioned)?;
        if !dense.is_formed {
            dense.form(|gram| at.row_gram(gram))?;
        }
        self.is_dense = true;
        Ok(dense.factorise(at.point.lambda)?)
    }

    /// Overwrites `b` with `(K + λI)⁻¹b`.
    fn solve(&mut self, at: &mut DampedProducts<'_, T>, b: &mut [T]) -> Result<(), Unsolved> {
        if let (false, Some(iterative)) = (self.is_dense, &mut self.iterative) {
            match iterative.solve(at, b) {
                Err(Unsolved::IllConditioned) => self.factorise(at)?,
                solved => return solved,
            }
        }
        if let Some(dense) = &self.dense {
            solve_cholesky(&dense.factor, &dense.inverse_pivots, b);
        }
        Ok(())
    }

    /// Scales a step that was solved for to a tolerance to where the damped model is least along it, so that the predicted reduction follows
    /// from length and slope as that of an exact step does. Returns false if its residual, computed afresh, is not as small as it should be.
    fn refine(&self, point: &ProductPoint<T>, w: &mut [T], image: &mut [T]) -> bool {
        let tolerance = self.iterative.as_ref().and_then(ConjugateGradients::tolerance);
        let (false, Some(tolerance)) = (self.is_dense, tolerance) else { return true };
        let entries = point.r.iter().zip(&*w).zip(&*image);
        let gap = entries.fold(T::ZERO, |sum, ((&r, &w), &image)| {
            let residual = r - image - point.lambda * w;
            sum + residual * residual
        });
        let (slope, curvature) = (dot(&point.r, image), dot(image, image) + point.lambda * dot(w, image));
        // Twice as much is allowed for rounding.
        if !(gap * curvature <= T::from_f64(2.0) * tolerance * slope * slope) {
            return false;
        }
        if curvature > T::ZERO {
            w.iter_mut().chain(image).for_each(|entry| *entry *= slope / curvature);
        }
        true
    }

    /// `Ku`.
    fn multiply(&mut self, at: &mut DampedProducts<'_, T>, u: &[T], product: &mut [T]) -> Evaluated {
        match (&mut self.iterative, &self.dense) {
            (_, Some(dense)) if self.is_dense => {
                symmetric_times(&dense.gram, u, product);
                Ok(())
            }
            (Some(iterative), _) => iterative.multiply(at, u, product),
            (None, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::problem::{Capabilities, EvaluationError, LeastSquares, ProductWork};

    /// A linear problem, whose rows are in groups.
    struct Rows<T> {
        rows: Vec<T>,
        n: usize,
        group: usize,
    }

    impl<T: Real> LeastSquares<T> for Rows<T> {
        fn parameter_count(&self) -> usize {
            self.n
        }

        fn residual_count(&self) -> usize {
            self.rows.len() / self.n
        }

        fn residuals(&mut self, _: &[T], _: usize, _: &mut [T]) -> Result<(), EvaluationError> {
            Err("only products are asked for".into())
        }

        fn linearize(&mut self, _: &[T], _: usize, _: &mut [T], _: &mut [T]) -> Result<(), EvaluationError> {
            Err("only products are asked for".into())
        }

        fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
            self
        }
    }

    impl<T: Real> Capabilities<T> for Rows<T> {}

    impl<T: Real> Rows<T> {
        fn gram(&self) -> Vec<T> {
            let row = |i: usize| &self.rows[i * self.n..][..self.n];
            let m = self.residual_count();
            (0..m * m).map(|at| dot(row(at / m), row(at % m))).collect()
        }
    }

    impl<T: Real> JacobianProducts<T> for Rows<T> {
        fn work(&mut self, _: &[Range<usize>]) -> Option<ProductWork> {
            None
        }

        fn linearize_products(&mut self, _: &[T], _: &[Range<usize>], _: &mut [T]) -> Evaluated<T> {
            Err("only products are asked for".into())
        }

        fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) -> Evaluated {
            product.fill(T::ZERO);
            self.rows.chunks_exact(self.n).zip(u).for_each(|(row, &u)| add_scaled(product, u, row));
            Ok(())
        }

        fn multiply(&mut self, v: &[T], product: &mut [T]) -> Evaluated<bool> {
            self.rows.chunks_exact(self.n).zip(product).for_each(|(row, product)| *product = dot(row, v));
            Ok(true)
        }

        fn row_gram(&mut self, gram: &mut [T]) -> Evaluated {
            gram.copy_from_slice(&self.gram());
            Ok(())
        }

        fn mean_row_gram(&mut self, mean: &mut [T]) -> Evaluated {
            let (gram, m, group) = (self.gram(), self.residual_count(), self.group);
            for (at, mean) in mean.iter_mut().enumerate() {
                let (a, b) = (at / (m / group) * group, at % (m / group) * group);
                let sum: T = (0..group).map(|i| gram[(a + i) * m + b + i]).sum();
                *mean = sum / T::from_f64(group as f64);
            }
            Ok(())
        }

        fn row_gram_times(&mut self, u: &[T], product: &mut [T]) -> Evaluated {
            let m = self.residual_count();
            self.gram().chunks_exact(m).zip(product).for_each(|(row, product)| *product = dot(row, u));
            Ok(())
        }
    }

    /// Forty rows in groups of four, of sixty parameters; row `i` of a group is multiplied by `spread` to the power of `i`, and the parameters by
    /// powers that go down to `least`.
    fn problem<T: Real>(spread: f64, least: f64) -> Rows<T> {
        let (m, n, group) = (40, 60, 4);
        let entry = |at: usize| {
            let (i, j) = (at / n, at % n);
            // Rows of a group are much alike.
            let row = ((7 * (i / group) * n + 3 * j) as f64 * 0.7).sin() + 0.3 * ((at * at) as f64 * 0.3).sin();
            T::from_f64(row * spread.powi((i % group) as i32) * least.powf(j as f64 / n as f64))
        };
        Rows { rows: (0..m * n).map(entry).collect(), n, group }
    }

    /// Step, image, length, slope, and the form that solved for them.
    type Solved<T> = (Vec<T>, Vec<T>, T, T, LinearForm);

    fn solve<T: Real>(form: LinearForm, rows: &mut Rows<T>, lambda: f64, full: bool) -> Result<Solved<T>, Unsolved> {
        let (m, n, group) = (rows.residual_count(), rows.n, rows.group);
        let plan = Plan { forms_gradient: full, ..Plan::of_rows(form, false, (m, n), group) };
        let mut dual = MatrixFreeDual::new(&plan);
        let mut point = ProductPoint::default();
        point.r = (0..m).map(|i| T::from_f64((i as f64 * 1.3).cos())).collect();
        point.lambda = T::from_f64(lambda);
        let (mut image, mut step) = (vec![T::ZERO; m], vec![T::ZERO; n]);
        dual.resize(m, n, group);
        dual.linearize(rows)?;
        let length = dual.solve(&mut point.with(rows), &mut image)?;
        dual.form_step(&mut point.with(rows), &[], &mut step)?;
        let slope = dual.slope(&point, &image);
        Ok((step, image, length, slope, dual.form()))
    }

    /// Asserts that the step is within the tolerance of the exact one, in the norm of `JᵀJ + λI`, and that its prediction is its own.
    /// Returns true if it was solved for by iteration.
    fn agrees<T: Real>(spread: f64, least: f64, lambda: f64, full: bool) -> bool {
        let what = format!("{spread:e}, {least:e}, λ = {lambda:e}");
        let mut rows = problem::<T>(spread, least);
        let Ok((step, image, length, slope, form)) = solve(LinearForm::IterativeDual, &mut rows, lambda, full) else {
            assert!(solve(LinearForm::FactoredDual, &mut rows, lambda, full).is_err(), "{what}");
            return false;
        };
        // In double precision, as a factorisation in single precision may fail where the iteration does not.
        let rows = rows.rows.iter().map(|a| a.to_f64()).collect();
        let mut rows = Rows { rows, n: 60, group: 4 };
        let (exact, exact_image, ..) = solve(LinearForm::FactoredDual, &mut rows, lambda, full).expect(&what);
        let norm = |step: &[f64], image: &[f64]| (dot(image, image) + lambda * dot(step, step)).sqrt();
        let minus = |a: &[T], b: &[f64]| a.iter().zip(b).map(|(a, b)| a.to_f64() - b).collect::<Vec<_>>();
        let off = norm(&minus(&step, &exact), &minus(&image, &exact_image)) / norm(&exact, &exact_image);
        let bound = if full { T::EPSILON.to_f64() } else { STEP_TOLERANCE };
        assert!(off <= (2.0 * bound).sqrt(), "{what}: {off:e}, {form}");
        if form != LinearForm::IterativeDual {
            return false;
        }
        let half = T::from_f64(0.5);
        let predicted = half * (T::from_f64(lambda) * length * length - slope);
        let expected = -slope - half * dot(&image, &image);
        let rounding = T::EPSILON * T::from_f64(1e4);
        assert!((predicted - expected).abs() <= rounding * expected.abs(), "{what}: {predicted} is not {expected}");
        true
    }

    #[test]
    fn inexact_steps_are_within_the_tolerance_of_exact_ones() {
        for least in [1.0, 1e-3, 1e-6] {
            for lambda in [1e6, 1.0, 1e-2, 1e-4] {
                let iterated = [agrees::<f64>(1.0, least, lambda, false), agrees::<f32>(1.0, least, lambda, false)];
                assert!(least < 1.0 || iterated == [true; 2], "{least:e}, λ = {lambda:e}: {iterated:?}");
                agrees::<f64>(1.0, least, lambda, true);
            }
        }
    }

    /// Residuals of a sample of which the mean says little.
    #[test]
    fn systems_that_take_too_many_rounds_are_factorised() {
        let iterated = [1e-2, 1e-6, 1e-9].map(|lambda| agrees::<f64>(30.0, 1.0, lambda, false));
        assert!(!iterated[2], "{iterated:?}");
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        for entry in [f64::NAN, f64::INFINITY] {
            let mut rows = problem::<f64>(1.0, 1.0);
            rows.rows[77] = entry;
            let solved = solve(LinearForm::IterativeDual, &mut rows, 0.1, false);
            assert!(matches!(solved, Err(Unsolved::IllConditioned)), "{entry}");
        }
    }

    #[test]
    fn without_residuals_there_is_no_step() {
        let mut rows = problem::<f64>(1.0, 1.0);
        rows.rows.fill(0.0);
        let (step, _, length, slope, form) = solve(LinearForm::IterativeDual, &mut rows, 0.1, false).unwrap();
        assert_eq!((length, slope, form), (0.0, 0.0, LinearForm::IterativeDual));
        assert!(step.iter().all(|&step| step == 0.0));
    }
}
