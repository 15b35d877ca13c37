//! Poses in the plane.

use super::{Manifold, Pose2, has_unit_norm, normalize, numbers, pose_sizes};
use crate::real::Real;

/// Poses in the plane, stored as `[x, y, cos, sin]`; a step is `[forward, left, angle]` in the frame of the body, the angle in
/// radians.
///
/// A step follows an arc of a circle: the exponential of the group. [`minus`](Manifold::minus) gives the angle from `−π` to `π`.
/// [`Pose2`] is an element that computes.
///
/// ```
/// use marquardt::manifold::{Manifold, Pose2, SE2};
/// use std::f64::consts::FRAC_PI_2;
///
/// // A quarter of a circle of radius 1, to the left.
/// let mut moved = [0.0; 4];
/// SE2.plus(&Pose2::identity().to_array(), &[FRAC_PI_2, 0.0, FRAC_PI_2], &mut moved);
/// assert!((moved[0] - 1.0).abs() < 1e-15 && (moved[1] - 1.0).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SE2;

impl<T: Real> Manifold<T> for SE2 {
    #[inline]
    fn ambient_size(&self) -> usize {
        4
    }

    #[inline]
    fn tangent_size(&self) -> usize {
        3
    }

    #[inline]
    fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
        (Pose2::from_slice(x) * Pose2::exp(numbers(delta))).to_slice(moved);
    }

    #[inline]
    fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
        delta.copy_from_slice(&Pose2::from_slice(x).between(Pose2::from_slice(y)).log());
    }

    #[inline]
    fn plus_jacobian(&self, x: &[T], jacobian: &mut [T]) {
        let [_, _, cos, sin] = numbers(x);
        let zero = T::ZERO;
        #[rustfmt::skip]
        jacobian.copy_from_slice(&[
            cos,  -sin, zero,
            sin,  cos,  zero,
            zero, zero, -sin,
            zero, zero, cos,
        ]);
    }

    fn contains(&self, x: &[T]) -> bool {
        x.len() == 4 && x[0].is_finite() && x[1].is_finite() && has_unit_norm(&x[2..])
    }

    fn normalize(&self, x: &mut [T]) {
        normalize(&mut x[2..]);
    }

    fn sizes(&self, x: &[T], sizes: &mut [T]) {
        pose_sizes(&x[..2], sizes);
    }

    fn name(&self) -> String {
        "SE2".to_owned()
    }
}
