//! The curve at the current point of a fit.

use std::fmt;

use super::map::ParameterMap;
use super::{Curve, Rows};
use crate::problem::Evaluated;
use crate::real::Real;

/// The curve with the parameters of the current, best point of a fit under way, for
/// [observers](crate::CurveFit::observe_curve).
pub struct CurrentCurve<'p, T: Real> {
    curve: &'p dyn Curve<T>,
    /// Predictors of a row.
    width: usize,
    map: &'p ParameterMap<T>,
    free: &'p [T],
}

impl<'p, T: Real> CurrentCurve<'p, T> {
    pub(super) fn new(curve: &'p dyn Curve<T>, width: usize, map: &'p ParameterMap<T>, free: &'p [T]) -> Self {
        CurrentCurve { curve, width, map, free }
    }

    /// Values of all parameters, fixed and tied ones included, in the order of the curve.
    pub fn parameters(&self) -> Vec<T> {
        let (mut all, mut chain) = self.map.begin();
        self.map.expand(self.free, &mut all, &mut chain);
        all
    }

    /// Names of the parameters.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.map.parameters.iter().map(|parameter| parameter.name.as_str())
    }

    /// Responses to these predictors, row by row.
    ///
    /// # Errors
    ///
    /// As the curve's own; and for rows of another number of predictors than the data have.
    pub fn predict<'x>(&self, x: impl Into<Rows<'x, T>>) -> Evaluated<Vec<T>> {
        let x = x.into();
        let (width, found) = (self.width, x.width());
        if found != width {
            return Err(format!("the curve has {width} predictors, not {found}").into());
        }
        let mut y = vec![T::ZERO; x.count() * self.curve.response_count()];
        self.curve.responses(&x.into_flat(), width, &self.parameters(), &mut y)?;
        Ok(y)
    }
}

impl<T: Real> fmt::Debug for CurrentCurve<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CurrentCurve").field("parameters", &self.parameters()).finish_non_exhaustive()
    }
}
