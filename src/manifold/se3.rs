//! Poses in space.

use super::group::group_manifold;
use super::so3::quaternion_jacobian;
use super::{Manifold, Pose3, Rotation3, has_unit_norm, normalize, numbers};
use crate::real::Real;

/// Poses in space, stored as `[x, y, z, i, j, k, w]`, the translation and the unit quaternion; a step is
/// `[translation, rotation vector]` in the frame of the body, the length of the rotation vector in radians.
///
/// A step follows a screw: the exponential of the group. [`minus`](Manifold::minus) gives rotation vectors of at most length `π`.
/// [`Pose3`] is an element that computes.
///
/// ```
/// use marquardt::manifold::{Manifold, SE3};
///
/// let x = [1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8_f64];
/// let (mut moved, mut step) = ([0.0; 7], [0.0; 6]);
/// SE3.plus(&x, &[0.1, 0.2, 0.3, 1.0, -0.5, 0.2], &mut moved);
/// SE3.minus(&moved, &x, &mut step);
/// assert!((step[0] - 0.1).abs() < 1e-14 && (step[3] - 1.0).abs() < 1e-14);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SE3;

/// Derivatives of a point by a step: of its translation by the velocity, and of its quaternion by the rotation vector.
#[inline]
fn pose_jacobian<T: Real>(rotation: Rotation3<T>) -> [[T; 6]; 7] {
    let (matrix, quaternion) = (rotation.to_matrix(), quaternion_jacobian(rotation));
    std::array::from_fn(|row| {
        std::array::from_fn(|column| match (row < 3, column < 3) {
            (true, true) => matrix[row][column],
            (false, false) => quaternion[row - 3][column - 3],
            _ => T::ZERO,
        })
    })
}

group_manifold! {
    SE3 of Pose3: 3 + 4 => 6;
    delta => Pose3::exp(numbers(delta));
    element => element.log();
    x => pose_jacobian(Pose3::from_slice(x).rotation)
}
