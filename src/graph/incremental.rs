//! Solves of a problem that grows.

use super::error::GraphError;
use super::group::{BlockLoss, BlockPoints};
use super::least_squares::free_directions;
use super::problem::{ManifoldBlock, Problem};
use crate::linear::{BayesTree, Term};
use crate::manifold::Manifold;
use crate::problem::LeastCurvature;
use crate::real::Real;
use crate::solver::LevenbergMarquardt;

/// Step of a block, in the units of its manifold, beyond which the next update linearises its residual blocks again.
const RELINEARIZATION_THRESHOLD: f64 = 0.01;

/// Threshold of updates that settle, relative to that of others.
const SETTLED: f64 = 0.1;

/// Change of a step, relative to that threshold, that is not passed on to other blocks.
const PASSED_ON: f64 = 1e-3;

/// Keeps the minimum of a [`Problem`] up to date while blocks are added, as iSAM2 does (Kaess et al. 2012).
///
/// An update finds what has changed since the last one: new parameter blocks and residual blocks, residual blocks that were
/// [excluded](Problem::set_excluded) or given another loss, and points that were moved. It eliminates the blocks anew that depend on the changes, and takes
/// a Gauss–Newton step. Residual blocks are linearised again where the step of a block exceeds the
/// [threshold](Self::with_relinearization_threshold); the [report](IncrementalReport) says how many blocks wait for that. Where a block becomes
/// constant or variable, all are eliminated. A problem with bounds, a system that is singular, and residuals that are not finite are left to
/// [`Problem::solve`].
///
/// ```
/// use marquardt::graph::{IncrementalSolver, Problem, RelativePose2};
/// use marquardt::manifold::{Pose2, SE2};
///
/// let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mut problem = Problem::<f64>::new();
/// let mut solver = IncrementalSolver::new();
/// let mut last = problem.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 0.0).to_array())?;
/// problem.set_constant(last)?;
/// for _ in 0..5 {
///     // A guess of the new pose, what is measured, and the update.
///     let next = problem.add_parameter_block(SE2, &Pose2::new(0.5, 0.1, 0.0).to_array())?;
///     problem.add_residual_block(RelativePose2::new(Pose2::new(1.0, 0.0, 0.0), identity)?, (last, next))?;
///     solver.update_until_settled(&mut problem, 20)?;
///     last = next;
/// }
/// assert!((problem.point(last)?[0] - 5.0).abs() < 1e-9);
/// # Ok::<(), marquardt::graph::GraphError>(())
/// ```
#[derive(Debug)]
pub struct IncrementalSolver<T: Real = f64> {
    solver: LevenbergMarquardt<T>,
    threshold: T,
    interval: usize,
    state: Option<State<T>>,
}

/// Work of an [update](IncrementalSolver::update).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IncrementalReport {
    /// Number of parameter blocks whose residual blocks were linearised at another point.
    pub relinearized: usize,
    /// Number of parameter blocks that were eliminated again.
    pub eliminated: usize,
    /// Number of parameter blocks whose steps exceed the threshold; the next update linearises their residual blocks again.
    pub pending: usize,
    /// True if the update was left to [`Problem::solve`].
    pub is_full: bool,
}

/// The last linearisation.
#[derive(Debug)]
struct State<T> {
    problem: u64,
    /// Edits of the problem that are known; none at first.
    edits: Option<u64>,
    tree: BayesTree<T>,
    /// Points of all blocks, at which the residual blocks are linearised.
    linearized_at: Vec<T>,
    /// Points that the last update gave to the problem.
    x: Vec<T>,
    /// First column of each block, and their number.
    columns: Vec<usize>,
    /// Free directions of each block at its point, and the first entry of each block's.
    jacobians: Vec<T>,
    places: Vec<usize>,
    /// Losses of the residual blocks in the tree.
    losses: Vec<BlockLoss<T>>,
    /// Number of updates since residual blocks were linearised again.
    waited: usize,
}

impl<T: Real> Default for IncrementalSolver<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> IncrementalSolver<T> {
    /// A solver without a problem.
    pub fn new() -> Self {
        let threshold = T::from_f64(RELINEARIZATION_THRESHOLD);
        IncrementalSolver { solver: LevenbergMarquardt::new(), threshold, interval: 1, state: None }
    }

    /// Sets the largest entry of a step, in radians and in the unit of lengths, that residual blocks are not linearised again for; default 0.01. The error
    /// of the points is of the order of its square, and of the threshold itself under robust losses.
    ///
    /// # Panics
    ///
    /// If it is negative or NaN.
    #[track_caller]
    pub fn with_relinearization_threshold(self, threshold: T) -> Self {
        assert!(threshold >= T::ZERO, "a threshold of {} is no length", threshold.to_f64());
        IncrementalSolver { threshold, ..self }
    }

    /// Sets the number of updates from one that linearises residual blocks again to the next; default 1. Updates without other changes always do.
    pub fn with_relinearization_interval(self, updates: usize) -> Self {
        IncrementalSolver { interval: updates, ..self }
    }

    /// Sets the solver of updates that are left to [`Problem::solve`]. By default it is [`LevenbergMarquardt::new`].
    pub fn with_solver(self, solver: LevenbergMarquardt<T>) -> Self {
        IncrementalSolver { solver, ..self }
    }

    /// Moves the points of a problem by a Gauss–Newton step, after changes since the last update.
    ///
    /// # Errors
    ///
    /// Those of [`Problem::solve`].
    pub fn update(&mut self, problem: &mut Problem<T>) -> Result<IncrementalReport, GraphError> {
        self.update_to(problem, self.threshold)
    }

    fn update_to(&mut self, problem: &mut Problem<T>, threshold: T) -> Result<IncrementalReport, GraphError> {
        let state = self.state.take().filter(|state| state.fits(problem));
        let mut state = state.unwrap_or_else(|| State::new(problem));
        let has_bounds = || problem.blocks.iter().any(|block| !block.bounds.is_empty());
        if !(state.is_edited(problem) && has_bounds())
            && let Some(report) = state.update(problem, threshold, self.interval)?
        {
            self.state = Some(state);
            return Ok(report);
        }
        problem.solve(&self.solver)?;
        Ok(IncrementalReport { relinearized: 0, eliminated: problem.blocks.len(), pending: 0, is_full: true })
    }

    /// [Updates](Self::update) until no step exceeds a tenth of the threshold, at most so many times. Returns the last report.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub fn update_until_settled(
        &mut self,
        problem: &mut Problem<T>,
        most: usize,
    ) -> Result<IncrementalReport, GraphError> {
        let threshold = self.threshold * T::from_f64(SETTLED);
        let mut report = self.update_to(problem, threshold)?;
        for _ in 1..most {
            if report.pending == 0 {
                break;
            }
            report = self.update_to(problem, threshold)?;
        }
        Ok(report)
    }
}

impl<T: Real> State<T> {
    fn new(problem: &Problem<T>) -> Self {
        State {
            problem: problem.id,
            edits: None,
            tree: BayesTree::new(),
            linearized_at: Vec::new(),
            x: Vec::new(),
            columns: vec![0],
            jacobians: Vec::new(),
            places: vec![0],
            losses: Vec::new(),
            waited: 0,
        }
    }

    /// Returns true if the state is of this problem, and no block has become constant or variable.
    fn fits(&self, problem: &Problem<T>) -> bool {
        let same = |(block, ends): (&ManifoldBlock<T>, &[usize])| block.free_indices().count() == ends[1] - ends[0];
        let mut blocks = problem.blocks.iter().zip(self.columns.windows(2));
        self.problem == problem.id && (!self.is_edited(problem) || blocks.all(same))
    }

    /// Returns true if more may have changed than that blocks were added.
    fn is_edited(&self, problem: &Problem<T>) -> bool {
        self.edits != Some(problem.edits)
    }

    /// Number of blocks that are known.
    fn blocks(&self) -> usize {
        self.columns.len() - 1
    }

    fn is_moving(&self, block: usize) -> bool {
        self.columns[block + 1] > self.columns[block]
    }

    /// Takes a step; `None` where the system cannot be solved.
    fn update(
        &mut self,
        problem: &mut Problem<T>,
        threshold: T,
        interval: usize,
    ) -> Result<Option<IncrementalReport>, GraphError> {
        let edited = if self.is_edited(problem) { 0..self.blocks() } else { 0..0 };
        let moved = edited.filter(|&block| {
            let range = problem.ambient[block]..problem.ambient[block + 1];
            problem.x[range.clone()] != self.x[range]
        });
        let mut relinearized: Vec<usize> = moved.collect();
        self.waited += 1;
        if self.waited >= interval || self.losses.len() == problem.residual_blocks.len() {
            relinearized.extend(self.exceeding(threshold));
            self.waited = 0;
        }
        relinearized.sort_unstable();
        relinearized.dedup();
        for &block in &relinearized {
            self.linearize_at(problem, block);
        }
        let known = self.blocks();
        for block in known..problem.blocks.len() {
            self.add_block(problem, block);
        }
        let (changed, last) = self.changes(problem, &relinearized);
        let mut terms = Vec::with_capacity(changed.len());
        for k in changed {
            let Some(term) = self.term(problem, k)? else { return Ok(None) };
            terms.push((k, term));
        }
        let Ok(stepped) = self.tree.change(terms, &last, threshold * T::from_f64(PASSED_ON)) else { return Ok(None) };
        // Which block no residual block depends on is said by the full solve.
        if (known..self.blocks()).any(|block| self.is_moving(block) && self.tree.terms_of(block).is_empty()) {
            return Ok(None);
        }
        // The full solve begins at the points of the last update.
        if !stepped.iter().all(|&block| self.tree.solution(block).iter().all(|step| step.is_finite())) {
            return Ok(None);
        }
        for &block in &stepped {
            self.step(problem, block);
        }
        self.edits = Some(problem.edits);
        let (eliminated, pending) = (self.tree.eliminated(), self.exceeding(threshold).count());
        let report = IncrementalReport { relinearized: relinearized.len(), eliminated, pending, is_full: false };
        Ok(Some(report))
    }

    /// Blocks whose steps exceed the threshold.
    fn exceeding(&self, threshold: T) -> impl Iterator<Item = usize> {
        (0..self.blocks()).filter(move |&block| self.tree.solution(block).iter().any(|step| step.abs() > threshold))
    }

    /// Adds a block, at its point.
    fn add_block(&mut self, problem: &Problem<T>, index: usize) {
        let (block, x) = (&problem.blocks[index], &problem.x[problem.ambient[index]..problem.ambient[index + 1]]);
        self.linearized_at.extend_from_slice(x);
        self.x.extend_from_slice(x);
        let width = block.free_indices().count();
        self.columns.push(self.columns[index] + width);
        if width > 0 {
            free_directions(block, x, &mut Vec::new(), &mut self.jacobians);
        }
        self.places.push(self.jacobians.len());
        self.tree.add_block(width);
    }

    /// Linearises at the point of a block.
    fn linearize_at(&mut self, problem: &Problem<T>, index: usize) {
        let range = problem.ambient[index]..problem.ambient[index + 1];
        let x = &problem.x[range.clone()];
        self.linearized_at[range.clone()].copy_from_slice(x);
        self.x[range].copy_from_slice(x);
        self.tree.clear_solution(index);
        if self.is_moving(index) {
            let mut directions = Vec::new();
            free_directions(&problem.blocks[index], x, &mut Vec::new(), &mut directions);
            self.jacobians[self.places[index]..self.places[index + 1]].copy_from_slice(&directions);
        }
    }

    /// Residual blocks that are new, or changed, or depend on these blocks; and the parameter blocks of the new ones.
    fn changes(&mut self, problem: &Problem<T>, relinearized: &[usize]) -> (Vec<usize>, Vec<u32>) {
        let mut changed: Vec<usize> = Vec::new();
        for &block in relinearized {
            changed.extend(self.tree.terms_of(block).iter().map(|&k| k as usize));
            // Terms of constant blocks are not listed.
            if !self.is_moving(block) {
                let touches = |&k: &usize| blocks_of(problem, k).contains(&(block as u32));
                changed.extend((0..self.losses.len()).filter(touches));
            }
        }
        let mut last = Vec::new();
        let known = if self.is_edited(problem) { 0 } else { self.losses.len() };
        for (k, &(group, place)) in problem.residual_blocks.iter().enumerate().skip(known) {
            let loss = problem.groups[group as usize].loss(place as usize);
            match self.losses.get_mut(k) {
                Some(known) if *known == loss => continue,
                Some(known) => *known = loss,
                None => {
                    last.extend_from_slice(blocks_of(problem, k));
                    self.losses.push(loss);
                }
            }
            changed.push(k);
        }
        changed.sort_unstable();
        changed.dedup();
        (changed, last)
    }

    /// Linearises a residual block; `None` if it is not finite.
    fn term(&self, problem: &Problem<T>, residual_block: usize) -> Result<Option<Term<T>>, GraphError> {
        let (group, k) = problem.residual_blocks[residual_block];
        let (group, k) = (&problem.groups[group as usize], k as usize);
        let blocks = group.blocks(k).iter().copied().filter(|&block| self.is_moving(block as usize)).collect();
        let mut gram = Vec::new();
        if group.loss(k).is_excluded {
            return Ok(Some(Term { blocks, gram }));
        }
        let points = BlockPoints {
            x: &self.linearized_at,
            ambient: &problem.ambient,
            columns: &self.columns,
            jacobians: &self.jacobians,
            places: &self.places,
            least_curvature: LeastCurvature::default(),
        };
        let linearized = group.linearize(k..k + 1, &points, &mut |r, jacobian| {
            let width = jacobian.len() / r.len().max(1);
            gram.resize((width + 1) * (width + 1), T::ZERO);
            for (row, &r) in r.iter().enumerate() {
                let entries = &jacobian[row * width..][..width];
                for (i, sums) in gram.chunks_exact_mut(width + 1).enumerate() {
                    let own = entries.get(i).copied().unwrap_or(r);
                    entries.iter().chain([&r]).zip(sums).for_each(|(&other, sum)| *sum += own * other);
                }
            }
        });
        linearized.map_err(|error| GraphError::Evaluation { residual_block, error })?;
        let is_finite = gram.iter().all(|entry| entry.is_finite());
        Ok(is_finite.then_some(Term { blocks, gram }))
    }

    /// Moves a block by its step.
    fn step(&mut self, problem: &mut Problem<T>, index: usize) {
        let block = &problem.blocks[index];
        let range = problem.ambient[index]..problem.ambient[index + 1];
        let mut scratch = vec![T::ZERO; block.manifold.tangent_size()];
        let x = &self.linearized_at[range.clone()];
        block.plus_free(x, self.tree.solution(index), &mut scratch, &mut self.x[range.clone()]);
        problem.x[range.clone()].copy_from_slice(&self.x[range]);
    }
}

/// Parameter blocks of a residual block.
fn blocks_of<T: Real>(problem: &Problem<T>, residual_block: usize) -> &[u32] {
    let (group, k) = problem.residual_blocks[residual_block];
    problem.groups[group as usize].blocks(k as usize)
}
