//! `apex-solver`: factors on manifolds with derivatives by hand, at its default settings and its preset for bundles.

use std::path::Path;

use apex_solver::camera_models::{BALPinholeCameraStrict, DistortionModel, PinholeParams};
use apex_solver::core::VarKey;
use apex_solver::core::problem::Problem;
use apex_solver::factors::visual::ProjectionFactor;
use apex_solver::linalg::{ExplicitSchurVariant, JacobianMode, LinearSolverType};
use apex_solver::manifold::LieGroup;
use apex_solver::{
    BetweenFactor, LevenbergMarquardt, LevenbergMarquardtConfig, ManifoldType, NoiseModel, SE2, SE3, SO3,
    SelfCalibration,
};
use nalgebra_of_apex_solver::{DMatrix, DVector, Matrix2xX, Quaternion, UnitQuaternion, Vector2, Vector3};

use super::Solved;
use super::bal::{Camera, Scene};
use super::clock::timed;
use super::g2o::{Dimension, Graph};

/// Solves a pose graph.
pub fn poses(graph: &Graph, _: &Path) -> Solved<Graph> {
    let mut problem = Problem::new(JacobianMode::Sparse);
    let kind = match graph.dimension {
        Dimension::Plane => ManifoldType::SE2,
        Dimension::Space => ManifoldType::SE3,
    };
    let of_pose = |pose: &Vec<f64>| match graph.dimension {
        Dimension::Plane => plane(pose).as_param_slice().to_vec(),
        Dimension::Space => space(pose).as_param_slice().to_vec(),
    };
    let mut keys = Vec::with_capacity(graph.vertices.len());
    for vertex in &graph.vertices {
        keys.push(problem.add_variable(kind.clone(), DVector::from_vec(of_pose(&vertex.pose))));
    }
    for edge in &graph.edges {
        let ends = edge.vertices.map(|vertex| keys[vertex]);
        let noise = |size| NoiseModel::from_information(symmetric(&edge.information, size)).expect("it is a matrix");
        match graph.dimension {
            Dimension::Plane => {
                let factor = Box::new(BetweenFactor::new(plane(&edge.measured)));
                problem.add_residual_block_with_noise(&ends, factor, None, noise(3))
            }
            Dimension::Space => {
                let factor = Box::new(BetweenFactor::new(space(&edge.measured)));
                problem.add_residual_block_with_noise(&ends, factor, None, noise(6))
            }
        };
    }
    for &vertex in graph.constant() {
        fix(&mut problem, keys[vertex], if graph.dimension == Dimension::Plane { 3 } else { 6 });
    }
    let mut solver = LevenbergMarquardt::with_config(LevenbergMarquardtConfig::new());
    let (result, time) = timed(|| solver.optimize(&mut problem));
    let result = result.expect("it finds a solution");
    let mut estimate = graph.clone();
    for (vertex, &key) in estimate.vertices.iter_mut().zip(&keys) {
        let found = result.parameters[key].as_param_slice();
        vertex.pose = match graph.dimension {
            Dimension::Plane => found.to_vec(),
            Dimension::Space => vec![found[0], found[1], found[2], found[4], found[5], found[6], found[3]],
        };
    }
    Solved { estimate, iterations: Some(result.iterations), time }
}

fn plane(pose: &[f64]) -> SE2 {
    SE2::from_xy_angle(pose[0], pose[1], pose[2])
}

fn space(pose: &[f64]) -> SE3 {
    let turn = Quaternion::new(pose[6], pose[3], pose[4], pose[5]).normalize();
    SE3::from_translation_quaternion(Vector3::new(pose[0], pose[1], pose[2]), turn)
}

fn symmetric(triangle: &[f64], size: usize) -> DMatrix<f64> {
    let mut matrix = DMatrix::zeros(size, size);
    let places = (0..size).flat_map(|i| (i..size).map(move |j| (i, j)));
    for ((i, j), &entry) in places.zip(triangle) {
        matrix[(i, j)] = entry;
        matrix[(j, i)] = entry;
    }
    matrix
}

fn fix(problem: &mut Problem, key: VarKey, dimensions: usize) {
    (0..dimensions).for_each(|dimension| problem.fix_variable(key, dimension));
}

/// Adjusts a scene with the crate's preset.
pub fn implicit_schur(scene: &Scene) -> Solved<Scene> {
    adjust(scene, LevenbergMarquardtConfig::for_bundle_adjustment())
}

/// Adjusts a scene with an exact solve of the reduced system, and as many iterations as `marquardt` may take: the preset
/// ends after 20.
pub fn explicit_schur(scene: &Scene) -> Solved<Scene> {
    let config = LevenbergMarquardtConfig::for_bundle_adjustment()
        .with_max_iterations(200)
        .with_linear_solver_type(LinearSolverType::ExplicitSparseSchur)
        .with_schur_variant(ExplicitSchurVariant::Sparse);
    adjust(scene, config)
}

/// Builds the problem as the crate's benchmark does, without the loss, and solves it.
fn adjust(scene: &Scene, config: LevenbergMarquardtConfig) -> Solved<Scene> {
    let mut problem = Problem::new(JacobianMode::Sparse);
    let cameras: Vec<[VarKey; 2]> = scene.cameras.iter().map(|camera| add_camera(&mut problem, camera)).collect();
    let mut points: Vec<Option<VarKey>> = vec![None; scene.points.len()];
    for observation in &scene.observations {
        let point = *points[observation.point].get_or_insert_with(|| {
            let place = scene.points[observation.point].to_vec();
            let key = problem.add_variable(ManifoldType::RN, DVector::from_vec(place));
            problem.mark_for_elimination(key);
            key
        });
        let pixel = Matrix2xX::from_columns(&[Vector2::from(observation.pixel)]);
        let factor: ProjectionFactor<BALPinholeCameraStrict, SelfCalibration> =
            ProjectionFactor::new(pixel, model(&scene.cameras[observation.camera]));
        let [pose, lens] = cameras[observation.camera];
        problem.add_residual_block(&[pose, point, lens], Box::new(factor), None);
    }
    fix(&mut problem, cameras[0][0], 6);
    let mut solver = LevenbergMarquardt::with_config(config);
    let (result, time) = timed(|| solver.optimize(&mut problem));
    let result = result.expect("it finds a solution");
    let found = |key: VarKey| result.parameters[key].as_param_slice();
    let mut estimate = scene.clone();
    for (camera, &[pose, lens]) in estimate.cameras.iter_mut().zip(&cameras) {
        let pose = found(pose);
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(pose[3], pose[4], pose[5], pose[6]));
        camera[..3].copy_from_slice(turn.scaled_axis().as_slice());
        camera[3..6].copy_from_slice(&pose[..3]);
        camera[6..].copy_from_slice(found(lens));
    }
    for (point, &key) in estimate.points.iter_mut().zip(&points) {
        if let Some(key) = key {
            point.copy_from_slice(found(key));
        }
    }
    Solved { estimate, iterations: Some(result.iterations), time }
}

/// Adds the pose of a camera, and its focal length and distortion.
fn add_camera(problem: &mut Problem, camera: &Camera) -> [VarKey; 2] {
    let turn = SO3::from_scaled_axis(Vector3::from_column_slice(&camera[..3]));
    let pose = SE3::from_translation_so3(Vector3::from_column_slice(&camera[3..6]), turn);
    let pose = DVector::from_column_slice(pose.as_param_slice());
    let lens = DVector::from_column_slice(&camera[6..]);
    [problem.add_variable(ManifoldType::SE3, pose), problem.add_variable(ManifoldType::RN, lens)]
}

fn model(camera: &Camera) -> BALPinholeCameraStrict {
    let [.., focal_length, k1, k2] = *camera;
    let pinhole = PinholeParams { fx: focal_length, fy: focal_length, cx: 0.0, cy: 0.0 };
    BALPinholeCameraStrict::new(pinhole, DistortionModel::Radial { k1, k2 }).expect("the camera is valid")
}
