//! Quantities computed from the parameters.

use super::FittedCurve;
use crate::curve::{Estimate, StatisticsError, Tie};
use crate::kernels::vector::all_finite;
use crate::real::Real;
use crate::solver::Covariance;

impl<T: Real> FittedCurve<'_, T> {
    /// A quantity computed from parameters, with the standard error that it inherits from them, by exact derivatives and
    /// the whole covariance. It is infinite where the quantity depends on a parameter that the data do not determine.
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

    /// The value, and the derivatives by all parameters, which come in as zeros.
    fn differentiate(&self, quantity: &Tie<T>, gradient: &mut [T]) -> Result<T, StatisticsError> {
        let index = |name: &String| {
            let found = self.parameters.iter().position(|parameter| parameter.name == *name);
            found.ok_or_else(|| self.no_such_parameter(name))
        };
        let of = quantity.of().iter().map(index).collect::<Result<Vec<_>, _>>()?;
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
