//! The orthogonal factorisation: the triangle of `QR = J`, never squared, damped by absorbing the rows `√λ D`.

use super::held::{Held, free_part, is_held};
use super::model::IllConditioned;
use super::shape::Shape;
use crate::Real;
use crate::kernels::triangular::{absorb_rows, read_triangle, solve_upper, solve_upper_transposed, write_triangle};
use crate::kernels::vector::{add_rows_times, add_scaled, dot, scale_twice};

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
        }
    }

    /// Starts the triangle of a new candidate.
    pub(crate) fn begin(&mut self) {
        self.candidate.r.as_mut().fill(T::ZERO);
        self.candidate.rotated.as_mut().fill(T::ZERO);
        self.candidate.gradient.as_mut().fill(T::ZERO);
    }

    /// Absorbs rows into the candidate's triangle, overwriting them.
    pub(crate) fn add_rows(&mut self, r: &mut [T], jacobian: &mut [T]) {
        let Triangle { r: triangle, rotated, gradient } = &mut self.candidate;
        add_rows_times(gradient.as_mut(), jacobian, r);
        absorb_rows(triangle.as_mut(), rotated.as_mut(), jacobian, r, self.work.as_mut());
    }

    /// Appends the candidate's triangle, its right-hand side, and `Jᵀr`.
    pub(crate) fn write_candidate(&self, numbers: &mut Vec<T>) {
        let Triangle { r, rotated, gradient } = &self.candidate;
        write_triangle(r.as_ref(), self.n, numbers);
        numbers.extend_from_slice(rotated.as_ref());
        numbers.extend_from_slice(gradient.as_ref());
    }

    /// Absorbs what [`write_candidate`](Self::write_candidate) has written of other rows.
    pub(crate) fn absorb_candidate(&mut self, numbers: &[T]) {
        let (rows, residuals) = (self.damping_rows.as_mut(), self.damping_residuals.as_mut());
        let numbers = read_triangle(numbers, self.n, rows);
        let (rotated, gradient) = numbers.split_at(self.n);
        residuals.copy_from_slice(rotated);
        let candidate = &mut self.candidate;
        add_scaled(candidate.gradient.as_mut(), T::ONE, gradient);
        absorb_rows(candidate.r.as_mut(), candidate.rotated.as_mut(), rows, residuals, self.work.as_mut());
    }

    /// Exchanges the current point's triangle with the candidate's.
    pub(crate) fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.candidate);
    }

    /// `Jᵀr`.
    pub(crate) fn gradient(&self) -> &[T] {
        self.current.gradient.as_ref()
    }

    /// `‖J_j‖²` of every column.
    pub(crate) fn squared_column_norms(&self, squares: &mut [T]) {
        squares.fill(T::ZERO);
        for (i, row) in self.current.r.as_ref().chunks_exact(self.n).enumerate() {
            for (square, &r) in squares[i..].iter_mut().zip(&row[i..]) {
                *square += r * r;
            }
        }
    }

    /// `‖Jv‖² = ‖Rv‖²`.
    pub(crate) fn quadratic_form(&self, v: &[T]) -> T {
        let rows = self.current.r.as_ref().chunks_exact(self.n).enumerate();
        rows.fold(T::ZERO, |sum, (i, row)| {
            let product = dot(&row[i..], &v[i..]);
            sum + product * product
        })
    }

    /// `JᵀJv = RᵀRv`.
    pub(crate) fn gram_times(&self, v: &[T], product: &mut [T]) {
        product.fill(T::ZERO);
        for (i, row) in self.current.r.as_ref().chunks_exact(self.n).enumerate() {
            add_scaled(&mut product[i..], dot(&row[i..], &v[i..]), &row[i..]);
        }
    }

    /// Absorbs the ridge `½ Σ w_j x_j²` into the candidate's triangle, as the rows `√w_j (e_jᵀ, x_j)`.
    pub(crate) fn add_ridge(&mut self, weights: &[T], x: &[T]) {
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

    /// The step of `(JᵀJ + λD²)δ = −Jᵀr`, that is of `min ‖Jδ + r‖² + λ‖Dδ‖²`; variables that are held keep their steps,
    /// and the minimum is over the others, of which those without influence stay where they are.
    pub(crate) fn solve(&mut self, lambda: T, d: &[T], held: Held, step: &mut [T]) -> Result<(), IllConditioned> {
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

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b`, with the last damped triangle.
    pub(crate) fn solve_again(&self, b: &mut [T]) {
        solve_upper_transposed(self.damped.as_ref(), b);
        solve_upper(self.damped.as_ref(), b);
    }

    /// `vᵀ(JᵀJ + λD²)⁻¹v` for `v = D²δ` in the variables that are free, with the last damped triangle.
    pub(crate) fn inverse_form(&mut self, d: &[T], held: Held, step: &[T]) -> T {
        let work = self.work.as_mut();
        scale_twice(work, d, step);
        free_part(work, held);
        solve_upper_transposed(self.damped.as_ref(), work);
        dot(work, work)
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
