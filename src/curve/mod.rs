//! Fitting a curve to data.

mod data;
mod error;
mod failure;
mod fit;
mod fitted;
pub mod formula;
mod global;
mod global_curve;
mod likelihood;
mod map;
mod minima;
mod misfit;
mod model;
mod model_macro;
pub mod models;
mod multi_start;
mod nan_policy;
mod noise;
mod parameter;
#[cfg(feature = "plot")]
mod plot;
#[cfg(feature = "progress")]
mod progress;
mod robust;
mod rows;
mod setting;
mod summary;
#[cfg(feature = "csv")]
mod table;
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
#[cfg(feature = "plot")]
pub use plot::{Plot, PlotError, Series};
pub use rows::Rows;
pub use summary::{
    CorrelationSummary, DataSummary, FitStatistics, FitSummary, IntervalSummary, LossSummary, ParameterState,
    ParameterSummary, PriorSummary,
};
#[cfg(feature = "csv")]
pub use table::{Separator, Table, TableError, TableReader};
pub use tie::Tie;
