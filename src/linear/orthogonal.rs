//! The orthogonal factorisation: the triangle of `QR = J`, never squared, damped by absorbing the rows `√λ D`.

use super::form::LinearForm;
use super::held::{Held, free_part, is_held};
use super::model::{Damped, Drawn, IllConditioned, LinearModel, Unsolved, sum_forcing};
use crate::evaluation::{Along, Costs, Evaluation, Partial, RowSums};
use crate::kernels::triangular::{
    absorb_rows, is_independent, read_triangle, solve_upper, solve_upper_transposed, write_triangle,
};
use crate::kernels::vector::{add_rows_times, add_scaled, dot, scale_twice, scaled_norm};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::storage::Storage;

/// `R` and `Qᵀr` at the current point and at a candidate for the next, and the last damped triangle.
///
/// `2mn²` flops a linearisation, `4n³/3` a damping, `4n²` numbers of memory. The condition number is that of `J`
/// itself. Lawson & Hanson 1974, §25; Moré 1978, §3.
pub(crate) struct Orthogonal<T: Real, S: Storage<T>> {
    n: usize,
    current: RowTriangle<T, S>,
    candidate: RowTriangle<T, S>,
    damped: S::Matrix,
    /// The right-hand side of the last damped triangle.
    rotated: S::Vector,
    damping_rows: S::Matrix,
    damping_residuals: S::Vector,
    work: S::Vector,
}

/// The triangle that the rows were absorbed into.
struct RowTriangle<T: Real, S: Storage<T>> {
    /// `R`, upper triangle.
    r: S::Matrix,
    /// `Qᵀr`.
    rotated: S::Vector,
    /// `Jᵀr`.
    gradient: S::Vector,
}

impl<T: Real, S: Storage<T>> Orthogonal<T, S> {
    /// Empty triangles for `n` parameters.
    pub(crate) fn new(n: usize) -> Self {
        let zero = || RowTriangle { r: S::matrix(n), rotated: S::vector(n), gradient: S::vector(n) };
        Orthogonal {
            n,
            current: zero(),
            candidate: zero(),
            damped: S::matrix(n),
            rotated: S::vector(n),
            damping_rows: S::matrix(n),
            damping_residuals: S::vector(n),
            work: S::vector(n),
        }
    }

    /// Makes the candidate, to which rows have been added, the current point, or takes that back.
    #[inline]
    pub(crate) fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.candidate);
    }

    /// Solves for the step of `(JᵀJ + λD²)δ = −Jᵀr`, and returns its length `‖Dδ‖`. Variables that are held keep their steps.
    pub(crate) fn solve_damped(
        &mut self,
        lambda: T,
        d: &[T],
        held: Held<'_>,
        step: &mut [T],
    ) -> Result<T, IllConditioned> {
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
        if (0..n).any(|j| !is_independent(damped, n, j)) {
            return Err(IllConditioned);
        }
        solve_upper(damped, step);
        step.iter_mut().for_each(|step| *step = -*step);
        Ok(scaled_norm(d, step))
    }

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b`, with the last damped triangle.
    pub(crate) fn solve_again(&self, b: &mut [T]) {
        solve_upper_transposed(self.damped.as_ref(), b);
        solve_upper(self.damped.as_ref(), b);
    }
}

impl<T: Real, S: Storage<T>> LinearModel<T> for Orthogonal<T, S> {
    fn form(&self) -> LinearForm {
        LinearForm::Qr
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>> {
        let costs = evaluation.sum_rows(x, self)?;
        self.swap();
        Ok(costs)
    }

    fn take_back(&mut self, _: &mut dyn Evaluation<T>, _: &[T]) -> Evaluated {
        self.swap();
        Ok(())
    }

    fn gradient(&self) -> &[T] {
        self.current.gradient.as_ref()
    }

    fn column_norms(&self, norms: &mut [T]) -> Option<T> {
        norms.fill(T::ZERO);
        for (i, row) in self.current.r.as_ref().chunks_exact(self.n).enumerate() {
            for (norm, &r) in norms[i..].iter_mut().zip(&row[i..]) {
                *norm += r * r;
            }
        }
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
        None
    }

    fn solve(&mut self, damped: &mut Damped<'_, T>, step: &mut [T]) -> Result<T, Unsolved> {
        let &mut Damped { lambda, d, held, .. } = damped;
        Ok(self.solve_damped(lambda, d, held, step)?)
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        let rows = self.current.r.as_ref().chunks_exact(self.n).enumerate();
        rows.fold(T::ZERO, |sum, (i, row)| {
            let product = dot(&row[i..], &v[i..]);
            sum + product * product
        })
    }

    fn gram_times(&self, v: &[T], product: &mut [T]) {
        product.fill(T::ZERO);
        for (i, row) in self.current.r.as_ref().chunks_exact(self.n).enumerate() {
            add_scaled(&mut product[i..], dot(&row[i..], &v[i..]), &row[i..]);
        }
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, step: &[T]) -> Result<T, Unsolved> {
        let work = self.work.as_mut();
        scale_twice(work, damped.d, step);
        free_part(work, damped.held);
        solve_upper_transposed(self.damped.as_ref(), work);
        Ok(dot(work, work))
    }

    fn correct(
        &mut self,
        damped: &mut Damped<'_, T>,
        along: &Along<'_, T>,
        correction: &mut [T],
    ) -> Result<T, Unsolved> {
        sum_forcing(damped, along, &mut self.work, correction)?;
        self.solve_again(correction);
        Ok(scaled_norm(damped.d, correction))
    }

    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        drawn.draw(damped, step, |b| self.solve_again(b));
        Ok(())
    }
}

impl<T: Real, S: Storage<T>> Partial<T> for Orthogonal<T, S> {
    fn begin(&mut self) {
        self.candidate.r.as_mut().fill(T::ZERO);
        self.candidate.rotated.as_mut().fill(T::ZERO);
        self.candidate.gradient.as_mut().fill(T::ZERO);
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn write(&self, entries: &mut Vec<T>) {
        let RowTriangle { r, rotated, gradient } = &self.candidate;
        write_triangle(r.as_ref(), self.n, entries);
        entries.extend_from_slice(rotated.as_ref());
        entries.extend_from_slice(gradient.as_ref());
    }

    fn read(&mut self, entries: &[T]) {
        let (rows, residuals) = (self.damping_rows.as_mut(), self.damping_residuals.as_mut());
        let entries = read_triangle(entries, self.n, rows);
        let (rotated, gradient) = entries.split_at(self.n);
        residuals.copy_from_slice(rotated);
        let candidate = &mut self.candidate;
        add_scaled(candidate.gradient.as_mut(), T::ONE, gradient);
        absorb_rows(candidate.r.as_mut(), candidate.rotated.as_mut(), rows, residuals, self.work.as_mut());
    }
}

impl<T: Real, S: Storage<T>> RowSums<T> for Orthogonal<T, S> {
    fn add(&mut self, _: usize, r: &mut [T], jacobian: &mut [T]) {
        let RowTriangle { r: triangle, rotated, gradient } = &mut self.candidate;
        add_rows_times(gradient.as_mut(), jacobian, r);
        absorb_rows(triangle.as_mut(), rotated.as_mut(), jacobian, r, self.work.as_mut());
    }

    fn overwrites(&self) -> bool {
        true
    }

    fn add_ridge(&mut self, weights: &[T], x: &[T]) {
        let n = self.n;
        let (rows, residuals) = (self.damping_rows.as_mut(), self.damping_residuals.as_mut());
        let RowTriangle { r: triangle, rotated, gradient } = &mut self.candidate;
        rows.fill(T::ZERO);
        for (j, (&weight, &x)) in weights.iter().zip(x).enumerate() {
            rows[j * n + j] = weight.sqrt();
            residuals[j] = weight.sqrt() * x;
            gradient.as_mut()[j] += weight * x;
        }
        absorb_rows(triangle.as_mut(), rotated.as_mut(), rows, residuals, self.work.as_mut());
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
