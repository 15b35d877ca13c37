//! Relative poses: the edges of pose graphs.

use super::cost_function::CostFunction;
use super::error::GraphError;
use crate::manifold::{Pose2, Pose3, SE2, SE3};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::scalar::Scalar;

macro_rules! relative_pose {
    ($(#[$documentation:meta])* $relative:ident of $pose:ident on $manifold:ident, $residuals:literal) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy)]
        pub struct $relative<T> {
            measured: $pose<T>,
            root: [[T; $residuals]; $residuals],
        }

        impl<T: Real> $relative<T> {
            /// The measured pose, with its information matrix: the inverse of its covariance.
            ///
            /// # Errors
            ///
            /// [`GraphError`] for a matrix that is not finite, not symmetric or not positive definite.
            pub fn new(measured: $pose<T>, information: [[T; $residuals]; $residuals]) -> Result<Self, GraphError> {
                Ok($relative { measured, root: root_of(information)? })
            }
        }

        impl<T: Real> CostFunction<T> for $relative<T> {
            type Blocks = ($manifold, $manifold);

            fn residual_count(&self) -> usize {
                $residuals
            }

            #[inline]
            fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Evaluated {
                let (a, b) = ($pose::from_slice(blocks[0]), $pose::from_slice(blocks[1]));
                let error = $pose::constant(self.measured).between(a.between(b)).log();
                multiply(&self.root, error, r);
                Ok(())
            }
        }
    };
}

relative_pose! {
    /// A measured pose of a second pose, seen from a first, in the plane: `r = L log(M⁻¹ A⁻¹ B)`, with `LᵀL` the information matrix.
    ///
    /// Residuals are those of the translation, and the angle in radians.
    RelativePose2 of Pose2 on SE2, 3
}

relative_pose! {
    /// A measured pose of a second pose, seen from a first, in space: `r = L log(M⁻¹ A⁻¹ B)`, with `LᵀL` the information matrix.
    ///
    /// Residuals are those of the translation, and the rotation vector in radians.
    RelativePose3 of Pose3 on SE3, 6
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
