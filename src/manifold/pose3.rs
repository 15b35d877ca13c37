//! An element of the group of poses in space.

use super::group::{group_operators, pose_methods};
use super::rotation3::{cross, square};
use super::series::{one_minus_cot, one_minus_sinc};
use super::{Rotation3, numbers};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Pose in space: a rotation followed by a translation. It maps points of the body to points of the world.
///
/// A composition costs 31 multiplications, a logarithm about as many and an arctangent; none allocates.
///
/// ```
/// use marquardt::manifold::{Pose3, Rotation3};
///
/// let camera =
///     Pose3 { translation: [1.0, 2.0, 3.0], rotation: Rotation3::exp([0.1, -0.2, 0.3]) };
/// let world = camera.transform([0.0, 0.0, 5.0]);
/// let back = camera.inverse_transform(world);
/// assert!((back[2] - 5.0_f64).abs() < 1e-14);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose3<S> {
    /// Place of the body's origin in the world.
    pub translation: [S; 3],
    /// Rotation from the body to the world.
    pub rotation: Rotation3<S>,
}

impl<S: Scalar> Pose3<S> {
    /// The pose of `[x, y, z, i, j, k, w]`, a point of [`SE3`](super::SE3).
    ///
    /// # Panics
    ///
    /// If there are not seven numbers.
    #[inline]
    pub fn from_slice(slice: &[S]) -> Self {
        let [x, y, z, i, j, k, w] = numbers(slice);
        Pose3 { translation: [x, y, z], rotation: Rotation3 { i, j, k, w } }
    }

    /// The numbers `[x, y, z, i, j, k, w]`.
    #[inline]
    pub fn to_array(self) -> [S; 7] {
        let ([x, y, z], Rotation3 { i, j, k, w }) = (self.translation, self.rotation);
        [x, y, z, i, j, k, w]
    }

    /// `constant ∘ self`, for a pose of plain numbers: a third of the cost of [`compose`](Self::compose) where there are
    /// derivatives. With the inverse of a measurement it is the error of a pose.
    #[inline]
    pub fn premultiply(self, constant: Pose3<S::Real>) -> Self {
        let ([x, y, z], matrix) = (self.translation, constant.rotation.to_matrix());
        let translation =
            std::array::from_fn(|i| x * matrix[i][0] + y * matrix[i][1] + z * matrix[i][2] + constant.translation[i]);
        Pose3 { translation, rotation: self.rotation.premultiply(constant.rotation) }
    }
}

impl<S: Scalar<Real: Real>> Pose3<S> {
    /// Exponential of `[translation, rotation vector]`: the pose that is reached from the origin in unit time at these constant
    /// velocities in the frame of the body, along a screw.
    #[inline]
    pub fn exp(twist: [S; 6]) -> Self {
        let [x, y, z, a, b, c] = twist;
        let (velocity, vector) = ([x, y, z], [a, b, c]);
        let (rotation, [square, cos_half, sinc_half]) = Rotation3::exp_with_coefficients(vector);
        // (1 − cos θ) / θ² and (θ − sin θ) / θ³.
        let first = sinc_half * sinc_half * S::Real::from_f64(0.5);
        let second = one_minus_sinc(square, || sinc_half * cos_half);
        let turned = cross(vector, velocity);
        let again = cross(vector, turned);
        let translation = std::array::from_fn(|i| velocity[i] + first * turned[i] + second * again[i]);
        Pose3 { translation, rotation }
    }

    /// Logarithm, the inverse of [`exp`](Self::exp): `[translation, rotation vector]`, the rotation vector at most of length `π`.
    ///
    /// Finite, with finite derivatives, for all poses; at the angle `π` as [`Rotation3::log`] has it.
    #[inline]
    pub fn log(self) -> [S; 6] {
        let (vector, cot) = self.rotation.log_with_cot();
        let second = one_minus_cot(square(vector), || cot);
        let turned = cross(vector, self.translation);
        let again = cross(vector, turned);
        let half = S::Real::from_f64(0.5);
        let [x, y, z] = std::array::from_fn(|i| self.translation[i] - turned[i] * half + second * again[i]);
        let [a, b, c] = vector;
        [x, y, z, a, b, c]
    }
}

pose_methods!(Pose3 of Rotation3, 3: 0 1 2);
group_operators!(Pose3, "[x, y, z, i, j, k, w]");
