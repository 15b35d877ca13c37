//! Solves of pose graphs, from a start that is worth it.

use super::poses::Poses;
use super::start::{Start, WRAPS, largest_rotation_error};
use super::{Dimension, PoseGraph};
use crate::graph::{GraduatedNonConvexity, GraphError, ResidualBlock};
use crate::manifold::{SE2, SE3};
use crate::problem::Loss;
use crate::solver::damping::GainRatio;
use crate::solver::{LevenbergMarquardt, Report, SolveError};

/// Relative reduction of the cost at which a solve ends, by default.
const FTOL: f64 = 1e-8;

/// Damping of the first step that is damped. Large maps bend by steps that are small in units of the columns: of a million poses, the
/// default of 0.1 takes 23 iterations, where this takes 9. On 75 maps of up to 2,000 poses, it takes fewer, too, and ends at the same costs.
const DAMPING: f64 = 1e-10;

/// Finds the poses of a [`PoseGraph`].
///
/// Measured rotations of half a turn and more are the trouble of pose graphs: from a start at which an edge is off by so much, a solve may
/// end in a minimum that is not the best. Where an edge is off by more than 1 rad, relaxations are tried as
/// starts, too, and the start of lowest cost is taken: see [`Start`].
#[derive(Debug, Clone)]
pub struct PoseGraphSolver {
    start: Start,
    closures: Option<(Loss, f64)>,
    graduated: Option<GraduatedNonConvexity>,
    solver: LevenbergMarquardt<f64>,
}

/// The end of a solve of a pose graph.
#[derive(Debug)]
#[non_exhaustive]
pub struct PoseGraphReport {
    /// Report of the solve. Its initial cost is that of the start that was taken.
    pub report: Report<f64>,
    /// Start that was taken; never [`Start::Best`].
    pub start: Start,
    /// Cost of the poses as they were given.
    pub given_cost: f64,
    /// Cost of each edge in the end, before its loss: half of its squared residuals.
    pub edge_costs: Vec<f64>,
    /// Indices of the edges that were taken as false, and left out, in ascending order.
    pub false_edges: Vec<usize>,
}

impl Default for PoseGraphSolver {
    fn default() -> Self {
        Self::new()
    }
}

impl PoseGraphSolver {
    /// Least squares from the best start, until a step reduces the cost by less than 10⁻⁸ of it.
    pub fn new() -> Self {
        // The measurements determine a map to far fewer digits than the polish would find, at a factorisation a step.
        let solver = LevenbergMarquardt::new().with_ftol(FTOL).with_polish(false);
        let solver = solver.with_damping(GainRatio::new(DAMPING).into());
        PoseGraphSolver { start: Start::default(), closures: None, graduated: None, solver }
    }

    /// Sets the start.
    pub fn with_start(self, start: Start) -> Self {
        PoseGraphSolver { start, ..self }
    }

    /// Sets a robust loss, and its scale in standard deviations, of the loop closures: edges between poses that do not follow each other.
    pub fn with_loss(self, loss: Loss, scale: f64) -> Self {
        PoseGraphSolver { closures: Some((loss, scale)), ..self }
    }

    /// Finds false loop closures, and leaves them out: see [`GraduatedNonConvexity`]. Edges from each pose to the next are trusted.
    pub fn with_robust_closures(self, graduated: GraduatedNonConvexity) -> Self {
        PoseGraphSolver { graduated: Some(graduated), ..self }
    }

    /// Sets the solver. By default it is that of [`new`](Self::new).
    pub fn with_solver(self, solver: LevenbergMarquardt<f64>) -> Self {
        PoseGraphSolver { solver, ..self }
    }

    /// The solver, to be changed and [set](Self::with_solver).
    pub fn solver(&self) -> &LevenbergMarquardt<f64> {
        &self.solver
    }

    /// Moves the poses and points of a graph to a minimum.
    ///
    /// # Errors
    ///
    /// Those of [`Problem::solve`](crate::graph::Problem::solve); residual blocks are the edges, in their order.
    pub fn solve(&self, graph: &mut PoseGraph) -> Result<PoseGraphReport, GraphError> {
        match graph.dimension {
            Dimension::Plane => self.solve_poses::<SE2>(graph),
            Dimension::Space => self.solve_poses::<SE3>(graph),
        }
    }

    fn solve_poses<P: Poses>(&self, graph: &mut PoseGraph) -> Result<PoseGraphReport, GraphError> {
        let mut built = graph.problem::<P>(self.closures)?;
        let given_cost = built.problem.cost()?;
        let closures = graph.edges.iter().zip(&built.edges).filter(|(edge, _)| graph.is_loop_closure(edge));
        let closures: Vec<ResidualBlock> = closures.map(|(_, &block)| block).collect();
        let first = if self.start == Start::Best { Start::Given } else { self.start };
        let others: &[Start] = match self.start {
            Start::Best if self.graduated.is_some() => &[Start::Odometry],
            Start::Best if largest_rotation_error::<P>(graph) > WRAPS => &[Start::Chordal, Start::Spectral],
            _ => &[],
        };
        let budget = self.solver.settings.memory_budget;
        let mut begin = |start: Start| {
            let mut started = graph.clone();
            start.place::<P>(&mut started, budget)?;
            built.move_to(&started)?;
            let cost = match &self.graduated {
                None if start == Start::Given => given_cost,
                None => built.problem.cost()?,
                Some(graduated) => graduated.cost(&mut built.problem, &closures)?,
            };
            Ok::<_, GraphError>((cost, start, started))
        };
        let mut best = begin(first)?;
        for &start in others {
            let other = match begin(start) {
                // A solve by conjugate gradients may take less.
                Err(GraphError::Solve(SolveError::MemoryBudget { .. })) => continue,
                other => other?,
            };
            if other.0 < best.0 {
                best = other;
            }
            // No edge wraps: the others lead to the same minimum.
            if largest_rotation_error::<P>(&best.2) <= WRAPS {
                break;
            }
        }
        let (_, start, started) = best;
        built.move_to(&started)?;
        let (report, false_blocks) = match &self.graduated {
            None => (built.problem.solve(&self.solver)?, Vec::new()),
            Some(graduated) => {
                let solved = graduated.solve(&self.solver, &mut built.problem, &closures)?;
                (solved.report, solved.outliers)
            }
        };
        built.read_into(graph)?;
        let false_edges = false_blocks.iter().map(ResidualBlock::index).collect();
        let mut edge_costs = Vec::with_capacity(built.edges.len());
        let add_cost = |r: &[f64]| edge_costs.push(0.5 * r.iter().map(|r| r * r).sum::<f64>());
        built.problem.for_each_residuals(built.edges.iter().copied(), add_cost)?;
        Ok(PoseGraphReport { report, start, given_cost, edge_costs, false_edges })
    }
}
