//! Derivatives: dual numbers for exact ones, finite differences for opaque functions, and a check of the hand-written.

pub(crate) mod adjoint;
mod check;
pub(crate) mod difference;
mod dual;
mod functions;
pub(crate) mod jet;
pub(crate) mod tape;
mod taylor;

pub use check::{DerivativeCheck, Discrepancy, check_derivatives};
pub use difference::Difference;
pub(crate) use difference::Stencil;
pub use dual::Dual;
pub use taylor::Taylor;
