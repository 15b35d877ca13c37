//! Costs, residuals, derivatives and pieces of a problem.

use std::ops::Range;

use super::block::ParameterBlock;
use super::error::GraphError;
use super::least_squares::Active;
use super::problem::Problem;
use crate::real::Real;

/// Residuals and Jacobian of a [`Problem`], for other programs: see [`Problem::linearization`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Linearization<T> {
    /// Residuals before losses, in the order of the residual blocks. Those of excluded residual blocks are zero.
    pub residuals: Vec<T>,
    /// Row, column and value of each stored entry of the Jacobian, row by row; entries that are zero by chance are among them.
    pub jacobian: Vec<(usize, usize, T)>,
    /// Number of columns: that of all directions that are free.
    pub columns: usize,
    /// First row of each residual block, and the number of all rows.
    pub first_rows: Vec<usize>,
    /// First column of each parameter block, and the number of all columns.
    first_columns: Vec<usize>,
}

impl<T> Linearization<T> {
    /// Columns of a parameter block of the same problem; empty for one that is constant.
    pub fn columns_of<M>(&self, block: ParameterBlock<M>) -> Range<usize> {
        let index = block.index();
        let end = |index: usize| self.first_columns.get(index).copied().unwrap_or(self.columns);
        end(index)..end(index + 1)
    }
}

/// Residual blocks with cost functions of one type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CostOfKind<T> {
    /// Name of the type.
    pub kind: &'static str,
    /// Number of residual blocks that are not excluded.
    pub count: usize,
    /// Sum of their costs.
    pub cost: T,
}

/// Parameter blocks that residual blocks connect with each other, constant ones aside.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// Indices of the parameter blocks, in ascending order.
    pub blocks: Vec<usize>,
    /// True if a residual block leads from the piece to a constant parameter block. Otherwise only residual blocks that tell of single
    /// parameter blocks, as a [`Prior`](super::Prior) does, can determine where the piece is.
    pub is_anchored: bool,
}

impl<T: Real> Problem<T> {
    /// Cost of each residual block at the points as they are, under its loss; zero for those that are excluded.
    ///
    /// # Errors
    ///
    /// [`GraphError::Evaluation`].
    pub fn residual_block_costs(&self) -> Result<Vec<T>, GraphError> {
        let active = Active::new(self);
        let points = active.points(&self.x);
        let mut r = Vec::new();
        let cost_of = |(residual_block, &(group, k)): (usize, &(u32, u32))| {
            let (group, k) = (&self.groups[group as usize], k as usize);
            r.clear();
            r.resize(group.residual_count(k), T::ZERO);
            let evaluated = group.residuals(k, &points, &mut r);
            evaluated.map_err(|error| GraphError::Evaluation { residual_block, error })?;
            Ok(group.apply_loss(k, &points, &mut r))
        };
        self.residual_blocks.iter().enumerate().map(cost_of).collect()
    }

    /// Cost of all residual blocks with cost functions of one type, in the order in which the types were first added.
    ///
    /// ```
    /// use marquardt::graph::{Prior, Problem};
    /// use marquardt::manifold::Euclidean;
    ///
    /// let mut problem = Problem::new();
    /// let block = problem.add_parameter_block(Euclidean::<1>, &[1.0])?;
    /// for place in [0.0, 3.0] {
    ///     problem.add_residual_block(Prior::new([place], [[1.0]])?, (block,))?;
    /// }
    /// let kinds = problem.cost_by_kind()?;
    /// assert!(kinds[0].kind.contains("Prior") && kinds[0].count == 2 && kinds[0].cost == 2.5);
    /// assert_eq!(problem.residual_block_costs()?, [0.5, 2.0]);
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`residual_block_costs`](Self::residual_block_costs).
    pub fn cost_by_kind(&self) -> Result<Vec<CostOfKind<T>>, GraphError> {
        let none = |kind| CostOfKind { kind, count: 0, cost: T::ZERO };
        let mut kinds: Vec<_> = self.groups.iter().map(|group| none(group.kind())).collect();
        for (&(group, k), cost) in self.residual_blocks.iter().zip(self.residual_block_costs()?) {
            let kind = &mut kinds[group as usize];
            kind.count += usize::from(!self.groups[group as usize].loss(k as usize).is_excluded);
            kind.cost += cost;
        }
        Ok(kinds)
    }

    /// Residuals and sparse Jacobian at the points as they are, before losses, with a column for each free direction.
    ///
    /// ```
    /// use marquardt::graph::{Prior, Problem};
    /// use marquardt::manifold::Euclidean;
    ///
    /// let mut problem = Problem::new();
    /// let block = problem.add_parameter_block(Euclidean::<2>, &[1.0, 2.0])?;
    /// problem.add_residual_block(Prior::new([0.0, 0.0], [[4.0, 0.0], [0.0, 1.0]])?, (block,))?;
    /// let linearization = problem.linearization()?;
    /// assert_eq!(linearization.residuals, [2.0, 2.0]);
    /// assert_eq!(linearization.jacobian, [(0, 0, 2.0), (0, 1, 0.0), (1, 0, 0.0), (1, 1, 1.0)]);
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GraphError::Evaluation`].
    pub fn linearization(&self) -> Result<Linearization<T>, GraphError> {
        let mut active = Active::new(self);
        active.take_directions(&self.x);
        let points = active.points(&self.x);
        let first_columns = points.columns.to_vec();
        let columns = *first_columns.last().unwrap_or(&0);
        let (mut residuals, mut jacobian, mut first_rows) = (Vec::new(), Vec::new(), vec![0]);
        let mut rows = Vec::new();
        for (residual_block, &(group, k)) in self.residual_blocks.iter().enumerate() {
            let (group, k) = (&self.groups[group as usize], k as usize);
            let (first, count) = (residuals.len(), group.residual_count(k));
            residuals.resize(first + count, T::ZERO);
            first_rows.push(residuals.len());
            if group.loss(k).is_excluded {
                continue;
            }
            let own = group.blocks(k).iter().flat_map(|&block| points.columns_of(block));
            let own: Vec<usize> = own.collect();
            rows.clear();
            rows.resize(count * own.len(), T::ZERO);
            let evaluated = group.derivatives(k, &points, &mut residuals[first..], &mut rows);
            evaluated.map_err(|error| GraphError::Evaluation { residual_block, error })?;
            for (i, row) in rows.chunks_exact(own.len().max(1)).enumerate() {
                jacobian.extend(own.iter().zip(row).map(|(&column, &entry)| (first + i, column, entry)));
            }
        }
        Ok(Linearization { residuals, jacobian, columns, first_rows, first_columns })
    }

    /// Pieces that no residual block connects with each other, by their first parameter blocks; constant parameter blocks connect nothing.
    ///
    /// ```
    /// use marquardt::graph::{Problem, RelativePose2};
    /// use marquardt::manifold::{Pose2, SE2};
    ///
    /// let edge = || RelativePose2::new(Pose2::new(1.0, 0.0, 0.0), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    /// let mut problem = Problem::new();
    /// let start = Pose2::new(0.0, 0.0, 0.0).to_array();
    /// let mut poses = Vec::new();
    /// for _ in 0..5 {
    ///     poses.push(problem.add_parameter_block(SE2, &start)?);
    /// }
    /// problem.set_constant(poses[0])?;
    /// for (a, b) in [(0, 1), (1, 2), (3, 4)] {
    ///     problem.add_residual_block(edge()?, (poses[a], poses[b]))?;
    /// }
    /// let pieces = problem.pieces();
    /// assert!(pieces[0].blocks == [1, 2] && pieces[0].is_anchored);
    /// assert!(pieces[1].blocks == [3, 4] && !pieces[1].is_anchored);
    /// # Ok::<(), marquardt::graph::GraphError>(())
    /// ```
    pub fn pieces(&self) -> Vec<Piece> {
        let mut parents: Vec<usize> = (0..self.blocks.len()).collect();
        let is_constant = |block: u32| self.blocks[block as usize].is_constant;
        let included = || {
            let groups = self.groups.iter();
            groups.flat_map(|group| (0..group.len()).filter(|&k| !group.loss(k).is_excluded).map(|k| group.blocks(k)))
        };
        for blocks in included() {
            let mut moving = blocks.iter().filter(|&&block| !is_constant(block)).map(|&block| block as usize);
            if let Some(first) = moving.next() {
                moving.for_each(|block| {
                    let (a, b) = (root(&mut parents, first), root(&mut parents, block));
                    parents[a.max(b)] = a.min(b);
                });
            }
        }
        let (mut pieces, mut places) = (Vec::<Piece>::new(), vec![0; parents.len()]);
        for block in (0..parents.len()).filter(|&block| !is_constant(block as u32)) {
            let first = root(&mut parents, block);
            if first == block {
                places[block] = pieces.len();
                pieces.push(Piece { blocks: Vec::new(), is_anchored: false });
            }
            pieces[places[first]].blocks.push(block);
        }
        for blocks in included().filter(|blocks| blocks.iter().any(|&block| is_constant(block))) {
            for &block in blocks.iter().filter(|&&block| !is_constant(block)) {
                pieces[places[root(&mut parents, block as usize)]].is_anchored = true;
            }
        }
        pieces
    }
}

/// First block of the piece of a block.
fn root(parents: &mut [usize], mut block: usize) -> usize {
    while parents[block] != block {
        parents[block] = parents[parents[block]];
        block = parents[block];
    }
    block
}
