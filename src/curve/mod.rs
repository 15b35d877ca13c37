//! Fitting a curve to data.

mod data;
mod error;
mod fit;
mod fitted;
pub mod formula;
mod likelihood;
mod map;
mod misfit;
mod model;
mod model_macro;
pub mod models;
mod nan_policy;
mod noise;
mod parameter;
mod robust;
mod rows;
mod setting;
mod tie;

pub use error::CurveError;
pub use fit::{CurveFit, curve_fit};
pub use fitted::{FittedCurve, FittedParameter};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, FromVector, Model};
pub use nan_policy::NanPolicy;
pub use rows::Rows;
pub use tie::Tie;
