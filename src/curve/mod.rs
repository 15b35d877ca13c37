//! Fitting a curve to data.

mod data;
mod error;
mod failure;
mod fit;
mod fitted;
mod global;
mod global_curve;
mod likelihood;
mod map;
mod minima;
mod misfit;
mod model;
mod multi_start;
mod nan_policy;
mod noise;
mod parameter;
#[cfg(feature = "progress")]
mod progress;
mod rows;
mod setting;
mod tie;

pub use error::CurveError;
pub use failure::FitFailure;
pub use fit::{CurveFit, curve_fit};
pub use fitted::{
    Bootstrap, BootstrapError, Contour, ContourPoint, FailedReplicate, FittedCurve, FittedDataSet, FittedParameter,
    IntervalEnd, Profile, ProfileError, ProfileInterval, ProfilePoint, Resampling,
};
pub use global::{GlobalError, GlobalFit};
pub use global_curve::GlobalCurve;
pub use minima::{FailedStart, Minima, Minimum};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, FromVector, Model};
pub use multi_start::{MultiStart, MultiStartError};
pub use nan_policy::NanPolicy;
pub use rows::Rows;
pub use tie::Tie;
