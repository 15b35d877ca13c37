//! An element of the group of poses in the plane.

use super::group::{group_operators, pose_methods};
use super::series::{half_angle, is_small, one_minus_cot};
use super::{Rotation2, numbers};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Pose in the plane: a rotation followed by a translation. It maps points of the body to points of the world.
///
/// ```
/// use marquardt::manifold::Pose2;
///
/// let robot = Pose2::new(1.0, 2.0, std::f64::consts::FRAC_PI_2);
/// let [x, y] = robot.transform([3.0, 0.0]);
/// assert!((x - 1.0).abs() < 1e-15 && (y - 5.0).abs() < 1e-15);
/// assert!((robot * robot.inverse()).log().iter().all(|x| x.abs() < 1e-15));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose2<S> {
    /// Place of the body's origin in the world.
    pub translation: [S; 2],
    /// Rotation from the body to the world.
    pub rotation: Rotation2<S>,
}

impl<S: Scalar> Pose2<S> {
    /// The pose at `(x, y)` with the heading `angle` in radians.
    #[inline]
    pub fn new(x: S, y: S, angle: S) -> Self {
        Pose2 { translation: [x, y], rotation: Rotation2::exp(angle) }
    }

    /// The pose of `[x, y, cos, sin]`, a point of [`SE2`](super::SE2).
    ///
    /// # Panics
    ///
    /// If there are not four numbers.
    #[inline]
    pub fn from_slice(slice: &[S]) -> Self {
        let [x, y, cos, sin] = numbers(slice);
        Pose2 { translation: [x, y], rotation: Rotation2 { cos, sin } }
    }

    /// The numbers `[x, y, cos, sin]`.
    #[inline]
    pub fn to_array(self) -> [S; 4] {
        let ([x, y], Rotation2 { cos, sin }) = (self.translation, self.rotation);
        [x, y, cos, sin]
    }

    /// `constant ∘ self`, for a pose of plain numbers: a third of the cost of [`compose`](Self::compose) where there are
    /// derivatives. With the inverse of a measurement it is the error of a pose.
    #[inline]
    pub fn premultiply(self, constant: Pose2<S::Real>) -> Self {
        let ([x, y], Rotation2 { cos, sin }) = (self.translation, constant.rotation);
        let [a, b] = constant.translation;
        Pose2 {
            translation: [x * cos - y * sin + a, x * sin + y * cos + b],
            rotation: self.rotation.premultiply(constant.rotation),
        }
    }
}

impl<S: Scalar<Real: Real>> Pose2<S> {
    /// Exponential of `[forward, left, angle]`: the pose that is reached from the origin in unit time at these constant
    /// velocities in the frame of the body, along an arc of a circle.
    #[inline]
    pub fn exp(twist: [S; 3]) -> Self {
        let [forward, left, angle] = twist;
        let two = S::Real::from_f64(2.0);
        let [cos_half, sinc_half] = half_angle(angle * angle, || angle);
        let sin_half = sinc_half * angle * S::Real::from_f64(0.5);
        // sin θ / θ and (1 − cos θ) / θ.
        let (a, b) = (sinc_half * cos_half, sinc_half * sin_half);
        Pose2 {
            translation: [a * forward - b * left, b * forward + a * left],
            rotation: Rotation2 { cos: -(sin_half * sin_half * two) + S::Real::ONE, sin: sin_half * cos_half * two },
        }
    }

    /// Logarithm, the inverse of [`exp`](Self::exp): `[forward, left, angle]` with the angle from `−π` to `π`. Finite, with finite
    /// derivatives, for all poses.
    #[inline]
    pub fn log(self) -> [S; 3] {
        let ([x, y], Rotation2 { cos, sin }) = (self.translation, self.rotation);
        let angle = self.rotation.log();
        let half = angle * S::Real::from_f64(0.5);
        let square = angle * angle;
        // ½ θ cot(θ/2), by the form that does not cancel.
        let cot = if is_small(square) {
            -(square * one_minus_cot(square, || angle)) + S::Real::ONE
        } else if cos.value() > S::Real::ZERO {
            half * (cos + S::Real::ONE) / sin
        } else {
            half * sin / (-cos + S::Real::ONE)
        };
        [cot * x + half * y, cot * y - half * x, angle]
    }
}

pose_methods!(Pose2 of Rotation2, 2: 0 1);
group_operators!(Pose2, "[x, y, cos, sin]");
