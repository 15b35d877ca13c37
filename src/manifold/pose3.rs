//! An element of the group of poses in space.

use super::group::group_operators;
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
    /// The pose at the origin.
    #[inline]
    pub fn identity() -> Self {
        Pose3 { translation: [S::constant(S::Real::from_f64(0.0)); 3], rotation: Rotation3::identity() }
    }

    /// A pose of plain numbers, as one whose derivatives are zero.
    #[inline]
    pub fn constant(pose: Pose3<S::Real>) -> Self {
        Pose3 { translation: pose.translation.map(S::constant), rotation: Rotation3::constant(pose.rotation) }
    }

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

    /// Writes the numbers `[x, y, z, i, j, k, w]`.
    ///
    /// # Panics
    ///
    /// If the slice does not have seven entries.
    #[inline]
    pub fn to_slice(self, slice: &mut [S]) {
        slice.copy_from_slice(&self.to_array());
    }

    /// The motion by `other`, then by `self`: also `self * other`.
    #[inline]
    pub fn compose(self, other: Self) -> Self {
        Pose3 { translation: self.transform(other.translation), rotation: self.rotation.compose(other.rotation) }
    }

    /// The motion back.
    #[inline]
    pub fn inverse(self) -> Self {
        let translation = self.rotation.inverse_transform(self.translation).map(|x| -x);
        Pose3 { translation, rotation: self.rotation.inverse() }
    }

    /// `self⁻¹ ∘ other`: the pose `other` as seen from `self`. Cheaper than by way of the inverse.
    #[inline]
    pub fn between(self, other: Self) -> Self {
        Pose3 {
            translation: self.inverse_transform(other.translation),
            rotation: self.rotation.between(other.rotation),
        }
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

    /// The point of the body, in the world.
    #[inline]
    pub fn transform(self, point: [S; 3]) -> [S; 3] {
        let rotated = self.rotation.transform(point);
        std::array::from_fn(|i| rotated[i] + self.translation[i])
    }

    /// The point of the world, in the body.
    #[inline]
    pub fn inverse_transform(self, point: [S; 3]) -> [S; 3] {
        self.rotation.inverse_transform(std::array::from_fn(|i| point[i] - self.translation[i]))
    }

    /// The pose with the norm of its rotation made one.
    #[inline]
    pub fn normalize(self) -> Self {
        Pose3 { rotation: self.rotation.normalize(), ..self }
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

group_operators!(Pose3);
