//! Cost `½‖r‖²` of a solution, the same for all crates.

use marquardt::graph::{CostFunction, SnavelyReprojection};
use marquardt::manifold::{SE2, SE3};

use super::bal::{Observation, Scene};
use super::g2o::{Dimension, Edge, Graph, Poses};

/// Cost of a pose graph, with `r = L log(M⁻¹ A⁻¹ B)` for an edge and `LᵀL` its information matrix.
pub fn poses(graph: &Graph) -> f64 {
    match graph.dimension {
        Dimension::Plane => of_edges::<SE2>(graph),
        Dimension::Space => of_edges::<SE3>(graph),
    }
}

fn of_edges<M: Poses>(graph: &Graph) -> f64 {
    let points: Vec<Vec<f64>> = graph.vertices.iter().map(|vertex| M::point(&vertex.pose)).collect();
    let of_edge = |edge: &Edge| {
        let function = M::edge(&edge.measured, &edge.information).expect("the reader has checked the edges");
        half_square(&function, &edge.vertices.map(|vertex| &points[vertex][..]))
    };
    graph.edges.iter().map(of_edge).sum()
}

/// Cost of a scene, with `r` the distance in pixels of a point from where it is seen.
pub fn scene(scene: &Scene) -> f64 {
    let of_observation = |observation: &Observation| {
        let blocks = [&scene.cameras[observation.camera][..], &scene.points[observation.point]];
        half_square(&SnavelyReprojection { pixel: observation.pixel }, &blocks)
    };
    scene.observations.iter().map(of_observation).sum()
}

fn half_square(function: &impl CostFunction<f64>, blocks: &[&[f64]]) -> f64 {
    let mut r = vec![0.0; function.residual_count()];
    function.evaluate(blocks, &mut r).expect("no residual is refused");
    0.5 * r.iter().map(|r| r * r).sum::<f64>()
}
