//! How a network turns a batch into a loss, residuals, and their derivatives.

mod function;
mod initializer;

pub use function::Function;
pub use initializer::Initializer;
