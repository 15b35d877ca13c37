//! The dual: with fewer residuals than parameters, the Gram matrix of the rows is the smaller system.

use super::model::IllConditioned;
use crate::Real;
use crate::kernels::Scratch;
use crate::kernels::triangular::{cholesky_inverse_form, solve_cholesky};
use crate::kernels::vector::{add_rows_times, dot};

/// The rows themselves at the current point and at a candidate for the next, and the factor of `K + λI`,
/// `K = J D⁻² Jᵀ`.
///
/// The step is `δ = −D⁻²Jᵀ(K + λI)⁻¹r`, equal to the primal one by the push-through identity
/// `(JᵀJ + λD²)⁻¹Jᵀ = D⁻²Jᵀ(JD⁻²Jᵀ + λI)⁻¹`; at `λ = 0` it is the shortest Gauss–Newton step in the norm `‖Dδ‖`.
/// `m²n` flops for `K`, `m³/3` a factorisation, `3mn + 2m²` numbers of memory.
pub(crate) struct RowGram<T> {
    m: usize,
    n: usize,
    current: Rows<T>,
    candidate: Rows<T>,
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
    scratch: Scratch<T>,
}

struct Rows<T> {
    jacobian: Vec<T>,
    r: Vec<T>,
    gradient: Vec<T>,
}

impl<T: Real> RowGram<T> {
    /// Room for `m` rows of `n` parameters.
    pub(crate) fn new(m: usize, n: usize) -> Self {
        let zero = |count| vec![T::ZERO; count];
        let rows = || Rows { jacobian: Vec::with_capacity(m * n), r: Vec::with_capacity(m), gradient: zero(n) };
        RowGram {
            m,
            n,
            current: rows(),
            candidate: rows(),
            scaled: zero(m * n),
            gram: zero(m * m),
            gram_is_current: false,
            factor: zero(m * m),
            inverse_pivots: zero(m),
            squared_scale: zero(n),
            lambda: T::ZERO,
            work: zero(m),
            scratch: Scratch::default(),
        }
    }

    /// Starts the rows of a new candidate.
    pub(crate) fn begin(&mut self) {
        self.candidate.jacobian.clear();
        self.candidate.r.clear();
        self.candidate.gradient.fill(T::ZERO);
    }

    /// Keeps rows for the candidate.
    pub(crate) fn add_rows(&mut self, r: &[T], jacobian: &[T]) {
        self.candidate.jacobian.extend_from_slice(jacobian);
        self.candidate.r.extend_from_slice(r);
        add_rows_times(&mut self.candidate.gradient, jacobian, r);
    }

    /// Exchanges the current point's rows with the candidate's.
    pub(crate) fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.candidate);
        self.gram_is_current = false;
    }

    /// `Jᵀr`.
    pub(crate) fn gradient(&self) -> &[T] {
        &self.current.gradient
    }

    /// `‖J_j‖²` of every column.
    pub(crate) fn squared_column_norms(&self, squares: &mut [T]) {
        squares.fill(T::ZERO);
        for row in self.current.jacobian.chunks_exact(self.n) {
            for (square, &a) in squares.iter_mut().zip(row) {
                *square += a * a;
            }
        }
    }

    /// `‖Jv‖²`.
    pub(crate) fn quadratic_form(&self, v: &[T]) -> T {
        self.current.jacobian.chunks_exact(self.n).fold(T::ZERO, |sum, row| {
            let product = dot(row, v);
            sum + product * product
        })
    }

    /// Makes room for another number of rows.
    pub(crate) fn resize(&mut self, m: usize) {
        self.m = m;
        for rows in [&mut self.current, &mut self.candidate] {
            // They change places with every batch, and the next may find the other.
            rows.jacobian.reserve((m * self.n).saturating_sub(rows.jacobian.len()));
            rows.r.reserve(m.saturating_sub(rows.r.len()));
        }
        self.scaled.resize(m * self.n, T::ZERO);
        for square in [&mut self.gram, &mut self.factor] {
            square.resize(m * m, T::ZERO);
        }
        for column in [&mut self.inverse_pivots, &mut self.work] {
            column.resize(m, T::ZERO);
        }
    }

    /// The step of `(JᵀJ + λD²)δ = −Jᵀr`.
    pub(crate) fn solve(&mut self, lambda: T, d: &[T], step: &mut [T]) -> Result<(), IllConditioned> {
        self.update_gram(d);
        self.lambda = lambda;
        self.factor.copy_from_slice(&self.gram);
        for diagonal in self.factor.iter_mut().step_by(self.m + 1) {
            *diagonal += lambda;
        }
        if !T::cholesky(&mut self.factor, &mut self.inverse_pivots, &mut self.scratch) {
            return Err(IllConditioned);
        }
        self.work.copy_from_slice(&self.current.r);
        self.solve_rows(step);
        for step in step {
            *step = -*step;
        }
        Ok(())
    }

    /// `(JᵀJ + λD²)⁻¹Jᵀw` for `w` rows, with the last factor.
    pub(crate) fn solve_again(&mut self, w: &[T], solution: &mut [T]) {
        self.work.copy_from_slice(w);
        self.solve_rows(solution);
    }

    /// `λ(JᵀJ + λD²)⁻¹D²a = a − D⁻²Jᵀ(K + λI)⁻¹Ja`, with the last factor.
    pub(crate) fn pull(&mut self, a: &[T], solution: &mut [T]) {
        for (work, row) in self.work.iter_mut().zip(self.current.jacobian.chunks_exact(self.n)) {
            *work = dot(row, a);
        }
        self.solve_rows(solution);
        for (solution, &a) in solution.iter_mut().zip(a) {
            *solution = a - *solution;
        }
    }

    /// `vᵀ(JᵀJ + λD²)⁻¹v` for `v = D²δ` of the last solve, which is `wᵀK(K + λI)⁻¹w` with `w = (K + λI)⁻¹r`.
    pub(crate) fn inverse_form(&mut self) -> T {
        let squared = dot(&self.work, &self.work);
        squared - self.lambda * cholesky_inverse_form(&self.factor, &self.inverse_pivots, &mut self.work)
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
