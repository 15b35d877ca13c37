//! Estimates with standard errors and intervals.

use super::StatisticsError;
use crate::real::Real;
use crate::statistics::distributions::two_sided_quantile;

/// Confidence interval; its ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval<T> {
    /// The lower end.
    pub low: T,
    /// The upper end.
    pub high: T,
}

impl<T: Real> Interval<T> {
    /// Returns true if the value lies in the interval.
    pub fn contains(&self, value: T) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns the interval of `quantile` standard errors to either side of a value.
    pub(super) fn about(value: T, standard_error: T, quantile: f64) -> Self {
        // Neither an error of zero nor an infinite one is a matter of the quantile.
        let is_proportional = standard_error > T::ZERO && standard_error.is_finite();
        let margin = if is_proportional { T::from_f64(quantile) * standard_error } else { standard_error };
        Interval { low: value - margin, high: value + margin }
    }
}

/// An estimate with its standard error and degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Estimate<T> {
    /// The value.
    pub value: T,
    /// Standard error: 0 if the value does not depend on the data, infinite if the data do not determine it.
    pub standard_error: T,
    /// Degrees of freedom of Student's t distribution: infinite if the size of the noise is known, 0 if it can be neither known nor
    /// estimated.
    pub degrees_of_freedom: f64,
}

impl<T: Real> Estimate<T> {
    /// Interval that contains the true value with probability `level`, exact for a linear curve and normal noise. It uses Student's t
    /// distribution if the noise is estimated from the residuals, and the normal distribution if the noise is known.
    ///
    /// # Errors
    ///
    /// [`StatisticsError::Level`] if `level` is not between 0 and 1.
    pub fn interval(&self, level: f64) -> Result<Interval<T>, StatisticsError> {
        let quantile = quantile(level, self.degrees_of_freedom)?;
        Ok(Interval::about(self.value, self.standard_error, quantile))
    }
}

/// Returns the number of standard errors to either side that an interval of this level reaches.
pub(super) fn quantile(level: f64, degrees_of_freedom: f64) -> Result<f64, StatisticsError> {
    check_level(level)?;
    Ok(two_sided_quantile(level, degrees_of_freedom))
}

/// Checks that a confidence level is between 0 and 1.
pub(super) fn check_level(level: f64) -> Result<(), StatisticsError> {
    if level > 0.0 && level < 1.0 { Ok(()) } else { Err(StatisticsError::Level { level }) }
}
