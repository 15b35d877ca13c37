//! Parameter blocks and residual blocks.

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block::{BlockId, ParameterBlock, ResidualBlock};
use super::cost_function::{Blocks, CostFunction};
use super::covariance::BlockCovariance;
use super::error::GraphError;
use super::group::{BlockLoss, ResidualGroup, ScaledLoss, Typed};
use super::least_squares::Active;
use crate::linear::{IllConditioned, LinearModel, SparseNormal};
use crate::manifold::Manifold;
use crate::problem::{LeastSquaresExt, Loss};
use crate::real::Real;
use crate::solver::damping::DampingPolicy;
use crate::solver::{LevenbergMarquardt, Observer, Report, SolveError};

/// Parameter blocks on manifolds, and the residual blocks that depend on a few of them each.
///
/// See [`graph`](super) for an example.
pub struct Problem<T: Real = f64> {
    pub(super) id: u64,
    pub(super) blocks: Vec<ManifoldBlock<T>>,
    /// Points of all blocks, one behind the other.
    pub(super) x: Vec<T>,
    /// First coordinate of each block's point, and the number of all coordinates.
    pub(super) ambient: Vec<usize>,
    /// Residual blocks by the type of their cost function.
    pub(super) groups: Vec<Box<dyn ResidualGroup<T>>>,
    /// Place of each type among the groups.
    places: HashMap<TypeId, usize>,
    /// Group of each residual block, and its place there.
    pub(super) residual_blocks: Vec<(u32, u32)>,
    /// Number of changes to what was there before: points, losses, and what is held or bounded.
    pub(super) edits: u64,
}

/// A parameter block.
pub(super) struct ManifoldBlock<T> {
    pub(super) manifold: Arc<dyn Manifold<T>>,
    pub(super) is_constant: bool,
    /// Directions that are held constant.
    pub(super) held: Vec<usize>,
    /// Coordinates with bounds, each once, and the bounds.
    pub(super) bounds: Vec<(usize, [T; 2])>,
}

impl<T: Real> Default for Problem<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> Problem<T> {
    /// A problem without blocks.
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Problem {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            blocks: Vec::new(),
            x: Vec::new(),
            ambient: vec![0],
            groups: Vec::new(),
            places: HashMap::new(),
            residual_blocks: Vec::new(),
            edits: 0,
        }
    }

    /// Adds a parameter block: a point on a manifold, to start from.
    ///
    /// # Errors
    ///
    /// [`GraphError::NotAPoint`].
    pub fn add_parameter_block<M: Manifold<T> + 'static>(
        &mut self,
        manifold: M,
        start: &[T],
    ) -> Result<ParameterBlock<M>, GraphError> {
        let index = self.blocks.len();
        check_point(&manifold, index, start)?;
        self.x.extend_from_slice(start);
        self.ambient.push(self.x.len());
        let manifold = Arc::new(manifold);
        self.blocks.push(ManifoldBlock { manifold, is_constant: false, held: Vec::new(), bounds: Vec::new() });
        Ok(ParameterBlock::new(BlockId { problem: self.id, index: index as u32 }))
    }

    /// Adds a residual block: a cost function of these parameter blocks.
    ///
    /// # Errors
    ///
    /// [`GraphError`] for handles of another problem, a parameter block that is named twice, and a cost function without residuals.
    pub fn add_residual_block<F: CostFunction<T>>(
        &mut self,
        function: F,
        blocks: <F::Blocks as Blocks<T>>::Handles,
    ) -> Result<ResidualBlock, GraphError> {
        self.push::<F>(function, blocks, None)
    }

    /// Adds a residual block under a robust loss: it costs `½C²ρ(‖f‖²/C²)` with the scale `C`.
    ///
    /// # Errors
    ///
    /// As [`add_residual_block`](Self::add_residual_block), and for a scale that is not positive and finite.
    pub fn add_robust_residual_block<F: CostFunction<T>>(
        &mut self,
        function: F,
        blocks: <F::Blocks as Blocks<T>>::Handles,
        loss: Loss,
        scale: T,
    ) -> Result<ResidualBlock, GraphError> {
        check_scale(self.residual_blocks.len(), Some((loss, scale)))?;
        self.push::<F>(function, blocks, Some((loss, scale)))
    }

    fn push<F: CostFunction<T>>(
        &mut self,
        function: F,
        blocks: <F::Blocks as Blocks<T>>::Handles,
        loss: ScaledLoss<T>,
    ) -> Result<ResidualBlock, GraphError> {
        let residual_block = self.residual_blocks.len();
        let ids = F::Blocks::ids(blocks);
        for (place, id) in ids.iter().enumerate() {
            let parameter_block = self.check_handle(*id)?;
            if ids[..place].contains(id) {
                return Err(GraphError::RepeatedBlock { residual_block, parameter_block });
            }
        }
        if function.residual_count() == 0 {
            return Err(GraphError::NoResiduals { residual_block });
        }
        let groups = &mut self.groups;
        let place = *self.places.entry(TypeId::of::<F>()).or_insert_with(|| {
            groups.push(Box::new(Typed::<T, F>::new()));
            groups.len() - 1
        });
        let group = &mut groups[place];
        let index = group.len();
        if let Some(typed) = group.as_any_mut().downcast_mut::<Typed<T, F>>() {
            typed.push(function, ids.iter().map(|id| id.index), loss);
        }
        self.residual_blocks.push((place as u32, index as u32));
        Ok(ResidualBlock { problem: self.id, index: residual_block })
    }

    /// Holds a parameter block where it is.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`].
    pub fn set_constant<M>(&mut self, block: ParameterBlock<M>) -> Result<(), GraphError> {
        self.block_mut(block.id)?.is_constant = true;
        Ok(())
    }

    /// Lets a parameter block move in all directions again.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`].
    pub fn set_variable<M>(&mut self, block: ParameterBlock<M>) -> Result<(), GraphError> {
        let block = self.block_mut(block.id)?;
        block.is_constant = false;
        block.held.clear();
        Ok(())
    }

    /// Holds some directions of a parameter block: these entries of its steps are zero from now on.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`], and [`GraphError::Direction`] where a step has no such entry.
    pub fn set_subset_constant<M>(&mut self, block: ParameterBlock<M>, directions: &[usize]) -> Result<(), GraphError> {
        let (index, block) = (block.index(), self.block_mut(block.id)?);
        let tangent_size = block.manifold.tangent_size();
        if let Some(&direction) = directions.iter().find(|&&direction| direction >= tangent_size) {
            return Err(GraphError::Direction { block: index, tangent_size, direction });
        }
        block.held = directions.to_vec();
        Ok(())
    }

    /// Sets the lower bound of a coordinate of a parameter block on a vector space, or in such a factor of a product; minus infinity for none.
    ///
    /// A solve keeps coordinates within their bounds, and those that end at one are exactly there. [`Report::active`](crate::Report) has them. It takes the
    /// sparse Cholesky factorisation.
    ///
    /// ```
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::graph::{Prior, Problem};
    /// use marquardt::manifold::Euclidean;
    ///
    /// let mut problem = Problem::new();
    /// let block = problem.add_parameter_block(Euclidean::<2>, &[1.0, 1.0])?;
    /// problem.add_residual_block(Prior::new([-2.0, 3.0], [[2.0, 1.0], [1.0, 2.0]])?, (block,))?;
    /// problem.set_lower_bound(block, 0, 0.0)?;
    /// problem.solve(&LevenbergMarquardt::new())?;
    /// // The second coordinate gives way to the first, which is at its bound.
    /// assert_eq!(problem.point(block)?[0], 0.0);
    /// assert!((problem.point(block)?[1] - 2.0_f64).abs() < 1e-12);
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`], and [`GraphError::Bounds`] for a coordinate that cannot have bounds, NaN, and bounds with no number between
    /// them.
    pub fn set_lower_bound<M>(
        &mut self,
        block: ParameterBlock<M>,
        coordinate: usize,
        bound: T,
    ) -> Result<(), GraphError> {
        self.set_bound(block.id, coordinate, 0, bound)
    }

    /// Sets the upper bound of a coordinate of a parameter block, infinity for none: see [`set_lower_bound`](Self::set_lower_bound).
    ///
    /// # Errors
    ///
    /// As [`set_lower_bound`](Self::set_lower_bound).
    pub fn set_upper_bound<M>(
        &mut self,
        block: ParameterBlock<M>,
        coordinate: usize,
        bound: T,
    ) -> Result<(), GraphError> {
        self.set_bound(block.id, coordinate, 1, bound)
    }

    fn set_bound(&mut self, id: BlockId, coordinate: usize, side: usize, bound: T) -> Result<(), GraphError> {
        let index = id.index as usize;
        let ManifoldBlock { manifold, bounds, .. } = self.block_mut(id)?;
        let place = bounds.iter().position(|&(bounded, _)| bounded == coordinate);
        let mut both = place.map_or([-T::INFINITY, T::INFINITY], |place| bounds[place].1);
        both[side] = bound;
        let is_number = (0..manifold.tangent_size()).any(|j| manifold.coordinate(j) == Some(coordinate));
        // Infinities of the wrong side, too, leave no number.
        if !(is_number && both[0] <= both[1] && both[0] < T::INFINITY && both[1] > -T::INFINITY) {
            let [lower, upper] = both.map(|bound| bound.to_f64());
            return Err(GraphError::Bounds { block: index, coordinate, lower, upper });
        }
        match place {
            Some(place) => bounds[place].1 = both,
            None => bounds.push((coordinate, both)),
        }
        Ok(())
    }

    /// Sets the robust loss of a residual block, with its scale; `None` for squares.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`], and [`GraphError::Scale`] for a scale that is not positive and finite.
    pub fn set_loss(&mut self, residual_block: ResidualBlock, loss: Option<(Loss, T)>) -> Result<(), GraphError> {
        check_scale(residual_block.index, loss)?;
        self.loss_mut(residual_block)?.robust = loss;
        Ok(())
    }

    /// Excludes a residual block from the cost, or includes it again. It keeps its place, and its handle.
    ///
    /// ```
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::graph::{Problem, RelativePose2};
    /// use marquardt::manifold::{Pose2, SE2};
    ///
    /// let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// let mut problem = Problem::<f64>::new();
    /// let first = problem.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 0.0).to_array())?;
    /// let second = problem.add_parameter_block(SE2, &Pose2::new(0.5, 0.0, 0.0).to_array())?;
    /// problem.set_constant(first)?;
    /// problem.add_residual_block(RelativePose2::new(Pose2::new(1.0, 0.0, 0.0), identity)?, (first, second))?;
    /// let wrong = problem.add_residual_block(RelativePose2::new(Pose2::new(9.0, 0.0, 0.0), identity)?, (first, second))?;
    /// problem.set_excluded(wrong, true)?;
    /// problem.solve(&LevenbergMarquardt::new())?;
    /// assert!((problem.point(second)?[0] - 1.0).abs() < 1e-12);
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`].
    pub fn set_excluded(&mut self, residual_block: ResidualBlock, is_excluded: bool) -> Result<(), GraphError> {
        self.loss_mut(residual_block)?.is_excluded = is_excluded;
        Ok(())
    }

    /// A parameter block, to change.
    pub(super) fn block_mut(&mut self, id: BlockId) -> Result<&mut ManifoldBlock<T>, GraphError> {
        let index = self.check_handle(id)?;
        self.edits += 1;
        Ok(&mut self.blocks[index])
    }

    /// Loss of a residual block, to change.
    pub(super) fn loss_mut(&mut self, residual_block: ResidualBlock) -> Result<&mut BlockLoss<T>, GraphError> {
        let (group, k) = self.place_of(residual_block)?;
        self.edits += 1;
        Ok(self.groups[group].loss_mut(k))
    }

    /// Group of a residual block of this problem, and its place there.
    pub(super) fn place_of(
        &self,
        ResidualBlock { problem, index }: ResidualBlock,
    ) -> Result<(usize, usize), GraphError> {
        if problem != self.id {
            return Err(GraphError::ForeignHandle { index });
        }
        let (group, k) = self.residual_blocks[index];
        Ok((group as usize, k as usize))
    }

    /// Number of parameter blocks.
    pub fn parameter_block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Number of residual blocks.
    pub fn residual_block_count(&self) -> usize {
        self.residual_blocks.len()
    }

    /// Coordinates of the point of a parameter block.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`].
    pub fn point<M>(&self, block: ParameterBlock<M>) -> Result<&[T], GraphError> {
        Ok(&self.x[self.point_range(block)?])
    }

    /// Range of a parameter block's point within the points of all blocks, which an observer is given.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`].
    pub fn point_range<M>(&self, block: ParameterBlock<M>) -> Result<Range<usize>, GraphError> {
        let index = self.check_handle(block.id)?;
        Ok(self.ambient[index]..self.ambient[index + 1])
    }

    /// Moves a parameter block to another point.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`] and [`GraphError::NotAPoint`].
    pub fn set_point<M>(&mut self, block: ParameterBlock<M>, point: &[T]) -> Result<(), GraphError> {
        let index = self.check_handle(block.id)?;
        check_point(&*self.blocks[index].manifold, index, point)?;
        self.edits += 1;
        self.x[self.ambient[index]..self.ambient[index + 1]].copy_from_slice(point);
        Ok(())
    }

    /// Cost at the points as they are, `½ Σ ρ_i(‖f_i‖²)`.
    ///
    /// # Errors
    ///
    /// [`GraphError`] for the first residual block that cannot be evaluated, or is not finite.
    pub fn cost(&self) -> Result<T, GraphError> {
        Active::new(self).checked_cost()
    }

    /// Degrees of freedom: the number of residuals that are not excluded, less that of free directions; `None` if that is negative.
    ///
    /// ```
    /// use marquardt::graph::{Problem, RelativePose2};
    /// use marquardt::manifold::{Pose2, SE2};
    ///
    /// let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// let mut problem = Problem::<f64>::new();
    /// let first = problem.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 0.0).to_array())?;
    /// let second = problem.add_parameter_block(SE2, &Pose2::new(4.0, 1.0, 0.0).to_array())?;
    /// problem.set_constant(first)?;
    /// for _ in 0..2 {
    ///     problem.add_residual_block(RelativePose2::new(Pose2::new(1.0, 0.0, 0.0), identity)?, (first, second))?;
    /// }
    /// assert_eq!(problem.freedom(), Some(3));
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    pub fn freedom(&self) -> Option<usize> {
        let counts = self.groups.iter().flat_map(|group| {
            let included = (0..group.len()).filter(|&k| !group.loss(k).is_excluded);
            included.map(|k| group.residual_count(k))
        });
        counts.sum::<usize>().checked_sub(Active::new(self).column_count())
    }

    /// Residuals of a residual block at the points as they are, before its loss: those of an outlier are large.
    ///
    /// ```
    /// use marquardt::graph::{Problem, RelativePose2};
    /// use marquardt::manifold::{Pose2, SE2};
    ///
    /// let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// let mut problem = Problem::<f64>::new();
    /// let first = problem.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 0.0).to_array())?;
    /// let second = problem.add_parameter_block(SE2, &Pose2::new(4.0, 1.0, 0.0).to_array())?;
    /// let edge = problem.add_residual_block(RelativePose2::new(Pose2::new(1.0, 0.0, 0.0), identity)?, (first, second))?;
    /// assert_eq!(problem.residuals(edge)?, [3.0, 1.0, 0.0]);
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`], and [`GraphError::Evaluation`] where the cost function fails.
    pub fn residuals(&self, residual_block: ResidualBlock) -> Result<Vec<T>, GraphError> {
        let mut residuals = Vec::new();
        self.for_each_residuals([residual_block], |r| residuals.extend_from_slice(r))?;
        Ok(residuals)
    }

    /// Calls `visit` with the residuals of each of these residual blocks at the points as they are, before their losses.
    pub(super) fn for_each_residuals(
        &self,
        residual_blocks: impl IntoIterator<Item = ResidualBlock>,
        mut visit: impl FnMut(&[T]),
    ) -> Result<(), GraphError> {
        let active = Active::new(self);
        let points = active.points(&self.x);
        let mut r = Vec::new();
        for residual_block in residual_blocks {
            let (group, k) = self.place_of(residual_block)?;
            let group = &self.groups[group];
            r.clear();
            r.resize(group.residual_count(k), T::ZERO);
            let evaluated = group.residuals(k, &points, &mut r);
            evaluated.map_err(|error| GraphError::Evaluation { residual_block: residual_block.index, error })?;
            visit(&r);
        }
        Ok(())
    }

    /// Number of residuals of a residual block.
    pub(super) fn residual_count_of(&self, residual_block: ResidualBlock) -> Result<usize, GraphError> {
        let (group, k) = self.place_of(residual_block)?;
        Ok(self.groups[group].residual_count(k))
    }

    /// Minimises from the points as they are, and moves them to the best that was found.
    ///
    /// # Errors
    ///
    /// [`GraphError`] for residuals that are not finite at the start, and parameter blocks that no residual block depends on;
    /// [`GraphError::Solve`] as [`LevenbergMarquardt::minimize`], among others for matrices that do not fit the memory budget.
    pub fn solve<D: DampingPolicy<T>>(&mut self, solver: &LevenbergMarquardt<T, D>) -> Result<Report<T>, GraphError> {
        self.solve_observed(solver, &mut ())
    }

    /// [`solve`](Self::solve) with an observer that sees each trial, and may end the solve; the best points so far are kept.
    ///
    /// The observer is given the points of all parameter blocks; [`point_range`](Self::point_range) says where each is.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::graph::{Problem, RelativePose2};
    /// use marquardt::manifold::{Pose2, SE2};
    /// use marquardt::solver::{IterationRecord, Status};
    ///
    /// let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// let mut problem = Problem::<f64>::new();
    /// let first = problem.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 0.0).to_array())?;
    /// let second = problem.add_parameter_block(SE2, &Pose2::new(9.0, 5.0, 2.0).to_array())?;
    /// problem.set_constant(first)?;
    /// problem.add_residual_block(RelativePose2::new(Pose2::new(1.0, 0.0, 0.0), identity)?, (first, second))?;
    ///
    /// let of_second = problem.point_range(second)?;
    /// let mut watch = |record: &IterationRecord<f64>, x: &[f64]| {
    ///     println!("{}: cost {}, the second pose is {:?}", record.iteration, record.cost, &x[of_second.clone()]);
    ///     if record.accepted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    /// };
    /// let report = problem.solve_observed(&LevenbergMarquardt::new(), &mut watch)?;
    /// assert_eq!(report.status, Status::Cancelled);
    /// assert!(problem.cost()? < report.initial_cost);
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`solve`](Self::solve).
    pub fn solve_observed<D: DampingPolicy<T>>(
        &mut self,
        solver: &LevenbergMarquardt<T, D>,
        observer: &mut (impl Observer<T> + ?Sized),
    ) -> Result<Report<T>, GraphError> {
        let mut active = Active::new(self);
        active.check()?;
        active.begin_solve();
        let outcome = solver.minimize_observed(&mut active, &self.x, observer);
        let report = outcome.map_err(|error| active.explain(error))?;
        self.x.copy_from_slice(&report.x);
        self.edits += 1;
        Ok(report)
    }

    /// Covariances at the points as they are, which should be those of a minimum.
    ///
    /// ```
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::graph::{Problem, RelativePose2};
    /// use marquardt::manifold::{Pose2, SE2};
    ///
    /// let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// let step = Pose2::new(1.0, 0.0, 0.0);
    /// let mut problem = Problem::<f64>::new();
    /// let first = problem.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 0.0).to_array())?;
    /// let second = problem.add_parameter_block(SE2, &Pose2::new(1.0, 0.0, 0.0).to_array())?;
    /// let third = problem.add_parameter_block(SE2, &Pose2::new(2.0, 0.0, 0.0).to_array())?;
    /// problem.set_constant(first)?;
    /// problem.add_residual_block(RelativePose2::new(step, identity)?, (first, second))?;
    /// problem.add_residual_block(RelativePose2::new(step, identity)?, (second, third))?;
    /// let mut covariance = problem.covariance()?;
    /// // Along the path, variances add up; across it, the angle of the pose before adds its own.
    /// let variances = covariance.block(third, third)?.diag().to_vec();
    /// assert!((variances[0] - 2.0).abs() < 1e-12 && variances[1] > 2.5);
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::Undetermined`], and those of [`solve`](Self::solve).
    pub fn covariance(&self) -> Result<BlockCovariance<T>, GraphError> {
        let covariance = self.determined_covariance()?;
        match covariance.undetermined() {
            [] => Ok(covariance),
            blocks => Err(GraphError::Undetermined { blocks: blocks.to_vec() }),
        }
    }

    /// [Covariances](Self::covariance) of those parameter blocks that the residuals determine, whatever others they leave undetermined. A bundle
    /// without a fixed camera determines none; of a map in two pieces, it has those of the piece with a constant pose.
    ///
    /// ```
    /// use marquardt::graph::{Prior, Problem};
    /// use marquardt::manifold::Euclidean;
    ///
    /// let mut problem = Problem::new();
    /// let known = problem.add_parameter_block(Euclidean::<1>, &[1.0])?;
    /// let unknown = problem.add_parameter_block(Euclidean::<2>, &[1.0, 2.0])?;
    /// problem.add_residual_block(Prior::new([1.0], [[4.0]])?, (known,))?;
    /// problem.add_residual_block(Prior::with_rounded_information([1.0, 2.0], [[1.0, 1.0], [1.0, 1.0]])?, (unknown,))?;
    /// assert!(problem.covariance().is_err());
    /// let mut covariance = problem.determined_covariance()?;
    /// assert!((covariance.standard_errors(known)?[0] - 0.5_f64).abs() < 1e-12);
    /// assert!(covariance.undetermined() == [1] && covariance.standard_errors(unknown).is_err());
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`solve`](Self::solve).
    pub fn determined_covariance(&self) -> Result<BlockCovariance<T>, GraphError> {
        let mut active = Active::new(self);
        active.check()?;
        let columns_of_all = active.column_count();
        active.checked_cost()?;
        let normal = SparseNormal::at(&mut active, columns_of_all, &self.x)
            .map_err(SolveError::Evaluation)?
            .map_err(|error| SolveError::no_plan(error, usize::MAX))?;
        let columns = active.column_blocks_of_all();
        // Both are in ascending order.
        let is_among = |all: &[usize], k: Option<usize>| k.is_some_and(|k| all.binary_search(&k).is_ok());
        let blocks_of = |of_columns: Vec<usize>| -> Vec<usize> {
            (0..columns.len()).filter(|&block| is_among(&of_columns, columns[block])).collect()
        };
        let is_held = active.held_by_bounds(normal.gradient());
        let outcome = if is_held.contains(&true) { Err(Box::new(normal)) } else { normal.into_inverse() };
        let (inverse, undetermined) = match outcome {
            Ok(inverse) => (inverse, Vec::new()),
            Err(normal) => match normal.into_determined_inverse(is_held) {
                Ok((inverse, undetermined)) => (inverse, blocks_of(undetermined)),
                Err(IllConditioned) => {
                    let blocks = (0..columns.len()).filter(|&block| columns[block].is_some()).collect();
                    return Err(GraphError::Undetermined { blocks });
                }
            },
        };
        let free = |block: &ManifoldBlock<T>| (block.free_indices().collect(), block.manifold.tangent_size());
        let directions = self.blocks.iter().map(free).collect();
        Ok(BlockCovariance { problem: self.id, inverse, columns, directions, undetermined })
    }

    /// Index of a block of this problem.
    pub(super) fn check_handle(&self, id: BlockId) -> Result<usize, GraphError> {
        let index = id.index as usize;
        if id.problem == self.id { Ok(index) } else { Err(GraphError::ForeignHandle { index }) }
    }
}

fn check_scale<T: Real>(residual_block: usize, loss: ScaledLoss<T>) -> Result<(), GraphError> {
    match loss {
        Some((_, scale)) if !(scale > T::ZERO && scale.is_finite()) => {
            Err(GraphError::Scale { residual_block, scale: scale.to_f64() })
        }
        _ => Ok(()),
    }
}

fn check_point<T: Real>(manifold: &(impl Manifold<T> + ?Sized), block: usize, point: &[T]) -> Result<(), GraphError> {
    if manifold.contains(point) {
        return Ok(());
    }
    let found = point.iter().map(|number| number.to_f64()).collect();
    Err(GraphError::NotAPoint { block, manifold: manifold.name(), found })
}

impl<T: Real> fmt::Debug for Problem<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem")
            .field("parameter_blocks", &self.blocks.len())
            .field("residual_blocks", &self.residual_blocks.len())
            .finish_non_exhaustive()
    }
}
