//! Influence of single responses on the fit.

use super::FittedCurve;
use super::basis::Basis;
use crate::curve::StatisticsError;
use crate::curve::problem::CurveProblem;
use crate::problem::LeastSquares;
use crate::real::Real;

/// Influence of each response on the fit, from the curve linearised at the solution. For a curve that is linear in its parameters it is the
/// exact effect of leaving the response out. Each vector has one entry for each response, row by row.
///
/// For correlated data the entries belong to the [whitened](FittedCurve::whitened_residuals) rows, not to single responses.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Influence<T> {
    /// Leverage `h`, from 0 to 1: the derivative of the fitted response with respect to the observed one. Without priors, the sum is the
    /// number of free parameters.
    pub leverage: Vec<T>,
    /// Internally studentised residuals, `r / (s √(1 − h))` of the whitened ones (R's `rstandard`); with `s = 1` where the noise is known.
    /// 0 where the leverage is 1: the curve then passes through the response, whatever its value.
    pub standardized_residuals: Vec<T>,
    /// Externally studentised residuals (R's `rstudent`): as the standardized residuals, but with the `s` of the fit without that response.
    /// They follow Student's t distribution with one degree of freedom less than the fit. If the noise is known, they equal the
    /// standardized residuals. `None` if the fit has a single degree of freedom; infinite if the fit without the response passes through
    /// all other responses.
    pub studentized_residuals: Option<Vec<T>>,
    /// Cook's distance, `t² h / (p (1 − h))` with the standardized residual `t` and `p` free parameters: the change of the parameters if
    /// the response is left out, in units of their confidence region. Infinite where the leverage is 1: without the response, a parameter
    /// would be undetermined.
    pub cooks_distance: Vec<T>,
}

impl<T: Real> FittedCurve<'_, T> {
    /// Leverage, studentised residuals and Cook's distance of each response.
    ///
    /// # Errors
    ///
    /// [`StatisticsError::NoDegreesOfFreedom`] if the size of the noise is neither known nor can be estimated,
    /// [`StatisticsError::RobustFit`] under a robust loss, [`StatisticsError::SharedRows`] if ranks share the rows, and the curve's own
    /// error if it cannot be evaluated.
    ///
    /// ```
    /// let x = [1.0, 2.0, 3.0, 4.0, 20.0_f64];
    /// let y = [1.1, 1.9, 3.2, 3.9, 17.0];
    /// let fit = marquardt::curve_fit(|x, [a, b]| a + b * x, &x, &y, [0.0, 1.0])?;
    /// let influence = fit.influence()?;
    /// assert!(influence.leverage[4] > 0.9 && influence.cooks_distance[4] > 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn influence(&self) -> Result<Influence<T>, StatisticsError> {
        if self.robust_scale().is_some() {
            return Err(StatisticsError::RobustFit);
        }
        if self.checked.data.is_shared() {
            return Err(StatisticsError::SharedRows { ranks: self.checked.data.ranks().size() });
        }
        let (covariance, count) = (self.covariance(), self.checked.data.y().len());
        let variance = self.inference.noise_variance().ok_or(StatisticsError::NoDegreesOfFreedom)?;
        let basis = self.basis()?;
        let (all, residuals) = (basis.leverages(), self.whitened_residuals());
        let parameters: T = all.iter().copied().sum();
        // What rounding leaves of 1 − h where a response is met whatever it is.
        let nothing = T::from_f64(1e2) * T::EPSILON;
        let rest = |leverage: T| if leverage < T::ONE - nothing { Some(T::ONE - leverage) } else { None };
        let leverage = all[..count].to_vec();
        let standardized = |variance: T, residual: T, leverage: T| match rest(leverage) {
            Some(rest) if residual != T::ZERO => residual / (variance * rest).sqrt(),
            _ => T::ZERO,
        };
        let pairs = || residuals.iter().zip(&leverage).map(|(&residual, &leverage)| (residual, leverage));
        let standardized_residuals: Vec<T> =
            pairs().map(|(residual, leverage)| standardized(variance, residual, leverage)).collect();
        let cooks_distance = standardized_residuals
            .iter()
            .zip(&leverage)
            .map(|(&t, &leverage)| rest(leverage).map_or(T::INFINITY, |rest| t * t * leverage / (rest * parameters)));
        let cooks_distance = cooks_distance.collect();
        let freedom = covariance.degrees_of_freedom();
        let studentized_residuals = match freedom {
            _ if covariance.is_absolute() => Some(standardized_residuals.clone()),
            ..2 => None,
            _ => {
                let (all, others) = (T::from_f64(freedom as f64), T::from_f64(freedom as f64 - 1.0));
                // s² of the others, (m s² − r²/(1 − h)) / (m − 1).
                let without = |residual: T, leverage: T| {
                    let own = rest(leverage).map_or(T::ZERO, |rest| residual * residual / rest);
                    ((all * variance - own) / others).max(T::ZERO)
                };
                let studentized = |(residual, leverage)| standardized(without(residual, leverage), residual, leverage);
                Some(pairs().map(studentized).collect())
            }
        };
        Ok(Influence { leverage, standardized_residuals, studentized_residuals, cooks_distance })
    }

    /// Returns a basis of the column space of the whitened Jacobian, with the rows of the priors at its end.
    pub(super) fn basis(&self) -> Result<Basis<T>, crate::problem::EvaluationError> {
        let (checked, report) = (&self.checked, &self.report);
        let map = checked.map.holding(&report.active, &report.relations, &report.x);
        let mut curve_problem = CurveProblem::new(&*checked.curve, &checked.data, &map, &checked.likelihood);
        let (m, n) = (curve_problem.residual_count(), map.free().len());
        let (mut residuals, mut jacobian) = (vec![T::ZERO; m], vec![T::ZERO; m * n]);
        curve_problem.linearize(&map.gather(&report.x), 0, &mut residuals, &mut jacobian)?;
        // What a bound or a relation holds does not move with the data.
        let is_held = |&k: &usize| map.bounds().map(|bounds| bounds.of(k)).is_some_and(|(lower, upper)| lower == upper);
        for k in (0..n).filter(is_held) {
            jacobian.iter_mut().skip(k).step_by(n).for_each(|derivative| *derivative = T::ZERO);
        }
        Ok(Basis::of_columns(&jacobian, n))
    }
}
