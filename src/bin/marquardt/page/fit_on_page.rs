//! One fit on a page: its report, and what is drawn of it.

use marquardt::curve::{Outlier, PlotError, Profile, Series};
use marquardt::models::{AnyModel, Named};
use marquardt::{FittedCurve, Model};
use serde_json::{Value, json};

use super::points::{Points, quantiles, rounded};
use crate::data::SelectedData;
use crate::failure::{Ending, Failure};
use crate::report::FitReport;

/// Approximate number of points of all fits of a page, and the smallest number of one fit.
const POINTS: usize = 6000;
const FEWEST_POINTS: usize = 150;

/// Number of fits from which on curves have fewer points.
const FEW_FITS: usize = 8;

/// Largest step between the points of a curve that are kept.
const LARGEST_STEP: usize = 8;

/// Significant digits of curves.
const DIGITS: usize = 6;

/// A fit, its report, and its data.
pub struct FitOnPage<'f, 'a> {
    /// The group.
    pub name: Option<&'f str>,
    pub fit: &'f FittedCurve<'a, f64>,
    pub report: &'f FitReport,
    /// The model, unless it is one of differential equations.
    pub curve: Option<&'f AnyModel>,
    /// The data; several sets if groups are fitted together.
    pub data: Vec<&'f SelectedData>,
    /// The data with the outliers.
    pub all_data: &'f SelectedData,
    /// Outliers that were left out.
    pub outliers: &'f [Outlier<f64>],
    /// Number of fits on the page.
    pub fits: usize,
}

impl FitOnPage<'_, '_> {
    pub fn to_json(&self) -> Result<Value, Failure> {
        let mut value = serde_json::to_value(&self.report.summary)?;
        let tables = self.report.tables().map(|(title, _, table)| json!([title, table.to_json_rows()]));
        value["tables"] = tables.collect();
        let points = self.points()?;
        let drawn = match self.fit.plot_series() {
            Err(PlotError::NotOnePredictor { .. }) => vec![Series::new(); points.len()],
            drawn => drawn?,
        };
        let most = (POINTS / self.fits / points.len()).max(FEWEST_POINTS);
        let series = drawn.iter().zip(&points).map(|(series, points)| self.series(series, points.to_json(most)));
        value["series"] = series.collect();
        value["quantiles"] = quantiles(points.iter());
        value["group"] = self.name.into();
        let data = self.data[0];
        value["x_label"] = self.x_label().into();
        value["y_label"] = data.labels[1].clone().into();
        value["is_unusable"] = (self.report.ending() == Ending::Unusable).into();
        let covariance = self.fit.covariance();
        let unit = if covariance.is_absolute() { Some(1.0) } else { self.fit.reduced_chi_square().map(f64::sqrt) };
        value["strip"] = unit.map_or(Value::Null, |unit| rounded(unit, DIGITS));
        value["correlation"] =
            covariance.correlation().rows().into_iter().map(|row| column(row.iter().copied())).collect();
        value["profiles"] = self.report.inference.profiles.iter().map(profile).collect();
        Ok(value)
    }

    /// The abscissa is the predictor; with several predictors, it is the fitted response.
    fn is_over_x(&self) -> bool {
        self.data[0].x_names.len() == 1
    }

    fn x_label(&self) -> String {
        let [x, y] = &self.data[0].labels;
        if self.is_over_x() { x.clone() } else { format!("fitted {y}") }
    }

    /// Observations, data set after data set and response after response.
    fn points(&self) -> Result<Vec<Points>, Failure> {
        let (fitted, whitened) = (self.fit.fitted(), self.fit.whitened_residuals());
        let starts: Vec<usize> = self.fit.data_sets()?.iter().map(|set| set.rows.start).collect();
        let mut all = Vec::new();
        for (set, data) in self.data.iter().enumerate() {
            let outputs = data.y_names.len();
            let first = starts.get(set).copied().unwrap_or_default();
            for output in 0..outputs {
                let mut points = Points::default();
                for (row, fitted_row) in data.fitted_rows().into_iter().enumerate() {
                    let index = (first + fitted_row) * outputs + output;
                    let (y, fitted) = (data.y[[row, output]], fitted[index]);
                    points.x.push(if self.is_over_x() { data.x[[row, 0]] } else { fitted });
                    points.y.push(y);
                    points.fitted.push(fitted);
                    points.residuals.push(if data.replicates.is_some() { y - fitted } else { whitened[index] });
                }
                all.push(points);
            }
        }
        Ok(all)
    }

    fn series(&self, series: &Series, points: Value) -> Value {
        let (name, curve, bands) = series.lines();
        let curve = self.fewer(curve);
        let band = |edges: &[(f64, f64, f64)]| {
            let edges = self.fewer(edges);
            let edges = || edges.iter();
            json!([
                column(edges().map(|edge| edge.0)),
                column(edges().map(|edge| edge.1)),
                column(edges().map(|edge| edge.2))
            ])
        };
        let x = || curve.iter().map(|point| point.0);
        let terms = self.terms().into_iter().map(|(term, own)| {
            let y = x().map(|x| Model::<f64>::response::<f64>(&term, &[x], &own));
            json!({ "name": term.name(), "line": [column(x()), column(y)] })
        });
        let outliers = || self.outliers.iter().filter(|_| self.is_over_x());
        let outlier_x = outliers().map(|outlier| self.all_data.x[[outlier.row, 0]]);
        json!({
            "name": self.name.into_iter().chain(name).collect::<Vec<_>>().join(" "),
            "points": points,
            "line": [column(x()), column(curve.iter().map(|point| point.1))],
            "confidence": band(bands[0]),
            "prediction": band(bands[1]),
            "terms": terms.collect::<Vec<_>>(),
            "outliers": [column(outlier_x), column(outliers().map(|outlier| outlier.y))],
        })
    }

    /// Points of a curve, fewer if there are many fits.
    fn fewer<P: Copy>(&self, points: &[P]) -> Vec<P> {
        let step = (1 + self.fits / FEW_FITS).min(LARGEST_STEP);
        let is_kept = |&index: &usize| index.is_multiple_of(step) || index + 1 == points.len();
        (0..points.len()).filter(is_kept).map(|index| points[index]).collect()
    }

    /// The terms of a sum with their parameters; none of another model, or if groups are fitted together.
    fn terms(&self) -> Vec<(Named, Vec<f64>)> {
        let (Some(AnyModel::Named(sum)), [_]) = (self.curve, &self.data[..]) else { return Vec::new() };
        let mut parameters = self.fit.parameters().iter().map(|parameter| parameter.value);
        let terms = sum.terms().map(|term| {
            let own = parameters.by_ref().take(term.parameters().len()).collect();
            (term, own)
        });
        let terms: Vec<_> = terms.collect();
        if terms.len() > 1 { terms } else { Vec::new() }
    }
}

fn column(values: impl Iterator<Item = f64>) -> Value {
    values.map(|value| rounded(value, DIGITS)).collect()
}

/// Values and signed roots of a profile.
fn profile(profile: &Profile<f64>) -> Value {
    let points = || profile.points.iter();
    let line = [column(points().map(|point| point.value)), column(points().map(|point| point.tau))];
    let interval = &profile.interval;
    json!({ "name": profile.name, "line": line, "interval": column([interval.low, interval.high].into_iter()) })
}
