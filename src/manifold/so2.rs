//! Rotations in the plane.

use super::group::group_manifold;
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

group_manifold! {
    SO2 of Rotation2: 0 + 2 => 1;
    delta => Rotation2::exp(delta[0]);
    element => [element.log()];
    x => [[-x[1], x[0]]]
}
