//! The update rules that the library has.

mod adagrad;
mod adam;
mod adam_w;
mod rms_prop;
mod sgd;

pub use adagrad::{Adagrad, AdagradRule};
pub use adam::{Adam, AdamRule};
pub use adam_w::AdamW;
pub use rms_prop::{RmsProp, RmsPropRule};
pub use sgd::{Sgd, SgdRule};
