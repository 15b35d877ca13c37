//! An element of the group of rotations in the plane.

use super::group::group_operators;
use super::numbers;
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Rotation in the plane: a unit complex number.
///
/// Only [`normalize`](Self::normalize) normalizes: the other functions take the norm to be one, and keep it up to rounding.
///
/// ```
/// use marquardt::manifold::Rotation2;
///
/// let turn = Rotation2::exp(0.5) * Rotation2::exp(0.25);
/// assert!((turn.log() - 0.75_f64).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation2<S> {
    /// Cosine of the angle.
    pub cos: S,
    /// Sine of the angle.
    pub sin: S,
}

impl<S: Scalar> Rotation2<S> {
    /// The rotation by no angle.
    #[inline]
    pub fn identity() -> Self {
        Rotation2 { cos: S::constant(S::Real::from_f64(1.0)), sin: S::constant(S::Real::from_f64(0.0)) }
    }

    /// A rotation of plain numbers, as one whose derivatives are zero.
    #[inline]
    pub fn constant(rotation: Rotation2<S::Real>) -> Self {
        Rotation2 { cos: S::constant(rotation.cos), sin: S::constant(rotation.sin) }
    }

    /// The rotation of `[cos, sin]`, a point of [`SO2`](super::SO2).
    ///
    /// # Panics
    ///
    /// If there are not two numbers.
    #[inline]
    pub fn from_slice(slice: &[S]) -> Self {
        let [cos, sin] = numbers(slice);
        Rotation2 { cos, sin }
    }

    /// The numbers `[cos, sin]`.
    #[inline]
    pub fn to_array(self) -> [S; 2] {
        [self.cos, self.sin]
    }

    /// The rotation by `other`, then by `self`: also `self * other`.
    #[inline]
    pub fn compose(self, other: Self) -> Self {
        Rotation2 { cos: self.cos * other.cos - self.sin * other.sin, sin: self.sin * other.cos + self.cos * other.sin }
    }

    /// The rotation back.
    #[inline]
    pub fn inverse(self) -> Self {
        Rotation2 { cos: self.cos, sin: -self.sin }
    }

    /// `self⁻¹ ∘ other`: the rotation that leads from `self` to `other`.
    #[inline]
    pub fn between(self, other: Self) -> Self {
        Rotation2 { cos: self.cos * other.cos + self.sin * other.sin, sin: self.cos * other.sin - self.sin * other.cos }
    }

    /// `constant ∘ self`, for a rotation of plain numbers: a third of the cost of [`compose`](Self::compose) where there are
    /// derivatives.
    #[inline]
    pub fn premultiply(self, constant: Rotation2<S::Real>) -> Self {
        Rotation2 {
            cos: self.cos * constant.cos - self.sin * constant.sin,
            sin: self.cos * constant.sin + self.sin * constant.cos,
        }
    }

    /// The point, rotated.
    #[inline]
    pub fn transform(self, point: [S; 2]) -> [S; 2] {
        [self.cos * point[0] - self.sin * point[1], self.sin * point[0] + self.cos * point[1]]
    }

    /// The point, rotated back.
    #[inline]
    pub fn inverse_transform(self, point: [S; 2]) -> [S; 2] {
        [self.cos * point[0] + self.sin * point[1], self.cos * point[1] - self.sin * point[0]]
    }

    /// The rotation by an angle in radians.
    #[inline]
    pub fn exp(angle: S) -> Self {
        Rotation2 { cos: angle.cos(), sin: angle.sin() }
    }

    /// The angle in radians, from `−π` to `π`.
    #[inline]
    pub fn log(self) -> S {
        self.sin.atan2(self.cos)
    }

    /// The rotation with its norm made one. Derivatives are those of the quotient.
    #[inline]
    pub fn normalize(self) -> Self {
        let scale = (self.cos * self.cos + self.sin * self.sin).sqrt().recip();
        Rotation2 { cos: self.cos * scale, sin: self.sin * scale }
    }
}

group_operators!(Rotation2, "[cos, sin]");
