//! The first door: a curve, data, and parameters with honest uncertainties.

mod error;
mod fit;
mod fitted;
mod model;
#[cfg(feature = "plot")]
mod plot;
mod summary;
#[cfg(feature = "csv")]
mod table;

pub use error::CurveError;
pub use fit::{CurveFit, Predictors, curve_fit};
pub use fitted::{FittedCurve, FittedParameter};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, Model};
#[cfg(feature = "plot")]
pub use plot::{Plot, PlotError, Series};
pub use summary::{
    CorrelationSummary, DataSummary, FitStatistics, FitSummary, IntervalSummary, LossSummary, ParameterState,
    ParameterSummary, PriorSummary,
};
#[cfg(feature = "csv")]
pub use table::{Separator, Table, TableError, TableReader};
