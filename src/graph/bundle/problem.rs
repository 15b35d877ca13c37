//! A bundle as a problem of blocks.

use std::f64::consts::PI;

use super::{Bundle, Camera, Image};
use crate::graph::camera::{Reprojection, SnavelyReprojection};
use crate::graph::{CameraModel, GraphError, ParameterBlock, Problem, ResidualBlock};
use crate::manifold::{Euclidean, EuclideanSpace, Pose3, Rotation3, SE3};
use crate::problem::Loss;

/// A [`Problem`] of the images, cameras and points of a [`Bundle`].
#[derive(Debug)]
pub struct BundleProblem {
    /// The problem.
    pub problem: Problem,
    /// Residual block of each observation; `None` for a feature without a point.
    pub observations: Vec<Option<ResidualBlock>>,
    images: Vec<ImageBlock>,
    cameras: Vec<Option<ParameterBlock<EuclideanSpace>>>,
    points: Vec<ParameterBlock<Euclidean<3>>>,
}

/// Block of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageBlock {
    /// Rotation vector, translation and intrinsic parameters of [`CameraModel::Snavely`], which no other image shares.
    WithCamera(ParameterBlock<Euclidean<9>>),
    /// Pose alone. Its camera has a block of its own.
    Pose(ParameterBlock<SE3>),
}

impl BundleProblem {
    /// Block of an image; `None` if there is no such image.
    pub fn image(&self, image: usize) -> Option<ImageBlock> {
        self.images.get(image).copied()
    }

    /// Block of the intrinsic parameters of a camera; `None` if they are part of the image's block.
    pub fn camera(&self, camera: usize) -> Option<ParameterBlock<EuclideanSpace>> {
        self.cameras.get(camera).copied().flatten()
    }

    /// Block of a point; `None` if there is no such point.
    pub fn point(&self, point: usize) -> Option<ParameterBlock<Euclidean<3>>> {
        self.points.get(point).copied()
    }

    /// Holds the intrinsic parameters of all cameras where they are.
    ///
    /// # Errors
    ///
    /// Those of [`Problem::set_constant`].
    pub fn fix_intrinsics(&mut self) -> Result<(), GraphError> {
        for block in &self.images {
            if let ImageBlock::WithCamera(block) = block {
                self.problem.set_subset_constant(*block, &[6, 7, 8])?;
            }
        }
        self.cameras.iter().flatten().try_for_each(|&camera| self.problem.set_constant(camera))
    }

    /// Holds the principal points of all cameras of a bundle where they are.
    ///
    /// # Errors
    ///
    /// Those of [`Problem::set_subset_constant`].
    pub fn fix_principal_points(&mut self, bundle: &Bundle) -> Result<(), GraphError> {
        for (block, camera) in self.cameras.iter().zip(&bundle.cameras) {
            if let Some(block) = *block {
                let held: Vec<usize> = camera.model.principal_point().collect();
                self.problem.set_subset_constant(block, &held)?;
            }
        }
        Ok(())
    }

    /// Moves the images, cameras and points of a bundle to the points of their blocks.
    pub(super) fn read_into(&self, bundle: &mut Bundle) -> Result<(), GraphError> {
        for (Image { camera, rotation, translation, .. }, block) in bundle.images.iter_mut().zip(&self.images) {
            match *block {
                ImageBlock::WithCamera(block) => {
                    let [r1, r2, r3, t1, t2, t3, ref parameters @ ..] = *self.problem.point(block)? else { continue };
                    (*rotation, *translation) = ([r1, r2, r3], [t1, t2, t3]);
                    bundle.cameras[*camera].parameters.copy_from_slice(parameters);
                }
                ImageBlock::Pose(block) => {
                    let pose = Pose3::from_slice(self.problem.point(block)?);
                    (*rotation, *translation) = (pose.rotation.log(), pose.translation);
                }
            }
        }
        for (camera, block) in bundle.cameras.iter_mut().zip(&self.cameras) {
            if let Some(block) = *block {
                camera.parameters.copy_from_slice(self.problem.point(block)?);
            }
        }
        for (point, &block) in bundle.points.iter_mut().zip(&self.points) {
            point.position.copy_from_slice(self.problem.point(block)?);
        }
        Ok(())
    }
}

impl Bundle {
    /// The problem of blocks, with a robust loss of each observation and its scale in pixels, for covariances and for residual blocks of
    /// one's own. What no observation tells of is constant. A rotation vector beyond half a turn becomes the shortest of the same rotation.
    ///
    /// A whole bundle may be moved, turned and scaled without a change of its errors: nothing fixes that.
    ///
    /// # Errors
    ///
    /// Those of [`Problem`].
    pub fn problem(&self, loss: Option<(Loss, f64)>) -> Result<BundleProblem, GraphError> {
        let mut problem = Problem::new();
        let mut uses = vec![0; self.cameras.len()];
        self.images.iter().for_each(|image| uses[image.camera] += 1);
        let has_own =
            |image: &Image| uses[image.camera] == 1 && self.cameras[image.camera].model == CameraModel::Snavely;
        let mut cameras = vec![None; self.cameras.len()];
        let mut images = Vec::with_capacity(self.images.len());
        for image in &self.images {
            let Camera { parameters, .. } = &self.cameras[image.camera];
            let rotation = Rotation3::exp(image.rotation);
            images.push(if has_own(image) {
                // The derivatives of turns by rotation vectors vanish at full turns: the shortest vector is far from these.
                let is_long = image.rotation.iter().map(|x| x * x).sum::<f64>() > PI * PI;
                let vector = if is_long { rotation.log() } else { image.rotation };
                let point = [&vector, &image.translation, &**parameters].concat();
                ImageBlock::WithCamera(problem.add_parameter_block(Euclidean, &point)?)
            } else {
                if cameras[image.camera].is_none() {
                    let manifold = EuclideanSpace(parameters.len());
                    cameras[image.camera] = Some(problem.add_parameter_block(manifold, parameters)?);
                }
                let pose = Pose3 { translation: image.translation, rotation };
                ImageBlock::Pose(problem.add_parameter_block(SE3, &pose.to_array())?)
            });
        }
        let points = self.points.iter().map(|point| problem.add_parameter_block(Euclidean, &point.position));
        let points = points.collect::<Result<Vec<_>, _>>()?;
        let mut observations = Vec::with_capacity(self.observations.len());
        let (mut sees, mut is_seen) = (vec![false; images.len()], vec![false; points.len()]);
        let mut is_used = vec![false; cameras.len()];
        for observation in &self.observations {
            let (image, Some(index)) = (observation.image, observation.point) else {
                observations.push(None);
                continue;
            };
            let (camera, pixel) = (self.images[image].camera, observation.pixel);
            (sees[image], is_used[camera], is_seen[index]) = (true, true, true);
            let model = self.cameras[camera].model;
            let block = match (images[image], cameras[camera]) {
                (ImageBlock::Pose(pose), Some(camera)) => {
                    problem.add_residual_block(Reprojection { model, pixel }, (pose, camera, points[index]))?
                }
                (ImageBlock::WithCamera(block), _) => {
                    problem.add_residual_block(SnavelyReprojection { pixel }, (block, points[index]))?
                }
                // Images without a camera of their own have one in the list.
                (ImageBlock::Pose(_), None) => continue,
            };
            problem.set_loss(block, loss)?;
            observations.push(Some(block));
        }
        for (block, _) in images.iter().zip(&sees).filter(|(_, sees)| !**sees) {
            match *block {
                ImageBlock::WithCamera(block) => problem.set_constant(block)?,
                ImageBlock::Pose(block) => problem.set_constant(block)?,
            }
        }
        for (block, _) in cameras.iter().zip(&is_used).filter(|(_, is_used)| !**is_used) {
            block.iter().try_for_each(|&block| problem.set_constant(block))?;
        }
        for (&block, _) in points.iter().zip(&is_seen).filter(|(_, is_seen)| !**is_seen) {
            problem.set_constant(block)?;
        }
        Ok(BundleProblem { problem, observations, images, cameras, points })
    }
}
