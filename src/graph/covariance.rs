//! Marginal covariances of parameter blocks.

use ndarray::{Array1, Array2};

use super::block::{BlockId, ParameterBlock};
use super::error::GraphError;
use crate::linear::InverseSubset;
use crate::real::Real;

/// Covariances of the steps of parameter blocks, blocks of `(JᵀJ)⁻¹`, for residuals of unit variance.
///
/// Made by [`Problem::covariance`](super::Problem::covariance). The inverse is computed at the blocks of the sparse factor only
/// (Takahashi, Fagan & Chin 1973), those of parameter blocks that share a residual block among them; other pairs take a solution
/// for each column. Directions that are constant, and coordinates that a bound holds, have zero covariance. A robust loss counts by its curvature.
#[derive(Debug, Clone)]
pub struct BlockCovariance<T> {
    pub(super) problem: u64,
    pub(super) inverse: InverseSubset<T>,
    /// Block of columns of each parameter block, if it moves.
    pub(super) columns: Vec<Option<usize>>,
    /// Directions of each parameter block's steps that are free, and the number of all its directions.
    pub(super) directions: Vec<(Vec<usize>, usize)>,
    /// Parameter blocks without a covariance, in ascending order.
    pub(super) undetermined: Vec<usize>,
}

impl<T: Real> BlockCovariance<T> {
    /// Covariance of the steps of two parameter blocks: a row for each direction of the first, and a column for each of the second.
    ///
    /// # Errors
    ///
    /// [`GraphError::ForeignHandle`], and [`GraphError::Undetermined`] for a block that the residuals leave undetermined.
    pub fn block<A, B>(&mut self, a: ParameterBlock<A>, b: ParameterBlock<B>) -> Result<Array2<T>, GraphError> {
        let (a, b) = (self.check_handle(a.id)?, self.check_handle(b.id)?);
        if let Some(&block) = [a, b].iter().find(|&block| self.undetermined.binary_search(block).is_ok()) {
            return Err(GraphError::Undetermined { blocks: vec![block] });
        }
        let ((rows, all_rows), (columns, all_columns)) = (&self.directions[a], &self.directions[b]);
        let mut covariance = Array2::from_elem((*all_rows, *all_columns), T::ZERO);
        if let (Some(i), Some(j)) = (self.columns[a], self.columns[b]) {
            let mut free = vec![T::ZERO; rows.len() * columns.len()];
            self.inverse.block(i, j, &mut free);
            for (row, numbers) in rows.iter().zip(free.chunks_exact(columns.len())) {
                columns.iter().zip(numbers).for_each(|(&column, &number)| covariance[[*row, column]] = number);
            }
        }
        Ok(covariance)
    }

    /// Indices of the parameter blocks that the residuals leave undetermined, in ascending order; none unless
    /// [asked for](super::Problem::determined_covariance).
    pub fn undetermined(&self) -> &[usize] {
        &self.undetermined
    }

    /// Standard errors of the directions of a parameter block.
    ///
    /// # Errors
    ///
    /// As [`block`](Self::block).
    pub fn standard_errors<M>(&mut self, block: ParameterBlock<M>) -> Result<Array1<T>, GraphError> {
        Ok(self.block(block, block)?.diag().mapv(|variance| variance.sqrt()))
    }

    fn check_handle(&self, id: BlockId) -> Result<usize, GraphError> {
        let index = id.index as usize;
        if id.problem == self.problem { Ok(index) } else { Err(GraphError::ForeignHandle { index }) }
    }
}
