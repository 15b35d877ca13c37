//! How the damped linear system `(JᵀJ + λD²)δ = −Jᵀr` is built from rows and solved.
//!
//! [`LinearModel`] is the floor above's view: rows go in, damped steps come out. It takes one of three forms, each in a
//! file of its own: the normal equations (Cholesky), the orthogonal factor (QR), and the Gram matrix of the rows (the
//! dual, for fewer residuals than parameters).

mod choice;
mod model;
mod normal;
mod orthogonal;
mod row_gram;
pub(crate) mod shape;
mod tiles;

pub use choice::{LinearForm, LinearSolver};
pub(crate) use choice::{Plan, PlanError};
pub use model::IllConditioned;
pub(crate) use model::LinearModel;
pub(crate) use tiles::Tiles;
