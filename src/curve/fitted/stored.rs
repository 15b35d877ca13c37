//! Conversion of fits to their saved form.

use super::FittedCurve;
use crate::curve::global_curve::DataSetCurve;
use crate::curve::stored::{StoredFit, curve_of};
use crate::curve::{Curve, FitSummary};
use crate::real::Real;

impl<T: Real> FittedCurve<'_, T> {
    /// The fit to be saved, feature `serde`: see [`StoredFit`].
    pub fn to_stored(&self) -> StoredFit<T> {
        let points = self.plot_points().filter(|_| self.checked.curve.data_set_names().is_empty());
        StoredFit { points, ..self.to_stored_without_data() }
    }

    /// The fit to be saved without its data, which only plots need: a short file even for many points.
    pub fn to_stored_without_data(&self) -> StoredFit<T> {
        StoredFit {
            curve: self.checked.curve.to_any_model().map(curve_of),
            width: self.checked.data.predictors_in_row(),
            outputs: self.checked.data.outputs(),
            inference: (*self.inference).clone(),
            criteria: self.criteria(),
            summary: self.summary(),
            points: None,
        }
    }

    /// One data set of a global fit to be saved, feature `serde`: its curve, its parameters by the names of the whole fit, and the
    /// statistics of the whole fit. `None` if there is no data set of this name.
    pub fn data_set_to_stored(&self, name: &str) -> Option<StoredFit<T>> {
        let parts = &self.checked.curve.as_global()?.parts;
        let number = parts.iter().position(|part| part.name == name)?;
        let part = &parts[number];
        Some(StoredFit {
            curve: part.curve.to_any_model().map(curve_of),
            width: part.width,
            inference: self.inference.selected(&part.parameters),
            summary: self.summary_of(part),
            points: self.plot_points().map(|points| points.into_iter().filter(|point| point.set == number).collect()),
            ..self.to_stored_without_data()
        })
    }

    /// The report of the whole fit with the parameters of one data set.
    fn summary_of(&self, part: &DataSetCurve<'_, T>) -> FitSummary {
        let mut summary = self.summary();
        let all = std::mem::take(&mut summary.parameters);
        summary.parameters = part.parameters.iter().map(|&index| all[index].clone()).collect();
        let has = |name: &String| summary.parameters.iter().any(|parameter| parameter.name == *name);
        summary.correlations.retain(|pair| has(&pair.first) && has(&pair.second));
        FitSummary { title: Some(part.name.clone()), ..summary }
    }
}
