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
    /// The curve's own error, or an error if a row does not have as many predictors as the data.
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use crate::{CurveFit, Tie};

    /// The last point that an observer sees has all parameters, fixed and tied ones too, and those of fits within relations.
    #[test]
    fn the_last_point_is_that_of_the_fit() {
        let x: Vec<f64> = (0..20).map(|i| 0.25 * f64::from(i)).collect();
        let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.7 * x).exp() + 1.0 + 0.01 * (9.0 * x).sin()).collect();
        for relation in [None, Some("k<=0.6")] {
            let seen = Arc::new(Mutex::new((Vec::new(), Vec::new(), Vec::new())));
            let last = seen.clone();
            let fit = CurveFit::new(|x, [a, k, c, d]| a * (-k * x).exp() + c + d, &x, &y, [9.0, 0.1, 0.5, 0.5])
                .names(["a", "k", "c", "d"])
                .fix("c")
                .tie("d", Tie::parse("a/6").unwrap())
                .observe_curve(move |_, current| {
                    let names = current.names().map(str::to_owned).collect();
                    assert!(current.predict(&ndarray::Array2::zeros((1, 2))).is_err());
                    *last.lock().unwrap() = (names, current.parameters(), current.predict(&[0.5, 2.0]).unwrap());
                });
            let fit =
                relation.into_iter().fold(fit, |fit, text| fit.constrain(crate::curve::Relation::parse(text).unwrap()));
            let fit = fit.fit().unwrap();
            let (names, parameters, values) = &*seen.lock().unwrap();
            assert_eq!(names, &["a", "k", "c", "d"]);
            for (seen, found) in parameters.iter().zip(fit.parameters()) {
                assert!((seen - found.value).abs() < 1e-6, "{} is {}, not {seen}", found.name, found.value);
            }
            let expected = fit.predict(&[0.5, 2.0]).unwrap();
            assert!(values.iter().zip(expected).all(|(seen, found)| (seen - found).abs() < 1e-6));
        }
    }
}
