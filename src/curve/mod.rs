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
#[cfg(feature = "plot")]
mod plot;
mod robust;
mod rows;
mod setting;
mod summary;
#[cfg(feature = "csv")]
mod table;
mod tie;

pub use error::CurveError;
pub use fit::{CurveFit, curve_fit};
pub use fitted::{FittedCurve, FittedParameter};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, FromVector, Model};
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
