//! The vector space, whose steps are differences.

use super::Manifold;
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

macro_rules! vector_space {
    ([$($generics:tt)*], $type:ty, $space:ident => $size:expr) => {
        impl<T: Real $($generics)*> Manifold<T> for $type {
            #[inline]
            fn ambient_size(&self) -> usize {
                let $space = self;
                $size
            }

            #[inline]
            fn tangent_size(&self) -> usize {
                let $space = self;
                $size
            }

            #[inline]
            fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
                let $space = self;
                let (x, delta, moved) = (&x[..$size], &delta[..$size], &mut moved[..$size]);
                for i in 0..$size {
                    moved[i] = x[i] + delta[i];
                }
            }

            #[inline]
            fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
                let $space = self;
                let (y, x, delta) = (&y[..$size], &x[..$size], &mut delta[..$size]);
                for i in 0..$size {
                    delta[i] = y[i] - x[i];
                }
            }

            fn plus_jacobian(&self, _x: &[T], jacobian: &mut [T]) {
                let $space = self;
                jacobian.fill(T::ZERO);
                jacobian.iter_mut().step_by($size + 1).for_each(|diagonal| *diagonal = T::ONE);
            }

            fn contains(&self, x: &[T]) -> bool {
                let $space = self;
                x.len() == $size && x.iter().all(|x| x.is_finite())
            }

            fn sizes(&self, x: &[T], sizes: &mut [T]) {
                sizes.copy_from_slice(x);
            }

            fn name(&self) -> String {
                let $space = self;
                format!("Euclidean<{}>", $size)
            }
        }
    };
}

vector_space!([, const N: usize], Euclidean<N>, _space => N);
vector_space!([], EuclideanSpace, space => space.0);
