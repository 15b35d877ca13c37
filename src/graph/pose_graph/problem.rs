//! A pose graph as a problem of blocks.

use super::poses::Poses;
use super::{Edge, PoseGraph, components};
use crate::graph::{CostFunction, GraphError, ParameterBlock, Problem, ResidualBlock};
use crate::problem::Loss;

/// A [`Problem`] of the poses and points of a [`PoseGraph`].
#[derive(Debug)]
pub struct PoseGraphProblem<P: Poses> {
    /// The problem. Its residual blocks are the edges, in their order.
    pub problem: Problem,
    /// Residual block of each edge.
    pub edges: Vec<ResidualBlock>,
    vertices: Vec<VertexBlock<P>>,
}

/// Block of a vertex.
#[derive(Debug)]
enum VertexBlock<P: Poses> {
    Pose(ParameterBlock<P>),
    Point(ParameterBlock<P::Point>),
}

impl<P: Poses> PoseGraphProblem<P> {
    /// Parameter block of a pose; `None` for a point.
    pub fn pose(&self, vertex: usize) -> Option<ParameterBlock<P>> {
        match self.vertices.get(vertex)? {
            VertexBlock::Pose(block) => Some(*block),
            VertexBlock::Point(_) => None,
        }
    }

    /// Parameter block of a point; `None` for a pose.
    pub fn point(&self, vertex: usize) -> Option<ParameterBlock<P::Point>> {
        match self.vertices.get(vertex)? {
            VertexBlock::Pose(_) => None,
            VertexBlock::Point(block) => Some(*block),
        }
    }

    /// Moves all blocks to the vertices of a graph.
    pub(super) fn move_to(&mut self, graph: &PoseGraph) -> Result<(), GraphError> {
        for (vertex, block) in graph.vertices.iter().zip(&self.vertices) {
            match block {
                VertexBlock::Pose(block) => self.problem.set_point(*block, &P::to_manifold(&vertex.coordinates))?,
                VertexBlock::Point(block) => self.problem.set_point(*block, &vertex.coordinates)?,
            }
        }
        Ok(())
    }

    /// Moves the vertices of a graph to the points of their blocks.
    pub(super) fn read_into(&self, graph: &mut PoseGraph) -> Result<(), GraphError> {
        for (vertex, block) in graph.vertices.iter_mut().zip(&self.vertices) {
            vertex.coordinates = match block {
                VertexBlock::Pose(block) => P::to_coordinates(self.problem.point(*block)?),
                VertexBlock::Point(block) => self.problem.point(*block)?.to_vec(),
            };
        }
        Ok(())
    }
}

impl PoseGraph {
    /// The problem of blocks, for covariances and for residual blocks of one's own. Vertices of `FIX` lines are constant; in pieces
    /// without a fixed pose, the first pose is.
    ///
    /// ```
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::graph::PoseGraph;
    /// use marquardt::manifold::SE2;
    ///
    /// let graph = PoseGraph::parse("EDGE_SE2 0 1 1 0 0.1 100 0 0 100 0 400")?;
    /// let mut built = graph.problem::<SE2>(None)?;
    /// built.problem.solve(&LevenbergMarquardt::new())?;
    /// let errors = built.problem.covariance()?.standard_errors(built.pose(1).unwrap())?;
    /// assert!((errors[0] - 0.1).abs() < 1e-12 && (errors[2] - 0.05).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError`] as those of [`Problem`]; [`GraphError::NotAPoint`], too, where `P` is of another dimension.
    pub fn problem<P: Poses>(&self, closures: Option<(Loss, f64)>) -> Result<PoseGraphProblem<P>, GraphError> {
        self.problem_of::<P, _>(closures, P::relative_pose)
    }

    /// As [`problem`](Self::problem), with these cost functions of edges between poses.
    pub(super) fn problem_of<P: Poses, F: CostFunction<f64, Blocks = (P, P)>>(
        &self,
        closures: Option<(Loss, f64)>,
        relative_pose: impl Fn(&Edge) -> Result<F, GraphError>,
    ) -> Result<PoseGraphProblem<P>, GraphError> {
        let mut problem = Problem::new();
        let mut vertices = Vec::with_capacity(self.vertices.len());
        for vertex in &self.vertices {
            if P::DIMENSION != self.dimension {
                let (manifold, found) = (P::default().name(), vertex.coordinates.clone());
                return Err(GraphError::NotAPoint { block: 0, manifold, found });
            }
            vertices.push(if vertex.is_point {
                VertexBlock::Point(problem.add_parameter_block(P::Point::default(), &vertex.coordinates)?)
            } else {
                VertexBlock::Pose(problem.add_parameter_block(P::default(), &P::to_manifold(&vertex.coordinates))?)
            });
        }
        // A vertex without edges stays, too.
        let mut is_constant = vec![true; vertices.len()];
        self.edges.iter().for_each(|edge| edge.vertices.iter().for_each(|&vertex| is_constant[vertex] = false));
        is_constant.iter_mut().zip(components::held(self)).for_each(|(constant, held)| *constant |= held);
        for (block, _) in vertices.iter().zip(is_constant).filter(|&(_, is_constant)| is_constant) {
            match block {
                VertexBlock::Pose(block) => problem.set_constant(*block)?,
                VertexBlock::Point(block) => problem.set_constant(*block)?,
            }
        }
        let mut edges = Vec::with_capacity(self.edges.len());
        for edge in &*self.edges {
            let [a, b] = edge.vertices;
            edges.push(match (&vertices[a], &vertices[b]) {
                (VertexBlock::Pose(a), VertexBlock::Pose(b)) => {
                    let function = relative_pose(edge)?;
                    match closures.filter(|_| self.is_loop_closure(edge)) {
                        Some((loss, scale)) => problem.add_robust_residual_block(function, (*a, *b), loss, scale)?,
                        None => problem.add_residual_block(function, (*a, *b))?,
                    }
                }
                (VertexBlock::Pose(a), VertexBlock::Point(b)) => {
                    problem.add_residual_block(P::relative_point(edge)?, (*a, *b))?
                }
                // Edges that are read lead from poses.
                (VertexBlock::Point(_), _) => continue,
            });
        }
        Ok(PoseGraphProblem { problem, edges, vertices })
    }
}
