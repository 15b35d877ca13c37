//! Record of a stored fit: plain numbers and names.

use serde::{Deserialize, Serialize};

use super::{StoredFit, curve_of};
use crate::curve::inference::{PlotPoint, ResponseNoise};
use crate::curve::models::{AnyModel, Named};
use crate::curve::{Criteria, FitInference, FitSummary, FittedParameter, Formula};
use crate::real::Real;
use crate::serial::Exact;
use crate::solver::Covariance;

/// The version of the format that this one writes, and the only one that it reads.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Real")]
pub(super) struct StoredRecord<T: Real> {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<ModelRecord>,
    predictors: usize,
    responses: usize,
    parameters: Vec<FittedParameter<T>>,
    covariance: Covariance<T>,
    noise: ResponseNoise<T>,
    criteria: Criteria<T>,
    summary: FitSummary,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    points: Option<Vec<PointRecord>>,
}

/// The name of a model of the library, or a formula.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ModelRecord {
    Named(String),
    Formula(Formula),
}

/// `x`, `y`, the length of the error bar, the residual, whether it is an outlier, and the length of the horizontal error bar, if it has
/// one.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PointRecord {
    WithXError(Exact, Exact, Option<Exact>, Exact, bool, Exact),
    WithoutXError(Exact, Exact, Option<Exact>, Exact, bool),
}

impl<T: Real> From<StoredFit<T>> for StoredRecord<T> {
    fn from(fit: StoredFit<T>) -> Self {
        let model = fit.model().map(|model| match model {
            AnyModel::Named(model) => ModelRecord::Named(model.name().to_owned()),
            AnyModel::Formula(formula) => ModelRecord::Formula(formula),
        });
        let point = |PlotPoint { x, y, x_error, error, residual, is_outlier, .. }| {
            let (x, y, error, residual) = (Exact(x), Exact(y), error.map(Exact), Exact(residual));
            match x_error {
                Some(x_error) => PointRecord::WithXError(x, y, error, residual, is_outlier, Exact(x_error)),
                None => PointRecord::WithoutXError(x, y, error, residual, is_outlier),
            }
        };
        let FitInference { parameters, covariance, noise } = fit.inference;
        StoredRecord {
            version: VERSION,
            model,
            predictors: fit.width,
            responses: fit.outputs,
            parameters,
            covariance,
            noise,
            criteria: fit.criteria,
            summary: fit.summary,
            points: fit.points.map(|points| points.into_iter().map(point).collect()),
        }
    }
}

impl<T: Real> TryFrom<StoredRecord<T>> for StoredFit<T> {
    type Error = String;

    /// Returns the fit, or a message on parts that contradict each other.
    fn try_from(record: StoredRecord<T>) -> Result<Self, String> {
        if record.version != VERSION {
            return Err(format!("the fit is stored in version {} of the format, not {VERSION}", record.version));
        }
        let model = record.model.map(ModelRecord::into_model).transpose()?;
        let StoredRecord { parameters, covariance, noise, criteria, .. } = record;
        let (width, outputs, count) = (record.predictors, record.responses, parameters.len());
        if let Some(model) = &model {
            let (of_model, needed, name) = (model.parameters().len(), model.predictor_count(), model.to_string());
            if of_model != count {
                return Err(format!("the model {name:?} has {of_model} parameters, but the fit has {count}"));
            }
            let responses = model.response_count();
            if width < needed || outputs != responses {
                return Err(format!(
                    "the model {name:?} has {responses} responses to {needed} predictors; the fit has {outputs} to {width}"
                ));
            }
        }
        let (fitted, observations) = (criteria.parameters, criteria.observations);
        if observations < fitted {
            return Err(format!("{fitted} parameters are fitted to {observations} observations"));
        }
        if outputs == 0 || noise.sigma.as_ref().is_some_and(|sigma| sigma.len() != outputs) {
            return Err(format!("sigma is not that of {outputs} responses"));
        }
        if count == 0 || covariance.unscaled().nrows() != count {
            return Err(format!("the covariance is not that of {count} parameters"));
        }
        let point = |record: PointRecord| {
            let (Exact(x), Exact(y), error, Exact(residual), is_outlier, x_error) = match record {
                PointRecord::WithXError(x, y, error, residual, is_outlier, x_error) => {
                    (x, y, error, residual, is_outlier, Some(x_error.0))
                }
                PointRecord::WithoutXError(x, y, error, residual, is_outlier) => {
                    (x, y, error, residual, is_outlier, None)
                }
            };
            PlotPoint { set: 0, x, y, x_error, error: error.map(|Exact(error)| error), residual, is_outlier }
        };
        Ok(StoredFit {
            curve: model.map(curve_of),
            width,
            outputs,
            inference: FitInference { parameters, covariance, noise },
            criteria,
            summary: record.summary,
            points: record.points.map(|points| points.into_iter().map(point).collect()),
        })
    }
}

impl ModelRecord {
    fn into_model(self) -> Result<AnyModel, String> {
        match self {
            ModelRecord::Named(name) => {
                name.parse().map(|model: Named| AnyModel::Named(model)).map_err(|unknown| unknown.to_string())
            }
            ModelRecord::Formula(formula) => Ok(AnyModel::Formula(formula)),
        }
    }
}
