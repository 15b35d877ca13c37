//! The first door: a curve, data, and parameters with honest uncertainties.

mod error;
mod fit;
mod fitted;
mod model;
pub mod models;

pub use error::CurveError;
pub use fit::{CurveFit, Predictors, curve_fit};
pub use fitted::{FittedCurve, FittedParameter};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, Model};
