//! Prior knowledge of single blocks.

use super::cost_function::CostFunction;
use super::error::GraphError;
use super::information::{root_of, rounded_root_of};
use super::measurement::{measurement, multiply};
use crate::manifold::{Euclidean, Pose2, Pose3, SE2, SE3};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::scalar::Scalar;

/// A vector that is known beforehand: `r = L (x − m)`, with `LᵀL` the information matrix.
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::graph::{Prior, Problem};
/// use marquardt::manifold::Euclidean;
///
/// // Two instruments, the second of twice the precision.
/// let mut problem = Problem::new();
/// let height = problem.add_parameter_block(Euclidean::<1>, &[0.0])?;
/// problem.add_residual_block(Prior::new([10.0], [[1.0]])?, (height,))?;
/// problem.add_residual_block(Prior::new([13.0], [[4.0]])?, (height,))?;
/// problem.solve(&LevenbergMarquardt::new())?;
/// assert!((problem.point(height)?[0] - 12.4_f64).abs() < 1e-12);
/// # Ok::<(), marquardt::graph::GraphError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Prior<T, const N: usize> {
    known: [T; N],
    root: [[T; N]; N],
}

impl<T: Real, const N: usize> Prior<T, N> {
    /// The vector, with its information matrix: the inverse of its covariance.
    ///
    /// # Errors
    ///
    /// [`GraphError`] for a matrix that is not finite, not symmetric or not positive definite.
    pub fn new(known: [T; N], information: [[T; N]; N]) -> Result<Self, GraphError> {
        Ok(Prior { known, root: root_of(information)? })
    }

    /// The vector, with an information matrix that was rounded, or that leaves some directions unknown: eigenvalues that are zero or negative
    /// by at most 0.02, in the units in which the diagonal is one, count as zero.
    ///
    /// # Errors
    ///
    /// [`GraphError`] for a matrix that is not finite, not symmetric or not positive semi-definite.
    pub fn with_rounded_information(known: [T; N], information: [[T; N]; N]) -> Result<Self, GraphError> {
        Ok(Prior { known, root: rounded_root_of(information)? })
    }
}

impl<T: Real, const N: usize> CostFunction<T> for Prior<T, N> {
    type Blocks = (Euclidean<N>,);

    fn residual_count(&self) -> usize {
        N
    }

    #[inline]
    fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Evaluated {
        let error: [S; N] = std::array::from_fn(|i| blocks[0][i] - self.known[i]);
        multiply(&self.root, error, r);
        Ok(())
    }
}

measurement! {
    /// A pose in the plane that is known beforehand: `r = L log(M⁻¹ X)`, with `LᵀL` the information matrix.
    ///
    /// Residuals are those of the translation, and the angle in radians.
    PriorPose2 of Pose2<T>: 3 residuals of (SE2);
    |this, blocks| Pose2::constant(this.measured).between(Pose2::from_slice(blocks[0])).log()
}

measurement! {
    /// A pose in space that is known beforehand: `r = L log(M⁻¹ X)`, with `LᵀL` the information matrix.
    ///
    /// Residuals are those of the translation, and the rotation vector in radians.
    PriorPose3 of Pose3<T>: 6 residuals of (SE3);
    |this, blocks| Pose3::constant(this.measured).between(Pose3::from_slice(blocks[0])).log()
}

measurement! {
    /// A measured position of a pose in the plane, as of satellites (GPS): `r = L (t − m)`, with `LᵀL` the information matrix.
    Position2 of [T; 2]: 2 residuals of (SE2);
    |this, blocks| {
        let [x, y] = Pose2::from_slice(blocks[0]).translation;
        [x - this.measured[0], y - this.measured[1]]
    }
}

measurement! {
    /// A measured position of a pose in space, as of satellites (GPS): `r = L (t − m)`, with `LᵀL` the information matrix.
    Position3 of [T; 3]: 3 residuals of (SE3);
    |this, blocks| {
        let [x, y, z] = Pose3::from_slice(blocks[0]).translation;
        [x - this.measured[0], y - this.measured[1], z - this.measured[2]]
    }
}
