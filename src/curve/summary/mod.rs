//! Summary of a fit, as plain numbers and texts.

mod markdown;
mod number;
mod parameter;
mod rows;
mod text;

pub use parameter::{IntervalSummary, ParameterState, ParameterSummary, PriorSummary};

/// Content of the report on a fit.
///
/// `Display` prints it for the terminal, with as many digits as the standard errors leave meaningful; `{:.12}` prints 12 significant digits
/// of each number. [`to_markdown`](Self::to_markdown) writes it for a document, and `to_json` (feature `json`) for other programs. With the
/// feature `serde` it can be serialised. In text formats that lack infinity or NaN, such as JSON, these numbers become `"inf"`, `"-inf"`
/// and `"NaN"`, and are read back.
///
/// ```
/// use marquardt::curve::{FitSummary, ParameterSummary};
///
/// let rate = ParameterSummary {
///     name: "rate".into(),
///     value: 0.3,
///     standard_error: 0.01,
///     ..Default::default()
/// };
/// let summary = FitSummary {
///     status: "the gradient vanishes".into(),
///     parameters: vec![rate],
///     ..Default::default()
/// };
/// assert!(summary.to_string().contains("rate              0.3000 ± 0.0100    3.33 %"));
/// assert!(summary.to_markdown().contains("| rate | 0.3000 ± 0.0100 | 3.33 % |"));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FitSummary {
    /// Title above the report.
    pub title: Option<String>,
    /// The formula of the model.
    pub model: Option<String>,
    /// Reason why the solve ended.
    pub status: String,
    /// True if the solve ended at a minimum.
    pub is_converged: bool,
    /// Steps taken.
    pub iterations: usize,
    /// Evaluations of the residuals, with derivatives or without.
    pub evaluations: usize,
    /// Number of these evaluations that included derivatives.
    pub derivative_evaluations: usize,
    /// Number of attempts, the first included.
    #[cfg_attr(feature = "serde", serde(default))]
    pub attempts: usize,
    /// The attempt that was kept, if there were several, for example `variable projection`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub kept_attempt: Option<String>,
    /// The data.
    pub data: DataSummary,
    /// Goodness of fit.
    pub statistics: FitStatistics,
    /// The parameters, in order.
    pub parameters: Vec<ParameterSummary>,
    /// Quantities that are computed from the parameters, in order.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub derived: Vec<ParameterSummary>,
    /// The largest correlations between parameters, in descending order.
    pub correlations: Vec<CorrelationSummary>,
    /// Warnings about the fit, one sentence each.
    pub warnings: Vec<String>,
}

/// Data of a fit, and its noise model.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DataSummary {
    /// Observations that the curve was fitted to.
    pub observations: usize,
    /// Rows left out: masked, or with a value missing.
    pub omitted: usize,
    /// Noise model, for example `absolute sigma`; empty if none was given.
    pub noise: String,
    /// The robust loss.
    pub loss: Option<LossSummary>,
}

/// A robust loss.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LossSummary {
    /// Its name.
    pub name: String,
    /// Scale of the loss: the size of a residual, divided by its sigma, above which it differs from least squares.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub scale: f64,
}

/// Goodness of fit of a curve; `None` for numbers that are not defined.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FitStatistics {
    /// Degrees of freedom: observations minus determined parameters.
    pub degrees_of_freedom: usize,
    /// Sum of the squared residuals, without weights.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub residual_sum_of_squares: f64,
    /// `√(residual sum of squares / degrees of freedom)`.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub residual_standard_deviation: Option<f64>,
    /// The sum of the squares of the residuals, each divided by its sigma.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub chi_squared: Option<f64>,
    /// `χ² / degrees of freedom`.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub reduced_chi_squared: Option<f64>,
    /// Coefficient of determination `R²`, at most 1.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub r_squared: Option<f64>,
    /// Akaike's information criterion.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub aic: Option<f64>,
    /// AIC, corrected for few observations.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub aicc: Option<f64>,
    /// Schwarz's Bayesian information criterion.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub bic: Option<f64>,
}

/// The correlation of two parameters.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CorrelationSummary {
    /// Name of the first parameter.
    pub first: String,
    /// Name of the second parameter.
    pub second: String,
    /// Correlation, from −1 to 1.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub correlation: f64,
}

#[cfg(feature = "json")]
impl FitSummary {
    /// Writes the summary as JSON, by the names of the fields, feature `json`; numbers that are not finite are `"inf"`, `"-inf"`
    /// or `"NaN"`.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and numbers are JSON")
    }
}
