//! Record of a stored fit: plain numbers and names.

use serde::{Deserialize, Serialize};

use super::{StoredFit, StoredParts};
use crate::curve::criteria::NoiseKind;
use crate::curve::fitted::{PlotPoint, ResponseKind, ResponseNoise};
use crate::curve::models::{AnyModel, Named};
use crate::curve::{Criteria, FitSummary, FittedParameter, Formula, ParameterState};
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
    parameters: Vec<ParameterRecord>,
    covariance: Covariance<T>,
    noise: NoiseRecord,
    criteria: CriteriaRecord,
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

#[derive(Serialize, Deserialize)]
struct ParameterRecord {
    name: String,
    value: Exact,
    standard_error: Exact,
    state: ParameterState,
}

#[derive(Serialize, Deserialize)]
struct NoiseRecord {
    kind: ResponseKind,
    unit_variance: Exact,
    sigma: Option<Vec<Exact>>,
}

#[derive(Serialize, Deserialize)]
struct CriteriaRecord {
    observations: usize,
    parameters: usize,
    chi_square: Exact,
    log_likelihood: Exact,
    noise: NoiseKind,
}

/// `x`, `y`, the length of the error bar, the residual, and whether it is an outlier.
#[derive(Serialize, Deserialize)]
struct PointRecord(Exact, Exact, Option<Exact>, Exact, bool);

fn exact<T: Real>(value: T) -> Exact {
    Exact(value.to_f64())
}

fn real<T: Real>(Exact(value): Exact) -> T {
    T::from_f64(value)
}

impl<T: Real> StoredRecord<T> {
    pub(super) fn of(fit: &StoredFit<T>) -> Self {
        let model = fit.model.as_ref().map(|model| match model {
            AnyModel::Named(model) => ModelRecord::Named(model.name().to_owned()),
            AnyModel::Formula(formula) => ModelRecord::Formula(formula.clone()),
        });
        let parameter = |parameter: &FittedParameter<T>| ParameterRecord {
            name: parameter.name.clone(),
            value: exact(parameter.value),
            standard_error: exact(parameter.standard_error),
            state: parameter.state,
        };
        let point = |point: &PlotPoint| {
            let PlotPoint { x, y, error, residual, is_outlier, .. } = *point;
            PointRecord(Exact(x), Exact(y), error.map(Exact), Exact(residual), is_outlier)
        };
        let sigma = |sigma: &Vec<T>| sigma.iter().copied().map(exact).collect();
        StoredRecord {
            version: VERSION,
            model,
            predictors: fit.width,
            responses: fit.outputs,
            parameters: fit.parameters.iter().map(parameter).collect(),
            covariance: fit.covariance.clone(),
            noise: NoiseRecord {
                kind: fit.noise.kind,
                unit_variance: exact(fit.noise.unit_variance),
                sigma: fit.noise.common_sigma.as_ref().map(sigma),
            },
            criteria: CriteriaRecord {
                observations: fit.criteria.observations,
                parameters: fit.criteria.parameters,
                chi_square: exact(fit.criteria.chi_square),
                log_likelihood: exact(fit.criteria.log_likelihood),
                noise: fit.criteria.noise,
            },
            summary: fit.summary.clone(),
            points: fit.points.as_ref().map(|points| points.iter().map(point).collect()),
        }
    }

    /// Returns the fit, or a message on parts that contradict each other.
    pub(super) fn into_fit(self) -> Result<StoredFit<T>, String> {
        if self.version != VERSION {
            return Err(format!("the fit is stored in version {} of the format, not {VERSION}", self.version));
        }
        let model = self.model.map(ModelRecord::into_model).transpose()?;
        let (width, outputs, count) = (self.predictors, self.responses, self.parameters.len());
        if let Some(model) = &model {
            let (of_model, needed, name) = (model.parameters().len(), model.predictor_count(), model.to_string());
            if of_model != count {
                return Err(format!("the model {name:?} has {of_model} parameters, but the fit has {count}"));
            }
            if width < needed || outputs != 1 {
                return Err(format!(
                    "the model {name:?} has one response to {needed} predictors; the fit has {outputs} to {width}"
                ));
            }
        }
        let CriteriaRecord { observations, parameters, chi_square, log_likelihood, noise } = self.criteria;
        if observations < parameters {
            return Err(format!("{parameters} parameters are fitted to {observations} observations"));
        }
        let sigma = self.noise.sigma.map(|sigma| sigma.into_iter().map(real).collect::<Vec<T>>());
        if outputs == 0 || sigma.as_ref().is_some_and(|sigma| sigma.len() != outputs) {
            return Err(format!("sigma is not that of {outputs} responses"));
        }
        if count == 0 || self.covariance.unscaled().nrows() != count {
            return Err(format!("the covariance is not that of {count} parameters"));
        }
        let unit_variance = real(self.noise.unit_variance);
        let point = |PointRecord(Exact(x), Exact(y), error, Exact(residual), is_outlier)| {
            let error = error.map(|Exact(error)| error);
            PlotPoint { set: 0, x, y, error, residual, is_outlier }
        };
        Ok(StoredFit::new(StoredParts {
            model,
            width,
            outputs,
            covariance: self.covariance,
            parameters: self.parameters.into_iter().map(ParameterRecord::into_parameter).collect(),
            noise: ResponseNoise { kind: self.noise.kind, unit_variance, common_sigma: sigma },
            criteria: Criteria {
                observations,
                parameters,
                chi_square: real(chi_square),
                log_likelihood: real(log_likelihood),
                noise,
            },
            summary: self.summary,
            points: self.points.map(|points| points.into_iter().map(point).collect()),
        }))
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

impl ParameterRecord {
    fn into_parameter<T: Real>(self) -> FittedParameter<T> {
        let ParameterRecord { name, value, standard_error, state } = self;
        FittedParameter { name, value: real(value), standard_error: real(standard_error), state }
    }
}
