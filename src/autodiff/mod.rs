//! Derivatives: dual numbers for exact ones, and finite differences for opaque functions.

pub(crate) mod adjoint;
pub(crate) mod difference;
mod dual;
mod functions;
pub(crate) mod jet;
pub(crate) mod slopes;
pub(crate) mod tape;
mod taylor;

pub use difference::Difference;
pub(crate) use difference::Stencil;
pub use dual::Dual;
pub use taylor::Taylor;
