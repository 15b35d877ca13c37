//! Confidence intervals of the parameters.

use super::{FittedCurve, FittedParameter};
use crate::curve::{Estimate, Interval, StatisticsError};
use crate::real::Real;

impl<T: Real> FittedCurve<'_, T> {
    /// The interval that contains the true value of a parameter with probability `level`, such as 0.95: the value, give or
    /// take the standard error times a quantile of Student's t distribution, or of the normal one where the noise is
    /// known ([`absolute_sigma`](crate::CurveFit::absolute_sigma), or counts).
    ///
    /// It is exact for curves that are linear in their parameters and normal noise. A parameter that does not vary, because
    /// it is fixed or held by a bound, has an interval of its value alone; one that the data do not determine has all
    /// numbers, and so has any without degrees of freedom where the noise is not known. Bounds do not cut intervals off.
    ///
    /// # Errors
    ///
    /// [`StatisticsError`] for a level that is not between 0 and 1, or a name that no parameter has.
    ///
    /// ```
    /// use marquardt::CurveFit;
    ///
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
    /// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
    /// let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])
    ///     .names(["amplitude", "rate"])
    ///     .fit()?;
    /// let rate = fit.confidence_interval("rate", 0.95)?;
    /// assert!(rate.contains(0.5) && rate.high - rate.low < 0.05);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn confidence_interval(&self, name: &str, level: f64) -> Result<Interval<T>, StatisticsError> {
        match self.parameters.iter().find(|parameter| parameter.name == name) {
            Some(parameter) => self.estimate(parameter).interval(level),
            None => Err(self.no_such_parameter(name)),
        }
    }

    /// The [confidence intervals](Self::confidence_interval) of all parameters.
    ///
    /// # Errors
    ///
    /// [`StatisticsError::Level`] for a level that is not between 0 and 1.
    pub fn confidence_intervals(&self, level: f64) -> Result<Vec<Interval<T>>, StatisticsError> {
        self.parameters.iter().map(|parameter| self.estimate(parameter).interval(level)).collect()
    }

    fn estimate(&self, parameter: &FittedParameter<T>) -> Estimate<T> {
        let FittedParameter { value, standard_error, .. } = *parameter;
        Estimate { value, standard_error, degrees_of_freedom: self.covariance.freedom() }
    }

    pub(super) fn no_such_parameter(&self, name: &str) -> StatisticsError {
        let known = self.parameters.iter().map(|parameter| parameter.name.clone()).collect();
        StatisticsError::NoSuchParameter { name: name.to_owned(), known }
    }
}
