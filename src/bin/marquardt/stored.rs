//! Fits in JSON: what it takes to predict from them.

use marquardt::{Curve, Dual, FittedCurve, Formula, Model, ParameterState};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::curve::AnyCurve;
use crate::data::Data;
use crate::failure::Failure;
use crate::inference::LEVEL;

/// A curve, where its parameters are, and how certain they are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredFit {
    /// The name of a model of the library.
    model: Option<String>,
    formula: Option<Formula>,
    /// Columns of the predictors.
    pub x: Vec<String>,
    /// Column of the response.
    pub y: String,
    parameters: Vec<f64>,
    /// Of the parameters; none where one of them is not determined.
    covariance: Option<Vec<Vec<f64>>>,
    /// Of the residuals, where all have the same.
    residual_variance: Option<f64>,
    /// How many standard errors an interval at 95 % reaches to either side.
    quantile: Option<f64>,
}

/// A value of the curve, its standard error, and how far intervals at 95 % reach.
pub struct Prediction {
    pub value: f64,
    pub standard_error: Option<f64>,
    pub confidence: Option<f64>,
    pub prediction: Option<f64>,
}

impl StoredFit {
    /// That of a curve within a fit, in which its parameters have these names.
    pub fn of<C: Curve<f64>>(
        fit: &FittedCurve<'_, f64, C>,
        curve: &AnyCurve,
        data: &Data,
        name_in_fit: impl Fn(&str) -> String,
    ) -> Self {
        let (model, formula) = match curve {
            AnyCurve::Named(model) => (Some(model.name().to_owned()), None),
            AnyCurve::Formula(formula) => (None, Some(formula.clone())),
        };
        let of_fit = fit.parameters();
        let place = |name: &String| of_fit.iter().position(|parameter| parameter.name == name_in_fit(name));
        let places: Vec<usize> = curve.parameters().iter().filter_map(place).collect();
        let matrix = fit.covariance().matrix();
        let row = |&i: &usize| places.iter().map(|&j| matrix[[i, j]]).collect();
        let covariance: Vec<Vec<f64>> = places.iter().map(row).collect();
        let is_known = covariance.iter().flatten().all(|entry| entry.is_finite());
        let free = of_fit.iter().find(|parameter| parameter.state == ParameterState::Free);
        let quantile = free.and_then(|free| {
            let interval = fit.confidence_interval(&free.name, LEVEL).ok()?;
            Some((interval.high - free.value) / free.standard_error).filter(|quantile| quantile.is_finite())
        });
        let deviation = fit.residual_standard_deviation().filter(|_| data.sigma.is_none());
        StoredFit {
            model,
            formula,
            x: data.x_names.clone(),
            y: data.y_name.clone(),
            parameters: places.iter().map(|&place| of_fit[place].value).collect(),
            covariance: is_known.then_some(covariance),
            residual_variance: deviation.map(|deviation| deviation * deviation).filter(|variance| variance.is_finite()),
            quantile,
        }
    }

    /// That of a report, or of a group of one.
    pub fn read(report: &Value, group: Option<&str>) -> Result<Self, Failure> {
        let report = match (group, report.get("groups").and_then(Value::as_array)) {
            (None, None) => report,
            (Some(group), Some(groups)) => groups
                .iter()
                .find(|report| report["group"] == group)
                .ok_or_else(|| Failure::new(format!("there is no group {group}; {}", known(groups))))?,
            (Some(_), None) => return Err(Failure::new("the fit has no groups")),
            (None, Some(groups)) => return Err(Failure::new(format!("--group is needed; {}", known(groups)))),
        };
        let stored = report.get("fit").ok_or_else(|| Failure::new("it is no fit that `marquardt fit --json` wrote"))?;
        let stored: StoredFit = serde_json::from_value(stored.clone())?;
        let count = stored.curve()?.parameters().len();
        let is_square = |rows: &Vec<Vec<f64>>| rows.len() == count && rows.iter().all(|row| row.len() == count);
        if stored.parameters.len() != count || !stored.covariance.as_ref().is_none_or(is_square) {
            return Err(Failure::new(format!("the curve has {count} parameters, but the fit has another number")));
        }
        Ok(stored)
    }

    fn curve(&self) -> Result<AnyCurve, Failure> {
        match (&self.model, &self.formula) {
            (Some(name), None) => AnyCurve::named(name),
            (None, Some(formula)) => Ok(AnyCurve::Formula(formula.clone())),
            _ => Err(Failure::new("the fit has neither a model nor a formula, or both")),
        }
    }

    /// The values at rows of predictors, by the delta method.
    pub fn predict<'x>(&self, rows: impl Iterator<Item = &'x [f64]>) -> Result<Vec<Prediction>, Failure> {
        let curve = self.curve()?;
        Ok(rows.map(|x| self.predict_row(&curve, x)).collect())
    }

    fn predict_row(&self, curve: &AnyCurve, x: &[f64]) -> Prediction {
        let value = curve.response(x, &self.parameters);
        let gradient: Vec<f64> = (0..self.parameters.len())
            .map(|index| {
                let at =
                    |(other, &value)| if other == index { Dual::variable(value, 0) } else { Dual::constant(value) };
                let b: Vec<Dual<f64, 1>> = self.parameters.iter().enumerate().map(at).collect();
                Model::<f64>::response(curve, x, &b).gradient[0]
            })
            .collect();
        let variance = self.covariance.as_ref().map(|covariance| {
            let along = |row: &Vec<f64>| row.iter().zip(&gradient).map(|(entry, slope)| entry * slope).sum::<f64>();
            covariance.iter().zip(&gradient).map(|(row, slope)| slope * along(row)).sum::<f64>().max(0.0)
        });
        let reach = |variance: Option<f64>| Some(self.quantile? * variance?.sqrt());
        let of_new = variance.zip(self.residual_variance).map(|(curve, residual)| curve + residual);
        Prediction {
            value,
            standard_error: variance.map(f64::sqrt),
            confidence: reach(variance),
            prediction: reach(of_new),
        }
    }
}

fn known(groups: &[Value]) -> String {
    let names: Vec<&str> = groups.iter().filter_map(|report| report["group"].as_str()).collect();
    format!("the groups are {}", names.join(", "))
}
