//! LinearChange solvers: how the damped system `(JᵀJ + λD²)δ = −Jᵀr` of a step is built from rows and solved.
//!
//! [`LinearSolver::Auto`] chooses a [`LinearForm`] by its estimated work; a solver can be told otherwise:
//!
//! ```
//! use marquardt::linear::{LinearForm, LinearSolver};
//! use marquardt::{AutoDiff, EvaluationError, LevenbergMarquardt, Residuals, Scalar};
//!
//! struct Line;
//!
//! impl Residuals<f64> for Line {
//!     fn parameter_count(&self) -> usize {
//!         2
//!     }
//!     fn residual_count(&self) -> usize {
//!         3
//!     }
//!     fn evaluate<S: Scalar<Real = f64>>(
//!         &self,
//!         b: &[S],
//!         first: usize,
//!         r: &mut [S],
//!     ) -> Result<(), EvaluationError> {
//!         for (r, (x, y)) in
//!             r.iter_mut().zip([(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)].into_iter().skip(first))
//!         {
//!             *r = b[0] + b[1] * x - y;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let solver =
//!     LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(LinearForm::Qr));
//! let report = solver.minimize(&mut AutoDiff(Line), &[0.0, 0.0])?;
//! assert_eq!(report.linear_form, LinearForm::Qr);
//! # Ok::<(), marquardt::SolveError>(())
//! ```
//!
//! Each form has a file of its own: the normal equations (Cholesky), the orthogonal factor (QR), the Gram matrix of the rows (the dual,
//! for fewer residuals than parameters), the dual of a Jacobian that is only multiplied by, whose system is solved by
//! Cholesky or by conjugate gradients, the normal equations of such a Jacobian, solved by truncated conjugate gradients, and the
//! normal equations of a Jacobian of blocks: sparse Cholesky, conjugate gradients, and both on a Schur complement.

mod block_choice;
mod block_jacobi;
mod block_normal;
mod block_rows;
mod block_sums;
mod cgls;
mod cgnr;
mod choice;
mod conjugate_gradients;
mod cost;
mod curvature;
mod dispatch;
mod dual;
mod elimination;
mod elimination_part;
mod forcing;
mod form;
mod held;
mod independent_set;
mod iterative_schur;
mod kept_rows;
mod matrix_free;
mod matrix_free_dual;
mod model;
mod normal;
mod orthogonal;
mod pass_on;
mod preconditioned;
mod product_point;
mod row_model;
mod schur;
mod sparse;
mod sparse_normal;

pub(crate) use cgls::Truncation;
pub use choice::LinearSolver;
pub(crate) use choice::{MEMORY_BUDGET, Plan, PlanError};
pub(crate) use cost::{Ridge, Size, StandIn};
pub(crate) use curvature::{DOUBTFUL, is_faithful};
pub(crate) use dispatch::{BoxedModel, Forms};
pub use form::LinearForm;
pub(crate) use held::Held;
pub use model::IllConditioned;
pub(crate) use model::{Damped, Drawn, Lesson, LinearModel, Recovery, Unsolved};
pub(crate) use orthogonal::Orthogonal;
pub(crate) use preconditioned::Inexact;
pub(crate) use row_model::RowModel;
pub(crate) use sparse::{BayesTree, BlockMatrix, BlockPattern, InverseSubset, SparseCholesky, SymbolicCholesky, Term};
pub(crate) use sparse_normal::SparseNormal;
