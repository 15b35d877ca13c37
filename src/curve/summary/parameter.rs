//! Summary of one parameter.

/// One parameter in a report.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ParameterSummary {
    /// Its name.
    pub name: String,
    /// Its value.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub value: f64,
    /// Standard error; infinite if the data do not determine the parameter, NaN if it could not be computed.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub standard_error: f64,
    /// Confidence interval of the true value.
    pub interval: Option<IntervalSummary>,
    /// Start of the fit.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub start: Option<f64>,
    /// The least value allowed.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub lower: Option<f64>,
    /// The greatest value allowed.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serial::optional"))]
    pub upper: Option<f64>,
    /// Its state after the fit.
    pub state: ParameterState,
    /// Formula of the tie; `None` if the parameter is not tied.
    pub tie: Option<String>,
    /// Its prior.
    pub prior: Option<PriorSummary>,
}

/// State of a parameter after a fit; serialised in snake case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ParameterState {
    /// The parameter was fitted.
    #[default]
    Free,
    /// The parameter was fixed.
    Fixed,
    /// The parameter was computed from others.
    Tied,
    /// The parameter is held by its lower bound: the cost would fall below it.
    AtLowerBound,
    /// The parameter is held by its upper bound: the cost would fall above it.
    AtUpperBound,
    /// The data do not determine the parameter.
    Undetermined,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IntervalSummary {
    /// The confidence, such as 0.95.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub level: f64,
    /// The lower end.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub low: f64,
    /// The upper end.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub high: f64,
}

/// A Gaussian prior.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PriorSummary {
    /// Its mean.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub mean: f64,
    /// Its standard deviation.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub standard_deviation: f64,
}

impl ParameterSummary {
    /// Relative standard error `|standard error / value|`; `None` if it is not finite.
    pub fn relative_error(&self) -> Option<f64> {
        Some((self.standard_error / self.value).abs()).filter(|relative| relative.is_finite())
    }
}
