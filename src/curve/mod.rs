//! Fitting a curve to data.

mod comparison;
mod criteria;
mod data;
mod error;
mod estimate;
mod fit;
mod fitted;
mod likelihood;
mod map;
mod misfit;
mod model;
mod nan_policy;
mod nested;
mod noise;
mod parameter;
mod rows;
mod setting;
mod statistics_error;
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
pub use rows::Rows;
pub use statistics_error::StatisticsError;
pub use tie::Tie;
