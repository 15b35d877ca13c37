//! The first door: a curve, data, and parameters with honest uncertainties.

mod error;
mod fit;
mod fitted;
mod model;
mod summary;
#[cfg(feature = "csv")]
mod table;

pub use error::CurveError;
pub use fit::{CurveFit, Predictors, curve_fit};
pub use fitted::{FittedCurve, FittedParameter};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, Model};
pub use summary::{
    CorrelationSummary, DataSummary, FitStatistics, FitSummary, IntervalSummary, LossSummary, ParameterState,
    ParameterSummary, PriorSummary,
};
#[cfg(feature = "csv")]
pub use table::{Separator, Table, TableError, TableReader};
