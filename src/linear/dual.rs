//! The dual: with fewer residuals than parameters, the Gram matrix of the rows is the smaller system.

use super::forcing::ForcingRows;
use super::form::LinearForm;
use super::model::{Damped, Drawn, LinearModel, Unsolved};
use crate::evaluation::{Along, Costs, Evaluation, Partial, RowSums};
use crate::kernels::Scratch;
use crate::kernels::triangular::{cholesky_inverse_form, solve_cholesky};
use crate::kernels::vector::{add_rows_times, add_scaled, dot, scaled_norm};
use crate::problem::Evaluated;
use crate::real::Real;

/// The rows themselves at the current point and at a candidate for the next, and the factor of `K + λI`,
/// `K = J D⁻² Jᵀ`.
///
/// The step is `δ = −D⁻²Jᵀ(K + λI)⁻¹r`, equal to the primal one by the push-through identity
/// `(JᵀJ + λD²)⁻¹Jᵀ = D⁻²Jᵀ(JD⁻²Jᵀ + λI)⁻¹`; at `λ = 0` it is the shortest Gauss–Newton step in the norm `‖Dδ‖`.
/// `m²n` flops for `K`, `m³/3` a factorisation, `3mn + 2m²` numbers of memory.
#[derive(Default)]
pub(crate) struct DualForm<T> {
    m: usize,
    n: usize,
    current: KeptJacobian<T>,
    candidate: KeptJacobian<T>,
    /// `J D⁻¹`, valid while `gram_is_current`.
    scaled: Vec<T>,
    /// `K`, lower triangle, valid while `gram_is_current`.
    gram: Vec<T>,
    gram_is_current: bool,
    factor: Vec<T>,
    inverse_pivots: Vec<T>,
    /// `D²` of the last solve.
    squared_scale: Vec<T>,
    lambda: T,
    work: Vec<T>,
    /// Rows `w` of another right-hand side `Jᵀw`, as far as they have come.
    forcing: Vec<T>,
    scratch: Scratch<T>,
}

/// The rows at a point.
#[derive(Default)]
struct KeptJacobian<T> {
    jacobian: Vec<T>,
    r: Vec<T>,
    gradient: Vec<T>,
}

impl<T: Real> DualForm<T> {
    /// No rows yet, of `n` parameters.
    pub(crate) fn new(n: usize) -> Self {
        let rows = || KeptJacobian { jacobian: Vec::new(), r: Vec::new(), gradient: vec![T::ZERO; n] };
        let squared_scale = vec![T::ZERO; n];
        DualForm { n, current: rows(), candidate: rows(), squared_scale, ..DualForm::default() }
    }

    /// Makes room for another number of rows.
    fn resize(&mut self, m: usize) {
        self.m = m;
        for rows in [&mut self.current, &mut self.candidate] {
            // They change places with every batch, and the next may find the other.
            rows.jacobian.reserve((m * self.n).saturating_sub(rows.jacobian.len()));
            rows.r.reserve(m.saturating_sub(rows.r.len()));
        }
        self.forcing.reserve(m.saturating_sub(self.forcing.len()));
        self.scaled.resize(m * self.n, T::ZERO);
        for square in [&mut self.gram, &mut self.factor] {
            square.resize(m * m, T::ZERO);
        }
        for column in [&mut self.inverse_pivots, &mut self.work] {
            column.resize(m, T::ZERO);
        }
    }

    /// Exchanges the current point with the candidate.
    fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.candidate);
        self.gram_is_current = false;
    }

    /// `D⁻²Jᵀ(K + λI)⁻¹w` for the rows `w` in `work`, which become `(K + λI)⁻¹w`.
    fn solve_rows(&mut self, solution: &mut [T]) {
        solve_cholesky(&self.factor, &self.inverse_pivots, &mut self.work);
        solution.fill(T::ZERO);
        add_rows_times(solution, &self.current.jacobian, &self.work);
        for (solution, &square) in solution.iter_mut().zip(&self.squared_scale) {
            *solution /= square;
        }
    }

    /// Forms `K` once for each point and scale.
    fn update_gram(&mut self, d: &[T]) {
        if self.gram_is_current {
            return;
        }
        for (square, &d) in self.squared_scale.iter_mut().zip(d) {
            *square = d * d;
        }
        for (scaled, row) in self.scaled.chunks_exact_mut(self.n).zip(self.current.jacobian.chunks_exact(self.n)) {
            for ((scaled, &a), &d) in scaled.iter_mut().zip(row).zip(d) {
                *scaled = a / d;
            }
        }
        T::row_gram(&mut self.gram, &self.scaled, self.n);
        self.gram_is_current = true;
    }
}

impl<T: Real> LinearModel<T> for DualForm<T> {
    fn form(&self) -> LinearForm {
        LinearForm::Dual
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>> {
        self.resize(evaluation.size().0);
        let costs = evaluation.sum_rows(x, &mut self.candidate)?;
        self.swap();
        Ok(costs)
    }

    fn take_back(&mut self, _: &mut dyn Evaluation<T>, _: &[T]) -> Evaluated {
        self.swap();
        Ok(())
    }

    fn gradient(&self) -> &[T] {
        &self.current.gradient
    }

    fn column_norms(&self, norms: &mut [T]) -> Option<T> {
        norms.fill(T::ZERO);
        for row in self.current.jacobian.chunks_exact(self.n) {
            for (norm, &a) in norms.iter_mut().zip(row) {
                *norm += a * a;
            }
        }
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
        None
    }

    fn solve(&mut self, &mut Damped { lambda, d, .. }: &mut Damped<'_, T>, step: &mut [T]) -> Result<T, Unsolved> {
        self.update_gram(d);
        self.lambda = lambda;
        self.factor.copy_from_slice(&self.gram);
        for diagonal in self.factor.iter_mut().step_by(self.m + 1) {
            *diagonal += lambda;
        }
        if !T::cholesky(&mut self.factor, &mut self.inverse_pivots, &mut self.scratch) {
            return Err(Unsolved::IllConditioned);
        }
        self.work.copy_from_slice(&self.current.r);
        self.solve_rows(step);
        step.iter_mut().for_each(|step| *step = -*step);
        Ok(scaled_norm(d, step))
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        self.current.jacobian.chunks_exact(self.n).fold(T::ZERO, |sum, row| {
            let product = dot(row, v);
            sum + product * product
        })
    }

    fn inverse_form(&mut self, _: &mut Damped<'_, T>, _: &[T]) -> Result<T, Unsolved> {
        // wᵀK(K + λI)⁻¹w with w = (K + λI)⁻¹r.
        let squared = dot(&self.work, &self.work);
        let form = cholesky_inverse_form(&self.factor, &self.inverse_pivots, &mut self.work);
        Ok(squared - self.lambda * form)
    }

    fn correct(
        &mut self,
        damped: &mut Damped<'_, T>,
        along: &Along<'_, T>,
        correction: &mut [T],
    ) -> Result<T, Unsolved> {
        damped.force(along, &mut ForcingRows(&mut self.forcing))?;
        self.work.copy_from_slice(&self.forcing);
        self.solve_rows(correction);
        Ok(scaled_norm(damped.d, correction))
    }

    fn complete(&mut self, _: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        drawn.correct(drawn.workspace, step);
        if !drawn.towards.is_empty() {
            // λ(JᵀJ + λD²)⁻¹D²a = a − D⁻²Jᵀ(K + λI)⁻¹Ja.
            for (work, row) in self.work.iter_mut().zip(self.current.jacobian.chunks_exact(self.n)) {
                *work = dot(row, drawn.towards);
            }
            self.solve_rows(drawn.workspace);
            drawn.workspace.iter_mut().zip(drawn.towards).for_each(|(shift, &a)| *shift = a - *shift);
            add_scaled(step, T::ONE, drawn.workspace);
        }
        drawn.shorten(step);
        Ok(())
    }
}

impl<T: Real> Partial<T> for KeptJacobian<T> {
    fn begin(&mut self) {
        self.jacobian.clear();
        self.r.clear();
        self.gradient.fill(T::ZERO);
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn write(&self, entries: &mut Vec<T>) {
        entries.extend_from_slice(&self.r);
        entries.extend_from_slice(&self.jacobian);
    }

    fn read(&mut self, entries: &[T]) {
        let (r, jacobian) = entries.split_at(entries.len() / (self.gradient.len() + 1));
        self.keep(r, jacobian);
    }
}

impl<T: Real> RowSums<T> for KeptJacobian<T> {
    fn add(&mut self, _: usize, r: &mut [T], jacobian: &mut [T]) {
        self.keep(r, jacobian);
    }
}

impl<T: Real> KeptJacobian<T> {
    /// Appends rows.
    fn keep(&mut self, r: &[T], jacobian: &[T]) {
        self.jacobian.extend_from_slice(jacobian);
        self.r.extend_from_slice(r);
        add_rows_times(&mut self.gradient, jacobian, r);
    }
}
