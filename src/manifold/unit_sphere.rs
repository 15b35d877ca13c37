//! The unit sphere.

use super::series::{angle_over_sine, half_angle};
use super::{Manifold, has_unit_norm, normalize, numbers};
use crate::real::Real;

/// Unit vectors of `N` numbers; a step is a tangent vector of `N − 1` numbers, whose length is the angle in radians that the
/// point moves along a great circle. `N` is at least 2.
///
/// As Ceres' `SphereManifold`, with another basis of the tangent vectors: the first `N − 1` columns `B` of the Householder
/// reflection that maps the last axis to `−s x`, which is free of cancellation,
///
/// ```text
/// B = [ I − h hᵀ / (1 + |c|) ]    x = [ h ]    s = sign of c
///     [        −s hᵀ         ]        [ c ]
/// ```
///
/// and `x ⊞ δ = cos‖δ‖ x + (sin‖δ‖ / ‖δ‖) Bδ`. The basis jumps where the last number changes its
/// sign (on an ordinary sphere every basis jumps somewhere); steps are correct on both sides.
///
/// [`minus`](Manifold::minus) gives steps of at most length `π`; to the opposite point, where all directions lead, along the first.
///
/// ```
/// use marquardt::manifold::{Manifold, UnitSphere};
///
/// let (up, east) = ([0.0, 0.0, 1.0_f64], [1.0, 0.0, 0.0]);
/// let mut step = [0.0; 2];
/// UnitSphere::<3>.minus(&east, &up, &mut step);
/// assert!((step[0] - std::f64::consts::FRAC_PI_2).abs() < 1e-15 && step[1] == 0.0);
/// ```
///
/// # References
///
/// Hertzberg et al. 2013, *Integrating generic sensor fusion algorithms with sound state representations through encapsulation
/// of manifolds*; Golub & Van Loan, *Matrix Computations*, §5.1, for the reflection.
#[doc(alias = "SphereManifold")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnitSphere<const N: usize>;

/// The numbers of a unit vector but the last, the last, and its sign.
#[inline]
fn split<T: Real, const N: usize>(x: &[T; N]) -> (&[T], T, T) {
    let (head, last) = (&x[..N - 1], x[N - 1]);
    (head, last, if last < T::ZERO { -T::ONE } else { T::ONE })
}

#[inline]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).map(|(&a, &b)| a * b).sum()
}

impl<T: Real, const N: usize> Manifold<T> for UnitSphere<N> {
    #[inline]
    fn ambient_size(&self) -> usize {
        const { assert!(N >= 2, "a sphere of unit vectors of fewer than two numbers has no steps") };
        N
    }

    #[inline]
    fn tangent_size(&self) -> usize {
        N - 1
    }

    #[inline]
    fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
        let x: [T; N] = numbers(x);
        let (head, last, sign) = split(&x);
        // In half angles: sin θ / θ = cos(θ/2) sinc(θ/2), cos θ = 1 − 2 sin²(θ/2).
        let square = dot(delta, delta);
        let [cos_half, sinc_half] = half_angle(square, || square.sqrt());
        let cos = T::ONE - square * sinc_half * sinc_half * T::from_f64(0.5);
        let sinc = cos_half * sinc_half;
        let along = dot(head, delta);
        let reflected = along / (T::ONE + last.abs());
        for i in 0..N - 1 {
            moved[i] = cos * x[i] + sinc * (delta[i] - reflected * x[i]);
        }
        moved[N - 1] = cos * last - sinc * sign * along;
    }

    #[inline]
    fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
        let (x, y): ([T; N], [T; N]) = (numbers(x), numbers(y));
        let (head, last, sign) = split(&x);
        // Bᵀx = 0: the difference of near points is exact, their products are not.
        let difference: [T; N] = std::array::from_fn(|i| y[i] - x[i]);
        let reflected = dot(head, &difference[..N - 1]) / (T::ONE + last.abs()) + sign * difference[N - 1];
        for i in 0..N - 1 {
            delta[i] = difference[i] - reflected * x[i];
        }
        let (sine_squared, cosine) = (dot(delta, delta), dot(&x, &y));
        if sine_squared == T::ZERO && cosine < T::ZERO {
            delta.fill(T::ZERO);
            delta[0] = T::from_f64(std::f64::consts::PI);
            return;
        }
        let stretch = angle_over_sine(sine_squared, cosine);
        delta.iter_mut().for_each(|delta| *delta *= stretch);
    }

    fn plus_jacobian(&self, x: &[T], jacobian: &mut [T]) {
        let x: [T; N] = numbers(x);
        let (head, last, sign) = split(&x);
        let (rows, bottom) = jacobian.split_at_mut((N - 1) * (N - 1));
        for (i, row) in rows.chunks_exact_mut(N - 1).enumerate() {
            let reflected = head[i] / (T::ONE + last.abs());
            for (j, entry) in row.iter_mut().enumerate() {
                *entry = -reflected * head[j];
            }
            row[i] += T::ONE;
        }
        for (entry, &x) in bottom.iter_mut().zip(head) {
            *entry = -sign * x;
        }
    }

    fn contains(&self, x: &[T]) -> bool {
        x.len() == N && has_unit_norm(x)
    }

    fn normalize(&self, x: &mut [T]) {
        normalize(x);
    }

    fn name(&self) -> String {
        format!("UnitSphere<{N}>")
    }
}
