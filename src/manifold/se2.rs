//! Poses in the plane.

use super::group::group_manifold;
use super::{Manifold, Pose2, has_unit_norm, normalize, numbers};
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

group_manifold! {
    SE2 of Pose2: 2 + 2 => 3;
    delta => Pose2::exp(numbers(delta));
    element => element.log();
    x => {
        let ([_, _, cos, sin], zero) = (numbers(x), T::ZERO);
        [[cos, -sin, zero], [sin, cos, zero], [zero, zero, -sin], [zero, zero, cos]]
    }
}
