//! `marquardt`: this library, with the settings of its examples `pose_graph` and `bundle_adjustment`.

use std::path::Path;

use marquardt::LevenbergMarquardt;
use marquardt::graph::{GraphError, Problem, SnavelyReprojection};
use marquardt::manifold::{Euclidean, SE2, SE3};
use marquardt::solver::damping::GainRatio;

use super::Solved;
use super::bal::Scene;
use super::clock::timed;
use super::g2o::{Dimension, Graph, Poses};

/// Solves a pose graph.
pub fn poses(graph: &Graph, _: &Path) -> Solved<Graph> {
    let solved = match graph.dimension {
        Dimension::Plane => poses_on::<SE2>(graph),
        Dimension::Space => poses_on::<SE3>(graph),
    };
    solved.expect("the graph is valid")
}

fn poses_on<M: Poses>(graph: &Graph) -> Result<Solved<Graph>, GraphError> {
    let mut problem = Problem::new();
    let mut blocks = Vec::with_capacity(graph.vertices.len());
    for vertex in &graph.vertices {
        blocks.push(problem.add_parameter_block(M::default(), &M::point(&vertex.pose))?);
    }
    for &vertex in graph.constant() {
        problem.set_constant(blocks[vertex])?;
    }
    for edge in &graph.edges {
        let [from, to] = edge.vertices;
        problem.add_residual_block(M::edge(&edge.measured, &edge.information)?, (blocks[from], blocks[to]))?;
    }
    let solver = LevenbergMarquardt::new().with_ftol(1e-8).with_polish(false);
    let (report, time) = timed(|| problem.solve(&solver));
    let mut estimate = graph.clone();
    for (vertex, &block) in estimate.vertices.iter_mut().zip(&blocks) {
        vertex.pose = M::pose(problem.point(block)?);
    }
    Ok(Solved { estimate, iterations: Some(report?.iterations), time })
}

/// Adjusts a scene.
pub fn scene(scene: &Scene) -> Solved<Scene> {
    adjusted(scene).expect("the scene is valid")
}

fn adjusted(scene: &Scene) -> Result<Solved<Scene>, GraphError> {
    let mut problem = Problem::new();
    let (mut cameras, mut points) = (Vec::new(), Vec::new());
    for camera in &scene.cameras {
        cameras.push(problem.add_parameter_block(Euclidean::<9>, camera)?);
    }
    for point in &scene.points {
        points.push(problem.add_parameter_block(Euclidean::<3>, point)?);
    }
    let (mut sees, mut is_seen) = (vec![false; cameras.len()], vec![false; points.len()]);
    for observation in &scene.observations {
        let error = SnavelyReprojection { pixel: observation.pixel };
        problem.add_residual_block(error, (cameras[observation.camera], points[observation.point]))?;
        (sees[observation.camera], is_seen[observation.point]) = (true, true);
    }
    // Nothing is known of the others.
    for (&camera, _) in cameras.iter().zip(&sees).filter(|(_, sees)| !**sees) {
        problem.set_constant(camera)?;
    }
    for (&point, _) in points.iter().zip(&is_seen).filter(|(_, is_seen)| !**is_seen) {
        problem.set_constant(point)?;
    }
    let solver = LevenbergMarquardt::new()
        .with_ftol(1e-5)
        .with_max_iterations(200)
        .with_damping(GainRatio::new(1e-4))
        .with_polish(false);
    let (report, time) = timed(|| problem.solve(&solver));
    let mut estimate = scene.clone();
    for (camera, &block) in estimate.cameras.iter_mut().zip(&cameras) {
        camera.copy_from_slice(problem.point(block)?);
    }
    for (point, &block) in estimate.points.iter_mut().zip(&points) {
        point.copy_from_slice(problem.point(block)?);
    }
    Ok(Solved { estimate, iterations: Some(report?.iterations), time })
}
