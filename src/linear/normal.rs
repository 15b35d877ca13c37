//! The normal equations: `JᵀJ` summed over rows, one Cholesky factorisation for each damping.

use super::curvature::Curvature;
use super::form::LinearForm;
use super::held::{Held, free_part, is_held};
use super::model::{
    HoldsVariables, IllConditioned, LinearModel, Products, SpansRanks, TakesRidge, add_half, add_shift,
};
use super::shape::Shape;
use crate::kernels::product::symmetric_times;
use crate::kernels::triangular::{cholesky_inverse_form, solve_cholesky};
use crate::kernels::vector::{add_rows_times, dot, scale_twice};
use crate::kernels::{Factor, Scratch};
use crate::real::Real;

/// Fewer parameters than this are summed in line, as their number may be known to the compiler.
const FEW_PARAMETERS: usize = 16;

/// `JᵀJ` and `Jᵀr` at the current point and at a candidate for the next, and the last damped factor.
///
/// `mn²` flops a linearisation, `n³/3` a factorisation, `3n²` numbers of memory. The condition number of the
/// system is the square of `J`'s: what [`solve`](Self::solve) cannot answer to half the digits it refuses.
pub(crate) struct NormalEquations<T: Real, S: Shape<T>> {
    /// Sums at the current point and at the candidate.
    sums: [Sums<T, S>; 2],
    /// The second of these are the current point's.
    second: bool,
    factor: S::Matrix,
    inverse_pivots: S::Vector,
    work: S::Vector,
    /// `Jᵀw` of another right-hand side.
    forcing: S::Vector,
    scratch: Scratch<T>,
    /// Learnt part of the second derivative that `JᵀJ` leaves out; `None` until a step teaches it.
    curvature: Option<Curvature<T, S>>,
}

/// Sums over rows.
struct Sums<T: Real, S: Shape<T>> {
    /// `JᵀJ`, lower triangle.
    gram: S::Matrix,
    /// `Jᵀr`.
    gradient: S::Vector,
}

impl<T: Real, S: Shape<T>> NormalEquations<T, S> {
    /// Zero sums for `n` parameters.
    #[inline]
    pub(crate) fn new(n: usize) -> Self {
        let zero = || Sums { gram: S::matrix(n), gradient: S::vector(n) };
        NormalEquations {
            sums: [zero(), zero()],
            second: false,
            factor: S::matrix(n),
            inverse_pivots: S::vector(n),
            work: S::vector(n),
            forcing: S::vector(n),
            scratch: Scratch::default(),
            curvature: None,
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

    fn curvature_in_use(&self) -> Option<&Curvature<T, S>> {
        self.curvature.as_ref().filter(|curvature| curvature.is_used)
    }

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b`, with the last factor.
    #[inline(always)]
    fn solve_again(&self, b: &mut [T]) {
        solve_cholesky(self.factor.as_ref(), self.inverse_pivots.as_ref(), b);
    }
}

impl<T: Real, S: Shape<T>> LinearModel<T> for NormalEquations<T, S> {
    fn form(&self) -> LinearForm {
        LinearForm::Cholesky
    }

    #[inline(always)]
    fn begin(&mut self) {
        let Sums { gram, gradient } = self.candidate();
        gram.as_mut().fill(T::ZERO);
        gradient.as_mut().fill(T::ZERO);
    }

    #[inline(always)]
    fn add_rows(&mut self, r: &mut [T], jacobian: &mut [T]) {
        let Sums { gram, gradient } = self.candidate();
        T::add_products(gram.as_mut(), gradient.as_mut(), jacobian, r);
    }

    #[inline]
    fn sums_mut(&mut self) -> Option<(&mut [T], &mut [T])> {
        let Sums { gram, gradient } = self.candidate();
        Some((gram.as_mut(), gradient.as_mut()))
    }

    #[inline(always)]
    fn swap(&mut self) {
        self.second = !self.second;
    }

    #[inline(always)]
    fn gradient(&self) -> &[T] {
        self.current().gradient.as_ref()
    }

    #[inline(always)]
    fn column_norms(&self, norms: &mut [T]) {
        for (j, norm) in norms.iter_mut().enumerate() {
            *norm = self.current().gram.as_ref()[j * self.n() + j].sqrt();
        }
    }

    #[inline(always)]
    fn solve(
        &mut self,
        _: Products<'_, T>,
        lambda: T,
        d: &[T],
        held: Held<'_>,
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        let n = self.n();
        let Sums { gram, gradient } = &self.sums[usize::from(self.second)];
        let gradient = gradient.as_ref();
        let factor = self.factor.as_mut();
        for (i, (to, from)) in factor.chunks_exact_mut(n).zip(gram.as_ref().chunks_exact(n)).enumerate() {
            to[..=i].copy_from_slice(&from[..=i]);
        }
        if let Some(curvature) = self.curvature.as_ref().filter(|curvature| curvature.is_used) {
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
            return Err(IllConditioned);
        }
        self.solve_again(step);
        Ok(())
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        let rows = self.current().gram.as_ref().chunks_exact(self.n());
        let squares = rows.zip(v).enumerate().fold(T::ZERO, |sum, (i, (row, &vi))| {
            let off_diagonal = dot(&row[..i], &v[..i]);
            sum + vi * (row[i] * vi + off_diagonal + off_diagonal)
        });
        self.curvature_in_use().map_or(squares, |curvature| squares + curvature.quadratic_form(v))
    }

    #[inline(always)]
    fn inverse_form(&mut self, _: Products<'_, T>, d: &[T], held: Held<'_>, step: &[T]) -> T {
        let work = self.work.as_mut();
        scale_twice(work, d, step);
        free_part(work, held);
        cholesky_inverse_form(self.factor.as_ref(), self.inverse_pivots.as_ref(), work)
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
        let n = self.n();
        if n < FEW_PARAMETERS {
            add_rows_times(self.forcing.as_mut(), jacobian, w);
        } else {
            T::multiply(self.forcing.as_mut(), true, Factor::Plain(w), jacobian, w.len(), n);
        }
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

    fn learn_curvature(&mut self, step: &[T]) {
        let n = self.n();
        let curvature = self.curvature.get_or_insert_with(|| Curvature::new(n));
        let [here, before] = [self.second, !self.second].map(|second| &self.sums[usize::from(second)]);
        let [y, z] = curvature.change.each_mut().map(|change| change.as_mut());
        symmetric_times(here.gram.as_ref(), step, z);
        for (j, (y, z)) in y.iter_mut().zip(z).enumerate() {
            *y = here.gradient.as_ref()[j] - before.gradient.as_ref()[j];
            *z = *y - *z;
        }
        curvature.update(step);
    }

    fn uses_curvature(&self) -> bool {
        self.curvature_in_use().is_some()
    }

    fn curvature_along(&self, v: &[T]) -> Option<T> {
        self.curvature.as_ref().map(|curvature| T::from_f64(0.5) * curvature.quadratic_form(v))
    }

    fn use_curvature(&mut self, is_used: bool) {
        if let Some(curvature) = &mut self.curvature {
            curvature.is_used = is_used;
        }
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

impl<T: Real, S: Shape<T>> HoldsVariables<T> for NormalEquations<T, S> {
    fn gram_times(&self, v: &[T], product: &mut [T]) {
        symmetric_times(self.current().gram.as_ref(), v, product);
        if let Some(curvature) = self.curvature_in_use() {
            for (i, product) in product.iter_mut().enumerate() {
                *product += dot(curvature.row(i), v);
            }
        }
    }
}

impl<T: Real, S: Shape<T>> TakesRidge<T> for NormalEquations<T, S> {
    fn add_ridge(&mut self, weights: &[T], x: &[T]) {
        let n = self.n();
        let Sums { gram, gradient } = self.candidate();
        for (j, (&weight, &x)) in weights.iter().zip(x).enumerate() {
            gram.as_mut()[j * n + j] += weight;
            gradient.as_mut()[j] += weight * x;
        }
    }
}

impl<T: Real, S: Shape<T>> SpansRanks<T> for NormalEquations<T, S> {
    fn write_candidate(&self, numbers: &mut Vec<T>) {
        let Sums { gram, gradient } = &self.sums[usize::from(!self.second)];
        let rows = gram.as_ref().chunks_exact(self.n()).enumerate();
        rows.for_each(|(i, row)| numbers.extend_from_slice(&row[..=i]));
        numbers.extend_from_slice(gradient.as_ref());
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn read_candidate(&mut self, mut numbers: &[T]) {
        let n = self.n();
        let Sums { gram, gradient } = self.candidate();
        for (i, row) in gram.as_mut().chunks_exact_mut(n).enumerate() {
            let (of_row, others) = numbers.split_at(i + 1);
            row[..=i].copy_from_slice(of_row);
            numbers = others;
        }
        gradient.as_mut().copy_from_slice(numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::shape::Dynamic;

    /// The step that taught the curvature leads, by the model, to the change of the gradient.
    #[test]
    fn products_and_solutions_have_the_same_curvature() {
        let mut model = NormalEquations::<f64, Dynamic>::new(2);
        for (r, jacobian) in
            [([1.0, 2.0, -1.0], [1.0, 0.5, 0.2, 2.0, 0.3, -1.0]), ([0.8, 1.5, -1.2], [1.2, 0.4, 0.1, 2.3, 0.5, -0.9])]
        {
            model.begin();
            model.add_rows(&mut r.clone(), &mut jacobian.clone());
            model.swap();
        }
        let (taught, mut product) = ([-0.1, -0.2], [0.0; 2]);
        model.learn_curvature(&taught);
        model.use_curvature(true);
        model.gram_times(&taught, &mut product);
        let [here, before] = [model.second, !model.second].map(|second| &model.sums[usize::from(second)].gradient);
        for j in 0..2 {
            assert!((product[j] - (here[j] - before[j])).abs() < 1e-14, "{product:?}");
        }
        let mut step = [0.0; 2];
        model.solve(None, 0.0, &[1.0; 2], &[], &mut step).unwrap();
        model.gram_times(&step, &mut product);
        for (product, gradient) in product.iter().zip(model.gradient()) {
            assert!((product + gradient).abs() < 1e-13, "{product} is not −{gradient}");
        }
        assert!((model.quadratic_form(&step) - dot(&step, &product)).abs() < 1e-13);
    }
}
