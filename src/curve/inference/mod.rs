//! Statistics that the results of all fits share.

mod calibration;
#[cfg(feature = "plot")]
mod complex_view;
#[cfg(feature = "plot")]
mod drawing;
mod grid;
mod methods;
mod parameter;
#[cfg(any(feature = "plot", feature = "serde"))]
mod plot_point;
mod response_noise;
mod uncertain_curve;

use super::{Estimate, Interval, StatisticsError, Tie};
use crate::kernels::vector::all_finite;
use crate::real::Real;
use crate::solver::Covariance;

pub use calibration::{Calibration, CalibrationError, Unknown};
#[cfg(feature = "plot")]
pub(super) use complex_view::ComplexView;
pub(super) use methods::{inference_methods, methods_of};
pub use parameter::FittedParameter;
#[cfg(any(feature = "plot", feature = "serde"))]
pub(super) use plot_point::PlotPoint;
pub(super) use response_noise::{ResponseKind, ResponseNoise};
pub use uncertain_curve::BandPoint;
pub(super) use uncertain_curve::UncertainCurve;

/// Statistics of a fit: its parameters, their covariance, and the noise of the data, from which intervals and derived quantities follow.
///
/// [`FittedCurve`](crate::FittedCurve) and `StoredFit` have one, and its methods; [`ManyFits`](crate::curve::ManyFits) makes one for each
/// of its fits.
///
/// ```
/// use marquardt::{CurveFit, Tie};
///
/// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
/// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
/// let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])
///     .names(["amplitude", "rate"])
///     .fit()?;
/// let inference = fit.inference();
/// let rate = inference.confidence_interval("rate", 0.95)?;
/// assert!(rate.contains(0.5) && rate.high - rate.low < 0.05);
/// assert_eq!(fit.confidence_interval("rate", 0.95)?, rate);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FitInference<T: Real> {
    pub(super) parameters: Vec<FittedParameter<T>>,
    pub(super) covariance: Covariance<T>,
    /// Noise of new responses.
    pub(super) noise: ResponseNoise<T>,
}

impl<T: Real> FitInference<T> {
    /// The statistics of some parameters, by their indices.
    pub(super) fn selected(&self, indices: &[usize]) -> Self {
        let n = self.parameters.len();
        let mut selection = vec![T::ZERO; indices.len() * n];
        indices.iter().enumerate().for_each(|(row, &index)| selection[row * n + index] = T::ONE);
        let parameters: Vec<_> = indices.iter().map(|&index| self.parameters[index].clone()).collect();
        let names = parameters.iter().map(|parameter| parameter.name.as_str());
        let covariance = self.covariance.clone().propagated(&selection, names);
        FitInference { parameters, covariance, noise: self.noise.clone() }
    }

    /// All parameters.
    pub fn parameters(&self) -> &[FittedParameter<T>] {
        &self.parameters
    }

    /// The values of all parameters.
    pub(super) fn values(&self) -> Vec<T> {
        self.parameters.iter().map(|parameter| parameter.value).collect()
    }

    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&FittedParameter<T>> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Covariance and correlation of the parameters. All of them are undetermined where it could not be
    /// computed; see [`covariance_error`](crate::FittedCurve::covariance_error).
    pub fn covariance(&self) -> &Covariance<T> {
        &self.covariance
    }

    /// Observations in excess of the determined parameters.
    pub fn degrees_of_freedom(&self) -> usize {
        self.covariance.degrees_of_freedom()
    }

    /// Residual standard deviation `√(‖r‖² / degrees of freedom)`; `None` without degrees of freedom.
    pub fn residual_standard_deviation(&self) -> Option<T> {
        self.covariance.residual_standard_deviation()
    }

    /// Variance of a response whose sigma is one: one where the noise is known, otherwise that of the residuals.
    pub(super) fn noise_variance(&self) -> Option<T> {
        let known = self.covariance.is_absolute().then_some(T::ONE);
        known.or(self.covariance.residual_variance())
    }

    /// Confidence interval that contains the true value of a parameter with probability `level`, such as 0.95: the value ± the standard
    /// error times a quantile of Student's t distribution, or of the normal distribution if the noise is known
    /// ([`absolute_sigma`](crate::CurveFit::absolute_sigma), or counts).
    ///
    /// It is exact for normal noise and curves that are linear in their parameters. The interval of a fixed parameter, or of one that a
    /// bound holds, is its value alone. The interval is infinite for a parameter that the data do not determine, and for all parameters if
    /// the noise is unknown and there are no degrees of freedom. Bounds do not truncate intervals.
    ///
    /// # Errors
    ///
    /// [`StatisticsError`] for a level that is not between 0 and 1, or a name that no parameter has.
    pub fn confidence_interval(&self, name: &str, level: f64) -> Result<Interval<T>, StatisticsError> {
        self.estimate(&self.parameters[self.index(name)?]).interval(level)
    }

    /// The [confidence intervals](Self::confidence_interval) of all parameters.
    ///
    /// # Errors
    ///
    /// [`StatisticsError::Level`] for a level that is not between 0 and 1.
    pub fn confidence_intervals(&self, level: f64) -> Result<Vec<Interval<T>>, StatisticsError> {
        self.parameters.iter().map(|parameter| self.estimate(parameter).interval(level)).collect()
    }

    /// A quantity computed from parameters, with its standard error by the delta method: exact derivatives and the whole covariance. The
    /// standard error is infinite if the quantity depends on a parameter that the data do not determine.
    ///
    /// # Errors
    ///
    /// [`StatisticsError`] for a name that no parameter has, or where the quantity or a derivative of it is not finite.
    ///
    /// ```
    /// use marquardt::{CurveFit, Tie};
    ///
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
    /// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
    /// let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])
    ///     .names(["amplitude", "rate"])
    ///     .fit()?;
    /// let half_life = fit.derived(&Tie::new(["rate"], |[rate]| rate.recip() * 2_f64.ln()))?;
    /// assert!((half_life.value - 1.386).abs() < 2.0 * half_life.standard_error);
    /// assert!(half_life.interval(0.95)?.contains(1.386));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn derived(&self, quantity: &Tie<T>) -> Result<Estimate<T>, StatisticsError> {
        let mut gradient = vec![T::ZERO; self.parameters.len()];
        let value = self.differentiate(quantity, &mut gradient)?;
        let standard_error = self.covariance.error_along(&gradient);
        Ok(Estimate { value, standard_error, degrees_of_freedom: self.covariance.freedom() })
    }

    /// The covariance of several [derived](Self::derived) quantities, each with a name.
    ///
    /// # Errors
    ///
    /// As for [`derived`](Self::derived).
    pub fn derived_covariance<'q>(
        &self,
        quantities: impl IntoIterator<Item = (&'q str, &'q Tie<T>)>,
    ) -> Result<Covariance<T>, StatisticsError> {
        let (names, quantities): (Vec<_>, Vec<_>) = quantities.into_iter().unzip();
        let n = self.parameters.len();
        let mut gradients = vec![T::ZERO; quantities.len() * n];
        for (quantity, gradient) in quantities.into_iter().zip(gradients.chunks_exact_mut(n)) {
            self.differentiate(quantity, gradient)?;
        }
        Ok(self.covariance.clone().propagated(&gradients, names.into_iter()))
    }

    fn estimate(&self, parameter: &FittedParameter<T>) -> Estimate<T> {
        let FittedParameter { value, standard_error, .. } = *parameter;
        Estimate { value, standard_error, degrees_of_freedom: self.covariance.freedom() }
    }

    /// The index of the parameter of this name.
    pub(super) fn index(&self, name: &str) -> Result<usize, StatisticsError> {
        let index = self.parameters.iter().position(|parameter| parameter.name == name);
        index.ok_or_else(|| {
            let known = self.parameters.iter().map(|parameter| parameter.name.clone()).collect();
            StatisticsError::NoSuchParameter { name: name.to_owned(), known }
        })
    }

    /// The value, and the derivatives by all parameters, which come in as zeros.
    fn differentiate(&self, quantity: &Tie<T>, gradient: &mut [T]) -> Result<T, StatisticsError> {
        let of = quantity.of().iter().map(|name| self.index(name)).collect::<Result<Vec<_>, _>>()?;
        let at: Vec<T> = of.iter().map(|&index| self.parameters[index].value).collect();
        let mut slopes = vec![T::ZERO; of.len()];
        let value = quantity.value(&at, Some(&mut slopes));
        if !(value.is_finite() && all_finite(&slopes)) {
            return Err(StatisticsError::NonFiniteQuantity { of: quantity.of().to_vec() });
        }
        // A name may come twice.
        of.iter().zip(slopes).for_each(|(&index, slope)| gradient[index] += slope);
        Ok(value)
    }
}
