//! Variables of a model: [`Variables`] is one flat vector of numbers, seen as named arrays; [`Gradients`] belong to it.

mod error;
mod gradients;
mod layout;
pub(crate) mod pattern;
#[cfg(feature = "safetensors")]
mod safetensors;
#[expect(clippy::module_inception, reason = "the room is named after what lives in it")]
mod variables;

pub use error::VariableError;
pub use gradients::{Gradient, Gradients};
pub(crate) use layout::Layout;
#[cfg(feature = "safetensors")]
pub use safetensors::SafetensorsError;
pub use variables::{Variable, Variables};
