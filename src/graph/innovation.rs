//! How far a residual block that was left out contradicts the others.

use nalgebra::{DMatrix, DVector};

use super::block::ResidualBlock;
use super::covariance::BlockCovariance;
use super::error::GraphError;
use super::least_squares::Active;
use super::problem::Problem;
use crate::real::Real;

/// Contradiction between an excluded residual block and the estimates of all others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Innovation {
    /// `rᵀ(I + JΣJᵀ)⁻¹r`: the squared length of the residuals in units of what their noise and that of all others explain.
    pub(super) squared_length: f64,
    /// Half the logarithm of the determinant of `I + JΣJᵀ`: how little the others tell of the residuals.
    pub(super) uncertainty: f64,
}

impl<T: Real> Problem<T> {
    /// Innovations of excluded residual blocks, with the covariances `Σ` of their parameter blocks.
    pub(super) fn innovations(
        &self,
        residual_blocks: impl IntoIterator<Item = ResidualBlock>,
        covariance: &mut BlockCovariance<T>,
    ) -> Result<Vec<Innovation>, GraphError> {
        let mut active = Active::new(self);
        active.take_directions(&self.x);
        residual_blocks.into_iter().map(|block| self.innovation(block, &active, covariance)).collect()
    }

    fn innovation(
        &self,
        residual_block: ResidualBlock,
        active: &Active<'_, T>,
        covariance: &mut BlockCovariance<T>,
    ) -> Result<Innovation, GraphError> {
        let (group, k) = self.place_of(residual_block)?;
        let group = &*self.groups[group];
        let columns: Vec<(usize, usize)> = group
            .blocks(k)
            .iter()
            .filter_map(|&block| {
                let (free, _) = &covariance.directions[block as usize];
                Some((covariance.columns[block as usize]?, free.len()))
            })
            .collect();
        let width: usize = columns.iter().map(|&(_, width)| width).sum();
        let count = group.residual_count(k);
        let (mut r, mut jacobian) = (vec![T::ZERO; count], vec![T::ZERO; count * width]);
        let evaluated = group.derivatives(k, &active.points(&self.x), &mut r, &mut jacobian);
        evaluated.map_err(|error| GraphError::Evaluation { residual_block: residual_block.index, error })?;
        let mut sigma = DMatrix::zeros(width, width);
        let mut row = 0;
        for &(i, rows) in &columns {
            let mut column = 0;
            for &(j, others) in &columns {
                let mut block = vec![T::ZERO; rows * others];
                covariance.inverse.block(i, j, &mut block);
                let entries = DMatrix::from_row_iterator(rows, others, block.iter().map(|entry| entry.to_f64()));
                sigma.view_mut((row, column), (rows, others)).copy_from(&entries);
                column += others;
            }
            row += rows;
        }
        let r = DVector::from_iterator(count, r.iter().map(|r| r.to_f64()));
        let jacobian = DMatrix::from_row_iterator(count, width, jacobian.iter().map(|entry| entry.to_f64()));
        let explained = DMatrix::identity(count, count) + &jacobian * sigma * jacobian.transpose();
        let plain = Innovation { squared_length: r.norm_squared(), uncertainty: f64::INFINITY };
        Ok(explained.cholesky().map_or(plain, |factor| Innovation {
            squared_length: r.dot(&factor.solve(&r)),
            uncertainty: factor.l_dirty().diagonal().map(|x| x.ln()).sum(),
        }))
    }
}
