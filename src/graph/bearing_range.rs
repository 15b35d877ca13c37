//! Measured directions and distances of points, seen from a pose.

use super::measurement::measurement;
use crate::manifold::{Euclidean, Pose2, Pose3, SE2, SE3};
use crate::real::Real;
use crate::scalar::Scalar;

measurement! {
    /// A measured angle at which a point is seen from a pose in the plane, in radians from the pose's x-axis. The residual is `L` times
    /// the difference of the angles, from −π to π; `L²` is the information, the inverse of the variance.
    Bearing2 of T: 1 residuals of (SE2, Euclidean<2>);
    |this, blocks| [angle_between(this.measured, seen2(blocks))]
}

measurement! {
    /// A measured distance of a point from a pose in the plane: `r = L (‖A⁻¹p‖ − m)`; `L²` is the information. It has no derivative where
    /// the point is at the pose.
    Range2 of T: 1 residuals of (SE2, Euclidean<2>);
    |this, blocks| {
        let [x, y] = seen2(blocks);
        [(x * x + y * y).sqrt() - this.measured]
    }
}

measurement! {
    /// A measured angle and distance, `[radians, distance]`, of a point seen from a pose in the plane, with the information matrix of both:
    /// see [`Bearing2`] and [`Range2`].
    BearingRange2 of [T; 2]: 2 residuals of (SE2, Euclidean<2>);
    |this, blocks| {
        let [x, y] = seen2(blocks);
        [angle_between(this.measured[0], [x, y]), (x * x + y * y).sqrt() - this.measured[1]]
    }
}

measurement! {
    /// A measured direction, any vector but zero, in which a point is seen from a pose in space. Residuals are the components of the error
    /// across the measured direction, in radians: an angle `θ` counts as the chord `2 sin(θ/2)`.
    ///
    /// The components are along [`axes_across`](Self::axes_across).
    Bearing3 of [T; 3]: 2 residuals of (SE3, Euclidean<3>);
    |this, blocks| chords(this.measured, seen3(blocks))
}

impl<T: Real> Bearing3<T> {
    /// Two unit vectors across the measured direction, along which the residuals are measured.
    pub fn axes_across(&self) -> [[T; 3]; 2] {
        axes_across(unit(self.measured))
    }
}

measurement! {
    /// A measured distance of a point from a pose in space: `r = L (‖A⁻¹p‖ − m)`; `L²` is the information. It has no derivative where the
    /// point is at the pose.
    Range3 of T: 1 residuals of (SE3, Euclidean<3>);
    |this, blocks| {
        let [x, y, z] = seen3(blocks);
        [(x * x + y * y + z * z).sqrt() - this.measured]
    }
}

/// Second block, a point, in the frame of the first.
#[inline(always)]
fn seen2<S: Scalar>(blocks: &[&[S]]) -> [S; 2] {
    Pose2::from_slice(blocks[0]).inverse_transform([blocks[1][0], blocks[1][1]])
}

/// Second block, a point, in the frame of the first.
#[inline(always)]
fn seen3<S: Scalar>(blocks: &[&[S]]) -> [S; 3] {
    Pose3::from_slice(blocks[0]).inverse_transform([blocks[1][0], blocks[1][1], blocks[1][2]])
}

/// Angle from a measured angle to a direction.
#[inline(always)]
fn angle_between<T: Real, S: Scalar<Real = T>>(measured: T, [x, y]: [S; 2]) -> S {
    let (sin, cos) = (measured.sin(), measured.cos());
    (y * cos - x * sin).atan2(x * cos + y * sin)
}

/// Components, across a measured direction, of the chord to the direction of a point.
#[inline(always)]
fn chords<T: Real, S: Scalar<Real = T>>(measured: [T; 3], [x, y, z]: [S; 3]) -> [S; 2] {
    let length = (x * x + y * y + z * z).sqrt();
    let along = |[a, b, c]: [T; 3]| (x * a + y * b + z * c) / length;
    let measured = unit(measured);
    // The sine of the angle becomes the chord.
    let scale = ((along(measured) + T::ONE) * T::from_f64(0.5)).sqrt().recip();
    axes_across(measured).map(|axis| along(axis) * scale)
}

fn unit<T: Real>(v: [T; 3]) -> [T; 3] {
    let largest = v.iter().fold(T::ZERO, |largest, x| largest.max(x.abs()));
    let v = v.map(|x| x / largest);
    let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
    v.map(|x| x / length)
}

/// Two unit vectors across a unit vector.
fn axes_across<T: Real>([x, y, z]: [T; 3]) -> [[T; 3]; 2] {
    // Without a division by a small number (Duff et al. 2017).
    let sign = if z < T::ZERO { -T::ONE } else { T::ONE };
    let a = -T::ONE / (sign + z);
    let b = x * y * a;
    [[T::ONE + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y]]
}
