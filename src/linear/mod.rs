//! How the damped linear system `(JᵀJ + λD²)δ = −Jᵀr` is built from rows and solved.
//!
//! [`LinearModel`] is the floor above's view: rows go in, damped steps come out. Each of its implementations is a form in a
//! file of its own: the normal equations (Cholesky), the orthogonal factor (QR), the Gram matrix of the rows (the dual,
//! for fewer residuals than parameters), the dual of a Jacobian that is only multiplied by, whose system is solved by
//! Cholesky or by conjugate gradients, the normal equations of such a Jacobian, solved by truncated conjugate gradients, and the
//! normal equations of a Jacobian of blocks: sparse Cholesky, conjugate gradients, and both on a Schur complement. Where
//! variables have bounds, [`BoxConstrained`] finds which of them the step holds.

mod block_choice;
mod block_jacobi;
mod block_rows;
mod block_sums;
mod box_constrained;
mod cgls;
mod cgnr;
mod choice;
mod conjugate_gradients;
mod cost;
mod curvature;
mod dispatch;
mod elimination;
mod form;
mod forward_product;
mod held;
mod inexact_normal;
mod iterative_schur;
mod matrix_free;
mod model;
mod normal;
mod orthogonal;
mod preconditioned;
mod product_dual;
mod row_gram;
mod row_sums;
mod schur;
pub(crate) mod shape;
mod sparse;
mod sparse_normal;
mod tiles;

pub(crate) use box_constrained::BoxConstrained;
pub(crate) use cgls::Truncation;
pub use choice::LinearSolver;
pub(crate) use choice::{MEMORY_BUDGET, Plan, PlanError};
pub(crate) use cost::{Ridge, Size};
pub(crate) use dispatch::BoxedModel;
pub use form::LinearForm;
pub use model::IllConditioned;
pub(crate) use model::{LinearModel, Products, SpansRanks};
pub(crate) use preconditioned::Inexact;
pub(crate) use row_sums::RowSums;
pub(crate) use sparse::InverseSubset;
pub(crate) use sparse_normal::SparseNormal;
pub(crate) use tiles::Tiles;
