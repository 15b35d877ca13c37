//! A manifold.

use super::Space;
use super::euclidean::add_share;
use crate::evaluation::Evaluation;
use crate::real::Real;

/// Memory for the points and steps of a problem's manifold.
pub(in crate::solver) struct ManifoldSpace<T> {
    /// [Sizes](crate::manifold::Manifold::sizes) of the current point.
    sizes: Vec<T>,
    /// Part of a step.
    part: Vec<T>,
}

impl<T: Real> ManifoldSpace<T> {
    /// For steps of `n` entries.
    pub(super) fn new(n: usize) -> Self {
        ManifoldSpace { sizes: vec![T::ONE; n], part: vec![T::ZERO; n] }
    }
}

impl<T: Real> Space<T> for ManifoldSpace<T> {
    #[inline(never)]
    fn look_ahead(&mut self, evaluation: &dyn Evaluation<T>, x: &[T], share: T, step: &[T], moved: &mut [T]) {
        let Some(manifold) = evaluation.manifold() else { return add_share(x, share, step, moved) };
        self.part.iter_mut().zip(step).for_each(|(part, &step)| *part = share * step);
        manifold.plus(x, &self.part, moved);
        manifold.normalize(moved);
    }

    #[inline(never)]
    fn minus(&self, evaluation: &dyn Evaluation<T>, y: &[T], x: &[T], step: &mut [T]) {
        if let Some(manifold) = evaluation.manifold() {
            manifold.minus(y, x, step);
        }
    }

    #[inline(never)]
    fn arrive(&mut self, evaluation: &dyn Evaluation<T>, x: &[T]) {
        if let Some(manifold) = evaluation.manifold() {
            manifold.sizes(x, &mut self.sizes);
        }
    }

    fn sizes<'a>(&'a self, _: &'a [T]) -> &'a [T] {
        &self.sizes
    }
}
