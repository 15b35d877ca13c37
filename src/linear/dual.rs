//! The dual: with fewer residuals than parameters, the Gram matrix of the rows is the smaller system.

use super::form::LinearForm;
use super::held::Held;
use super::model::{IllConditioned, LinearModel, Products, add_half};
use crate::kernels::Scratch;
use crate::kernels::triangular::{cholesky_inverse_form, solve_cholesky};
use crate::kernels::vector::{add_rows_times, add_scaled, dot};
use crate::real::Real;

/// The rows themselves at the current point and at a candidate for the next, and the factor of `K + λI`,
/// `K = J D⁻² Jᵀ`.
///
/// The step is `δ = −D⁻²Jᵀ(K + λI)⁻¹r`, equal to the primal one by the push-through identity
/// `(JᵀJ + λD²)⁻¹Jᵀ = D⁻²Jᵀ(JD⁻²Jᵀ + λI)⁻¹`; at `λ = 0` it is the shortest Gauss–Newton step in the norm `‖Dδ‖`.
/// `m²n` flops for `K`, `m³/3` a factorisation, `3mn + 2m²` numbers of memory.
pub(crate) struct Dual<T> {
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
    /// Rows `w` of another right-hand side `Jᵀw`, as far as they have come.
    forcing: Vec<T>,
    scratch: Scratch<T>,
}

struct Rows<T> {
    jacobian: Vec<T>,
    r: Vec<T>,
    gradient: Vec<T>,
}

impl<T: Real> Dual<T> {
    /// Room for `m` rows of `n` parameters.
    pub(crate) fn new(m: usize, n: usize) -> Self {
        let zero = |count| vec![T::ZERO; count];
        let rows = || Rows { jacobian: Vec::with_capacity(m * n), r: Vec::with_capacity(m), gradient: zero(n) };
        Dual {
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
            forcing: Vec::new(),
            scratch: Scratch::default(),
        }
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

impl<T: Real> LinearModel<T> for Dual<T> {
    fn form(&self) -> LinearForm {
        LinearForm::Dual
    }

    fn begin(&mut self) {
        self.candidate.jacobian.clear();
        self.candidate.r.clear();
        self.candidate.gradient.fill(T::ZERO);
    }

    fn add_rows(&mut self, r: &mut [T], jacobian: &mut [T]) {
        self.candidate.jacobian.extend_from_slice(jacobian);
        self.candidate.r.extend_from_slice(r);
        add_rows_times(&mut self.candidate.gradient, jacobian, r);
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.candidate);
        self.gram_is_current = false;
    }

    fn gradient(&self) -> &[T] {
        &self.current.gradient
    }

    fn column_norms(&self, norms: &mut [T]) {
        norms.fill(T::ZERO);
        for row in self.current.jacobian.chunks_exact(self.n) {
            for (norm, &a) in norms.iter_mut().zip(row) {
                *norm += a * a;
            }
        }
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
    }

    fn solve(
        &mut self,
        _: Products<'_, T>,
        lambda: T,
        d: &[T],
        _: Held<'_>,
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
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

    fn quadratic_form(&self, v: &[T]) -> T {
        self.current.jacobian.chunks_exact(self.n).fold(T::ZERO, |sum, row| {
            let product = dot(row, v);
            sum + product * product
        })
    }

    fn inverse_form(&mut self, _: Products<'_, T>, _: &[T], _: Held<'_>, _: &[T]) -> T {
        // wᵀK(K + λI)⁻¹w with w = (K + λI)⁻¹r.
        let squared = dot(&self.work, &self.work);
        squared - self.lambda * cholesky_inverse_form(&self.factor, &self.inverse_pivots, &mut self.work)
    }

    fn shift(
        &mut self,
        _: Products<'_, T>,
        _: T,
        _: &[T],
        a: &[T],
        room: &mut [T],
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        // λ(JᵀJ + λD²)⁻¹D²a = a − D⁻²Jᵀ(K + λI)⁻¹Ja.
        for (work, row) in self.work.iter_mut().zip(self.current.jacobian.chunks_exact(self.n)) {
            *work = dot(row, a);
        }
        self.solve_rows(room);
        room.iter_mut().zip(a).for_each(|(room, &a)| *room = a - *room);
        add_scaled(step, T::ONE, room);
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
        _: Products<'_, T>,
        d: &[T],
        _: Held<'_>,
        room: &mut [T],
        step: &mut [T],
    ) -> Result<T, IllConditioned> {
        self.work.copy_from_slice(&self.forcing);
        self.solve_rows(room);
        Ok(add_half(d, room, step))
    }

    fn resize(&mut self, m: usize, _: usize) {
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
}
