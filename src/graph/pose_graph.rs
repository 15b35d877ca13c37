//! Relative poses: the edges of pose graphs.

use super::cost_function::CostFunction;
use super::error::GraphError;
use crate::manifold::{Pose2, Pose3, SE2, SE3};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::scalar::Scalar;

/// A measured pose of a second pose, seen from a first, in the plane: `r = L log(M⁻¹ A⁻¹ B)`, with `LᵀL` the information matrix.
///
/// Residuals are those of the translation, and the angle in radians.
#[derive(Debug, Clone, Copy)]
pub struct RelativePose2<T> {
    measured: Pose2<T>,
    root: [[T; 3]; 3],
}

/// A measured pose of a second pose, seen from a first, in space: `r = L log(M⁻¹ A⁻¹ B)`, with `LᵀL` the information matrix.
///
/// Residuals are those of the translation, and the rotation vector in radians.
#[derive(Debug, Clone, Copy)]
pub struct RelativePose3<T> {
    measured: Pose3<T>,
    root: [[T; 6]; 6],
}

impl<T: Real> RelativePose2<T> {
    /// The measured pose, with its information matrix: the inverse of its covariance.
    ///
    /// # Errors
    ///
    /// [`GraphError`] for a matrix that is not finite, not symmetric or not positive definite.
    pub fn new(measured: Pose2<T>, information: [[T; 3]; 3]) -> Result<Self, GraphError> {
        Ok(RelativePose2 { measured, root: root_of(information)? })
    }
}

impl<T: Real> RelativePose3<T> {
    /// The measured pose, with its information matrix: the inverse of its covariance.
    ///
    /// # Errors
    ///
    /// [`GraphError`] for a matrix that is not finite, not symmetric or not positive definite.
    pub fn new(measured: Pose3<T>, information: [[T; 6]; 6]) -> Result<Self, GraphError> {
        Ok(RelativePose3 { measured, root: root_of(information)? })
    }
}

impl<T: Real> CostFunction<T> for RelativePose2<T> {
    type Blocks = (SE2, SE2);

    fn residual_count(&self) -> usize {
        3
    }

    #[inline]
    fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Evaluated {
        let (a, b) = (Pose2::from_slice(blocks[0]), Pose2::from_slice(blocks[1]));
        let error = Pose2::constant(self.measured).between(a.between(b)).log();
        multiply(&self.root, error, r);
        Ok(())
    }
}

impl<T: Real> CostFunction<T> for RelativePose3<T> {
    type Blocks = (SE3, SE3);

    fn residual_count(&self) -> usize {
        6
    }

    #[inline]
    fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Evaluated {
        let (a, b) = (Pose3::from_slice(blocks[0]), Pose3::from_slice(blocks[1]));
        let error = Pose3::constant(self.measured).between(a.between(b)).log();
        multiply(&self.root, error, r);
        Ok(())
    }
}

/// `r = Lv` for an upper triangle `L`; zeros are skipped.
#[inline(always)]
fn multiply<S: Scalar, const N: usize>(root: &[[S::Real; N]; N], v: [S; N], r: &mut [S]) {
    for (i, (r, row)) in r.iter_mut().zip(root).enumerate() {
        *r = v[i] * row[i];
        for j in i + 1..N {
            if row[j] != <S::Real as crate::number::Number>::from_f64(0.0) {
                *r += v[j] * row[j];
            }
        }
    }
}

/// The upper triangle `L` with `LᵀL = A`.
fn root_of<T: Real, const N: usize>(matrix: [[T; N]; N]) -> Result<[[T; N]; N], GraphError> {
    for (row, entries) in matrix.iter().enumerate() {
        if let Some(column) = entries.iter().position(|entry| !entry.is_finite()) {
            return Err(GraphError::InformationNotFinite { row, column });
        }
    }
    for row in 0..N {
        for column in row + 1..N {
            let (entry, mirrored) = (matrix[row][column], matrix[column][row]);
            let size =
                entry.abs().max(mirrored.abs()).max((matrix[row][row].abs() * matrix[column][column].abs()).sqrt());
            if !((entry - mirrored).abs() <= T::EPSILON.sqrt() * size) {
                return Err(GraphError::InformationNotSymmetric { row, column });
            }
        }
    }
    let mut root = [[T::ZERO; N]; N];
    for i in 0..N {
        for j in i..N {
            let sum = (0..i).fold(matrix[i][j], |sum, k| sum - root[k][i] * root[k][j]);
            root[i][j] = if i == j { sum.sqrt() } else { sum / root[i][i] };
        }
        if !(root[i][i] > T::ZERO && root[i].iter().all(|entry| entry.is_finite())) {
            return Err(GraphError::InformationNotPositiveDefinite { row: i });
        }
    }
    Ok(root)
}
