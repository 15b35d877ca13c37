//! Bundles as all crates are given them.

use std::path::Path;

use marquardt::graph::{Bundle, BundleFileError};

/// Rotation vector, translation, focal length in pixels, two coefficients of radial distortion.
pub type Camera = [f64; 9];

/// Cameras, points, and where the points are seen in the images.
#[derive(Debug, Clone)]
pub struct Scene {
    pub cameras: Vec<Camera>,
    pub points: Vec<[f64; 3]>,
    pub observations: Vec<Observation>,
}

/// A point in an image.
#[derive(Debug, Clone, Copy)]
pub struct Observation {
    pub camera: usize,
    pub point: usize,
    pub pixel: [f64; 2],
}

impl Scene {
    /// Reads a file of BAL.
    pub fn load(file: &Path) -> Result<Scene, BundleFileError> {
        let bundle = Bundle::read(file)?;
        let cameras = bundle.images().iter().map(|image| {
            let numbers = [&image.rotation[..], &image.translation, &bundle.cameras()[image.camera].parameters];
            numbers.concat().try_into().expect("cameras of BAL have nine numbers")
        });
        let seen = bundle.observations().iter().filter_map(|seen| {
            Some(Observation { camera: seen.image, point: seen.point?, pixel: seen.pixel })
        });
        Ok(Scene {
            cameras: cameras.collect(),
            points: bundle.points().iter().map(|point| point.position).collect(),
            observations: seen.collect(),
        })
    }
}
