//! One parameter of a fit.

use crate::curve::ParameterState;
#[cfg(feature = "serde")]
use crate::real::Real;

/// One parameter of a fit.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "T: Real"))]
pub struct FittedParameter<T> {
    /// Its name.
    pub name: String,
    /// Its value.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub value: T,
    /// Standard error, from the residuals or from a known noise; infinite if the data do not determine the parameter, 0 if it is fixed or
    /// held by a bound.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub standard_error: T,
    /// Its state after the fit.
    pub state: ParameterState,
}
