//! The loops that the time goes into: dense products and factorisations, vectors, and the vector instructions they run
//! in.

mod arctangent;
pub(crate) mod array;
mod cholesky;
pub(crate) mod column_space;
mod dense;
pub(crate) mod elementary;
pub(crate) mod exponential;
#[cfg(feature = "faer")]
mod faer;
pub(crate) mod front;
pub(crate) mod gelu;
mod gram;
mod gram_tiles;
pub(crate) mod hadamard;
mod hyperbolic;
mod hypotenuse;
pub(crate) mod inverse;
pub mod lanes;
mod large_product;
mod logarithm;
mod matrix_product;
mod power;
pub(crate) mod product;
mod reflections;
pub(crate) mod registers;
pub(crate) mod samples;
pub(crate) mod simd;
mod singular_values;
mod substitution;
#[cfg(test)]
pub(crate) mod tests;
mod tile;
pub(crate) mod triangular;
pub(crate) mod triangular_inverse;
mod trigonometric;
pub(crate) mod vector;
mod vectors;

pub use dense::{Factor, Kernels, Scratch};
pub use elementary::Elementary;
pub use lanes::Vectorized;
pub(crate) use tile::{underflow_guard, without_guard};
