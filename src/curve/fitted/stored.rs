//! Conversion of fits to their saved form.

use super::FittedCurve;
use super::plot_points::PlotPoint;
use crate::curve::global_curve::DataSetCurve;
use crate::curve::stored::{StoredFit, StoredParts};
use crate::curve::{Curve, FitSummary, FittedParameter};
use crate::real::Real;

impl<T: Real> FittedCurve<'_, T> {
    /// The fit to be saved, feature `serde`: see [`StoredFit`].
    pub fn to_stored(&self) -> StoredFit<T> {
        let points = self.plot_points().filter(|_| self.checked.curve.data_set_names().is_empty());
        self.stored_with(points)
    }

    /// The fit to be saved without its data, which are stored only to be drawn: of many points, in a short file.
    pub fn to_stored_without_data(&self) -> StoredFit<T> {
        self.stored_with(None)
    }

    fn stored_with(&self, points: Option<Vec<PlotPoint>>) -> StoredFit<T> {
        StoredFit::new(StoredParts {
            model: self.checked.curve.to_any_model(),
            width: self.checked.data.width(),
            outputs: self.checked.data.outputs(),
            parameters: self.parameters.clone(),
            covariance: self.covariance.clone(),
            noise: self.response_noise(),
            criteria: self.criteria(),
            summary: self.summary(),
            points,
        })
    }
}

impl<T: Real> FittedCurve<'_, T> {
    /// One data set of a global fit to be saved, feature `serde`: its curve, its parameters by the names of the whole fit, and the
    /// statistics of the whole fit. `None` if there is no data set of this name.
    pub fn data_set_to_stored(&self, name: &str) -> Option<StoredFit<T>> {
        let parts = &self.checked.curve.as_global()?.parts;
        let number = parts.iter().position(|part| part.name == name)?;
        let part = &parts[number];
        let n = self.parameters.len();
        let mut selection = vec![T::ZERO; part.parameters.len() * n];
        part.parameters.iter().enumerate().for_each(|(row, &index)| selection[row * n + index] = T::ONE);
        let parameters: Vec<FittedParameter<T>> =
            part.parameters.iter().map(|&index| self.parameters[index].clone()).collect();
        let names = parameters.iter().map(|parameter| parameter.name.as_str());
        let covariance = self.covariance.clone().propagated(&selection, names);
        Some(StoredFit::new(StoredParts {
            model: part.curve.to_any_model(),
            width: part.width,
            outputs: self.checked.data.outputs(),
            covariance,
            parameters,
            noise: self.response_noise(),
            criteria: self.criteria(),
            summary: self.summary_of(part),
            points: self.plot_points().map(|points| points.into_iter().filter(|point| point.set == number).collect()),
        }))
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
