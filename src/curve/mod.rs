//! Fitting a curve to data.

mod comparison;
mod criteria;
mod data;
mod error;
mod estimate;
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
mod nested;
mod noise;
mod parameter;
#[cfg(feature = "plot")]
mod plot;
mod robust;
mod rows;
mod setting;
mod statistics_error;
mod summary;
#[cfg(feature = "csv")]
mod table;
mod tie;

pub use comparison::{Compared, Comparison, ComparisonError};
pub use criteria::Criteria;
pub use error::CurveError;
pub use estimate::{Estimate, Interval};
pub use fit::{CurveFit, curve_fit};
pub use fitted::{BandPoint, FittedCurve, FittedParameter, Influence};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, FromVector, Model};
pub use nan_policy::NanPolicy;
pub use nested::{FTest, f_test, likelihood_ratio_test};
#[cfg(feature = "plot")]
pub use plot::{Plot, PlotError, Series};
pub use rows::Rows;
pub use statistics_error::StatisticsError;
pub use summary::{
    CorrelationSummary, DataSummary, FitStatistics, FitSummary, IntervalSummary, LossSummary, ParameterState,
    ParameterSummary, PriorSummary,
};
#[cfg(feature = "csv")]
pub use table::{Separator, Table, TableError, TableReader};
pub use tie::Tie;
