//! Marginalisation of parameter blocks into a prior for others.

use std::sync::Arc;

use super::block::{AnyBlock, BlockId, ResidualBlock};
use super::cost_function::AnyBlocks;
use super::error::GraphError;
use super::least_squares::Active;
use super::numeric::{NumericCostFunction, NumericDiff};
use super::problem::Problem;
use crate::kernels::triangular::{absorb_rows, is_independent};
use crate::kernels::vector::dot;
use crate::manifold::Manifold;
use crate::problem::Evaluated;
use crate::real::Real;

/// Prior that removed parameter blocks leave for those that remain: `r = R (x ⊟ x̂) + c`, linear in the step from the points `x̂`.
struct MarginalPrior<T: Real> {
    /// Manifold of each block, and its point `x̂`.
    blocks: Vec<(Arc<dyn Manifold<T>>, Vec<T>)>,
    /// `R`, a row for each residual, of a column for each direction of all blocks.
    root: Vec<T>,
    /// `c`
    rest: Vec<T>,
}

impl<T: Real> NumericCostFunction<T> for MarginalPrior<T> {
    type Blocks = AnyBlocks;

    fn residual_count(&self) -> usize {
        self.rest.len()
    }

    fn evaluate(&self, points: &[&[T]], r: &mut [T]) -> Evaluated {
        let mut step = Vec::with_capacity(self.root.len() / self.rest.len());
        for ((manifold, at), point) in self.blocks.iter().zip(points) {
            let first = step.len();
            step.resize(first + manifold.tangent_size(), T::ZERO);
            manifold.minus(point, at, &mut step[first..]);
        }
        let rows = self.root.chunks_exact(step.len());
        r.iter_mut().zip(rows.zip(&self.rest)).for_each(|(r, (row, &rest))| *r = rest + dot(row, &step));
        Ok(())
    }
}

/// Rows `[J r]` of residual blocks, in the free directions of some parameter blocks.
struct Rows<T> {
    /// Number of directions.
    width: usize,
    jacobian: Vec<T>,
    r: Vec<T>,
}

impl<T: Real> Rows<T> {
    /// Eliminates the first `removed` directions by reflections (Bierman 1977, chapter 4). Returns the rows that remain, in the other directions. Those of the
    /// first that the rows do not determine are dropped with what depends on them alone.
    fn eliminate(mut self, removed: usize) -> Rows<T> {
        let n = self.width;
        let (mut triangle, mut rotated, mut work) = (vec![T::ZERO; n * n], vec![T::ZERO; n], vec![T::ZERO; n]);
        absorb_rows(&mut triangle, &mut rotated, &mut self.jacobian, &mut self.r, &mut work);
        for i in 0..removed {
            if is_independent(&triangle, n, i) {
                continue;
            }
            // The row tells nothing of this direction, and belongs to those behind it.
            let mut row = vec![T::ZERO; n];
            row[i + 1..].copy_from_slice(&triangle[i * n + i + 1..(i + 1) * n]);
            triangle[i * n..(i + 1) * n].fill(T::ZERO);
            let mut r = [std::mem::replace(&mut rotated[i], T::ZERO)];
            absorb_rows(&mut triangle, &mut rotated, &mut row, &mut r, &mut work);
        }
        let mut left = Rows { width: n - removed, jacobian: Vec::new(), r: Vec::new() };
        for i in removed..n {
            let row: Vec<T> = (removed..n).map(|j| if j < i { T::ZERO } else { triangle[i * n + j] }).collect();
            if row.iter().any(|&entry| entry != T::ZERO) {
                left.jacobian.extend(row);
                left.r.push(rotated[i]);
            }
        }
        left
    }
}

impl<T: Real> Problem<T> {
    /// Removes parameter blocks from the next solves, and adds what they tell of the others: a residual block of those that share residual blocks with
    /// them.
    ///
    /// The residual blocks of the removed parameter blocks are linearised at the points as they are, under their losses, and the removed steps eliminated from
    /// `½‖Jδ + r‖²`. What is left is a prior `½‖R (x ⊟ x̂) + c‖²` of the others, as GTSAM, g2o and VINS make one for a fixed lag: exact where residuals are
    /// linear. The removed blocks stay constant at their points, their residual blocks are [excluded](Self::set_excluded), and the cost is
    /// smaller by the part that the others have no influence on. Returns `None` if nothing is told of other blocks. Directions of removed blocks that residuals do
    /// not determine are no obstacle.
    ///
    /// The work is `2mn²` flops for `m` residuals of the removed blocks in `n` directions of all blocks that these depend on. The removed blocks keep their
    /// place in memory.
    ///
    /// ```
    /// use marquardt::LevenbergMarquardt;
    /// use marquardt::graph::{Prior, Problem, RelativePose2};
    /// use marquardt::manifold::{Pose2, SE2};
    ///
    /// // A robot reports how far it went; only the last three poses are kept.
    /// let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    /// let mut problem = Problem::<f64>::new();
    /// let mut poses = vec![problem.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 0.0).to_array())?];
    /// problem.set_constant(poses[0])?;
    /// for k in 0..20 {
    ///     let next = problem.add_parameter_block(SE2, problem.point(poses[k])?.to_vec().as_slice())?;
    ///     problem.add_residual_block(RelativePose2::new(Pose2::new(1.0, 0.0, 0.1), identity)?, (poses[k], next))?;
    ///     poses.push(next);
    ///     problem.solve(&LevenbergMarquardt::new())?;
    ///     if let Some(old) = poses.len().checked_sub(4) {
    ///         problem.marginalize(&[poses[old].any()])?;
    ///     }
    /// }
    /// let angle = Pose2::from_slice(problem.point(poses[20])?).rotation.log();
    /// assert!((angle - 2.0).abs() < 1e-9);
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError`] for handles of another problem, blocks with bounds, and residual blocks that cannot be evaluated or are not finite. The problem is then
    /// unchanged.
    pub fn marginalize(&mut self, blocks: &[AnyBlock]) -> Result<Option<ResidualBlock>, GraphError> {
        let mut is_removed = vec![false; self.blocks.len()];
        for block in blocks {
            let index = self.check_handle(block.0)?;
            is_removed[index] = true;
            if !self.blocks[index].bounds.is_empty() {
                return Err(GraphError::MarginalBounds { block: index });
            }
        }
        let is_included = |&k: &usize| {
            let (group, place) = self.residual_blocks[k];
            let group = &self.groups[group as usize];
            let depends = group.blocks(place as usize).iter().any(|&block| is_removed[block as usize]);
            depends && !group.loss(place as usize).is_excluded
        };
        let eliminated: Vec<usize> = (0..self.residual_blocks.len()).filter(is_included).collect();
        let (rows, removed, kept) = self.rows_of(&eliminated, &is_removed)?;
        let left = rows.eliminate(removed);
        for &index in &eliminated {
            self.loss_mut(ResidualBlock { problem: self.id, index })?.is_excluded = true;
        }
        for block in blocks {
            self.block_mut(block.0)?.is_constant = true;
        }
        if left.r.is_empty() {
            return Ok(None);
        }
        let handle = |&index: &usize| AnyBlock(BlockId { problem: self.id, index: index as u32 });
        let handles = kept.iter().map(handle).collect();
        let prior = self.marginal_prior(&kept, left);
        self.add_residual_block(NumericDiff(prior), handles).map(Some)
    }

    /// Rows of residual blocks in the free directions of the removed parameter blocks, then of the others; the number of the former, and the others.
    fn rows_of(
        &self,
        residual_blocks: &[usize],
        is_removed: &[bool],
    ) -> Result<(Rows<T>, usize, Vec<usize>), GraphError> {
        let mut active = Active::new(self);
        active.take_directions(&self.x);
        let points = active.points(&self.x);
        let blocks_of = |&k: &usize| {
            let (group, place) = self.residual_blocks[k];
            self.groups[group as usize].blocks(place as usize).iter().copied()
        };
        let mut blocks: Vec<u32> = residual_blocks.iter().flat_map(blocks_of).collect();
        blocks.retain(|&block| !points.columns_of(block).is_empty());
        blocks.sort_unstable_by_key(|&block| (!is_removed[block as usize], block));
        blocks.dedup();
        let (mut firsts, mut removed, mut width) = (vec![0; self.blocks.len()], 0, 0);
        for &block in &blocks {
            firsts[block as usize] = width;
            width += points.columns_of(block).len();
            removed += if is_removed[block as usize] { points.columns_of(block).len() } else { 0 };
        }
        let mut rows = Rows { width, jacobian: Vec::new(), r: Vec::new() };
        for &residual_block in residual_blocks {
            let (group, k) = self.residual_blocks[residual_block];
            let (group, k) = (&self.groups[group as usize], k as usize);
            let own = group.blocks(k).iter();
            let own: Vec<usize> =
                own.flat_map(|&block| (firsts[block as usize]..).take(points.columns_of(block).len())).collect();
            if own.is_empty() {
                continue;
            }
            let mut is_finite = true;
            let evaluated = group.linearize(k..k + 1, &points, &mut |r, jacobian| {
                is_finite = r.iter().chain(jacobian).all(|entry| entry.is_finite());
                rows.r.extend_from_slice(r);
                for entries in jacobian.chunks_exact(own.len()) {
                    let first = rows.jacobian.len();
                    rows.jacobian.resize(first + width, T::ZERO);
                    own.iter().zip(entries).for_each(|(&column, &entry)| rows.jacobian[first + column] = entry);
                }
            });
            evaluated.map_err(|error| GraphError::Evaluation { residual_block, error })?;
            if !is_finite {
                return Err(GraphError::NonFiniteDerivative { residual_block });
            }
        }
        let kept = blocks.into_iter().map(|block| block as usize).filter(|&block| !is_removed[block]).collect();
        Ok((rows, removed, kept))
    }

    /// The prior of rows in the free directions of some parameter blocks, at their points.
    fn marginal_prior(&self, blocks: &[usize], rows: Rows<T>) -> MarginalPrior<T> {
        let mut first = 0;
        let columns = blocks.iter().flat_map(|&block| {
            let start = first;
            first += self.blocks[block].manifold.tangent_size();
            self.blocks[block].free_indices().map(move |direction| start + direction)
        });
        let columns: Vec<usize> = columns.collect();
        let mut root = vec![T::ZERO; rows.r.len() * first];
        for (all, free) in root.chunks_exact_mut(first).zip(rows.jacobian.chunks_exact(rows.width)) {
            columns.iter().zip(free).for_each(|(&column, &entry)| all[column] = entry);
        }
        let point = |&block: &usize| {
            let at = self.x[self.ambient[block]..self.ambient[block + 1]].to_vec();
            (Arc::clone(&self.blocks[block].manifold), at)
        };
        MarginalPrior { blocks: blocks.iter().map(point).collect(), root, rest: rows.r }
    }
}
