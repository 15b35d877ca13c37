//! The orthogonal factorisation: the triangle of `QR = J`, never squared, damped by absorbing the rows `√λ D`.

use super::form::LinearForm;
use super::held::{Held, free_part, is_held};
use super::model::{
    HoldsVariables, IllConditioned, LinearModel, Products, SpansRanks, TakesRidge, add_half, add_shift,
};
use super::shape::Shape;
use crate::kernels::triangular::{absorb_rows, read_triangle, solve_upper, solve_upper_transposed, write_triangle};
use crate::kernels::vector::{add_rows_times, add_scaled, dot, scale_twice};
use crate::real::Real;

/// `R` and `Qᵀr` at the current point and at a candidate for the next, and the last damped triangle.
///
/// `2mn²` flops a linearisation, `4n³/3` a damping, `4n²` numbers of memory. The condition number is that of `J`
/// itself. Lawson & Hanson 1974, §25; Moré 1978, §3.
pub(crate) struct Orthogonal<T: Real, S: Shape<T>> {
    n: usize,
    current: Triangle<T, S>,
    candidate: Triangle<T, S>,
    damped: S::Matrix,
    /// The right-hand side of the last damped triangle.
    rotated: S::Vector,
    damping_rows: S::Matrix,
    damping_residuals: S::Vector,
    work: S::Vector,
    /// `Jᵀw` of another right-hand side.
    forcing: S::Vector,
}

/// The triangle that the rows were absorbed into.
struct Triangle<T: Real, S: Shape<T>> {
    /// `R`, upper triangle.
    r: S::Matrix,
    /// `Qᵀr`.
    rotated: S::Vector,
    /// `Jᵀr`.
    gradient: S::Vector,
}

impl<T: Real, S: Shape<T>> Orthogonal<T, S> {
    /// Empty triangles for `n` parameters.
    pub(crate) fn new(n: usize) -> Self {
        let zero = || Triangle { r: S::matrix(n), rotated: S::vector(n), gradient: S::vector(n) };
        Orthogonal {
            n,
            current: zero(),
            candidate: zero(),
            damped: S::matrix(n),
            rotated: S::vector(n),
            damping_rows: S::matrix(n),
            damping_residuals: S::vector(n),
            work: S::vector(n),
            forcing: S::vector(n),
        }
    }

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b`, with the last damped triangle.
    fn solve_again(&self, b: &mut [T]) {
        solve_upper_transposed(self.damped.as_ref(), b);
        solve_upper(self.damped.as_ref(), b);
    }
}

impl<T: Real, S: Shape<T>> LinearModel<T> for Orthogonal<T, S> {
    fn form(&self) -> LinearForm {
        LinearForm::Qr
    }

    fn begin(&mut self) {
        self.candidate.r.as_mut().fill(T::ZERO);
        self.candidate.rotated.as_mut().fill(T::ZERO);
        self.candidate.gradient.as_mut().fill(T::ZERO);
    }

    fn add_rows(&mut self, r: &mut [T], jacobian: &mut [T]) {
        let Triangle { r: triangle, rotated, gradient } = &mut self.candidate;
        add_rows_times(gradient.as_mut(), jacobian, r);
        absorb_rows(triangle.as_mut(), rotated.as_mut(), jacobian, r, self.work.as_mut());
    }

    fn overwrites_rows(&self) -> bool {
        true
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.candidate);
    }

    fn gradient(&self) -> &[T] {
        self.current.gradient.as_ref()
    }

    fn column_norms(&self, norms: &mut [T]) {
        norms.fill(T::ZERO);
        for (i, row) in self.current.r.as_ref().chunks_exact(self.n).enumerate() {
            for (norm, &r) in norms[i..].iter_mut().zip(&row[i..]) {
                *norm += r * r;
            }
        }
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
    }

    fn solve(
        &mut self,
        _: Products<'_, T>,
        lambda: T,
        d: &[T],
        held: Held<'_>,
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        let n = self.n;
        let (damped, rotated) = (self.damped.as_mut(), self.rotated.as_mut());
        damped.copy_from_slice(self.current.r.as_ref());
        rotated.copy_from_slice(self.current.rotated.as_ref());
        let (rows, residuals) = (self.damping_rows.as_mut(), self.damping_residuals.as_mut());
        if lambda > T::ZERO || !held.is_empty() {
            rows.fill(T::ZERO);
            residuals.fill(T::ZERO);
            for (j, &d) in d.iter().enumerate() {
                rows[j * n + j] = lambda.sqrt() * d;
            }
            hold(held, step, damped, rotated, rows, residuals);
            absorb_rows(damped, rotated, rows, residuals, self.work.as_mut());
        }
        for j in 0..held.len() {
            if (0..=j).all(|i| damped[i * n + j] == T::ZERO) {
                damped[j * n + j] = T::ONE;
            }
        }
        step.copy_from_slice(rotated);
        let column_norm = |j: usize| (0..=j).fold(T::ZERO, |sum, i| sum + damped[i * n + j] * damped[i * n + j]).sqrt();
        let tolerance = T::EPSILON * T::from_f64(8.0 * n as f64);
        if (0..n).any(|j| !(damped[j * n + j].abs() > tolerance * column_norm(j))) {
            return Err(IllConditioned);
        }
        solve_upper(damped, step);
        for step in step {
            *step = -*step;
        }
        Ok(())
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        let rows = self.current.r.as_ref().chunks_exact(self.n).enumerate();
        rows.fold(T::ZERO, |sum, (i, row)| {
            let product = dot(&row[i..], &v[i..]);
            sum + product * product
        })
    }

    fn inverse_form(&mut self, _: Products<'_, T>, d: &[T], held: Held<'_>, step: &[T]) -> T {
        let work = self.work.as_mut();
        scale_twice(work, d, step);
        free_part(work, held);
        solve_upper_transposed(self.damped.as_ref(), work);
        dot(work, work)
    }

    fn shift(
        &mut self,
        _: Products<'_, T>,
        lambda: T,
        d: &[T],
        a: &[T],
        room: &mut [T],
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        add_shift((lambda, d), a, room, step, |b| self.solve_again(b));
        Ok(())
    }

    #[inline]
    fn begin_forcing(&mut self) {
        self.forcing.as_mut().fill(T::ZERO);
    }

    #[inline]
    fn forcing_mut(&mut self) -> Option<&mut [T]> {
        Some(self.forcing.as_mut())
    }

    #[inline]
    fn add_forcing(&mut self, w: &[T], jacobian: &[T]) {
        add_rows_times(self.forcing.as_mut(), jacobian, w);
    }

    #[inline]
    fn add_correction(
        &mut self,
        _: Products<'_, T>,
        d: &[T],
        held: Held<'_>,
        room: &mut [T],
        step: &mut [T],
    ) -> Result<T, IllConditioned> {
        room.copy_from_slice(self.forcing.as_ref());
        free_part(room, held);
        self.solve_again(room);
        Ok(add_half(d, room, step))
    }

    #[inline]
    fn holding_variables(&mut self) -> Option<&mut dyn HoldsVariables<T>> {
        Some(self)
    }

    #[inline]
    fn taking_ridge(&mut self) -> Option<&mut dyn TakesRidge<T>> {
        Some(self)
    }

    fn spanning_ranks(&mut self) -> Option<&mut dyn SpansRanks<T>> {
        Some(self)
    }
}

impl<T: Real, S: Shape<T>> HoldsVariables<T> for Orthogonal<T, S> {
    fn gram_times(&self, v: &[T], product: &mut [T]) {
        product.fill(T::ZERO);
        for (i, row) in self.current.r.as_ref().chunks_exact(self.n).enumerate() {
            add_scaled(&mut product[i..], dot(&row[i..], &v[i..]), &row[i..]);
        }
    }
}

impl<T: Real, S: Shape<T>> TakesRidge<T> for Orthogonal<T, S> {
    fn add_ridge(&mut self, weights: &[T], x: &[T]) {
        let n = self.n;
        let (rows, residuals) = (self.damping_rows.as_mut(), self.damping_residuals.as_mut());
        let Triangle { r: triangle, rotated, gradient } = &mut self.candidate;
        rows.fill(T::ZERO);
        for (j, (&weight, &x)) in weights.iter().zip(x).enumerate() {
            rows[j * n + j] = weight.sqrt();
            residuals[j] = weight.sqrt() * x;
            gradient.as_mut()[j] += weight * x;
        }
        absorb_rows(triangle.as_mut(), rotated.as_mut(), rows, residuals, self.work.as_mut());
    }
}

impl<T: Real, S: Shape<T>> SpansRanks<T> for Orthogonal<T, S> {
    fn write_candidate(&self, numbers: &mut Vec<T>) {
        let Triangle { r, rotated, gradient } = &self.candidate;
        write_triangle(r.as_ref(), self.n, numbers);
        numbers.extend_from_slice(rotated.as_ref());
        numbers.extend_from_slice(gradient.as_ref());
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn read_candidate(&mut self, numbers: &[T]) {
        let (rows, residuals) = (self.damping_rows.as_mut(), self.damping_residuals.as_mut());
        let numbers = read_triangle(numbers, self.n, rows);
        let (rotated, gradient) = numbers.split_at(self.n);
        residuals.copy_from_slice(rotated);
        let candidate = &mut self.candidate;
        add_scaled(candidate.gradient.as_mut(), T::ONE, gradient);
        absorb_rows(candidate.r.as_mut(), candidate.rotated.as_mut(), rows, residuals, self.work.as_mut());
    }
}

/// Takes the variables that are held out of the triangle: their columns go to the right-hand side, with the steps that they
/// keep, and a unit row keeps each. What the row held of other columns moves to the rows that are still to be absorbed,
/// where a held variable has no damping.
fn hold<T: Real>(held: Held, step: &[T], triangle: &mut [T], rotated: &mut [T], rows: &mut [T], residuals: &mut [T]) {
    let n = step.len();
    for j in (0..held.len()).filter(|&j| is_held(held, j)) {
        for i in 0..=j {
            rotated[i] += triangle[i * n + j] * step[j];
            triangle[i * n + j] = T::ZERO;
        }
    }
    for j in (0..held.len()).filter(|&j| is_held(held, j)) {
        let row = j * n..(j + 1) * n;
        rows[row.clone()].copy_from_slice(&triangle[row.clone()]);
        residuals[j] = rotated[j];
        triangle[row].fill(T::ZERO);
        triangle[j * n + j] = T::ONE;
        rotated[j] = -step[j];
    }
}
