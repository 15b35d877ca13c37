//! Search for warnings about a fit.

use super::FittedCurve;
use crate::curve::likelihood::Likelihood;
use crate::curve::{FittedParameter, ParameterState, Warning};
use crate::problem::BoundSide;
use crate::real::Real;
use crate::solver::Status;

/// Residuals of a perfect fit are up to `ε` to this power as long as the responses: 2e-12 in double precision, 6e-6 in single.
const PERFECT: f64 = 0.75;

impl<T: Real> FittedCurve<'_, T> {
    /// Warnings about the fit; empty if nothing is wrong.
    ///
    /// ```
    /// use marquardt::curve::Warning;
    ///
    /// // The data are on a straight line, which the hyperbola comes near if both of its parameters grow.
    /// let x = [1.0, 2.0, 3.0, 4.0, 5.0_f64];
    /// let y = [1.1, 2.0, 2.9, 4.2, 5.2];
    /// let fit = marquardt::CurveFit::new(|x, [top, half]| top * x / (half + x), &x, &y, [5.0, 3.0])
    ///     .names(["top", "half"])
    ///     .bounds("half", 0.0..)
    ///     .fit()?;
    /// assert!(fit.warnings().iter().any(|warning| matches!(warning, Warning::RanAway { parameter, .. } if parameter == "top")));
    /// assert!(fit.warnings().iter().any(Warning::is_unusable));
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Returns true if one of the [warnings](Self::warnings) makes the fit [unusable](Warning::is_unusable).
    pub fn is_unusable(&self) -> bool {
        self.warnings.iter().any(Warning::is_unusable)
    }

    /// Collective.
    pub(super) fn find_warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let report = &self.report;
        if !report.is_converged() {
            warnings.push(Warning::NotConverged { status: report.status });
        } else if self.is_ended_by_rounding() {
            warnings.push(Warning::EndedByRounding { gradient_cosine: report.gradient_cosine.to_f64() });
        }
        warnings.extend(self.worse_than_mean());
        warnings.extend(self.runaways().into_iter().map(|index| {
            let FittedParameter { name, value, standard_error, .. } = &self.parameters()[index];
            Warning::RanAway { parameter: name.clone(), value: value.to_f64(), standard_error: standard_error.to_f64() }
        }));
        if let Some(error) = &self.covariance_error {
            warnings.push(Warning::NoStandardErrors { reason: error.to_string() });
        } else if !self.covariance().undetermined().is_empty() {
            warnings.push(Warning::Undetermined { parameters: self.covariance().undetermined().to_vec() });
        }
        let described = self.parameters().iter().zip(&self.checked.map.parameters);
        warnings.extend(described.filter_map(|(fitted, given)| {
            let (side, bound) = match fitted.state {
                ParameterState::AtLowerBound => (BoundSide::Lower, given.lower),
                ParameterState::AtUpperBound => (BoundSide::Upper, given.upper),
                _ => return None,
            };
            Some(Warning::AtBound { parameter: fitted.name.clone(), side, bound: bound.to_f64() })
        }));
        let relations = report.relations.iter().map(|&index| self.checked.map.relation(index));
        warnings.extend(relations.map(|relation| Warning::AtRelation { relation }));
        warnings
    }

    /// The gradient is larger than the first-order test allows, although the fit has converged; but residuals that are rounding errors
    /// themselves have any gradient.
    fn is_ended_by_rounding(&self) -> bool {
        let (report, settings) = (&self.report, &self.checked.method.solver.settings);
        let claims_a_minimum = !matches!(report.status, Status::TargetCost | Status::ResidualsVanished);
        claims_a_minimum && !settings.is_stationary(report.gradient_cosine) && !self.is_perfect()
    }

    /// The residuals are rounding errors.
    fn is_perfect(&self) -> bool {
        let perfect = T::EPSILON.to_f64().powf(PERFECT).powi(2) * self.squares.responses;
        self.squares.whitened.to_f64() <= perfect
    }

    /// The warning that a constant describes the data better than the curve by more than rounding. A robust loss compares its value with
    /// that of the median, which is not known where ranks share the rows.
    fn worse_than_mean(&self) -> Option<Warning> {
        let resolution = T::EPSILON.sqrt();
        if self.is_perfect() {
            return None;
        }
        if let Likelihood::Robust(..) = self.checked.likelihood {
            let is_worse = |median: T| self.report.cost > (T::ONE + resolution) * median;
            let is_worse = !self.checked.data.is_shared() && is_worse(self.cost_of_median());
            return is_worse.then_some(Warning::WorseThanMean { r_squared: None });
        }
        let r_squared = match self.checked.likelihood {
            Likelihood::Poisson => self.r_squared(),
            _ if self.squares.about_mean > T::ZERO => Some(T::ONE - self.squares.whitened / self.squares.about_mean),
            _ => None,
        };
        let worse = r_squared.filter(|&r_squared| r_squared < -resolution);
        worse.map(|r_squared| Warning::WorseThanMean { r_squared: Some(r_squared.to_f64()) })
    }

    /// The robust loss of the residuals from the median, of each response its own.
    fn cost_of_median(&self) -> T {
        let (data, likelihood) = (&self.checked.data, &self.checked.likelihood);
        let mut residuals = data.y().to_vec();
        let outputs = data.outputs();
        for output in 0..outputs {
            let mut values: Vec<T> = data.y().iter().skip(output).step_by(outputs).copied().collect();
            let middle = values.len() / 2;
            let median = *values.select_nth_unstable_by(middle, |a, b| a.to_f64().total_cmp(&b.to_f64())).1;
            residuals.iter_mut().skip(output).step_by(outputs).for_each(|y| *y -= median);
        }
        data.noise.whiten(0, &mut residuals, &mut [], 1);
        likelihood.reweigh(data.y(), &mut residuals, &mut [], 1)
    }
}
