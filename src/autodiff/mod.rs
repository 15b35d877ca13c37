//! Derivatives: [`Dual`] numbers for exact first ones, [`Taylor`] numbers for second ones along a direction, and [`Difference`] formulas
//! for functions that are opaque; [`Complex`] numbers over any of them.
//!
//! ```
//! use marquardt::Dual;
//!
//! let [x, y] = Dual::variables([3.0, 2.0]);
//! let z = (x * x * y).ln();
//! assert_eq!(z.gradient, [2.0 / 3.0, 0.5]);
//! ```

pub(crate) mod adjoint;
mod complex;
pub(crate) mod derivatives;
pub(crate) mod difference;
mod dual;
mod functions;
pub(crate) mod jet;
pub(crate) mod slopes;
pub(crate) mod tape;
mod taylor;
#[cfg(test)]
pub(crate) mod tests;

pub use complex::Complex;
pub use difference::Difference;
pub(crate) use difference::{Stencil, Variable};
pub use dual::Dual;
pub use taylor::Taylor;
