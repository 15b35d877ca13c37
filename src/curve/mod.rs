//! Curve fitting: [`CurveFit`] and [`curve_fit`], models, data, and the statistics of fits.
//!
//! | | |
//! |---|---|
//! | what is fitted | [`Model`], [`Formula`], [`FormulaBuilder`] for other front ends, the [library of models](models), closures, [`ComplexModel`], [`Curve`] with derivatives by hand |
//! | one data set | [`CurveFit`], [`Tie`], [`Relation`], [`NanPolicy`]; residuals over named [`Parameters`] that are no curve |
//! | several data sets | [`GlobalFit`], with shared parameters; [`FitMany`], thousands of the same kind |
//! | several starts | [`MultiStart`], [`Minima`] |
//! | the result | [`FittedCurve`], [`FittedParameter`], each [`Warning`] about it, its [`Attempts`], its report [`FitSummary`]; `StoredFit` in a file (feature `serde`) |
//! | uncertainty | [`FitInference`], which all results share, [`Interval`], [`BandPoint`], [`Profile`], [`Contour`], [`Bootstrap`] |
//! | diagnostics | [`Influence`], and the tests of [`statistics`](crate::statistics) |
//! | which curve | [`Criteria`], [`Comparison`], [`f_test`], [`likelihood_ratio_test`] |
//! | files and pictures | `Table` (feature `csv`), `Plot` (feature `plot`) |
//!
//! ```
//! use marquardt::CurveFit;
//! use marquardt::models::{Guess, MichaelisMenten};
//!
//! let concentration = [0.02, 0.06, 0.11, 0.22, 0.56, 1.10];
//! let rate = [61.5, 102.0, 131.0, 155.5, 194.0, 203.5];
//! let fit = CurveFit::guessed(MichaelisMenten, &concentration, &rate).bounds("km", 0.0..).fit()?;
//! let km = fit.confidence_interval("km", 0.95)?;
//! assert!(km.contains(0.065));
//! println!("{fit}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod any_curve;
mod attempts;
mod checked_fit;
mod comparison;
mod complex;
mod constructors;
mod counted;
mod criteria;
mod current_curve;
mod data;
mod error;
mod errors_in_x;
mod estimate;
mod failure;
mod fit;
mod fit_options;
mod fitted;
mod formula;
mod global;
mod global_curve;
mod inference;
mod iteration_observer;
mod likelihood;
mod many;
mod map;
mod method;
mod minima;
mod model;
pub mod model_functions;
mod model_macro;
mod model_rows;
mod model_sums;
pub mod models;
mod multi_start;
mod nan_policy;
mod near_names;
mod nested;
mod noise;
mod numeric_rows;
#[cfg(feature = "ode")]
mod ode;
mod other_starts;
mod parameter;
mod parameters;
#[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
mod plot;
#[cfg(feature = "plot")]
mod plot_error;
mod problem;
#[cfg(feature = "progress")]
mod progress;
mod quoted;
mod ranks;
mod relations;
mod remembering_curve;
mod replicates;
mod residual_curve;
mod reverse_tile;
mod robust;
mod robust_sums;
mod rout;
mod row_options;
mod rows;
mod second_attempt;
#[cfg(feature = "plot")]
mod series;
mod statistics_error;
#[cfg(feature = "serde")]
mod stored;
mod summary;
#[cfg(feature = "csv")]
mod table;
mod tie;
mod tied_parameters;
mod total_work;
mod undefined_derivatives;
mod warning;

pub use any_curve::AnyCurve;
pub use attempts::{Attempt, Attempts};
pub use comparison::{Compared, Comparison, ComparisonError};
#[doc(hidden)]
pub use complex::functions as complex_functions;
pub use complex::{ComplexModel, ComplexRows, FromComplexModel};
pub use constructors::curve_fit;
pub use criteria::Criteria;
pub use current_curve::CurrentCurve;
pub use error::CurveError;
pub use errors_in_x::ErrorsInX;
pub use estimate::{Estimate, Interval};
pub use failure::FitFailure;
pub use fit::CurveFit;
pub use fit_options::FitOptions;
pub use fitted::{
    Bootstrap, BootstrapError, Contour, ContourPoint, DerivedQuantity, FailedReplicate, FittedCurve, FittedDataSet,
    Influence, IntervalEnd, Profile, ProfileError, ProfileInterval, ProfilePoint, Resampling,
};
pub use formula::{
    BuiltFormula, Expression, Formula, FormulaBuilder, FormulaBuilderError, FormulaError, FormulaProblem,
};
pub use global::{GlobalError, GlobalFit};
pub use global_curve::GlobalCurve;
pub use inference::{BandPoint, Calibration, CalibrationError, FitInference, FittedParameter, Unknown};
pub use many::{FitMany, FitManyError, ManyFits, PerFit, Predictors};
pub use minima::{FailedStart, Minima, Minimum};
pub use model::{Curve, FromClosure, FromModel, FromNumeric, FromVector, Model};
pub use multi_start::{MultiStart, MultiStartError};
pub use nan_policy::NanPolicy;
pub use nested::{FTest, f_test, likelihood_ratio_test};
pub use numeric_rows::FromNumericRows;
#[cfg(feature = "ode")]
pub use ode::{EquationClosures, EquationFormulas, EquationsError, FromDifferentialEquations, Integrator};
pub use parameters::Parameters;
#[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
pub use plot::{HeatMap, LegendPlace, Plot};
#[cfg(feature = "plot")]
pub use plot_error::PlotError;
pub use relations::{Relation, RelationError};
pub use rout::{CleanedFit, Outlier};
pub use rows::Rows;
#[cfg(feature = "plot")]
pub use series::Series;
pub use statistics_error::StatisticsError;
#[cfg(feature = "serde")]
pub use stored::{StoredFit, StoredFitError};
pub use summary::{
    CorrelationSummary, DataSummary, FitStatistics, FitSummary, IntervalSummary, LossSummary, ParameterState,
    ParameterSummary, PriorSummary,
};
#[cfg(feature = "csv")]
pub use table::{DateOrder, Separator, Table, TableError, TableReader, TableRow};
pub use tie::Tie;
pub use warning::Warning;
