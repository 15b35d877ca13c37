//! The vector space, whose steps are differences.

use super::{Manifold, pass_on_manifold};
use crate::real::Real;

/// Vectors of `N` numbers: `x ⊞ δ = x + δ`.
///
/// ```
/// use marquardt::manifold::{Euclidean, Manifold};
///
/// let mut moved = [0.0; 2];
/// Euclidean::<2>.plus(&[1.0, 2.0], &[0.5, -1.0], &mut moved);
/// assert_eq!(moved, [1.5, 1.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Euclidean<const N: usize>;

/// Vectors whose length is known at run time only; otherwise see [`Euclidean`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EuclideanSpace(pub usize);

impl<T: Real> Manifold<T> for EuclideanSpace {
    #[inline]
    fn ambient_size(&self) -> usize {
        self.0
    }

    #[inline]
    fn tangent_size(&self) -> usize {
        self.0
    }

    #[inline]
    fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
        let (x, delta, moved) = (&x[..self.0], &delta[..self.0], &mut moved[..self.0]);
        for i in 0..self.0 {
            moved[i] = x[i] + delta[i];
        }
    }

    #[inline]
    fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
        let (y, x, delta) = (&y[..self.0], &x[..self.0], &mut delta[..self.0]);
        for i in 0..self.0 {
            delta[i] = y[i] - x[i];
        }
    }

    fn plus_jacobian(&self, _x: &[T], jacobian: &mut [T]) {
        jacobian.fill(T::ZERO);
        jacobian.iter_mut().step_by(self.0 + 1).for_each(|diagonal| *diagonal = T::ONE);
    }

    fn contains(&self, x: &[T]) -> bool {
        x.len() == self.0 && x.iter().all(|x| x.is_finite())
    }

    fn sizes(&self, x: &[T], sizes: &mut [T]) {
        sizes.copy_from_slice(x);
    }

    fn coordinate(&self, direction: usize) -> Option<usize> {
        Some(direction)
    }

    fn name(&self) -> String {
        format!("Euclidean<{}>", self.0)
    }
}

/// Calls a method of the space of `N` dimensions.
macro_rules! space {
    ($self:ident, $method:ident($($argument:ident),*)) => {
        Manifold::<T>::$method(&EuclideanSpace(N), $($argument),*)
    };
}

impl<T: Real, const N: usize> Manifold<T> for Euclidean<N> {
    pass_on_manifold!(space);
}
