//! Rotations in the plane.

use super::{Manifold, Rotation2, has_unit_norm, normalize};
use crate::real::Real;

/// Rotations in the plane, stored as the unit complex number `[cos, sin]`; a step is an angle in radians.
///
/// Unlike an angle, a point has no jump at `π`. [`minus`](Manifold::minus) gives the angle from `−π` to `π`. [`Rotation2`] is an
/// element that computes.
///
/// ```
/// use marquardt::manifold::{Manifold, SO2};
///
/// let (x, y) = ([3_f64.cos(), 3_f64.sin()], [(-3_f64).cos(), (-3_f64).sin()]);
/// let mut step = [0.0];
/// SO2.minus(&y, &x, &mut step);
/// assert!((step[0] - (std::f64::consts::TAU - 6.0)).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SO2;

impl<T: Real> Manifold<T> for SO2 {
    #[inline]
    fn ambient_size(&self) -> usize {
        2
    }

    #[inline]
    fn tangent_size(&self) -> usize {
        1
    }

    #[inline]
    fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
        (Rotation2::from_slice(x) * Rotation2::exp(delta[0])).to_slice(moved);
    }

    #[inline]
    fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
        delta[0] = Rotation2::from_slice(x).between(Rotation2::from_slice(y)).log();
    }

    #[inline]
    fn plus_jacobian(&self, x: &[T], jacobian: &mut [T]) {
        jacobian.copy_from_slice(&[-x[1], x[0]]);
    }

    fn contains(&self, x: &[T]) -> bool {
        x.len() == 2 && has_unit_norm(x)
    }

    fn normalize(&self, x: &mut [T]) {
        normalize(x);
    }

    fn name(&self) -> String {
        "SO2".to_owned()
    }
}
