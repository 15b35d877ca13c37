//! All of `Rⁿ`.

use super::Space;
use crate::evaluation::Evaluation;
use crate::real::Real;

/// A step is added to a point.
pub(in crate::solver) struct EuclideanSpace;

impl<T: Real> Space<T> for EuclideanSpace {
    #[inline(always)]
    fn look_ahead(&mut self, _: &dyn Evaluation<T>, x: &[T], share: T, step: &[T], moved: &mut [T]) {
        add_share(x, share, step, moved);
    }
}

/// `moved = x + share·step`.
#[inline(always)]
pub(super) fn add_share<T: Real>(x: &[T], share: T, step: &[T], moved: &mut [T]) {
    for ((moved, &x), &step) in moved.iter_mut().zip(x).zip(step) {
        *moved = x + share * step;
    }
}
