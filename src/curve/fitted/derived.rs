//! Quantities that are computed from the parameters of a fit.

use super::FittedCurve;
use super::summary::{LEVEL, interval_summary};
use crate::curve::{Estimate, ParameterState, ParameterSummary, Tie};
use crate::real::Real;

/// A quantity that is computed from the parameters of a fit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DerivedQuantity<T> {
    /// Its name.
    pub name: String,
    /// The function of the parameters.
    pub quantity: Tie<T>,
    /// Value and standard error by the delta method; NaN, with an infinite error, where the quantity or a derivative of it is not finite.
    pub estimate: Estimate<T>,
}

impl<T: Real> FittedCurve<'_, T> {
    /// The quantities that the fit was asked to [derive](crate::CurveFit::derive), in that order.
    pub fn derived_quantities(&self) -> Vec<DerivedQuantity<T>> {
        let degrees_of_freedom = self.covariance().freedom();
        let undefined = Estimate { value: T::from_f64(f64::NAN), standard_error: T::INFINITY, degrees_of_freedom };
        let quantities = self.checked.options.derived().iter();
        let quantity = |(name, tie): &(String, Tie<T>)| DerivedQuantity {
            name: name.clone(),
            quantity: tie.clone(),
            estimate: self.derived(tie).unwrap_or(undefined),
        };
        quantities.map(quantity).collect()
    }

    /// Derived quantities as rows of the report.
    pub(super) fn derived_summaries(&self) -> Vec<ParameterSummary> {
        let summary = |DerivedQuantity { name, quantity, estimate }: DerivedQuantity<T>| {
            let interval = estimate.interval(LEVEL).ok().filter(|_| estimate.standard_error.is_finite());
            ParameterSummary {
                name,
                value: estimate.value.to_f64(),
                standard_error: estimate.standard_error.to_f64(),
                interval: interval.map(interval_summary),
                state: ParameterState::Tied,
                tie: Some(quantity.to_string()),
                ..ParameterSummary::default()
            }
        };
        self.derived_quantities().into_iter().map(summary).collect()
    }
}
