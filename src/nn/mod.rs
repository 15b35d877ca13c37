//! How a network turns a batch into a loss, residuals, and their derivatives.

mod function;

pub use function::Function;
