//! Least-squares problems: the trait [`LeastSquares`], and the ways to state one.
//!
//! ```
//! use marquardt::LevenbergMarquardt;
//! use marquardt::problem::FiniteDifference;
//!
//! // Two residuals of two parameters, both zero where the unit circle meets the diagonal.
//! let mut problem = FiniteDifference::new(2, 2, |x: &[f64], r: &mut [f64]| {
//!     r.copy_from_slice(&[x[0] * x[0] + x[1] * x[1] - 1.0, x[0] - x[1]]);
//!     Ok(())
//! });
//! let report = LevenbergMarquardt::new().minimize(&mut problem, &[2.0, 0.5])?;
//! assert!(report.is_converged() && (report.x[0] - 0.5_f64.sqrt()).abs() < 1e-9);
//! # Ok::<(), marquardt::SolveError>(())
//! ```
//!
//! | residuals | type of the problem | derivatives |
//! |---|---|---|
//! | written over a [`Scalar`](crate::Scalar) | [`AutoDiff`], [`FixedAutoDiff`] of a fixed size, [`SparseAutoDiff`] | exact |
//! | a closure over floats | [`FiniteDifference`] | differences |
//! | over vectors and matrices of nalgebra, ndarray or faer | [`VectorFunction`] | by hand |
//! | differentiated by hand | [`Analytic`], or [`LeastSquares`] itself | by hand; [`check_derivatives`] compares |
//! | blocks of few parameters each | [`BlockJacobian`] | by hand |
//! | given as products `Jv` and `Jᵀu` | [`JacobianProducts`] | by hand |
//!
//! Each of these can be combined with bounds ([`Bounded`]), outliers ([`Robust`], with a [`Loss`]), parameters that enter linearly
//! ([`Separable`]), points on manifolds ([`OnManifold`]), several threads ([`ConcurrentRows`], [`ConcurrentBlocks`]) and several ranks
//! ([`Sharded`]). [`Objective`] is what optimizers step on. Your own problem states its bounds or its manifold as its [`ParameterDomain`],
//! and offers blocks, products, threads, or a loss of its own as [`Capabilities`].

mod analytic;
mod autodiff;
mod block_jacobian;
mod borrowed;
mod bounded;
mod bounds;
mod capabilities;
mod concurrent_rows;
mod derivative_check;
mod domain;
mod evaluation_error;
mod finite_difference;
mod forward;
mod jacobian_products;
pub(crate) mod kronecker;
mod least_squares;
mod mad_scale;
mod objective;
mod on_manifold;
mod probe;
mod recent_evaluations;
mod robust;
mod robust_block;
mod robust_loss;
mod robust_row;
pub(crate) mod selected;
mod separable;
mod sharded;
mod shared_mad_scale;
mod sparse_autodiff;
mod sparsity;
mod sum_of_squares;
mod vector_function;
mod work;

pub use analytic::Analytic;
pub(crate) use autodiff::scratch_for;
pub use autodiff::{AutoDiff, FixedAutoDiff, Residuals};
pub use block_jacobian::{BlockJacobian, ConcurrentBlocks};
pub use bounded::Bounded;
pub use bounds::{BoundSide, Bounds, BoundsError};
pub use capabilities::Capabilities;
pub use concurrent_rows::ConcurrentRows;
pub use derivative_check::{DerivativeCheck, Discrepancy, check_derivatives};
pub use domain::ParameterDomain;
pub use evaluation_error::{Evaluated, EvaluationError};
pub use finite_difference::FiniteDifference;
pub use jacobian_products::{JacobianProducts, ProductWork};
pub use kronecker::{
    FactorSample, KroneckerBlock, KroneckerFactor, KroneckerFactored, KroneckerFactors, NotKroneckerFactored,
    OutputProducts,
};
pub use least_squares::LeastSquares;
pub(crate) use least_squares::LeastSquaresExt;
pub use mad_scale::mad_scale;
pub(crate) use mad_scale::mad_scale_of_sizes;
pub use objective::{NotLeastSquares, Objective};
pub use on_manifold::OnManifold;
pub(crate) use probe::{Probe, advance};
pub(crate) use recent_evaluations::RecentEvaluations;
pub use robust::{Robust, RobustScaleError};
pub(crate) use robust_block::{LeastCurvature, RobustBlock};
pub use robust_loss::{Loss, RobustLoss};
pub(crate) use robust_row::{RobustRow, by_residual, loss_at, scaled_square};
pub use separable::{Separable, SeparableError};
pub(crate) use separable::{largest_clique, linear_parameters};
pub use sharded::Sharded;
pub(crate) use shared_mad_scale::shared_mad_scale;
pub use sparse_autodiff::SparseAutoDiff;
pub use sparsity::{Sparsity, SparsityError};
pub use sum_of_squares::SumOfSquares;
pub use vector_function::{DenseMatrix, DenseVector, VectorFunction};
pub use work::{Rate, Work};
