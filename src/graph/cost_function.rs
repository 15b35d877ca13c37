//! The residuals of one residual block.

use super::block::{AnyBlock, BlockId, ParameterBlock};
use crate::manifold::Manifold;
use crate::problem::Evaluated;
use crate::real::Real;
use crate::scalar::Scalar;

/// Residuals of a few parameter blocks, written once for every scalar and differentiated exactly.
///
/// ```
/// use marquardt::{EvaluationError, LevenbergMarquardt, Scalar};
/// use marquardt::graph::{CostFunction, Problem};
/// use marquardt::manifold::{Euclidean, Pose2, SE2};
///
/// /// A landmark is seen from a pose, at this place in the frame of the pose.
/// struct Sighting {
///     place: [f64; 2],
/// }
///
/// impl CostFunction<f64> for Sighting {
///     type Blocks = (SE2, Euclidean<2>);
///
///     fn residual_count(&self) -> usize { 2 }
///
///     fn evaluate<S: Scalar<Real = f64>>(
///         &self,
///         blocks: &[&[S]],
///         r: &mut [S],
///     ) -> Result<(), EvaluationError> {
///         let seen =
///             Pose2::from_slice(blocks[0]).inverse_transform([blocks[1][0], blocks[1][1]]);
///         r[0] = seen[0] - self.place[0];
///         r[1] = seen[1] - self.place[1];
///         Ok(())
///     }
/// }
///
/// let mut problem = Problem::new();
/// let pose = problem.add_parameter_block(SE2, &Pose2::new(1.0, 2.0, 0.5).to_array())?;
/// let landmark = problem.add_parameter_block(Euclidean::<2>, &[0.0, 0.0])?;
/// problem.set_constant(pose)?;
/// problem.add_residual_block(Sighting { place: [3.0, 1.0] }, (pose, landmark))?;
/// problem.solve(&LevenbergMarquardt::new())?;
/// let expected = Pose2::new(1.0, 2.0, 0.5).transform([3.0, 1.0]);
/// assert!((problem.point(landmark)?[0] - expected[0]).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait CostFunction<T: Real>: Send + Sync + 'static {
    /// Manifolds of the parameter blocks that the residuals depend on: a tuple of one to ten, or [`AnyBlocks`].
    type Blocks: Blocks<T>;

    /// Number of residuals.
    fn residual_count(&self) -> usize;

    /// Fills `r` with the residuals at these points of the parameter blocks, in the order of
    /// [`Blocks`](Self::Blocks).
    ///
    /// # Errors
    ///
    /// An error ends the solve. Residuals that are not finite only make a step too long.
    fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Evaluated;

    /// Fills `r` with the residuals, and the rows of `jacobian` with their derivatives with respect to the coordinates of all blocks, side by side,
    /// and returns true. By default it returns false, and [`evaluate`](Self::evaluate) is differentiated. It is for blocks on vector spaces, and
    /// is asked while all of their coordinates are free.
    #[doc(hidden)]
    fn linearize(&self, _: &[&[T]], _: &mut [T], _: &mut [T]) -> bool {
        false
    }
}

/// Manifolds of the parameter blocks of a [`CostFunction`]: a tuple of one to ten, or [`AnyBlocks`].
pub trait Blocks<T: Real> {
    /// Handles of the blocks: a tuple of [`ParameterBlock`]s.
    type Handles;

    /// Number of blocks; [`ANY`] if it is known at run time only.
    #[doc(hidden)]
    const COUNT: usize;

    /// The handles' places.
    #[doc(hidden)]
    fn ids(handles: Self::Handles) -> Vec<BlockId>;
}

macro_rules! tuple_of_blocks {
    ($($manifold:ident)+) => {
        impl<T: Real, $($manifold: Manifold<T>),+> Blocks<T> for ($($manifold,)+) {
            type Handles = ($(ParameterBlock<$manifold>,)+);

            const COUNT: usize = [$(stringify!($manifold)),+].len();

            #[allow(non_snake_case, reason = "values are named like their types")]
            fn ids(($($manifold,)+): Self::Handles) -> Vec<BlockId> {
                vec![$($manifold.id),+]
            }
        }
    };
}

tuple_of_blocks!(A);
tuple_of_blocks!(A B);
tuple_of_blocks!(A B C);
tuple_of_blocks!(A B C D);
tuple_of_blocks!(A B C D E);
tuple_of_blocks!(A B C D E F);
tuple_of_blocks!(A B C D E F G);
tuple_of_blocks!(A B C D E F G H);
tuple_of_blocks!(A B C D E F G H I);
tuple_of_blocks!(A B C D E F G H I J);

/// Number of blocks that is known at run time only.
pub(super) const ANY: usize = 0;

/// Parameter blocks on any manifolds, as many as each residual block has. The handles are a list of [`AnyBlock`]s.
///
/// ```
/// use marquardt::{EvaluationError, LevenbergMarquardt, Scalar};
/// use marquardt::graph::{AnyBlocks, CostFunction, Problem};
/// use marquardt::manifold::Euclidean;
///
/// /// The sum of all coordinates.
/// struct Sum {
///     measured: f64,
/// }
///
/// impl CostFunction<f64> for Sum {
///     type Blocks = AnyBlocks;
///
///     fn residual_count(&self) -> usize { 1 }
///
///     fn evaluate<S: Scalar<Real = f64>>(
///         &self,
///         blocks: &[&[S]],
///         r: &mut [S],
///     ) -> Result<(), EvaluationError> {
///         r[0] = S::constant(-self.measured);
///         blocks.iter().flat_map(|block| *block).for_each(|&x| r[0] += x);
///         Ok(())
///     }
/// }
///
/// let mut problem = Problem::new();
/// let a = problem.add_parameter_block(Euclidean::<1>, &[0.0])?;
/// let b = problem.add_parameter_block(Euclidean::<2>, &[0.0, 0.0])?;
/// problem.set_constant(b)?;
/// problem.add_residual_block(Sum { measured: 3.0 }, vec![a.any(), b.any()])?;
/// problem.add_residual_block(Sum { measured: 5.0 }, vec![a.any()])?;
/// problem.solve(&LevenbergMarquardt::new())?;
/// assert!((problem.point(a)?[0] - 4.0).abs() < 1e-12);
/// # Ok::<(), marquardt::graph::GraphError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct AnyBlocks;

impl<T: Real> Blocks<T> for AnyBlocks {
    type Handles = Vec<AnyBlock>;

    const COUNT: usize = ANY;

    fn ids(handles: Self::Handles) -> Vec<BlockId> {
        handles.into_iter().map(|handle| handle.0).collect()
    }
}
