//! The first door: a curve, data, and parameters with honest uncertainties.

mod error;
mod fit;
mod fitted;
pub mod formula;
mod model;
mod model_macro;
pub mod models;
mod tie;

pub use error::CurveError;
pub use fit::{CurveFit, Predictors, curve_fit};
pub use fitted::{FittedCurve, FittedParameter};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, Model};
pub use tie::{Tie, TieFunction};
