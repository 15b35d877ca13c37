//! Poses in space.

use super::so3::quaternion_jacobian;
use super::{Manifold, Pose3, has_unit_norm, normalize, numbers, pose_sizes};
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

impl<T: Real> Manifold<T> for SE3 {
    #[inline]
    fn ambient_size(&self) -> usize {
        7
    }

    #[inline]
    fn tangent_size(&self) -> usize {
        6
    }

    #[inline]
    fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
        (Pose3::from_slice(x) * Pose3::exp(numbers(delta))).to_slice(moved);
    }

    #[inline]
    fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
        delta.copy_from_slice(&Pose3::from_slice(x).between(Pose3::from_slice(y)).log());
    }

    #[inline]
    fn plus_jacobian(&self, x: &[T], jacobian: &mut [T]) {
        let rotation = Pose3::from_slice(x).rotation;
        let (matrix, quaternion) = (rotation.to_matrix(), quaternion_jacobian(rotation));
        let rows: [[T; 6]; 7] = std::array::from_fn(|row| {
            std::array::from_fn(|column| match (row < 3, column < 3) {
                (true, true) => matrix[row][column],
                (false, false) => quaternion[row - 3][column - 3],
                _ => T::ZERO,
            })
        });
        jacobian.copy_from_slice(rows.as_flattened());
    }

    fn contains(&self, x: &[T]) -> bool {
        x.len() == 7 && x[..3].iter().all(|x| x.is_finite()) && has_unit_norm(&x[3..])
    }

    fn normalize(&self, x: &mut [T]) {
        normalize(&mut x[3..]);
    }

    fn sizes(&self, x: &[T], sizes: &mut [T]) {
        pose_sizes(&x[..3], sizes);
    }

    fn name(&self) -> String {
        "SE3".to_owned()
    }
}
