//! Points in the images of a pair of cameras.

use super::measurement::measurement;
use crate::manifold::{Euclidean, Pose3, SE3};

/// A point in the images of a pair of rectified pinhole cameras.
///
/// The pair looks along the z-axis of its pose, which is that of the left camera; the right one is at `baseline` along the x-axis. Images have
/// `x` to the right and `y` downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StereoObservation<T> {
    /// `x` in the left image, `x` in the right image, and `y`, in pixels.
    pub pixels: [T; 3],
    /// Focal lengths along `x` and `y`, in pixels.
    pub focal: [T; 2],
    /// Place of the optical axis in both images, in pixels.
    pub centre: [T; 2],
    /// Distance of the cameras.
    pub baseline: T,
}

measurement! {
    /// A point, seen by a pair of cameras at a pose in space: `r = L (u − m)` for the pixels `u = [x_left, x_right, y]` of the point in the
    /// frame of the pose, with `LᵀL` the information matrix.
    Stereo of StereoObservation<T>: 3 residuals of (SE3, Euclidean<3>);
    |this, blocks| {
        let [x, y, z] = Pose3::from_slice(blocks[0]).inverse_transform([blocks[1][0], blocks[1][1], blocks[1][2]]);
        let StereoObservation { pixels, focal, centre, baseline } = this.measured;
        let pixel = |x| x * focal[0] / z + centre[0];
        [pixel(x) - pixels[0], pixel(x - baseline) - pixels[1], y * focal[1] / z + centre[1] - pixels[2]]
    }
}
