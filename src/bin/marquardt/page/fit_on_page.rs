//! One fit on a page: its report, and what is drawn of it.

use marquardt::FittedCurve;
use marquardt::curve::{FitSummary, PlotError, Profile, Series};
use serde_json::{Value, json};

use super::points::{Kept, Points, quantiles, rounded};
use super::surface::surface;
use crate::failure::{Ending, Failure};
use crate::report::FitReport;
use crate::selected_data::SelectedData;

/// Approximate number of points of all series of a page, the smallest number of a series, and the number of points beyond which it is
/// smaller.
const POINTS: usize = 6000;
const FEWEST_POINTS: usize = 150;
const MOST_POINTS: usize = 15_000;

/// Number of series from which on curves have fewer points.
const FEW_SERIES: usize = 8;

/// Largest step between the points of a curve that are kept.
const LARGEST_STEP: usize = 24;

/// Number of parameters up to which their correlations are shown.
const MOST_CORRELATED: usize = 40;

/// Significant digits of curves.
const DIGITS: usize = 6;

/// A fit, its report, and its data.
pub struct FitOnPage<'f, 'a> {
    /// The group.
    pub name: Option<&'f str>,
    pub fit: &'f FittedCurve<'a, f64>,
    pub report: &'f FitReport,
    /// The data that were fitted; several sets if groups are fitted together.
    pub data: &'f [SelectedData],
    /// Two responses are the real and the imaginary part of one.
    pub is_complex: bool,
    /// Outliers that were left out, with the first predictor.
    pub outliers: &'f [(f64, f64)],
}

impl FitOnPage<'_, '_> {
    /// Number of series.
    pub fn series(&self) -> usize {
        self.data.iter().map(|data| data.y_names.len()).sum()
    }

    /// The result alone.
    pub fn result(&self) -> Value {
        let FitSummary { parameters, statistics, data, .. } = &self.report.summary;
        let parameters = parameters.iter().map(|parameter| {
            let numbers = [parameter.value, parameter.standard_error].map(|number| rounded(number, DIGITS));
            json!({ "name": parameter.name, "value": numbers[0], "standard_error": numbers[1], "state": parameter.state })
        });
        json!({
            "group": self.name,
            "parameters": parameters.collect::<Vec<_>>(),
            "statistics": { "residual_standard_deviation": statistics.residual_standard_deviation, "r_squared": statistics.r_squared },
            "data": { "observations": data.observations },
            "is_converged": self.report.summary.is_converged,
            "is_unusable": self.report.ending() == Ending::Unusable,
            "status": self.report.summary.status,
            "iterations": self.report.summary.iterations,
            "warnings": self.report.summary.warnings,
        })
    }

    /// The report, and what is drawn on a page with a number of series, by these labels if they are given.
    pub fn to_json(&self, all_series: usize, labels: &[Option<String>; 2]) -> Result<Value, Failure> {
        let mut value = serde_json::to_value(&self.report.summary)?;
        let tables = self.report.tables().map(|(title, _, table)| json!([title, table.to_json_rows()]));
        value["tables"] = tables.collect();
        let points = self.points()?;
        let drawn = match self.fit.plot_series() {
            Err(PlotError::NotOnePredictor { .. }) => vec![Series::new(); points.len()],
            drawn => drawn?,
        };
        let most = (POINTS / all_series).max(FEWEST_POINTS.min(MOST_POINTS / all_series)).max(1);
        let mut kept = Kept::default();
        let series = drawn.iter().zip(&points).enumerate().map(|(index, (series, points))| {
            // Parts of a complex number stay together.
            if !(self.is_complex && index % 2 == 1) {
                kept = points.kept(most);
            }
            self.drawn(series, points.to_json(&kept), 1 + all_series / FEW_SERIES)
        });
        value["series"] = series.collect();
        value["is_complex"] = self.is_complex.into();
        value["quantiles"] = quantiles(points.iter());
        value["group"] = self.name.into();
        let [x, y] = [0, 1].map(|axis| labels[axis].clone().unwrap_or_else(|| self.data[0].labels[axis].clone()));
        value["x_label"] = if self.is_over_x() { x } else { format!("fitted {y}") }.into();
        if let [data] = self.data {
            value["surface"] = surface(self.fit, data, &y);
        }
        value["y_label"] = y.into();
        value["is_unusable"] = (self.report.ending() == Ending::Unusable).into();
        value["strip"] = self.unit().map_or(Value::Null, |unit| rounded(unit, DIGITS));
        if self.fit.parameters().len() <= MOST_CORRELATED {
            let correlation = self.fit.covariance().correlation();
            value["correlation"] = correlation.rows().into_iter().map(|row| column(row.iter().copied(), 3)).collect();
        }
        value["profiles"] = self.report.inference.profiles.iter().map(profile).collect();
        Ok(value)
    }

    /// Standard deviation of a whitened residual: one if sigma is absolute, else as the residuals judge it.
    fn unit(&self) -> Option<f64> {
        if self.fit.covariance().is_absolute() { Some(1.0) } else { self.fit.reduced_chi_square().map(f64::sqrt) }
    }

    /// The abscissa is the predictor; with several predictors, it is the fitted response.
    fn is_over_x(&self) -> bool {
        self.data[0].x_names.len() == 1
    }

    /// Observations, data set after data set and response after response.
    fn points(&self) -> Result<Vec<Points>, Failure> {
        let (fitted, whitened) = (self.fit.fitted(), self.fit.whitened_residuals());
        let (errors, weights) = (self.fit.observation_errors(), self.fit.robust_weights());
        let unit = self.unit();
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
                    points.errors.extend(match &data.replicates {
                        Some((_, deviations)) => Some(deviations[[row, output]]),
                        None => errors.as_ref().map(|errors| errors[index]),
                    });
                    let sigma_x = data.sigma_x.as_ref().filter(|_| self.is_over_x());
                    points.x_errors.extend(sigma_x.and_then(|sigma| Some(sigma[[row, 0]] * unit?)));
                    points.weights.extend(weights.as_ref().map(|weights| weights[index]));
                }
                all.push(points);
            }
        }
        Ok(all)
    }

    /// A series, of whose lines every `step`-th point is kept.
    fn drawn(&self, series: &Series, points: Value, step: usize) -> Value {
        let step = step.min(LARGEST_STEP);
        let (name, curve, bands) = series.lines();
        let curve = fewer(curve, step);
        let band = |edges: &[(f64, f64, f64)]| {
            let edges = fewer(edges, step);
            let column = |of: fn(&(f64, f64, f64)) -> f64| column(edges.iter().map(of), DIGITS);
            json!([column(|edge| edge.0), column(|edge| edge.1), column(|edge| edge.2)])
        };
        let line = |points: &[(f64, f64)]| {
            json!([
                column(points.iter().map(|point| point.0), DIGITS),
                column(points.iter().map(|point| point.1), DIGITS)
            ])
        };
        let terms =
            series.components().map(|(name, line_of)| json!({ "name": name, "line": line(&fewer(line_of, step)) }));
        let outliers = if self.is_over_x() { self.outliers } else { &[] };
        json!({
            "name": self.name.into_iter().chain(name).collect::<Vec<_>>().join(" "),
            "points": points,
            "line": line(&curve),
            "confidence": band(bands[0]),
            "prediction": band(bands[1]),
            "terms": terms.collect::<Vec<_>>(),
            "outliers": line(outliers),
        })
    }
}

/// Every `step`-th point of a line, and the last.
fn fewer<P: Copy>(points: &[P], step: usize) -> Vec<P> {
    let is_kept = |&index: &usize| index.is_multiple_of(step) || index + 1 == points.len();
    (0..points.len()).filter(is_kept).map(|index| points[index]).collect()
}

fn column(values: impl Iterator<Item = f64>, digits: usize) -> Value {
    values.map(|value| rounded(value, digits)).collect()
}

/// Values and signed roots of a profile.
fn profile(profile: &Profile<f64>) -> Value {
    let points = || profile.points.iter();
    let line = [column(points().map(|point| point.value), DIGITS), column(points().map(|point| point.tau), DIGITS)];
    let interval = &profile.interval;
    json!({ "name": profile.name, "line": line, "interval": column([interval.low, interval.high].into_iter(), DIGITS) })
}
