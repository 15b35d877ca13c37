//! Cameras: how points are projected, and the error of a projection.

use std::ops::Range;

use super::cost_function::CostFunction;
use crate::autodiff::Dual;
use crate::manifold::{Euclidean, EuclideanSpace, Pose3, SE3};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::scalar::Scalar;

/// Model of a camera: how a point in the camera's frame is projected to a pixel, by its intrinsic parameters.
///
/// Models and parameters are those of COLMAP, whose names are in brackets, with [`Snavely`](Self::Snavely) for the files of "Bundle
/// Adjustment in the Large". Lengths are in pixels, `p = (x/z, y/z)`, and `s = ‖p‖²`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CameraModel {
    /// `f, k1, k2`: `f (1 + k1 s + k2 s²) p` with `p = −(x/z, y/z)`. The camera looks along `−z`, and pixels count from the centre of the
    /// image to the right and up.
    Snavely,
    /// `f, cx, cy`: `f p + c` (`SIMPLE_PINHOLE`).
    SimplePinhole,
    /// `fx, fy, cx, cy` (`PINHOLE`).
    Pinhole,
    /// `f, cx, cy, k`: `f (1 + k s) p + c` (`SIMPLE_RADIAL`).
    SimpleRadial,
    /// `f, cx, cy, k1, k2`: `f (1 + k1 s + k2 s²) p + c` (`RADIAL`).
    Radial,
    /// `fx, fy, cx, cy, k1, k2, p1, p2`: radial and tangential distortion of Brown (`OPENCV`).
    Brown,
    /// `f, cx, cy, k`: an angle `θ` from the axis is seen at `f θ (1 + k θ²)` from the centre (`SIMPLE_RADIAL_FISHEYE`).
    SimpleFisheye,
    /// `f, cx, cy, k1, k2`: with `1 + k1 θ² + k2 θ⁴` (`RADIAL_FISHEYE`).
    RadialFisheye,
    /// `fx, fy, cx, cy, k1, k2, k3, k4`: with `1 + k1 θ² + k2 θ⁴ + k3 θ⁶ + k4 θ⁸`, after Kannala and Brandt (`OPENCV_FISHEYE`).
    Fisheye,
}

/// Models with their COLMAP names and numbers of parameters.
const MODELS: [(CameraModel, &str, usize); 9] = [
    (CameraModel::Snavely, "SNAVELY", 3),
    (CameraModel::SimplePinhole, "SIMPLE_PINHOLE", 3),
    (CameraModel::Pinhole, "PINHOLE", 4),
    (CameraModel::SimpleRadial, "SIMPLE_RADIAL", 4),
    (CameraModel::Radial, "RADIAL", 5),
    (CameraModel::Brown, "OPENCV", 8),
    (CameraModel::SimpleFisheye, "SIMPLE_RADIAL_FISHEYE", 4),
    (CameraModel::RadialFisheye, "RADIAL_FISHEYE", 5),
    (CameraModel::Fisheye, "OPENCV_FISHEYE", 8),
];

impl CameraModel {
    /// All models.
    pub const ALL: [CameraModel; MODELS.len()] = {
        let mut all = [CameraModel::Snavely; MODELS.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = MODELS[i].0;
            i += 1;
        }
        all
    };

    /// Name, as in COLMAP's `cameras.txt`.
    pub fn name(self) -> &'static str {
        MODELS[self as usize].1
    }

    /// Number of intrinsic parameters.
    pub fn parameter_count(self) -> usize {
        MODELS[self as usize].2
    }

    /// Indices of the parameters `cx` and `cy`, the principal point; empty for [`Snavely`](Self::Snavely).
    pub fn principal_point(self) -> Range<usize> {
        match self {
            CameraModel::Snavely => 0..0,
            CameraModel::Pinhole | CameraModel::Brown | CameraModel::Fisheye => 2..4,
            _ => 1..3,
        }
    }

    /// Pixel of a point in the camera's frame.
    ///
    /// ```
    /// use marquardt::graph::CameraModel;
    ///
    /// let pixel = CameraModel::Pinhole.project(&[500.0, 500.0, 320.0, 240.0], [0.1, -0.2, 1.0]);
    /// assert_eq!(pixel, [370.0, 140.0]);
    /// ```
    ///
    /// # Panics
    ///
    /// If there are fewer parameters than the model has.
    #[inline(always)]
    pub fn project<T: Real, S: Scalar<Real = T>>(self, parameters: &[S], [x, y, z]: [S; 3]) -> [S; 2] {
        let a = parameters;
        let (focal, centre) = match self {
            CameraModel::Snavely => {
                let p = [-(x / z), -(y / z)];
                let scale = a[0] * polynomial(&a[1..3], square(p));
                return p.map(|x| x * scale);
            }
            CameraModel::Pinhole | CameraModel::Brown | CameraModel::Fisheye => ([a[0], a[1]], [a[2], a[3]]),
            _ => ([a[0], a[0]], [a[1], a[2]]),
        };
        let straight = || [x / z, y / z];
        let scaled = |[x, y]: [S; 2], scale: S| [x * scale, y * scale];
        let [u, v] = match self {
            CameraModel::Snavely | CameraModel::SimplePinhole | CameraModel::Pinhole => straight(),
            CameraModel::SimpleRadial => scaled(straight(), polynomial(&a[3..4], square(straight()))),
            CameraModel::Radial => scaled(straight(), polynomial(&a[3..5], square(straight()))),
            CameraModel::Brown => {
                let [u, v] = straight();
                let (s, radial, both) = (square([u, v]), polynomial(&a[4..6], square([u, v])), u * v);
                let ([p1, p2], two) = ([a[6], a[7]], T::from_f64(2.0));
                [
                    u * radial + p1 * both * two + p2 * (s + u * u * two),
                    v * radial + p2 * both * two + p1 * (s + v * v * two),
                ]
            }
            CameraModel::SimpleFisheye => fisheye(&a[3..4], [x, y, z]),
            CameraModel::RadialFisheye => fisheye(&a[3..5], [x, y, z]),
            CameraModel::Fisheye => fisheye(&a[4..8], [x, y, z]),
        };
        [focal[0] * u + centre[0], focal[1] * v + centre[1]]
    }
}

#[inline(always)]
fn square<S: Scalar>([x, y]: [S; 2]) -> S {
    x * x + y * y
}

/// `1 + k1 s + k2 s² + …`.
#[inline(always)]
fn polynomial<T: Real, S: Scalar<Real = T>>(coefficients: &[S], s: S) -> S {
    coefficients.iter().rev().fold(S::constant(T::ZERO), |sum, &k| (sum + k) * s) + T::ONE
}

/// `(x, y) θ (1 + k1 θ² + …) / ‖(x, y)‖` for the angle `θ` of the point from the axis.
#[inline(always)]
fn fisheye<T: Real, S: Scalar<Real = T>>(coefficients: &[S], [x, y, z]: [S; 3]) -> [S; 2] {
    let s = square([x, y]);
    let near_axis = z.value() > T::ZERO && s.value() <= T::from_f64(1e-4) * z.value() * z.value();
    // θ / ‖(x, y)‖. The square of the length is differentiable on the axis, the length is not.
    let ratio = if near_axis {
        let t = s / (z * z);
        let series = [1.0 / 9.0, -1.0 / 7.0, 1.0 / 5.0, -1.0 / 3.0].map(T::from_f64);
        (series.into_iter().fold(S::constant(T::ZERO), |sum, k| (sum + k) * t) + T::ONE) / z
    } else {
        let length = s.sqrt();
        length.atan2(z) / length
    };
    let scale = ratio * polynomial(coefficients, ratio * ratio * s);
    [x * scale, y * scale]
}

/// Error of a projected point, in pixels, for a pose, intrinsic parameters that images may share, and a point.
///
/// The pose maps points of the world to the camera's frame, as COLMAP's does: it is the inverse of the camera's place in the world.
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::graph::{CameraModel, Problem, Reprojection};
/// use marquardt::manifold::{Euclidean, EuclideanSpace, Pose3, SE3};
///
/// // A point, seen by one camera from two places.
/// let mut problem = Problem::<f64>::new();
/// let intrinsics = problem.add_parameter_block(EuclideanSpace(3), &[500.0, 320.0, 240.0])?;
/// problem.set_constant(intrinsics)?;
/// let point = problem.add_parameter_block(Euclidean::<3>, &[0.0, 0.0, 1.0])?;
/// for (shift, pixel) in [(0.0, [445.0, 240.0]), (-1.0, [195.0, 240.0])] {
///     let place = Pose3 { translation: [shift, 0.0, 0.0], ..Pose3::identity() };
///     let pose = problem.add_parameter_block(SE3, &place.to_array())?;
///     problem.set_constant(pose)?;
///     let seen = Reprojection { model: CameraModel::SimplePinhole, pixel };
///     problem.add_residual_block(seen, (pose, intrinsics, point))?;
/// }
/// problem.solve(&LevenbergMarquardt::new())?;
/// assert!((problem.point(point)?[0] - 0.5).abs() < 1e-9 && (problem.point(point)?[2] - 2.0).abs() < 1e-9);
/// # Ok::<(), marquardt::graph::GraphError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Reprojection<T> {
    /// Model of the camera. Its block of intrinsic parameters must have as many as the model.
    pub model: CameraModel,
    /// Place of the point in the image, in pixels.
    pub pixel: [T; 2],
}

impl<T: Real> CostFunction<T> for Reprojection<T> {
    type Blocks = (SE3, EuclideanSpace, Euclidean<3>);

    fn residual_count(&self) -> usize {
        2
    }

    #[inline(always)]
    fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Evaluated {
        let point = Pose3::from_slice(blocks[0]).transform([blocks[2][0], blocks[2][1], blocks[2][2]]);
        let pixel = self.model.project(blocks[1], point);
        r[0] = pixel[0] - self.pixel[0];
        r[1] = pixel[1] - self.pixel[1];
        Ok(())
    }
}

/// Error of a projected point, in pixels, for a camera of nine numbers, as in "Bundle Adjustment in the Large", and a point.
///
/// A camera has a rotation vector and a translation, which map points of the world to the camera's frame, and the parameters of
/// [`CameraModel::Snavely`].
#[derive(Debug, Clone, Copy)]
pub struct SnavelyReprojection<T> {
    /// Place of the point in the image, in pixels, from the centre to the right and up.
    pub pixel: [T; 2],
}

impl<T: Real> CostFunction<T> for SnavelyReprojection<T> {
    type Blocks = (Euclidean<9>, Euclidean<3>);

    fn residual_count(&self) -> usize {
        2
    }

    #[inline(always)]
    fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Evaluated {
        let (camera, point) = (blocks[0], blocks[1]);
        let [x, y, z] = rotate([camera[0], camera[1], camera[2]], [point[0], point[1], point[2]]);
        let point = [x + camera[3], y + camera[4], z + camera[5]];
        let pixel = CameraModel::Snavely.project(&camera[6..], point);
        r[0] = pixel[0] - self.pixel[0];
        r[1] = pixel[1] - self.pixel[1];
        Ok(())
    }

    /// The point in the camera's frame has six derivatives, and its pixel by that point and the intrinsic parameters has six others: numbers of
    /// eight, which fill registers, take less time than numbers of all twelve.
    #[inline(always)]
    fn linearize(&self, blocks: &[&[T]], r: &mut [T], jacobian: &mut [T]) -> bool {
        let variable = |value: T, index: usize| Dual::<T, 8>::variable(value, index);
        let (camera, point) = (blocks[0], blocks[1]);
        let turned = rotate(
            [variable(camera[0], 0), variable(camera[1], 1), variable(camera[2], 2)],
            [variable(point[0], 3), variable(point[1], 4), variable(point[2], 5)],
        );
        let at = |i: usize| variable(turned[i].value + camera[3 + i], i);
        let intrinsics = [variable(camera[6], 3), variable(camera[7], 4), variable(camera[8], 5)];
        let pixel = CameraModel::Snavely.project(&intrinsics, [at(0), at(1), at(2)]);
        for (i, row) in jacobian.chunks_exact_mut(12).take(2).enumerate() {
            let (value, by) = (pixel[i].value, pixel[i].gradient);
            r[i] = value - self.pixel[i];
            let mut by_turn = [T::ZERO; 8];
            for (&by, turned) in by.iter().zip(&turned) {
                by_turn.iter_mut().zip(turned.gradient).for_each(|(sum, derivative)| *sum += by * derivative);
            }
            row[..3].copy_from_slice(&by_turn[..3]);
            row[3..9].copy_from_slice(&by[..6]);
            row[9..].copy_from_slice(&by_turn[3..6]);
        }
        true
    }
}

/// `exp(w) v`, the vector turned by a rotation vector (Rodrigues).
#[inline(always)]
pub(super) fn rotate<T: Real, S: Scalar<Real = T>>(w: [S; 3], v: [S; 3]) -> [S; 3] {
    let square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    // sin(θ)/θ and (1 − cos(θ))/θ². The square of the angle is differentiable at zero, the angle is not.
    let (sine, cosine) = if square.value() > T::from_f64(1e-4) {
        let angle = square.sqrt();
        (angle.sin() / angle, (-angle.cos() + T::ONE) / square)
    } else {
        let series = |coefficients: [f64; 4]| {
            let [first, rest @ ..] = coefficients.map(T::from_f64);
            rest.into_iter().fold(S::constant(first), |sum, k| sum * square + k)
        };
        (series([-1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0]), series([-1.0 / 40320.0, 1.0 / 720.0, -1.0 / 24.0, 0.5]))
    };
    let along = (w[0] * v[0] + w[1] * v[1] + w[2] * v[2]) * cosine;
    let kept = -square * cosine + T::ONE;
    [
        v[0] * kept + (w[1] * v[2] - w[2] * v[1]) * sine + w[0] * along,
        v[1] * kept + (w[2] * v[0] - w[0] * v[2]) * sine + w[1] * along,
        v[2] * kept + (w[0] * v[1] - w[1] * v[0]) * sine + w[2] * along,
    ]
}
