//! Rotations in space.

use super::group::group_manifold;
use super::{Manifold, Rotation3, has_unit_norm, normalize, numbers};
use crate::real::Real;

/// Rotations in space, stored as the unit quaternion `[i, j, k, w]`; a step is a rotation vector: its direction is the axis in
/// the frame of the body, its length the angle in radians.
///
/// This is Ceres' `EigenQuaternionManifold`, but for its steps: those of Ceres are half as long, and in the frame of the world.
/// [`minus`](Manifold::minus) gives vectors of at most length `π`, also from `q` to a quaternion near `−q`, where it gives a short one;
/// at `π` it gives one of the two. [`Rotation3`] is an element that computes.
///
/// ```
/// use marquardt::manifold::{Manifold, SO3};
///
/// // A quarter turn about the third axis.
/// let mut moved = [0.0; 4];
/// SO3.plus(&[0.0, 0.0, 0.0, 1.0_f64], &[0.0, 0.0, std::f64::consts::FRAC_PI_2], &mut moved);
/// let half = 0.5_f64.sqrt();
/// assert!((moved[2] - half).abs() < 1e-15 && (moved[3] - half).abs() < 1e-15);
/// ```
#[doc(alias = "UnitQuaternionManifold")]
#[doc(alias = "EigenQuaternionManifold")]
#[doc(alias = "quaternion")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SO3;

/// `∂(q ⊞ δ)/∂δ` at zero, four rows.
#[inline]
pub(super) fn quaternion_jacobian<T: Real>(q: Rotation3<T>) -> [[T; 3]; 4] {
    let half = T::from_f64(0.5);
    let [i, j, k, w] = q.to_array().map(|q| q * half);
    [[w, -k, j], [k, w, -i], [-j, i, w], [-i, -j, -k]]
}

group_manifold! {
    SO3 of Rotation3: 0 + 4 => 3;
    delta => Rotation3::exp(numbers(delta));
    element => element.log();
    x => quaternion_jacobian(Rotation3::from_slice(x))
}
