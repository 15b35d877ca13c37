//! The normal equations: `JᵀJ` summed over rows, one Cholesky factorisation for each damping.

use super::curvature::Curvature;
use super::form::LinearForm;
use super::held::{free_part, is_held};
use super::model::{Damped, Drawn, Lesson, LinearModel, Recovery, Unsolved, sum_forcing};
use crate::evaluation::{Along, Costs, Evaluation, Partial, RowSums};
use crate::kernels::Scratch;
use crate::kernels::product::symmetric_times;
use crate::kernels::triangular::{cholesky_inverse_form, solve_cholesky};
use crate::kernels::vector::{dot, drop_subnormals, scale_twice, scaled_norm};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::storage::Storage;

/// `JᵀJ` and `Jᵀr` at the current point and at a candidate for the next, and the last damped factor.
///
/// `mn²` flops a linearisation, `n³/3` a factorisation, `3n²` numbers of memory. The condition number of the
/// system is the square of `J`'s: what [`solve`](Self::solve) cannot answer to half the digits it refuses.
pub(crate) struct DenseNormal<T: Real, S: Storage<T>> {
    /// Sums at the current point and at the candidate.
    sums: [Sums<T, S>; 2],
    /// The second of these are the current point's.
    second: bool,
    factor: S::Matrix,
    inverse_pivots: S::Vector,
    work: S::Vector,
    scratch: Scratch<T>,
    curvature: Curvature<T, S>,
}

/// Sums over rows.
struct Sums<T: Real, S: Storage<T>> {
    /// `JᵀJ`, lower triangle.
    gram: S::Matrix,
    /// `Jᵀr`.
    gradient: S::Vector,
}

impl<T: Real, S: Storage<T>> DenseNormal<T, S> {
    /// Zero sums for `n` parameters.
    #[inline]
    pub(crate) fn new(n: usize) -> Self {
        let zero = || Sums { gram: S::matrix(n), gradient: S::vector(n) };
        DenseNormal {
            sums: [zero(), zero()],
            second: false,
            factor: S::matrix(n),
            inverse_pivots: S::vector(n),
            work: S::vector(n),
            scratch: Scratch::default(),
            curvature: Curvature::default(),
        }
    }

    /// The number of parameters, which the compiler knows where the shape does.
    #[inline(always)]
    fn n(&self) -> usize {
        self.work.as_ref().len()
    }

    /// Sums at the current point.
    #[inline(always)]
    fn current(&self) -> &Sums<T, S> {
        &self.sums[usize::from(self.second)]
    }

    /// Sums at the candidate.
    #[inline(always)]
    fn candidate(&mut self) -> &mut Sums<T, S> {
        &mut self.sums[usize::from(!self.second)]
    }

    /// Learns the curvature from the step that led to the current point.
    fn learn_curvature(&mut self, step: &[T]) {
        let estimate = self.curvature.estimate(step.len());
        let [here, before] = [self.second, !self.second].map(|second| &self.sums[usize::from(second)]);
        let [y, z] = estimate.change.each_mut().map(|change| change.as_mut());
        symmetric_times(here.gram.as_ref(), step, z);
        for (j, (y, z)) in y.iter_mut().zip(z).enumerate() {
            *y = here.gradient.as_ref()[j] - before.gradient.as_ref()[j];
            *z = *y - *z;
        }
        estimate.update(step);
    }

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b`, with the last factor.
    #[inline(always)]
    fn solve_again(&self, b: &mut [T]) {
        solve_cholesky(self.factor.as_ref(), self.inverse_pivots.as_ref(), b);
    }
}

impl<T: Real, S: Storage<T>> LinearModel<T> for DenseNormal<T, S> {
    fn form(&self) -> LinearForm {
        LinearForm::Cholesky
    }

    #[inline(always)]
    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>> {
        let costs = evaluation.sum_rows(x, self.candidate())?;
        self.second = !self.second;
        Ok(costs)
    }

    #[inline(always)]
    fn take_back(&mut self, _: &mut dyn Evaluation<T>, _: &[T]) -> Evaluated {
        self.second = !self.second;
        Ok(())
    }

    #[inline(always)]
    fn gradient(&self) -> &[T] {
        self.current().gradient.as_ref()
    }

    #[inline(always)]
    fn column_norms(&self, norms: &mut [T]) -> Option<T> {
        for (j, norm) in norms.iter_mut().enumerate() {
            *norm = self.current().gram.as_ref()[j * self.n() + j].sqrt();
        }
        None
    }

    #[inline(always)]
    fn solve(&mut self, damped: &mut Damped<'_, T>, step: &mut [T]) -> Result<T, Unsolved> {
        let &mut Damped { lambda, d, held, .. } = damped;
        let n = self.n();
        let Sums { gram, gradient } = &self.sums[usize::from(self.second)];
        let gradient = gradient.as_ref();
        let factor = self.factor.as_mut();
        for (i, (to, from)) in factor.chunks_exact_mut(n).zip(gram.as_ref().chunks_exact(n)).enumerate() {
            to[..=i].copy_from_slice(&from[..=i]);
        }
        if let Some(curvature) = self.curvature.in_use() {
            for (i, row) in factor.chunks_exact_mut(n).enumerate() {
                row.iter_mut().zip(curvature.row(i)).for_each(|(entry, &more)| *entry += more);
            }
        }
        for (i, (step, &gradient)) in step.iter_mut().zip(gradient).enumerate() {
            if !is_held(held, i) {
                *step = -gradient;
            }
        }
        for j in (0..held.len()).filter(|&j| is_held(held, j)) {
            for i in (0..n).filter(|&i| !is_held(held, i)) {
                step[i] -= factor[i.max(j) * n + i.min(j)] * step[j];
            }
        }
        for (j, &d) in d.iter().enumerate() {
            factor[j * n + j] += lambda * d * d;
        }
        for j in 0..held.len() {
            if is_held(held, j) {
                factor[j * n..j * n + j].fill(T::ZERO);
                factor[(j + 1) * n..].iter_mut().skip(j).step_by(n).for_each(|entry| *entry = T::ZERO);
            }
            if is_held(held, j) || factor[j * n + j] == T::ZERO {
                factor[j * n + j] = T::ONE;
            }
        }
        if !T::cholesky(factor, self.inverse_pivots.as_mut(), &mut self.scratch) {
            return Err(Unsolved::IllConditioned);
        }
        self.solve_again(step);
        Ok(scaled_norm(d, step))
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        let rows = self.current().gram.as_ref().chunks_exact(self.n());
        let squares = rows.zip(v).enumerate().fold(T::ZERO, |sum, (i, (row, &vi))| {
            let off_diagonal = dot(&row[..i], &v[..i]);
            sum + vi * (row[i] * vi + off_diagonal + off_diagonal)
        });
        self.curvature.in_use().map_or(squares, |curvature| squares + curvature.quadratic_form(v))
    }

    fn gram_times(&self, v: &[T], product: &mut [T]) {
        symmetric_times(self.current().gram.as_ref(), v, product);
        if let Some(curvature) = self.curvature.in_use() {
            for (i, product) in product.iter_mut().enumerate() {
                *product += dot(curvature.row(i), v);
            }
        }
    }

    #[inline(always)]
    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, step: &[T]) -> Result<T, Unsolved> {
        let work = self.work.as_mut();
        scale_twice(work, damped.d, step);
        free_part(work, damped.held);
        Ok(cholesky_inverse_form(self.factor.as_ref(), self.inverse_pivots.as_ref(), work))
    }

    #[inline]
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

    #[inline]
    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        drawn.draw(damped, step, |b| self.solve_again(b));
        Ok(())
    }

    #[inline]
    fn learn(&mut self, lesson: Lesson<'_, T>) -> Option<Recovery> {
        match lesson {
            Lesson::Trial { step, predicted, actual, accepted } => {
                if self.curvature.weigh(step, predicted, actual) && accepted {
                    self.learn_curvature(step);
                }
            }
            Lesson::Move { step } if self.curvature.in_use().is_some() => self.learn_curvature(step),
            Lesson::Move { .. } => {}
            // With the curvature, the matrix may not be positive definite.
            Lesson::Unsolved => return self.curvature.leave_out().then_some(Recovery::SolveAgain),
        }
        None
    }
}

impl<T: Real, S: Storage<T>> Partial<T> for Sums<T, S> {
    #[inline(always)]
    fn begin(&mut self) {
        self.gram.as_mut().fill(T::ZERO);
        self.gradient.as_mut().fill(T::ZERO);
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn write(&self, entries: &mut Vec<T>) {
        let rows = self.gram.as_ref().chunks_exact(self.gradient.as_ref().len()).enumerate();
        rows.for_each(|(i, row)| entries.extend_from_slice(&row[..=i]));
        entries.extend_from_slice(self.gradient.as_ref());
    }

    fn read(&mut self, mut entries: &[T]) {
        let n = self.gradient.as_ref().len();
        for (i, row) in self.gram.as_mut().chunks_exact_mut(n).enumerate() {
            let (of_row, others) = entries.split_at(i + 1);
            row[..=i].copy_from_slice(of_row);
            entries = others;
        }
        self.gradient.as_mut().copy_from_slice(entries);
    }
}

impl<T: Real, S: Storage<T>> RowSums<T> for Sums<T, S> {
    #[inline(always)]
    fn add(&mut self, _: usize, r: &mut [T], jacobian: &mut [T]) {
        // On the stack there are too few to matter.
        if S::TILE_ROWS == 0 {
            drop_subnormals(jacobian);
        }
        T::add_products(self.gram.as_mut(), self.gradient.as_mut(), jacobian, r);
    }

    #[inline]
    fn gram(&mut self) -> Option<(&mut [T], &mut [T])> {
        Some((self.gram.as_mut(), self.gradient.as_mut()))
    }

    fn add_ridge(&mut self, weights: &[T], x: &[T]) {
        let (gram, gradient) = (self.gram.as_mut(), self.gradient.as_mut());
        let n = gradient.len();
        for (j, (&weight, &x)) in weights.iter().zip(x).enumerate() {
            gram[j * n + j] += weight;
            gradient[j] += weight * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GivenRows;
    use crate::storage::Dynamic;

    /// The step that taught the curvature leads, by the model, to the change of the gradient.
    #[test]
    fn products_and_solutions_have_the_same_curvature() {
        let mut model = DenseNormal::<f64, Dynamic>::new(2);
        for (r, jacobian) in
            [([1.0, 2.0, -1.0], [1.0, 0.5, 0.2, 2.0, 0.3, -1.0]), ([0.8, 1.5, -1.2], [1.2, 0.4, 0.1, 2.3, 0.5, -0.9])]
        {
            let rows = GivenRows { r: r.to_vec(), jacobian: jacobian.to_vec() };
            rows.evaluate(|evaluation| model.linearize(evaluation, &[0.0; 2])).unwrap();
        }
        let (taught, mut product) = ([-0.1, -0.2], [0.0; 2]);
        model.learn_curvature(&taught);
        model.curvature.use_estimate();
        model.gram_times(&taught, &mut product);
        let [here, before] = [model.second, !model.second].map(|second| &model.sums[usize::from(second)].gradient);
        for j in 0..2 {
            assert!((product[j] - (here[j] - before[j])).abs() < 1e-14, "{product:?}");
        }
        let mut step = [0.0; 2];
        let rows = GivenRows { r: vec![0.0], jacobian: vec![0.0; 2] };
        let solved = rows.evaluate(|evaluation| {
            let (x, d) = (&[0.0; 2], &[1.0; 2]);
            model.solve(&mut Damped { evaluation, x, lambda: 0.0, d, held: &[], exact: false }, &mut step)
        });
        solved.unwrap();
        model.gram_times(&step, &mut product);
        for (product, gradient) in product.iter().zip(model.gradient()) {
            assert!((product + gradient).abs() < 1e-13, "{product} is not −{gradient}");
        }
        assert!((model.quadratic_form(&step) - dot(&step, &product)).abs() < 1e-13);
    }
}
