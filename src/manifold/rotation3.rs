//! An element of the group of rotations in space.

use super::group::group_operators;
use super::numbers;
use super::series::{angle_over_sine, half_angle};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Rotation in space: a unit quaternion `i i + j j + k k + w`, the scalar last.
///
/// `q` and `−q` are the same rotation. Only [`normalize`](Self::normalize) normalizes: the other functions take the norm to be one,
/// and keep it up to rounding.
///
/// A composition costs 16 multiplications, the rotation of a point 15 (two cross products).
///
/// ```
/// use marquardt::manifold::Rotation3;
///
/// // A third of a turn about the diagonal permutes the axes.
/// let third = std::f64::consts::TAU / 3.0 / 3_f64.sqrt();
/// let rotation = Rotation3::exp([third; 3]);
/// let [x, y, z] = rotation.transform([1.0, 2.0, 3.0]);
/// assert!((x - 3.0).abs() < 1e-15 && (y - 1.0).abs() < 1e-15 && (z - 2.0).abs() < 1e-15);
/// ```
#[doc(alias = "quaternion")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation3<S> {
    /// Coefficient of `i`: first number of the axis, times the sine of half the angle.
    pub i: S,
    /// Coefficient of `j`.
    pub j: S,
    /// Coefficient of `k`.
    pub k: S,
    /// Scalar part: cosine of half the angle.
    pub w: S,
}

/// The cross product.
#[inline]
pub(super) fn cross<S: Scalar>(a: [S; 3], b: [S; 3]) -> [S; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The square of the length.
#[inline]
pub(super) fn square<S: Scalar>(a: [S; 3]) -> S {
    a[0] * a[0] + a[1] * a[1] + a[2] * a[2]
}

impl<S: Scalar> Rotation3<S> {
    /// The rotation by no angle.
    #[inline]
    pub fn identity() -> Self {
        let [zero, one] = [0.0, 1.0].map(|number| S::constant(S::Real::from_f64(number)));
        Rotation3 { i: zero, j: zero, k: zero, w: one }
    }

    /// A rotation of plain numbers, as one whose derivatives are zero.
    #[inline]
    pub fn constant(rotation: Rotation3<S::Real>) -> Self {
        let [i, j, k, w] = rotation.to_array().map(S::constant);
        Rotation3 { i, j, k, w }
    }

    /// The rotation of `[i, j, k, w]`, a point of [`SO3`](super::SO3).
    ///
    /// # Panics
    ///
    /// If there are not four numbers.
    #[inline]
    pub fn from_slice(slice: &[S]) -> Self {
        let [i, j, k, w] = numbers(slice);
        Rotation3 { i, j, k, w }
    }

    /// The numbers `[i, j, k, w]`.
    #[inline]
    pub fn to_array(self) -> [S; 4] {
        [self.i, self.j, self.k, self.w]
    }

    /// The rotation matrix, row by row: its columns are the axes of the body in the world.
    #[inline]
    pub fn to_matrix(self) -> [[S; 3]; 3] {
        let Rotation3 { i, j, k, w } = self;
        let (i2, j2, k2) = (i + i, j + j, k + k);
        let (ii, jj, kk) = (i * i2, j * j2, k * k2);
        let (ij, ik, jk) = (i * j2, i * k2, j * k2);
        let (wi, wj, wk) = (w * i2, w * j2, w * k2);
        let one_minus = |x: S| -x + S::Real::from_f64(1.0);
        [
            [one_minus(jj + kk), ij - wk, ik + wj],
            [ij + wk, one_minus(ii + kk), jk - wi],
            [ik - wj, jk + wi, one_minus(ii + jj)],
        ]
    }

    /// The rotation by `other`, then by `self`: also `self * other`.
    #[inline]
    pub fn compose(self, other: Self) -> Self {
        let (a, b) = (self, other);
        Rotation3 {
            i: a.w * b.i + a.i * b.w + a.j * b.k - a.k * b.j,
            j: a.w * b.j - a.i * b.k + a.j * b.w + a.k * b.i,
            k: a.w * b.k + a.i * b.j - a.j * b.i + a.k * b.w,
            w: a.w * b.w - a.i * b.i - a.j * b.j - a.k * b.k,
        }
    }

    /// The rotation back.
    #[inline]
    pub fn inverse(self) -> Self {
        Rotation3 { i: -self.i, j: -self.j, k: -self.k, w: self.w }
    }

    /// `self⁻¹ ∘ other`: the rotation that leads from `self` to `other`.
    #[inline]
    pub fn between(self, other: Self) -> Self {
        let (a, b) = (self, other);
        Rotation3 {
            i: a.w * b.i - a.i * b.w - a.j * b.k + a.k * b.j,
            j: a.w * b.j + a.i * b.k - a.j * b.w - a.k * b.i,
            k: a.w * b.k - a.i * b.j + a.j * b.i - a.k * b.w,
            w: a.w * b.w + a.i * b.i + a.j * b.j + a.k * b.k,
        }
    }

    /// `constant ∘ self`, for a rotation of plain numbers: a third of the cost of [`compose`](Self::compose) where there are
    /// derivatives.
    #[inline]
    pub fn premultiply(self, constant: Rotation3<S::Real>) -> Self {
        let (a, b) = (constant, self);
        Rotation3 {
            i: b.i * a.w + b.w * a.i + b.k * a.j - b.j * a.k,
            j: b.j * a.w - b.k * a.i + b.w * a.j + b.i * a.k,
            k: b.k * a.w + b.j * a.i - b.i * a.j + b.w * a.k,
            w: b.w * a.w - b.i * a.i - b.j * a.j - b.k * a.k,
        }
    }

    /// The point, rotated.
    #[inline]
    pub fn transform(self, point: [S; 3]) -> [S; 3] {
        let axis = [self.i, self.j, self.k];
        let turned = cross(axis, point).map(|x| x + x);
        let again = cross(axis, turned);
        std::array::from_fn(|i| point[i] + self.w * turned[i] + again[i])
    }

    /// The point, rotated back.
    #[inline]
    pub fn inverse_transform(self, point: [S; 3]) -> [S; 3] {
        let axis = [self.i, self.j, self.k];
        let turned = cross(axis, point).map(|x| x + x);
        let again = cross(axis, turned);
        std::array::from_fn(|i| point[i] - self.w * turned[i] + again[i])
    }

    /// The rotation with its norm made one. Derivatives are those of the quotient.
    #[inline]
    pub fn normalize(self) -> Self {
        let scale = (square([self.i, self.j, self.k]) + self.w * self.w).sqrt().recip();
        let [i, j, k, w] = self.to_array().map(|x| x * scale);
        Rotation3 { i, j, k, w }
    }
}

impl<S: Scalar<Real: Real>> Rotation3<S> {
    /// Exponential of a rotation vector: the rotation about its direction by its length in radians.
    #[inline]
    pub fn exp(vector: [S; 3]) -> Self {
        Self::exp_with_coefficients(vector).0
    }

    /// The exponential; the square of the angle, the cosine of half of it, and `sin(θ/2) / (θ/2)`.
    #[inline]
    pub(super) fn exp_with_coefficients(vector: [S; 3]) -> (Self, [S; 3]) {
        let square = square(vector);
        let [cos_half, sinc_half] = half_angle(square, || square.sqrt());
        let scale = sinc_half * S::Real::from_f64(0.5);
        let [i, j, k] = vector.map(|x| x * scale);
        (Rotation3 { i, j, k, w: cos_half }, [square, cos_half, sinc_half])
    }

    /// Logarithm, the inverse of [`exp`](Self::exp): the rotation vector, at most of length `π`; that of `q` and `−q` is the same.
    ///
    /// Finite, with finite derivatives, for all rotations. At the angle `π` the vectors of both directions are logarithms, and
    /// the one that has the direction of `[i, j, k]` is returned, so that derivatives there are one-sided. The logarithm of the zero quaternion is NaN.
    #[inline]
    pub fn log(self) -> [S; 3] {
        self.log_with_cot().0
    }

    /// The logarithm, and `½ θ cot(θ/2)` of its angle.
    #[inline]
    pub(super) fn log_with_cot(self) -> ([S; 3], S) {
        let vector = [self.i, self.j, self.k];
        // Of q and −q, that with an angle of at most π.
        let flipped = self.w.value() < S::Real::ZERO;
        let w = if flipped { -self.w } else { self.w };
        let half = angle_over_sine(square(vector), w);
        let scale = if flipped { half * S::Real::from_f64(-2.0) } else { half + half };
        (vector.map(|x| x * scale), half * w)
    }
}

group_operators!(Rotation3, "[i, j, k, w]");
