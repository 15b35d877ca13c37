//! The linear model of the residuals in double precision, whatever the numbers of the problem are, by QR of its rows and in
//! Marquardt's scaling.

use crate::evaluation::{Partial, RowSums};
use crate::kernels::vector::scaled_norm;
use crate::linear::{LinearModel, Orthogonal};
use crate::problem::BoundSide;
use crate::real::Real;
use crate::storage::Storage;

/// `QR = J` and `Qᵀr` at a point.
pub(super) struct PlainModel<S: Storage<f64>> {
    triangle: Orthogonal<f64, S>,
    /// `‖J_j‖`.
    norms: S::Vector,
    /// Parameters that every step leaves where they are.
    held: S::Sides,
    work: S::Vector,
}

/// A step of the linear model.
pub(super) struct PlainStep<V> {
    pub(super) step: V,
    /// Predicted reduction of `½‖r‖²`.
    pub(super) predicted: f64,
}

impl<S: Storage<f64>> PlainModel<S> {
    /// A model of no rows, of `n` parameters some of which are held.
    pub(super) fn new(n: usize, is_held: impl Fn(usize) -> bool) -> Self {
        let mut triangle = Orthogonal::new(n);
        triangle.begin();
        let mut held = S::sides(n);
        hold(held.as_mut(), is_held);
        PlainModel { triangle, norms: S::vector(n), held, work: S::vector(n) }
    }

    /// Completes the rows; `None` where they are not finite.
    pub(super) fn complete(mut self) -> Option<Self> {
        self.triangle.swap();
        self.triangle.column_norms(self.norms.as_mut());
        let is_finite = self.norms.as_ref().iter().chain(self.triangle.gradient()).all(|entry| f64::is_finite(*entry));
        is_finite.then_some(self)
    }

    /// Solves `(JᵀJ + λD²)δ = −Jᵀr` in the parameters that have influence and are neither held nor left out; `None` where the matrix
    /// is singular. `is_left_out` is told the length of the step that the derivative by the parameter alone asks for.
    pub(super) fn step(
        &mut self,
        lambda: f64,
        is_left_out: impl Fn(usize, f64) -> bool,
    ) -> Option<PlainStep<S::Vector>> {
        let (n, norms, gradient) = (self.norms.as_ref().len(), self.norms.as_ref(), self.triangle.gradient());
        let (mut held, mut step) = (self.held.clone(), S::vector(n));
        hold(held.as_mut(), |j| norms[j] == 0.0 || is_left_out(j, (gradient[j] / norms[j] / norms[j]).abs()));
        self.triangle.solve_damped(lambda, norms, held.as_ref(), step.as_mut()).ok()?;
        let predicted = -self.triangle.slope(step.as_ref()) - 0.5 * self.triangle.quadratic_form(step.as_ref());
        let is_finite = step.as_ref().iter().chain([&predicted]).all(|entry| f64::is_finite(*entry));
        is_finite.then_some(PlainStep { step, predicted })
    }

    /// Prepares [projections](Self::project) on the steps that the linear model does not see: those that change the residuals by less than
    /// `√lost` of their length. `unit` is the step of length one along a column that is zero. Returns false where there are none.
    pub(super) fn find_null_space(&mut self, lost: f64, unit: impl Fn(usize) -> f64) -> bool {
        for (j, norm) in self.norms.as_mut().iter_mut().enumerate() {
            if *norm == 0.0 {
                *norm = unit(j).recip();
            }
        }
        let (d, held) = (self.norms.as_ref(), self.held.as_ref());
        self.triangle.solve_damped(lost, d, held, self.work.as_mut()).is_ok()
    }

    /// The part of a step of length one along parameter `j` that the linear model does not see, `λ(JᵀJ + λD²)⁻¹D²a` with the `λ` of
    /// [`find_null_space`](Self::find_null_space), made as long again; `None` where hardly anything is left.
    pub(super) fn project(&mut self, lost: f64, j: usize) -> Option<S::Vector> {
        let (d, n) = (self.norms.as_ref(), self.norms.as_ref().len());
        if self.held.as_ref()[j].is_some() {
            return None;
        }
        let mut part = S::vector(n);
        part.as_mut()[j] = d[j];
        self.triangle.solve_again(part.as_mut());
        part.as_mut().iter_mut().for_each(|step| *step *= lost);
        let length = scaled_norm(d, part.as_ref());
        part.as_mut().iter_mut().for_each(|step| *step /= length);
        let is_usable = length > HARDLY && part.as_ref().iter().all(|step| f64::is_finite(*step));
        is_usable.then_some(part)
    }
}

/// Rows of any precision become rows in double precision. Other ranks are told each entry by a sum of two numbers.
impl<T: Real, S: Storage<f64>> Partial<T> for PlainModel<S> {
    fn begin(&mut self) {
        Partial::<f64>::begin(&mut self.triangle);
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn write(&self, entries: &mut Vec<T>) {
        let mut own = Vec::new();
        self.triangle.write(&mut own);
        entries.extend(own.iter().flat_map(|&entry| {
            let rounded = T::from_f64(entry);
            [rounded, T::from_f64(entry - rounded.to_f64())]
        }));
    }

    fn read(&mut self, entries: &[T]) {
        let sums: Vec<f64> = entries.chunks_exact(2).map(|parts| parts[0].to_f64() + parts[1].to_f64()).collect();
        self.triangle.read(&sums);
    }
}

impl<T: Real, S: Storage<f64>> RowSums<T> for PlainModel<S> {
    fn add(&mut self, first: usize, r: &mut [T], jacobian: &mut [T]) {
        let n = self.norms.as_ref().len();
        for (row, r) in jacobian.chunks_exact(n).zip(r) {
            self.work.as_mut().iter_mut().zip(row).for_each(|(to, from)| *to = from.to_f64());
            self.triangle.add(first, &mut [r.to_f64()], self.work.as_mut());
        }
    }

    fn overwrites(&self) -> bool {
        true
    }
}

/// Length of a projection below which the step is hardly in the null space.
const HARDLY: f64 = 0.1;

/// Holds more variables; which bound it is by makes no difference.
fn hold(held: &mut [Option<BoundSide>], is_held: impl Fn(usize) -> bool) {
    held.iter_mut().enumerate().filter(|&(j, _)| is_held(j)).for_each(|(_, held)| *held = Some(BoundSide::Lower));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Dynamic, Fixed};

    /// The model of rows with their residuals.
    fn model<S: Storage<f64>, const N: usize>(rows: &[([f64; N], f64)], held: [bool; N]) -> PlainModel<S> {
        let mut model = PlainModel::new(N, |j| held[j]);
        rows.iter().for_each(|(row, r)| RowSums::<f64>::add(&mut model, 0, &mut [*r], &mut row.clone()));
        model.complete().unwrap()
    }

    const LINE: [([f64; 2], f64); 3] = [([1.0, 1.0], -1.0), ([1.0, 2.0], -2.0), ([1.0, 3.0], -3.0)];

    #[test]
    fn an_undamped_step_solves_the_least_squares_problem() {
        let PlainStep { step, predicted } = model::<Fixed<2>, 2>(&LINE, [false; 2]).step(0.0, |_, _| false).unwrap();
        assert!((step[0]).abs() < 1e-12 && (step[1] - 1.0).abs() < 1e-12, "{step:?}");
        assert!((predicted - 7.0).abs() < 1e-12, "all of ½‖r‖²");
    }

    #[test]
    fn parameters_stay_that_are_held_or_left_out() {
        let held = model::<Dynamic, 2>(&LINE, [false, true]).step(0.0, |_, _| false).unwrap();
        let left_out = model::<Dynamic, 2>(&LINE, [false; 2]).step(0.0, |j, _| j == 1).unwrap();
        for PlainStep { step, predicted } in [held, left_out] {
            assert!((step[0] - 2.0).abs() < 1e-12 && step[1] == 0.0 && predicted < 7.0, "{step:?}");
        }
    }

    const DEPENDENT: [([f64; 3], f64); 3] = [([1.0, 1e9, 3.0], 1.0), ([2.0, 2e9, 1.0], 1.0), ([3.0, 3e9, 2.0], 1.0)];
    const LOST: f64 = 1e-13;

    #[test]
    fn a_null_space_has_no_influence_whatever_the_units() {
        let mut free = model::<Fixed<3>, 3>(&DEPENDENT, [false; 3]);
        assert!(free.find_null_space(LOST, |_| 1.0));
        for j in [0, 1] {
            let direction = free.project(LOST, j).unwrap();
            assert!((direction[0] / (1e9 * direction[1]) + 1.0).abs() < 1e-7 && direction[2].abs() < 1e-7);
        }
        assert!(free.project(LOST, 2).is_none());
        let mut held = model::<Dynamic, 3>(&DEPENDENT, [false, true, false]);
        assert!(held.find_null_space(LOST, |_| 1.0));
        assert!((0..3).all(|j| held.project(LOST, j).is_none()));
    }

    #[test]
    fn a_column_of_zeros_is_a_direction_of_its_own() {
        let rows = [([1.0, 0.0], 1.0), ([2.0, 0.0], 1.0)];
        let mut model = model::<Dynamic, 2>(&rows, [false; 2]);
        assert_eq!(model.step(0.0, |_, _| false).unwrap().step[1], 0.0);
        assert!(model.find_null_space(LOST, |_| 7.0));
        assert!(model.project(LOST, 0).is_none());
        assert_eq!(model.project(LOST, 1).unwrap(), [0.0, 7.0]);
    }
}
