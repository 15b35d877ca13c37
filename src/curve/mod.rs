//! Fitting a curve to data.

mod data;
mod error;
mod failure;
mod fit;
mod fitted;
mod likelihood;
mod map;
mod misfit;
mod model;
mod nan_policy;
mod noise;
mod parameter;
mod rows;
mod setting;
mod tie;

pub use error::CurveError;
pub use failure::FitFailure;
pub use fit::{CurveFit, curve_fit};
pub use fitted::{
    Bootstrap, BootstrapError, Contour, ContourPoint, FailedReplicate, FittedCurve, FittedParameter, IntervalEnd,
    Profile, ProfileError, ProfileInterval, ProfilePoint, Resampling,
};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, FromVector, Model};
pub use nan_policy::NanPolicy;
pub use rows::Rows;
pub use tie::Tie;
