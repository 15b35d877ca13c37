//! The iteration on a manifold: moving a point by a step, and the size of a small step.

use super::damping::DampingPolicy;
use super::iteration::Iteration;
use crate::linear::shape::Shape;
use crate::problem::LeastSquares;
use crate::real::Real;

/// Additional memory of a problem on a manifold.
#[derive(Debug, Clone, Default)]
pub(super) struct PointSizes<T> {
    /// [Sizes](crate::manifold::Manifold::sizes) of the current point, and of the trial point where one was taken.
    sizes: [Vec<T>; 2],
    /// Part of a step.
    part: Vec<T>,
}

impl<T: Real> PointSizes<T> {
    /// The size of the current point.
    pub(super) fn sizes(&self) -> &[T] {
        &self.sizes[0]
    }

    /// Exchanges the current point with the trial point.
    pub(super) fn swap(&mut self) {
        self.sizes.swap(0, 1);
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Moves the trial point by a fraction of the step, without regard to bounds.
    #[inline]
    pub(super) fn look_ahead<P: LeastSquares<T> + ?Sized>(&mut self, problem: &P, share: T) {
        let (x, step, trial) = (self.x.as_ref(), self.step.as_ref(), self.trial.as_mut());
        let Some(manifold) = problem.manifold() else {
            for ((trial, &x), &step) in trial.iter_mut().zip(x).zip(step) {
                *trial = x + share * step;
            }
            return;
        };
        let part = &mut self.point_sizes.get_or_insert_default().part;
        part.clear();
        part.extend(step.iter().map(|&step| share * step));
        manifold.plus(x, part, trial);
        manifold.normalize(trial);
    }

    /// The size of the point, in the units of the numbers of a step.
    #[inline]
    pub(super) fn sizes(&self) -> &[T] {
        self.point_sizes.as_ref().map_or_else(|| self.x.as_ref(), PointSizes::sizes)
    }

    /// Makes the current point's sizes known.
    #[inline]
    pub(super) fn measure_point<P: LeastSquares<T> + ?Sized>(&mut self, problem: &P) {
        if let Some(manifold) = problem.manifold() {
            let sizes = &mut self.point_sizes.get_or_insert_default().sizes[0];
            sizes.resize(self.plan.n, T::ZERO);
            manifold.sizes(self.x.as_ref(), sizes);
        }
    }
}
