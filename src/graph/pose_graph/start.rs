//! Poses from which a solve begins.

use super::poses::Poses;
use super::relaxation::{Relaxation, relax};
use super::{PoseGraph, components, spanning_tree};
use crate::graph::GraphError;
use crate::solver::LevenbergMarquardt;

/// Error of a rotation, in radians, from which a start may lie in the basin of another minimum.
pub(super) const WRAPS: f64 = 1.0;

/// Relative reduction of the cost at which the smooth problem is solved, and most trial steps.
const SMOOTH_FTOL: f64 = 1e-5;
const SMOOTH_ITERATIONS: usize = 100;

/// Poses from which a solve of a pose graph begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// The start of lowest cost: the given one; if an edge's rotation is off by more than 1 rad there, the chordal relaxation, and if one is
    /// off there as well, the spectral relaxation. Relaxations that exceed the memory budget are left out. With
    /// [`with_robust_closures`](super::PoseGraphSolver::with_robust_closures): the given one and odometry, with the cost of robust closures.
    #[default]
    Best,
    /// The poses of the graph as they are.
    Given,
    /// Poses along the edges from each pose to the next, from the fixed poses on; other edges lead to poses that these do not reach.
    Odometry,
    /// The chordal relaxation of the rotations (Carlone, Tron, Daniilidis & Dellaert 2015), then the positions that fit best.
    Chordal,
    /// The spectral relaxation of the rotations (Rosen, Carlone, Bandeira & Leonard 2019), then the positions that fit best. In a graph of
    /// several pieces or with several fixed vertices it is the chordal one.
    Spectral,
}

impl Start {
    /// Moves the vertices of a graph that are not held, with linear systems of up to `budget` bytes.
    pub(super) fn place<P: Poses>(self, graph: &mut PoseGraph, budget: usize) -> Result<(), GraphError> {
        match self {
            Start::Best | Start::Given => return Ok(()),
            Start::Odometry => {
                follow_odometry(graph);
                return Ok(());
            }
            Start::Chordal => relax::<P>(graph, Relaxation::Chordal, budget)?,
            Start::Spectral => relax::<P>(graph, Relaxation::Spectral, budget)?,
        }
        if largest_rotation_error::<P>(graph) > WRAPS { smooth::<P>(graph, budget) } else { Ok(()) }
    }
}

/// Solves with an error of the rotations that has no jumps.
fn smooth<P: Poses>(graph: &mut PoseGraph, budget: usize) -> Result<(), GraphError> {
    let Some(mut built) = P::smooth_problem(graph)? else { return Ok(()) };
    let solver = LevenbergMarquardt::new().with_ftol(SMOOTH_FTOL).with_max_iterations(SMOOTH_ITERATIONS);
    let solver = solver.with_memory_budget(budget);
    built.problem.solve(&solver.with_polish(false))?;
    built.read_into(graph)
}

/// Places the poses that are not held along the edges from each pose to the next.
fn follow_odometry(graph: &mut PoseGraph) {
    let follows: Vec<bool> = graph.edges.iter().map(|edge| !graph.is_loop_closure(edge)).collect();
    spanning_tree::place(graph, components::held(graph), |edge| follows[edge]);
}

/// Largest angle by which the rotation of an edge differs from the measured one.
pub(super) fn largest_rotation_error<P: Poses>(graph: &PoseGraph) -> f64 {
    let between_poses = graph.edges.iter().filter(|edge| !graph.vertices[edge.vertices[1]].is_point);
    let errors = between_poses.map(|edge| {
        let [a, b] = edge.vertices.map(|vertex| &graph.vertices[vertex].coordinates);
        P::rotation_error(a, b, &edge.measured)
    });
    errors.fold(0.0, f64::max)
}
