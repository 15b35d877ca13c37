//! Noise of new responses.

use crate::real::Real;

/// The noise of a new response.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "T: Real"))]
pub(in crate::curve) struct ResponseNoise<T: Real> {
    pub(in crate::curve) kind: ResponseKind,
    /// The variance of a response whose sigma is one; infinite where nothing is known of it.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::number"))]
    pub(in crate::curve) unit_variance: T,
    /// Sigma of each response of a row, where it is the same in all rows.
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::optional_list"))]
    pub(in crate::curve) sigma: Option<Vec<T>>,
}

/// The variances of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(in crate::curve) enum ResponseKind {
    /// All have the same.
    Uniform,
    /// Each has a sigma.
    Weighted,
    /// The noise of the responses is correlated.
    Correlated,
    /// The variance of a count is its mean.
    Counts,
}

impl<T: Real> ResponseNoise<T> {
    /// The standard deviation of a response whose sigma is one, where it is known.
    pub(in crate::curve) fn unit(&self) -> Option<f64> {
        Some(self.unit_variance.sqrt().to_f64()).filter(|unit| *unit > 0.0 && unit.is_finite())
    }

    /// Each response has a variance of its own.
    #[cfg(any(feature = "plot", feature = "serde"))]
    pub(in crate::curve) fn is_weighted(&self) -> bool {
        matches!(self.kind, ResponseKind::Weighted | ResponseKind::Counts)
    }
}
