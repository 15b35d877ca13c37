//! Variables of a model: [`Variables`] is one flat vector of entries, seen as named arrays; [`Gradients`] belong to it.
//!
//! ```
//! use marquardt::Variables;
//! use ndarray::array;
//!
//! let mut variables = Variables::new();
//! let weight = variables.add("weight", array![[1.0, 2.0], [3.0, 4.0]].view())?;
//! let bias = variables.add("bias", array![0.0, 0.5].view())?;
//! variables.set_trainable(weight, false);
//! assert_eq!(variables.values(), [1.0, 2.0, 3.0, 4.0, 0.0, 0.5]);
//! assert_eq!(variables.get(bias), array![0.0, 0.5].into_dyn());
//! # Ok::<(), marquardt::variables::VariableError>(())
//! ```

mod error;
#[cfg(feature = "safetensors")]
mod foreign_weights;
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
