//! Bundles: cameras and points, and where the points are seen in images.

mod bal;
mod colmap;
mod file_error;
#[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
mod picture;
mod problem;
mod solve;
#[cfg(test)]
mod tests;
mod words;

use super::camera::{CameraModel, rotate};
pub use file_error::{BundleFileError, BundleLineError};
pub use problem::{BundleProblem, ImageBlock};
pub use solve::{BundleReport, BundleSolver};

use crate::parallel;

/// Fewest observations of a part.
const FEWEST: usize = 4096;

/// Images of a scene: cameras, points, and where the points are seen.
///
/// [`read`](Self::read) takes files of "Bundle Adjustment in the Large" (BAL; Agarwal, Snavely, Seitz & Szeliski 2010) and directories of COLMAP
/// in text form. [`BundleSolver`] adjusts cameras and points to what is seen.
///
/// ```
/// use marquardt::graph::{Bundle, BundleSolver};
///
/// // Two cameras, and four points that both see.
/// let mut bundle = Bundle::parse_bal(
///     "2 4 8  0 0 0 0  0 1 50 0  0 2 0 50  0 3 50 50  1 0 49 0  1 1 100 0  1 2 51 50  1 3 100 50
///      0 0 0 0 0 -10 500 0 0   0 0 0 1 0 -10 500 0 0   0 0 0  1 0 0  0 1 0  1 1 0.1",
/// )?;
/// let before = bundle.reprojection_error();
/// BundleSolver::new().solve(&mut bundle)?;
/// assert!(bundle.reprojection_error() < 0.1 * before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bundle {
    cameras: Vec<Camera>,
    images: Vec<Image>,
    points: Vec<BundlePoint>,
    observations: Vec<Observation>,
}

/// A camera: a model with its intrinsic parameters, which images may share.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Camera {
    /// Number in the file.
    pub id: u64,
    /// Model.
    pub model: CameraModel,
    /// Intrinsic parameters, in the order of the model.
    pub parameters: Vec<f64>,
    /// Width and height of its images in pixels; zero if the file does not say.
    pub size: [u64; 2],
}

/// An image: where a camera was.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Image {
    /// Number in the file.
    pub id: u64,
    /// Name; empty if the file does not say.
    pub name: String,
    /// Index of its camera.
    pub camera: usize,
    /// Rotation vector of the map of the world to the camera's frame.
    pub rotation: [f64; 3],
    /// Translation of the map of the world to the camera's frame.
    pub translation: [f64; 3],
}

/// A point of the scene.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct BundlePoint {
    /// Number in the file.
    pub id: u64,
    /// Coordinates in the world.
    pub position: [f64; 3],
    /// Red, green and blue; zero if the file does not say.
    pub color: [u8; 3],
}

/// A feature of an image.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// Index of the image.
    pub image: usize,
    /// Index of the point that is seen there; `None` for a feature that belongs to no point.
    pub point: Option<usize>,
    /// Place in the image, in pixels.
    pub pixel: [f64; 2],
}

impl Bundle {
    /// Cameras. In files of BAL, each image has its own.
    pub fn cameras(&self) -> &[Camera] {
        &self.cameras
    }

    /// Images.
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// Points.
    pub fn points(&self) -> &[BundlePoint] {
        &self.points
    }

    /// Features of images.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Distance of a projected point from where it is seen, along both axes of the image; `None` for a feature without a point.
    pub fn error_of(&self, observation: &Observation) -> Option<[f64; 2]> {
        let image = &self.images[observation.image];
        let [x, y, z] = rotate(image.rotation, self.points[observation.point?].position);
        let [a, b, c] = image.translation;
        let camera = &self.cameras[image.camera];
        let [u, v] = camera.model.project(&camera.parameters, [x + a, y + b, z + c]);
        Some([u - observation.pixel[0], v - observation.pixel[1]])
    }

    /// Root mean square of the distances between projected points and where they are seen, in pixels; zero without any.
    pub fn reprojection_error(&self) -> f64 {
        let parts: Vec<_> = parallel::parts(self.observations.len(), FEWEST).collect();
        let sums = parallel::map(parts.len(), |part| {
            let observations = self.observations[parts[part].clone()].iter();
            let errors = observations.filter_map(|observation| self.error_of(observation));
            errors.fold((0.0, 0_usize), |(sum, count), [u, v]| (sum + u * u + v * v, count + 1))
        });
        let (sum, count) = sums.into_iter().fold((0.0, 0), |(sum, count), part| (sum + part.0, count + part.1));
        (sum / count.max(1) as f64).sqrt()
    }
}

impl Image {
    /// Place of the camera in the world.
    pub fn position(&self) -> [f64; 3] {
        self.to_world(self.translation.map(|x| -x))
    }

    /// A direction of the camera's frame in the world.
    fn to_world(&self, direction: [f64; 3]) -> [f64; 3] {
        rotate(self.rotation.map(|x| -x), direction)
    }
}
